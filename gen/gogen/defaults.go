// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// defaults prints NewX for each header and packet that has a default somewhere.
func (g *generator) defaults(f *jen.File) {
	for _, s := range g.all {
		if s.List != nil || s.Owner != nil || !defaulted(s) {
			continue
		}
		name := "New" + s.Name.Go
		if g.taken[name] {
			g.fail(s, "the constructor `%s` of `%s` has the name of another declaration", name, s.Name.Schema).Help("rename one of the two")
		}
		g.add(f, function{
			doc:  []string{fmt.Sprintf("%s returns %s with its defaults, and with what its fixed fields hold.", name, article(s.Name.Go))},
			name: name, results: s.Name.Go, body: "return " + defaultLiteral(s),
		})
	}
}

// defaulted tells whether a struct or a header within it has a default.
func defaulted(s *gen.Struct) bool {
	for _, it := range s.Items {
		if it.Scalar != nil && it.Scalar.Default != 0 && !settlesScalar(it.Scalar) && hasField(it) || it.Kind == gen.KindStruct && it.When == nil && defaulted(it.Struct) {
			return true
		}
	}
	return false
}

func defaultLiteral(s *gen.Struct) string {
	var fields []string
	for _, it := range s.Items {
		value := ""
		switch {
		case !hasField(it) || it.When != nil:
		case it.Kind == gen.KindStruct && defaulted(it.Struct):
			value = "New" + it.Struct.Name.Go + "()"
			if it.Struct.Owner != nil {
				value = defaultLiteral(it.Struct)
			}
		case it.Scalar == nil:
		case it.Scalar.Fixed != nil:
			value = defaultNumber(it.Scalar, *it.Scalar.Fixed)
		case it.Scalar.Default != 0:
			value = defaultNumber(it.Scalar, it.Scalar.Default)
		}
		if value != "" && value != "0" && value != "false" {
			fields = append(fields, it.Name.Go+": "+value)
		}
	}
	return s.Name.Go + "{" + strings.Join(fields, ", ") + "}"
}

// defaultNumber prints raw bits as a value of the field's type.
func defaultNumber(s *gen.Scalar, n uint64) string {
	switch {
	case s.Signed:
		spare := 64 - s.Bits
		return fmt.Sprint(int64(n<<spare) >> spare)
	case s.Enum != nil:
		for _, m := range s.Enum.Members {
			if m.First == n && m.Last == n {
				return s.Enum.Name.Go + m.Name.Go
			}
		}
	}
	return scalarNumber(s, n)
}
