// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Refused is why backends print nothing: the schema is sound, but they have no form for parts of it.
type Refused struct {
	Diagnostics []syntax.Diagnostic // at least one, in the order of the source, with codes of the block E08
}

// Error lists all refusals as mrgen prints them.
func (e *Refused) Error() string { return listed(e.Diagnostics, "refusal") }

// Refuse returns a *Refused with each of some diagnostics once, in the order of the source; nil when there are none.
func Refuse(diags []syntax.Diagnostic) error {
	if len(diags) == 0 {
		return nil
	}
	all := slices.Clone(diags)
	slices.SortStableFunc(all, func(x, y syntax.Diagnostic) int {
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Col, y.Col), cmp.Compare(x.Code, y.Code), cmp.Compare(x.Message, y.Message))
	})
	all = slices.CompactFunc(all, func(x, y syntax.Diagnostic) bool { return x.Error() == y.Error() })
	return &Refused{all[:min(len(all), maxRefusals)]}
}

// maxRefusals bounds what one run reports, as that of faults is.
const maxRefusals = 100

// Diagnostics returns what an error carries: the faults of a *SchemaError or the refusals of a *Refused; nil for any other.
func Diagnostics(err error) []syntax.Diagnostic {
	var faulty *SchemaError
	var refused *Refused
	switch {
	case errors.As(err, &faulty):
		return faulty.Diagnostics
	case errors.As(err, &refused):
		return refused.Diagnostics
	}
	return nil
}

// Refusals collects the parts of one protocol that a backend has no form for.
type Refusals struct {
	p    *Protocol
	code string
	mark string
	all  []syntax.Diagnostic
}

// Refusals begins a collection. The code is the backend's, the mark stands under each part that it refuses.
func (p *Protocol) Refusals(code, mark string) *Refusals {
	return &Refusals{p: p, code: code, mark: mark}
}

// Refusal completes one refusal.
type Refusal struct{ d *syntax.Diagnostic }

// Add refuses a part; the text says why. A part of nil is the protocol as a whole.
func (r *Refusals) Add(at Declared, format string, args ...any) Refusal {
	s := r.p.spot(at)
	r.all = append(r.all, syntax.Diagnostic{
		Code: r.code, File: s.file, Line: s.Line, Col: s.Col, EndCol: s.EndCol, Source: syntax.Line(s.source, s.Line),
		Message: fmt.Sprintf(format, args...), Mark: r.mark, Help: syntax.Help(r.code),
	})
	return Refusal{&r.all[len(r.all)-1]}
}

// Help replaces the code's general advice. It must be called before the next refusal is added.
func (r Refusal) Help(format string, args ...any) { r.d.Help = fmt.Sprintf(format, args...) }

// Features refuses every use of a feature that the backend does not know.
func (r *Refusals) Features(known ...Feature) {
	for _, u := range r.p.Features() {
		if !slices.Contains(known, u.Feature) {
			r.Add(u.At, "%s: not supported by this backend", u.Feature)
		}
	}
}

// Take adds what an error refuses and returns nil; any other error is returned as it is.
func (r *Refusals) Take(err error) error {
	diags := Diagnostics(err)
	if diags == nil {
		return err
	}
	r.all = append(r.all, diags...)
	return nil
}

// None tells whether nothing has been refused so far.
func (r *Refusals) None() bool { return len(r.all) == 0 }

// Err is a *Refused with all that was added; nil when nothing was.
func (r *Refusals) Err() error { return Refuse(r.all) }
