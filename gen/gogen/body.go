// SPDX-License-Identifier: Apache-2.0

package gogen

import (
	"fmt"
	"regexp"
	"sort"
	"strings"

	"github.com/dave/jennifer/jen"

	"github.com/openmetaroce/metaroce/gen"
)

// body is the text of a function under construction; go/format indents it.
type body struct{ strings.Builder }

func (b *body) line(format string, args ...any) {
	fmt.Fprintf(b, format, args...)
	b.WriteByte('\n')
}

// function is one printed function or method.
type function struct {
	doc     []string
	recv    string // "b *Base"; empty = a plain function
	name    string
	params  string
	results string // parenthesised when there are several
	body    string
}

var qualified = regexp.MustCompile(`\b(binary|hex|crc32|iter|bits|slices|strconv|utf8|testing)\.([A-Z]\w*)`)

// helperCall finds calls of the small functions that are printed on demand.
var helperCall = regexp.MustCompile(`\b(` + strings.Join(helperNames(), "|") + `)[\[(]`)

// add prints fn into f. Package names in its text become imports.
func (g *generator) add(f *jen.File, fn function) {
	for _, m := range helperCall.FindAllStringSubmatch(fn.body, -1) {
		g.helpers[m[1]] = true
	}
	doc(f, fn.doc...)
	st := f.Func()
	if fn.recv != "" {
		st.Params(jen.Id(fn.recv))
	}
	st.Id(fn.name).Params(text(fn.params))
	if fn.results != "" {
		st.Add(text(fn.results))
	}
	st.Block(text(strings.TrimRight(fn.body, "\n")))
	f.Line()
}

// text turns Go text into code whose package names jennifer imports.
func text(s string) *jen.Statement {
	paths := map[string]string{}
	for path, name := range imports {
		paths[name] = path
	}
	st := jen.Null()
	last := 0
	for _, m := range qualified.FindAllStringSubmatchIndex(s, -1) {
		if m[0] > last {
			st.Op(s[last:m[0]])
		}
		st.Qual(paths[s[m[2]:m[3]]], s[m[4]:m[5]])
		last = m[1]
	}
	if last < len(s) {
		st.Op(s[last:])
	}
	return st
}

// helpers are the functions that bodies share. They are printed only when something calls them.
var helpers = map[string]function{
	"unfit": {
		doc: []string{"unfit is the error of a packet that is smaller or larger than it may be; first is the item at its beginning.",
			"", "//go:noinline"},
		name: "unfit", params: "size, least, most int, first string", results: "*Error",
		body: "if size > most {\nreturn fault(CodeSize, \"\", 0, 0).values(uint64(most), uint64(size))\n}\nreturn short(first, 0, least)",
	},
	"bit": {
		doc:     []string{"bit is 1 for true and 0 for false."},
		name:    "bit[T uint8 | uint16 | uint32 | uint64 | int64]",
		params:  "flag bool",
		results: "T",
		body:    "if flag {\nreturn 1\n}\nreturn 0",
	},
	"pick": {
		doc:     []string{"pick is the schema's conditional operator. Both values are evaluated."},
		name:    "pick[T any]",
		params:  "cond bool, yes, no T",
		results: "T",
		body:    "if cond {\nreturn yes\n}\nreturn no",
	},
	"allZero": {
		doc:     []string{"allZero tells whether padding is what it must be."},
		name:    "allZero",
		params:  "pad []byte",
		results: "bool",
		body:    "for _, octet := range pad {\nif octet != 0 {\nreturn false\n}\n}\nreturn true",
	},
	"isASCII": {
		doc:  []string{"isASCII tells whether a text has no byte above 0x7f."},
		name: "isASCII[T string | []byte]", params: "text T", results: "bool",
		body: "for index := range len(text) {\nif text[index] > 0x7f {\nreturn false\n}\n}\nreturn true",
	},
	"nulPadded": {
		doc:  []string{"nulPadded tells whether nothing but NULs follows the first NUL."},
		name: "nulPadded", params: "text []byte", results: "bool",
		body: "ended := false\nfor _, octet := range text {\nif ended && octet != 0 {\nreturn false\n}\nended = octet == 0\n}\nreturn true",
	},
	"untilNul": {
		doc:  []string{"untilNul is a text up to its first NUL."},
		name: "untilNul[T string | []byte]", params: "text T", results: "string",
		body: "for index := range len(text) {\nif text[index] == 0 {\nreturn string(text[:index])\n}\n}\nreturn string(text)",
	},
	"extend": {
		doc:     []string{"extend adds an element, whose memory it takes from an element that was cut off before if there is one."},
		name:    "extend[T any]",
		params:  "list []T",
		results: "[]T",
		body:    "if len(list) < cap(list) {\nreturn list[:len(list)+1]\n}\nvar zero T\nreturn append(list, zero)",
	},
	"shortOf": {
		doc:  []string{"shortOf is how many bytes a size lacks to a multiple."},
		name: "shortOf", params: "size, multiple int", results: "int",
		body: "return (multiple - size%multiple) % multiple",
	},
	"appendOctets": {
		doc:  []string{"appendOctets appends equal bytes."},
		name: "appendOctets", params: "dst []byte, size int, octet byte", results: "[]byte",
		body: "for range size {\ndst = append(dst, octet)\n}\nreturn dst",
	},
	"rotate": {
		doc:  []string{"rotate moves the last size bytes to the front."},
		name: "rotate", params: "octets []byte, size int",
		body: "slices.Reverse(octets)\nslices.Reverse(octets[:size])\nslices.Reverse(octets[size:])",
	},
	"flagText": {
		doc:  []string{"flagText is a flag as a number."},
		name: "flagText", params: "flag bool", results: "string", body: "if flag {\nreturn \"1\"\n}\nreturn \"0\"",
	},
	"grow": {
		doc:  []string{"grow lengthens dst by size bytes, whose contents are unspecified."},
		name: "grow", params: "dst []byte, size int", results: "[]byte",
		body: "return slices.Grow(dst, size)[:len(dst)+size]",
	},
	"appendZeros": {
		doc:  []string{"appendZeros appends padding."},
		name: "appendZeros", params: "dst []byte, size int", results: "[]byte",
		body: "dst = slices.Grow(dst, size)\nout := dst[:len(dst)+size]\nclear(out[len(dst):])\nreturn out",
	},
}

func helperNames() []string {
	var names []string
	for n := range helpers {
		names = append(names, n)
	}
	sort.Strings(names)
	return names
}

// helperFile prints the helpers that the other files call.
func (g *generator) helperFile() ([]gen.File, error) {
	if len(g.helpers) == 0 {
		return nil, nil
	}
	f := g.newFile()
	for _, name := range helperNames() {
		if g.helpers[name] {
			g.add(f, helpers[name])
		}
	}
	data, err := render(f)
	if err != nil {
		return nil, err
	}
	return []gen.File{{Path: "codec.gen.go", Data: data}}, nil
}
