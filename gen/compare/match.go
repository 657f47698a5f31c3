// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/openmetaroce/metaroce/gen"
)

// differences lists what is not the same in two protocols, the gravest first.
func differences(old, new *gen.Protocol) []Change {
	before, after := factsOf(old), factsOf(new)
	m := &matcher{before: before, old: index(before), new: index(after), parents: map[string]string{"": ""}, taken: map[*fact]bool{}}
	for _, f := range after {
		m.fact(f)
	}
	gone := map[string]bool{}
	for _, f := range before {
		if m.taken[f] {
			continue
		}
		if f.parent == "" {
			gone[f.key] = true
		}
		if !gone[f.parent] {
			m.note(f.gone, f, "removed")
		}
	}
	m.reused(old, new)
	rank := map[Class]int{Wire: 0, Source: 1, Doc: 2}
	slices.SortStableFunc(m.out, func(a, b Change) int { return cmp.Compare(rank[a.Class], rank[b.Class]) })
	return m.out
}

// id finds a fact.
type id struct{ parent, key string }

// matcher finds for each declaration of the new protocol its like in the old one.
type matcher struct {
	before   []*fact
	old, new map[id]*fact
	parents  map[string]string // what a declaration of the new protocol was called
	taken    map[*fact]bool    // facts of the old protocol that go on
	out      []Change
}

func index(facts []*fact) map[id]*fact {
	m := map[id]*fact{}
	for _, f := range facts {
		if m[id{f.parent, f.key}] == nil {
			m[id{f.parent, f.key}] = f
		}
	}
	return m
}

// label is what people call a fact.
func (f *fact) label() string {
	if f.name != "" {
		return f.name
	}
	return f.key
}

func (m *matcher) note(class Class, f *fact, what string) {
	m.out = append(m.out, Change{class, f.label(), what})
}

func (m *matcher) fact(f *fact) {
	parent, known := m.parents[f.parent]
	if !known {
		return // the parent is new as a whole
	}
	old := m.old[id{parent, f.key}]
	if old == nil {
		if old = m.renamed(f, parent); old == nil {
			m.note(f.came, f, "added")
			return
		}
		if !f.quiet {
			m.note(Source, f, "renamed from "+old.label())
		}
	}
	m.taken[old] = true
	if f.parent == "" {
		m.parents[f.key] = old.key
	}
	m.attrs(f, old)
}

func (m *matcher) attrs(f, old *fact) {
	for _, a := range f.attrs {
		b, ok := old.attr(a.name)
		switch {
		case ok && a.same(b), old.key != f.key && a.class == Source:
		case a.class == Doc:
			m.note(Doc, f, a.name+" changes")
		default:
			m.note(a.class, f, fmt.Sprintf("%s: %s, was %s", a.name, orNone(a.text), orNone(b.text)))
		}
	}
	for _, b := range old.attrs {
		if _, ok := f.attr(b.name); !ok && b.class != Doc {
			m.note(b.class, f, fmt.Sprintf("%s: none, was %s", b.name, orNone(b.text)))
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

func (f *fact) attr(name string) (attr, bool) {
	for _, a := range f.attrs {
		if a.name == name {
			return a, true
		}
	}
	return attr{}, false
}

// renamed finds the part of a parent that stood at the place of f under a name that is gone.
func (m *matcher) renamed(f *fact, parent string) *fact {
	if f.place == "" {
		return nil
	}
	for _, old := range m.before {
		still := m.new[id{f.parent, old.key}] != nil
		if old.parent == parent && old.place == f.place && !still && !m.taken[old] {
			return old
		}
	}
	return nil
}

// reused finds numbers that an enum had reserved and that now have a name.
func (m *matcher) reused(old, new *gen.Protocol) {
	for _, e := range new.Enums {
		for _, o := range old.Enums {
			if o.Name.Schema != e.Name.Schema {
				continue
			}
			for _, x := range e.Members {
				for _, r := range o.Reserved {
					if x.First <= r.Last && r.First <= x.Last {
						m.out = append(m.out, Change{Wire, "enum " + e.Name.Schema + "." + x.Name.Schema, "takes a number that was reserved: " + r.Text()})
					}
				}
			}
		}
	}
}
