// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// Generate writes the vectors of every packet into <schema>.json, except of those that need a decoded header.
func Generate(p *gen.Protocol) ([]gen.File, error) {
	k := &book{p: p, ids: map[string]bool{}, seen: map[string]bool{}}
	for _, st := range p.Structs {
		if !st.Packet {
			continue
		}
		of, err := newSubject(p, st)
		if err != nil {
			return nil, err
		}
		if of == nil {
			continue
		}
		g := &generator{p: p, st: st, of: of, k: k, items: map[*gen.Item]bool{}, lists: map[*gen.List]bool{}, cases: map[*gen.Case]bool{}, forms: map[*gen.Item]bool{}}
		if err := g.packet(); err != nil {
			return nil, err
		}
	}
	if err := k.examples(); err != nil {
		return nil, err
	}
	data, err := k.render()
	if err != nil {
		return nil, err
	}
	return []gen.File{{Path: strings.TrimSuffix(p.Source, ".mrs") + ".json", Data: data}}, nil
}

// generator makes the vectors of one packet.
type generator struct {
	p     *gen.Protocol
	st    *gen.Struct
	of    *subject
	k     *book
	items map[*gen.Item]bool // items that have had all their interesting values; later ones get a few
	lists map[*gen.List]bool // lists that have had every rule broken
	cases map[*gen.Case]bool // elements that have been varied
	forms map[*gen.Item]bool // optional items that drive out others, seen before
	err   error              // the first error; nothing is added after it
	why   error              // why the last packet that was tried could not be made; nil = it could
}

// add records b, with sums computed as in s.
func (g *generator) add(s *seed, name string, b []byte) {
	g.resum(s, b)
	g.addRaw(s, name, b)
}

// addRaw records b as it is.
func (g *generator) addRaw(s *seed, name string, b []byte) {
	if g.err != nil {
		return
	}
	id := s.id
	if name != "" {
		id += "/" + name
	}
	g.err = g.k.add(id, g.of, b)
}

func (g *generator) packet() error {
	top := shapeOf(g.st, nil)
	if len(top.switches) == 0 {
		g.variant(g.st.Name.Filter, nil)
		return g.err
	}
	for _, sw := range top.switches {
		seen := map[*gen.Arm]int{}
		for _, pk := range picksOf(sw.Switch) {
			id := pk.arm.Name.Filter
			if seen[pk.arm]++; seen[pk.arm] > 1 {
				id = fmt.Sprintf("%s-%#x", id, pk.label)
			}
			picks := map[*gen.Switch]pick{sw.Switch: pk}
			if shares(sw) && g.seed(id, plan{picks: picks}) == nil {
				continue
			}
			if seen[pk.arm] > 1 {
				g.another(id, picks)
			} else {
				g.variant(id, picks)
			}
		}
		g.unassigned(sw)
	}
	return g.err
}

// another records one more selector value of an arm that has had its vectors.
func (g *generator) another(id string, picks map[*gen.Switch]pick) {
	if s := g.seed(id, plan{picks: picks, amount: 1}); s != nil {
		g.add(s, "", s.bytes)
	}
}

// seed makes a packet, or nil when the plan cannot be met.
func (g *generator) seed(id string, pl plan) *seed {
	s, err := newSeed(g.p, g.of, id, pl)
	if g.why = err; err != nil && !errors.Is(err, ErrUnmade) {
		g.err = err
	}
	return s
}

// variant makes all vectors of one arm.
func (g *generator) variant(id string, picks map[*gen.Switch]pick) {
	least := g.seed(id+"/min", plan{picks: picks})
	if least == nil {
		g.fail(fmt.Errorf("%s: packet %s: %w", g.p.Source, g.st.Name.Schema, g.why))
		return
	}
	g.add(least, "", least.bytes)
	sh := shapeOf(g.st, picks)
	full := plan{picks: picks, with: map[*gen.Item]bool{}, cases: map[*gen.Case]bool{}, amount: 3, repeated: 2}
	var forms []*seed
	for _, item := range sh.optional {
		switch s := g.optional(least, item, picks); {
		case s == nil:
		case keeps(s, least):
			g.add(s, "", s.bytes)
			full.with[item] = true
		case !g.forms[item]:
			g.forms[item] = true
			forms = append(forms, s)
		}
	}
	for _, c := range sh.cases {
		full.cases[c] = true
	}
	groups := g.groups(id, full, sh.cases)
	if groups == nil {
		groups = []*seed{least}
	}
	for i, most := range groups {
		if g.add(most, "", most.bytes); i == 0 {
			g.vary(most)
			g.counts(id, sh, picks)
		}
		g.tlvs(least, most, sh)
	}
	for _, s := range forms {
		if before := len(g.k.all); g.err == nil {
			if g.add(s, "", s.bytes); len(g.k.all) > before {
				g.vary(s)
			}
		}
	}
}

// groups makes packets that together have every element of the plan: one with all of them when that fits, else as many as
// it takes.
func (g *generator) groups(id string, full plan, cases []*gen.Case) (all []*seed) {
	if s := g.seed(id+"/full", full); s != nil || len(cases) == 0 {
		if s == nil {
			return nil
		}
		return []*seed{s}
	}
	full.repeated, full.amount = 1, 1
	for left := cases; len(left) > 0; {
		name := id + "/full"
		if len(all) > 0 {
			name = fmt.Sprintf("%s/full%d", id, len(all)+1)
		}
		full.cases = map[*gen.Case]bool{}
		var made *seed
		var rest []*gen.Case
		for _, c := range left {
			full.cases[c] = true
			if s := g.seed(name, full); s != nil {
				made = s
				continue
			}
			delete(full.cases, c)
			rest = append(rest, c)
		}
		if made == nil {
			break
		}
		all, left = append(all, made), rest
	}
	return all
}

func (g *generator) fail(err error) {
	if g.err == nil {
		g.err = err
	}
}

// vary records everything that a packet can become by changes to its bytes, and by other lengths of its spans.
func (g *generator) vary(s *seed) {
	g.pairs(s, g.mutate(s))
	g.spans(s)
	g.stray(s)
	g.truncate(s)
	g.sums(s)
}

// optional makes a packet with one optional item that least has not; nil when there is none.
func (g *generator) optional(least *seed, item *gen.Item, picks map[*gen.Switch]pick) *seed {
	if holds(least.decoded, item) {
		return nil
	}
	id := strings.TrimSuffix(least.id, "/min") + "/with-" + item.Name.Filter
	s := g.seed(id, plan{picks: picks, with: map[*gen.Item]bool{item: true}, amount: 2})
	if s == nil || !holds(s.decoded, item) {
		return nil
	}
	return s
}

// keeps reports whether s has every item that least has; otherwise it is another form of the packet.
func keeps(s, least *seed) bool {
	for _, f := range gen.Fields(least.decoded) {
		if s.decoded.Lookup(f.Path) == nil {
			return false
		}
	}
	return true
}

// holds reports whether item occurs anywhere below v.
func holds(v *gen.Value, item *gen.Item) bool {
	for _, f := range gen.Fields(v) {
		if f.Node.Item == item {
			return true
		}
	}
	return false
}

// unassigned records selector values that lead to no arm.
func (g *generator) unassigned(sw *gen.Item) {
	s := g.seed(sw.Name.Filter, plan{amount: 1})
	if s == nil {
		return
	}
	var sel *gen.Field
	for _, f := range gen.Fields(s.decoded) {
		if f.Node.Item == sw.Switch.Selector.Last() {
			sel = &f
			break
		}
	}
	if sel == nil || sel.Node.Scalar == nil {
		return
	}
	top := maxOf(sel.Node.Scalar.Bits)
	numbers := []uint64{0, top}
	for _, pk := range picksOf(sw.Switch) {
		numbers = append(numbers, pk.label-1, pk.label+1)
	}
	for _, n := range numbers {
		if n <= top && !assigned(sw.Switch, n) {
			g.patch(s, *sel, n)
		}
	}
}

func assigned(s *gen.Switch, n uint64) bool {
	for _, a := range s.Arms {
		for _, r := range a.Labels {
			if r.First <= n && n <= r.Last && a.Reject == nil {
				return true
			}
		}
	}
	return false
}

// counts records arrays of several lengths.
func (g *generator) counts(id string, sh *shape, picks map[*gen.Switch]pick) {
	for _, item := range sh.arrays {
		if g.items[item] {
			continue
		}
		g.items[item] = true
		most := 64
		if item.Array.MaxCount >= 0 {
			most = min(item.Array.MaxCount, 255)
		}
		for _, n := range []int{0, 1, 2, 4, 17, most} {
			if s := g.seed(fmt.Sprintf("%s/%s:count=%d", id, item.Name.Filter, n), plan{picks: picks, amount: n}); s != nil {
				g.add(s, "", s.bytes)
			}
		}
	}
}

// examples records the schema's own examples and rejects.
func (k *book) examples() error {
	for _, e := range k.p.Examples {
		of, err := exampleSubject(k.p, e)
		if err != nil {
			return err
		}
		kind := "example"
		if e.Code != nil {
			kind = "counterexample"
		}
		if err := k.add(kind+"/"+strings.ReplaceAll(e.Name, " ", "-"), of, e.Bytes); err != nil {
			return err
		}
	}
	return nil
}
