// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// Vector is one test: bytes, and what must come of them.
type Vector struct {
	ID        string            `json:"id"`
	Packet    string            `json:"packet"`
	Params    map[string]string `json:"params,omitempty"` // numbers in decimal, headers "Name hex:…": their bytes before the payload
	Hex       string            `json:"hex"`
	Stage     string            `json:"stage"` // "decode", or "verify": decodes, but a sum is wrong
	OK        bool              `json:"ok"`
	Consumed  int               `json:"consumed,omitempty"`
	Canonical *bool             `json:"canonical,omitempty"` // encoding what was decoded gives the same bytes; false also when it does not fit without unknown elements
	Fields    map[string]string `json:"fields,omitempty"`    // every value, as gen.Flatten writes it
	Error     *VectorError      `json:"error,omitempty"`
}

// VectorError is the error that a vector must raise.
type VectorError struct {
	Code   string `json:"code"`
	Number int    `json:"number"`
	Field  string `json:"field"`
	Off    int    `json:"off"`
}

// book collects vectors; bytes that are there already are not taken again.
type book struct {
	p    *gen.Protocol
	all  []*Vector
	ids  map[string]bool
	seen map[string]bool // packet and bytes
}

// add asks the interpreter what b is and records the answer.
func (k *book) add(id string, of *subject, b []byte) error {
	key := of.key() + string(b)
	if k.seen[key] {
		return nil
	}
	first := id
	for n := 2; k.ids[id]; n++ { // unnamed bits may share a byte
		id = fmt.Sprintf("%s~%d", first, n)
	}
	k.seen[key], k.ids[id] = true, true
	v := &Vector{ID: id, Packet: of.st.Name.Schema, Params: of.shown, Hex: hex.EncodeToString(b), Stage: "decode"}
	k.all = append(k.all, v)
	tree, n, err := gen.Decode(k.p, v.Packet, b, of.params...)
	if err != nil {
		return v.reject(err)
	}
	if _, err := gen.VerifyDecoded(k.p, tree, b, of.params...); err != nil {
		v.Stage = "verify"
		return v.reject(err)
	}
	again, err := gen.Encode(k.p, tree, of.params...)
	var refused *gen.DecodeError
	if err != nil && !errors.As(err, &refused) {
		return fmt.Errorf("vectorgen: %s decodes but does not encode: %w", id, err)
	}
	same := err == nil && bytes.Equal(again, b[:n])
	v.OK, v.Consumed, v.Canonical, v.Fields = true, n, &same, gen.Flatten(tree)
	return nil
}

func (v *Vector) reject(err error) error {
	var e *gen.DecodeError
	if !errors.As(err, &e) {
		return fmt.Errorf("vectorgen: %s: %w", v.ID, err)
	}
	v.Error = &VectorError{Code: e.Code.Name, Number: e.Code.Number, Field: e.Field, Off: e.Off}
	return nil
}

// render writes the file, one vector a line.
func (k *book) render() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	fmt.Fprintf(&out, "{\"format\":1,\"package\":%q,\"schema\":%q,\"vectors\":[\n", k.p.Package, k.p.WireHash)
	for i, v := range k.all {
		if err := enc.Encode(v); err != nil {
			return nil, fmt.Errorf("vectorgen: %s: %w", v.ID, err)
		}
		if i < len(k.all)-1 {
			out.Truncate(out.Len() - 1)
			out.WriteString(",\n")
		}
	}
	out.WriteString("]}\n")
	return out.Bytes(), nil
}
