// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"unicode"

	"github.com/openmetaroce/metaroce/gen"
)

// receiver is the one-letter name of a type's receiver. Locals in printed bodies have three letters or more.
func receiver(typeName string) string { return strings.ToLower(typeName[:1]) }

// lowerCamel is the local or parameter name for an item.
func lowerCamel(n gen.Name) string {
	r := []rune(n.Go)
	r[0] = unicode.ToLower(r[0])
	s := string(r)
	if len(s) == 1 || token.IsKeyword(s) || types.Universe.Lookup(s) != nil || slices.Contains(spoken, s) {
		return s + "Arg"
	}
	return s
}

// spoken are names that printed bodies use for themselves, besides receivers, which have one letter.
var spoken = strings.Fields("src dst out off raw err used yield prefix view ok size start sum part length want got value word place field msg " +
	"head item at name index end whole zero octets octet masks path rest stop kind code text keys elem element count next " +
	"inner left pad begun binary hex crc32 bits slices strconv testing utf8")

// snake is an arm's part of an item path, whichever way the schema spells its label.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) {
			if i > 0 {
				b.WriteByte('_')
			}
			r = unicode.ToLower(r)
		}
		b.WriteRune(r)
	}
	return b.String()
}

// codeSuffix turns E_TLV_LENGTH into TlvLength.
func codeSuffix(c *gen.Code) string {
	var b strings.Builder
	for _, w := range strings.Split(strings.TrimPrefix(c.Name, "E_"), "_") {
		b.WriteString(w[:1] + strings.ToLower(w[1:]))
	}
	return b.String()
}

func codeConst(c *gen.Code) string { return "Code" + codeSuffix(c) }

// uintType is the smallest unsigned type of at least n bits.
func uintType(n int) string {
	switch {
	case n <= 8:
		return "uint8"
	case n <= 16:
		return "uint16"
	case n <= 32:
		return "uint32"
	}
	return "uint64"
}

// typeBits is the width of an integer type that uintType returns, or its signed brother.
func typeBits(t string) int {
	switch strings.TrimPrefix(t, "u") {
	case "int8":
		return 8
	case "int16":
		return 16
	case "int32":
		return 32
	}
	return 64
}

func scalarType(s *gen.Scalar) string {
	switch {
	case s.Flag:
		return "bool"
	case s.Enum != nil:
		return s.Enum.Name.Go
	case s.Signed:
		return strings.TrimPrefix(uintType(s.Bits), "u")
	}
	return uintType(s.Bits)
}

// hasField tells whether an item has a field in the Go struct.
func hasField(it *gen.Item) bool {
	if it.Kind == gen.KindSpan && it.Span.Kind == gen.SpanPad && it.Span.Fixed >= 0 {
		return false
	}
	return it.Name.Schema != "_"
}

// fieldType is the Go type of an item's field; of a switch, that of its kind.
func fieldType(it *gen.Item) string {
	switch it.Kind {
	case gen.KindBits:
		return vectorType(it.Vector)
	case gen.KindStruct:
		return it.Struct.Name.Go
	case gen.KindArray:
		if it.Array.Struct != nil {
			return "[]" + it.Array.Struct.Name.Go
		}
		return "[]" + scalarType(it.Array.Scalar)
	case gen.KindSpan:
		return spanType(it.Span)
	case gen.KindList:
		return it.List.Name.Go
	case gen.KindSwitch:
		return kindType(it)
	}
	return scalarType(it.Scalar)
}

func spanType(s *gen.Span) string {
	switch {
	case s.Kind == gen.SpanPad:
		return "int"
	case s.Kind == gen.SpanString:
		return "string"
	case s.Fixed >= 0:
		return fmt.Sprintf("[%d]byte", s.Fixed)
	}
	return "[]byte"
}

func vectorType(v *gen.Vector) string { return fmt.Sprintf("Bits%d", v.Bits) }

func kindType(it *gen.Item) string { return it.Owner.Name.Go + it.Name.Go }

// sizeConst names the constant with a fixed struct's size. A name that the schema itself uses goes first.
func (g *generator) sizeConst(s *gen.Struct) string { return g.layoutConst(s, "Size") }

// maxConst names the constant with the largest size of a packet or list.
func (g *generator) maxConst(s *gen.Struct) string { return g.layoutConst(s, "Max") }

func (g *generator) layoutConst(s *gen.Struct, what string) string {
	if n := s.Name.Go + what; !g.taken[n] {
		return n
	}
	return s.Name.Go + what + "Bytes"
}

// params declares a struct's parameters: structs by pointer, scalars by value.
func params(s *gen.Struct) string {
	var out []string
	for _, p := range decodeParams(s.Params) {
		if p.Struct != nil {
			out = append(out, lowerCamel(p.Name)+" *"+p.Struct.Name.Go)
		} else {
			out = append(out, lowerCamel(p.Name)+" "+paramType(p))
		}
	}
	return strings.Join(out, ", ")
}

// paramType is the Go type of a scalar parameter.
func paramType(p *gen.Param) string { return scalarType(&gen.Scalar{Bits: p.Bits, Signed: p.Signed}) }

// paramNames passes a struct's own parameters on.
func paramNames(s *gen.Struct) string {
	var out []string
	for _, p := range decodeParams(s.Params) {
		out = append(out, lowerCamel(p.Name))
	}
	return strings.Join(out, ", ")
}

// commas joins the parts of a parameter list that are not empty.
func commas(parts ...string) string {
	var out []string
	for _, p := range parts {
		if p != "" {
			out = append(out, p)
		}
	}
	return strings.Join(out, ", ")
}

// article puts the right indefinite article before a type's name.
func article(name string) string {
	if strings.ContainsRune("AEIO", rune(name[0])) {
		return "an " + name
	}
	return "a " + name
}

// decodeParams leaves out the parameters that only checksums read.
func decodeParams(all []*gen.Param) []*gen.Param {
	var out []*gen.Param
	for _, p := range all {
		if !p.Cover {
			out = append(out, p)
		}
	}
	return out
}
