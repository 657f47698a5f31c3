// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

func TestGenerateReportsWhatCWouldConfuse(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *gen.Protocol)
		want   string
	}{
		{"struct and runtime", func(p *gen.Protocol) { p.Structs[0].Name.C = "err" }, "taken by the runtime"},
		{"struct and enum", func(p *gen.Protocol) { p.Structs[0].Name.C = p.Enums[0].Name.C }, "share the C name"},
		{"two constants", func(p *gen.Protocol) { p.Consts[0].Name.C = p.Consts[1].Name.C }, "share the C constant"},
		{"odd bit vector", func(p *gen.Protocol) { vectorItem(t, p).Vector.Bits = 12 }, "no whole number of bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := loadFeatures(t)
			c.change(p)
			_, err := Generate(p)
			var refused *gen.Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func vectorItem(t *testing.T, p *gen.Protocol) *gen.Item {
	t.Helper()
	for _, s := range p.Structs {
		for _, it := range s.Items {
			if it.Kind == gen.KindBits {
				return it
			}
		}
	}
	t.Fatal("the test schema has no bit vector")
	return nil
}

func TestWrapBreaksAtTheOutermostOperator(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  []string
	}{
		{"short;", 20, []string{"short;"}},
		{"if (aaaa && f(b, c) || dddd) {", 24, []string{"if (aaaa && f(b, c)", "|| dddd) {"}},
		{"f(aaaaaaaa, bbbbbbbb);", 14, []string{"f(aaaaaaaa,", "bbbbbbbb);"}},
		{`f("a, b, c", dddddddd);`, 14, []string{`f("a, b, c",`, "dddddddd);"}},
		{"#define LONG, LONGER", 5, []string{"#define LONG, LONGER"}},
		{"unbreakable_name;", 5, []string{"unbreakable_name;"}},
	} {
		if diff := cmp.Diff(c.want, wrap(c.in, c.width)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.in, diff)
		}
	}
}

func TestPruneDropsFunctionsThatNothingCalls(t *testing.T) {
	p := &printer{}
	p.static("leaf", func() { p.line("static int leaf(void);") })
	p.static("named", func() { p.line("static int named(void);") })
	p.static("lonely", func() { p.line("static int lonely(void) { return leaf(); }") })
	p.static("unused_leaf", func() { p.line("static int unused_leaf(void);") })
	p.static("unused", func() { p.line("static int unused(void) { return unused_leaf(); }") })
	p.line("int main(void) { return leaf(/* not named */); }")
	want := "static int leaf(void);\nint main(void) { return leaf(/* not named */); }\n"
	if diff := cmp.Diff(want, prune(p.buf.String())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWindowCoversExactlyTheBytesOfAField(t *testing.T) {
	for _, c := range []struct {
		bit, bits int
		want      window
	}{
		{0, 8, window{0, 1, 0, 8}},
		{4, 12, window{0, 2, 0, 12}},
		{16, 12, window{2, 2, 4, 12}},
		{3, 1, window{0, 1, 4, 1}},
		{4, 57, window{0, 8, 3, 57}},
		{4, 64, window{0, 9, 4, 64}},
	} {
		if got := windowOf(c.bit, c.bits); got != c.want {
			t.Errorf("bit %d, %d bits: got %+v, want %+v", c.bit, c.bits, got, c.want)
		}
	}
}
