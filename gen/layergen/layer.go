// SPDX-License-Identifier: Apache-2.0

package layergen

import (
	"go/token"
	"strings"
	"unicode"

	"github.com/openmetaroce/metaroce/gen"
)

// layer is what the templates know of one packet.
type layer struct {
	Package    *pkg
	Struct     *gen.Struct
	Name       string // of the printed type and of the struct that it embeds
	Recv       string // receiver
	Local      string // prefix of the layer's own functions
	Params     []param
	Keeps      []keep
	Search     string // body of the function that finds the payload
	HasPayload bool
	Sum        *sum   // nil = no checksum
	Fresh      bool   // decoding sets every field, so that nothing need be cleared before
	Direct     string // the field that is the payload of every packet, with nothing behind it; empty = see Search
	Start      int    // where that payload begins, if that is the same in every packet; 0 = it is not
	Next       *next  // nil = the next layer is not known
}

// param is a value that the caller sets before decoding.
type param struct {
	Name     string // of the field and of the argument
	Setter   string
	Type     string
	Struct   string // its struct's name in the schema; empty for numbers
	Doc      string
	Cover    bool // read by checksums only
	Optional bool // its zero value is right for callers who do not set it
}

// keep is an array whose memory survives a reset.
type keep struct{ Name, Field string }

// taken are the names that a layer has besides those of its packet. An embedded struct of the same name would hide one.
const taken = " LayerType CanDecode NextLayerType LayerContents LayerPayload Trailer DecodeFromBytes SerializeTo String Register "

func newLayer(p *pkg, s *gen.Struct) *layer {
	if strings.Contains(taken, " "+s.Name.Go+" ") {
		p.refused.Add(s, "a layer has a member `%s` of its own", s.Name.Go).Help("rename the packet")
	}
	l := &layer{
		Package: p, Struct: s, Name: s.Name.Go, Recv: strings.ToLower(s.Name.Go[:1]), Local: lowerFirst(s.Name.Go),
		HasPayload: holdsPayload(s), Keeps: keeps(s), Fresh: !holdsSwitch(s),
	}
	for _, a := range s.Params {
		if a.Default != nil && *a.Default != 0 {
			p.refused.Add(a, "the parameter `%s` has a default other than zero", a.Name.Schema)
		}
		l.Params = append(l.Params, p.param(a))
	}
	l.Search = search(l)
	if field, ok := strings.CutPrefix(l.Search, "return &"+l.Recv+"."); ok && l.Fresh {
		if l.Direct = direct(field); l.Direct != "" {
			l.Start = start(s)
		}
	}
	l.Next = nextOf(l)
	l.Sum = p.sumOf(s)
	return l
}

func (p *pkg) param(a *gen.Param) param {
	out := param{Name: p.argument(a.Name), Setter: "Set" + a.Name.Go}
	if a.Cover {
		out.Type, out.Cover, out.Optional = p.Codec+".Outer", true, true
		out.Doc = "the header " + a.Name.Schema + " that the checksum covers"
		return out
	}
	out.Optional = a.Default != nil
	if a.Struct == nil {
		out.Type, out.Doc = uintType(a.Bits), "the number "+a.Name.Schema
		return out
	}
	out.Type, out.Struct = "*"+p.Codec+"."+a.Struct.Name.Go, a.Struct.Name.Schema
	out.Doc = "the " + a.Struct.Name.Schema
	return out
}

// argument is the Go name of a parameter; one-letter names are receivers.
func (p *pkg) argument(n gen.Name) string {
	name := lowerFirst(n.Go)
	switch name {
	case p.Codec, "packet", "data", "df", "next", "layers", "buf", "opts", "inner", "payload", "trailer", "errors", "fmt", "strings", "binary", "gopacket":
		return name + "Arg"
	}
	if len(name) == 1 || token.IsKeyword(name) {
		return name + "Arg"
	}
	return name
}

func lowerFirst(name string) string {
	r := []rune(name)
	r[0] = unicode.ToLower(r[0])
	return string(r)
}

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

// Doc is the schema's text for the packet, to be read after a colon.
func (l *layer) Doc() []string {
	doc := append([]string(nil), l.Struct.Doc...)
	if len(doc) > 0 && len(doc[0]) > 1 && unicode.IsLower(rune(doc[0][1])) {
		doc[0] = lowerFirst(doc[0])
	}
	return doc
}

// Codec is the embedded struct's type.
func (l *layer) Codec() string { return l.Package.Codec + "." + l.Name }

// Pointers are the parameters that may be missing.
func (l *layer) Pointers() []param {
	var out []param
	for _, a := range l.Params {
		if a.Struct != "" {
			out = append(out, a)
		}
	}
	return out
}

// Missing is the condition under which a parameter is missing.
func (l *layer) Missing() string {
	var out []string
	for _, a := range l.Pointers() {
		out = append(out, l.Recv+"."+a.Name+" == nil")
	}
	return strings.Join(out, " || ")
}

// Args passes the parameters that the layer holds, behind a first argument.
func (l *layer) Args() string {
	var out strings.Builder
	for _, a := range l.Decoding() {
		out.WriteString(", " + l.Recv + "." + a.Name)
	}
	return out.String()
}

// OnlyArgs is Args without a first argument.
func (l *layer) OnlyArgs() string { return strings.TrimPrefix(l.Args(), ", ") }

// Signature declares the parameters behind a first one.
func (l *layer) Signature() string {
	var out strings.Builder
	for _, a := range l.Decoding() {
		out.WriteString(", " + a.Name + " " + a.Type)
	}
	return out.String()
}

// keeps lists the arrays within a struct. Those within an array's elements share its memory.
func keeps(s *gen.Struct) []keep {
	var out []keep
	var walk func(s *gen.Struct, path []string)
	walk = func(s *gen.Struct, path []string) {
		for _, it := range s.Items {
			below := append(path[:len(path):len(path)], it.Name.Go)
			switch it.Kind {
			case gen.KindArray:
				out = append(out, newKeep(below))
			case gen.KindStruct:
				walk(it.Struct, below)
			case gen.KindSwitch:
				for _, a := range it.Switch.Arms {
					if a.Struct != nil {
						walk(a.Struct, append(path[:len(path):len(path)], a.Name.Go))
					}
				}
			case gen.KindList:
				for _, c := range it.List.Cases {
					at := append(below[:len(below):len(below)], c.Name.Go)
					switch {
					case c.Struct == nil:
					case c.Unique || c.Required:
						walk(c.Struct, at)
					default:
						out = append(out, newKeep(at))
					}
				}
			}
		}
	}
	walk(s, nil)
	return out
}

func newKeep(path []string) keep {
	name := lowerFirst(strings.Join(path, ""))
	if len(name) == 1 || token.IsKeyword(name) {
		name += "Array"
	}
	return keep{Name: name, Field: strings.Join(path, ".")}
}

// Decoding are the parameters that decoding needs.
func (l *layer) Decoding() []param {
	var out []param
	for _, a := range l.Params {
		if !a.Cover {
			out = append(out, a)
		}
	}
	return out
}

// Required are the parameters without which nothing can be decoded.
func (l *layer) Required() []param {
	var out []param
	for _, a := range l.Params {
		if !a.Optional {
			out = append(out, a)
		}
	}
	return out
}

// SumArgs passes all parameters behind a first argument, those of checksums included.
func (l *layer) SumArgs() string {
	var out strings.Builder
	for _, a := range l.Params {
		out.WriteString(", " + l.Recv + "." + a.Name)
	}
	return out.String()
}

// holdsSwitch tells whether a struct has a switch somewhere. Of its arms decoding sets only one.
func holdsSwitch(s *gen.Struct) bool {
	for _, it := range s.Items {
		switch {
		case it.Kind == gen.KindSwitch, it.Struct != nil && holdsSwitch(it.Struct):
			return true
		case it.List == nil:
			continue
		}
		for _, c := range it.List.Cases {
			if c.Struct != nil && holdsSwitch(c.Struct) {
				return true
			}
		}
	}
	return false
}

// direct is the field in what a search returns, if it returns that field and no trailer.
func direct(rest string) string {
	field, ok := strings.CutSuffix(rest, ", 0\n")
	if !ok || strings.ContainsAny(field, "\n,. ") {
		return ""
	}
	return field
}

// start is the size of what stands before a payload that is a packet's last item, or 0 when it varies.
func start(s *gen.Struct) int {
	if len(s.Steps) != 2 {
		return 0
	}
	run, fixed := s.Steps[0].(*gen.Run)
	if _, last := s.Steps[1].(*gen.Take); !fixed || !last {
		return 0
	}
	return run.Size
}
