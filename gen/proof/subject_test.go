// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/cgen"
	"github.com/openmetaroce/metaroce/gen/docgen"
	"github.com/openmetaroce/metaroce/gen/gogen"
	"github.com/openmetaroce/metaroce/gen/luagen"
	"github.com/openmetaroce/metaroce/gen/syntax"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// subject is one schema on its way through the compiler.
type subject struct {
	name      string
	text      string
	p         *gen.Protocol
	refused   string // why the compiler does not take it; empty = it does
	unmade    bool   // no vectors could be made
	goFiles   []gen.File
	cFiles    []gen.File
	goRefused error
	cRefused  error
	noises    int // damaged packets to ask about, of each packet
	questions []question
}

// sound are the diagnostics that a random schema may get: rules about values, which the generator only nearly keeps, and what
// the compiler does not do yet. Any other one is a fault of the compiler, or of the generator.
var sound = map[string]bool{
	"E0010": true,                                              // not yet
	"E0210": true,                                              // a size that the content cannot meet
	"E0211": true,                                              // no largest size
	"E0401": true, "E0402": true, "E0403": true, "E0404": true, // values that may leave their bounds
	"E0405": true,                // items behind if-blocks
	"E0411": true,                // conditions that are always the same
	"E0412": true, "E0413": true, // what the encoder cannot solve
	"E0513": true,                                              // unknown sizes behind greedy items
	"E0603": true, "E0604": true, "E0605": true, "E0606": true, // coverages
}

// newSubject takes a schema through everything that needs no other compiler. An error is a fault.
func newSubject(name, text string) (*subject, error) {
	s := &subject{name: name, text: text, noises: 250}
	if err := s.read(); err != nil {
		return s, err
	}
	p, diags := gen.Compile(name+".mrs", []byte(text))
	if p == nil {
		for _, d := range diags {
			if !sound[d.Code] {
				return s, fmt.Errorf("%s: refused: %s", d.Code, d)
			}
			s.refused = d.Code
		}
		return s, nil
	}
	s.p = p
	if err := s.generate(); err != nil {
		return s, err
	}
	return s, s.ask()
}

var tokens = regexp.MustCompile(`(?s:/\*.*?\*/)|//[^\n]*|[A-Za-z_0-9]+|"(\\.|[^"\\\n])*"|=>|\.\.|&&|\|\||<<|>>|[=!<>]=|\S`)

// gaps may stand between two words.
var gaps = []string{" ", " ", " ", "\n ", "\n\n\n ", "\t", " // c\n ", "\n // own\n ", " /* b */ ", "\n/* b\n b */\n ", "\r\n ", "\n\n "}

// spaced writes a text with other spaces and with comments.
func spaced(text string, seed uint64) string {
	dice := rand.New(rand.NewPCG(seed, 0))
	var b strings.Builder
	for _, w := range tokens.FindAllString(text, -1) {
		b.WriteString(w)
		if strings.HasPrefix(w, "//") {
			b.WriteString("\n")
		}
		b.WriteString(gaps[dice.IntN(len(gaps))])
	}
	return b.String()
}

// read parses the schema, lays it out and parses it again: the declarations stay what they are.
func (s *subject) read() error {
	wild := spaced(s.text, uint64(len(s.text)))
	laid, diags := syntax.Format("x.mrs", []byte(wild))
	if diags != nil {
		return fmt.Errorf("cannot be laid out: %s\n%s", diags[0], wild)
	}
	again, diags := syntax.Format("x.mrs", laid)
	if diags != nil || !bytes.Equal(laid, again) {
		return fmt.Errorf("laying out twice differs: %v\n%s", diags, cmp.Diff(string(laid), string(again)))
	}
	want := syntax.Parse("x.mrs", s.text)
	for _, text := range []string{wild, string(laid)} {
		got := syntax.Parse("x.mrs", text)
		if diff := cmp.Diff(want.Decls, got.Decls, cmpopts.IgnoreTypes(syntax.Pos{}), cmp.Comparer(sameNumber)); diff != "" || len(got.Diags) > 0 {
			return fmt.Errorf("reads differently: %v\n%s", got.Diags, diff)
		}
	}
	p, _ := gen.Compile("x.mrs", []byte(s.text))
	q, diags := gen.Compile("x.mrs", laid)
	if (p == nil) != (q == nil) || p != nil && p.WireHash != q.WireHash {
		return fmt.Errorf("compiles differently when laid out: %v", diags)
	}
	return nil
}

func sameNumber(a, b *big.Int) bool { return a == b || a != nil && b != nil && a.Cmp(b) == 0 }

// generate prints the outputs. A backend may refuse what it names; vectors may not exist when rules contradict each other.
func (s *subject) generate() error {
	if _, err := vectorgen.Generate(s.p); err != nil {
		if s.unmade = refused(err); !s.unmade {
			return err
		}
	}
	if _, err := docgen.Generate(s.p); err != nil {
		return err
	}
	if s.goFiles, s.goRefused = gogen.Generate(s.p); s.goRefused != nil && !refused(s.goRefused) {
		return s.goRefused
	}
	if s.cFiles, s.cRefused = cgen.Generate(s.p); s.cRefused != nil && !refused(s.cRefused) {
		return s.cRefused
	}
	_, err := luagen.Generate(s.p)
	return err
}

// refused tells whether a backend has no form for parts of the schema, and shows them.
func refused(err error) bool {
	var r *gen.Refused
	return errors.As(err, &r) && !slices.ContainsFunc(r.Diagnostics, func(d syntax.Diagnostic) bool {
		return d.Source == "" || d.Help == "" || strings.Contains(d.Message, "%!")
	})
}

// packets are the roots that a line of text can ask about.
func (s *subject) packets() []*gen.Struct {
	var out []*gen.Struct
	for _, st := range s.p.Structs {
		if st.Packet && !slices.ContainsFunc(st.Params, func(q *gen.Param) bool { return !q.Cover && q.Struct != nil }) {
			out = append(out, st)
		}
	}
	return out
}
