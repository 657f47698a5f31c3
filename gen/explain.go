// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"embed"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// badSchemas holds, for each code, a schema that raises it and one without the fault; for the codes of backends, which this package
// cannot run, also what they say.
//
//go:embed testdata/diag/*/bad.mrs testdata/diag/*/fixed.mrs testdata/diag/E08*/want.txt
var badSchemas embed.FS

// Explanation says what one diagnostic or run-time code means.
type Explanation struct {
	Code  string `json:"code"`
	Name  string `json:"name,omitempty"`  // the word of a warning
	Text  string `json:"text"`            // what is wrong
	Help  string `json:"help,omitempty"`  // what to do about it
	Bad   string `json:"bad,omitempty"`   // a schema that has the fault; empty when there is none
	Says  string `json:"says,omitempty"`  // what the compiler says about Bad, for this code only
	Fixed string `json:"fixed,omitempty"` // a schema without it
}

// Explain explains a diagnostic of the compiler (E0207) or a built-in run-time code (E_SHORT). ok is false for other codes.
func Explain(code string) (x Explanation, ok bool) {
	for _, k := range BuiltinCodes() {
		if k.Name == code {
			return Explanation{Code: code, Text: k.Text}, true
		}
	}
	for _, k := range syntax.Codes() {
		if k.Code == code {
			x = Explanation{Code: code, Text: k.Text, Help: k.Help}
			x.illustrate()
			return x, true
		}
	}
	return Explanation{}, false
}

// illustrate adds the bad schema and what the compiler says about it.
func (x *Explanation) illustrate() {
	src, err := badSchemas.ReadFile("testdata/diag/" + x.Code + "/bad.mrs")
	if err != nil {
		return
	}
	_, diags := Compile("bad.mrs", src)
	var says strings.Builder
	for _, d := range diags {
		if d.Code == x.Code {
			says.WriteString(d.String())
		}
	}
	if said, err := badSchemas.ReadFile("testdata/diag/" + x.Code + "/want.txt"); err == nil {
		says.Write(said)
	}
	if fixed, err := badSchemas.ReadFile("testdata/diag/" + x.Code + "/fixed.mrs"); err == nil {
		x.Fixed = string(fixed)
	}
	x.Bad, x.Says = strings.ToValidUTF8(string(src), "\uFFFD"), says.String()
}

// Explained lists the codes that Explain knows: diagnostics first, then run-time codes.
func Explained() []string {
	var out []string
	for _, k := range syntax.Codes() {
		out = append(out, k.Code)
	}
	for _, k := range BuiltinCodes() {
		out = append(out, k.Name)
	}
	return out
}
