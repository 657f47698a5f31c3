// SPDX-License-Identifier: Apache-2.0

package vectorgen

import (
	"errors"
	"fmt"

	"github.com/openmetaroce/metaroce/gen"
)

// seed is one valid packet, from which others are made.
type seed struct {
	id      string
	of      *subject
	tree    *gen.Value // as made
	bytes   []byte
	decoded *gen.Value
}

// unmadeError says that no packet could be made for a plan.
type unmadeError struct {
	id  string
	why error
}

func (e *unmadeError) Error() string {
	text := fmt.Sprintf("no valid packet is found for the vector `%s`", e.id)
	var last *gen.DecodeError
	switch {
	case !errors.As(e.why, &last):
		return text + ": " + e.why.Error()
	case last.Text == "":
		return fmt.Sprintf("%s: the last try ends with %s, %s", text, last.Code.Name, last.Code.Text)
	}
	return fmt.Sprintf("%s: the last try breaks `%s`", text, last.Text)
}

func (e *unmadeError) Unwrap() error { return e.why }

// unmade tells whether err says that no packet could be made.
func unmade(err error) bool {
	var e *unmadeError
	return errors.As(err, &e)
}

// newSeed makes a valid packet for a plan. Constraints between fields are met by trying numbers that they mention.
func newSeed(p *gen.Protocol, of *subject, id string, pl plan) (*seed, error) {
	m := &maker{plan: pl}
	tree := &gen.Value{}
	m.structure(tree, of.st, of.args())
	return settle(p, &seed{id: id, of: of, tree: tree})
}

// settle changes numbers of s.tree until the packet is valid, and encodes it.
func settle(p *gen.Protocol, s *seed) (*seed, error) {
	var last error
	m := &maker{}
	for range 16 {
		m.fit(gen.Scope{Self: s.tree, Args: s.of.args()})
		b, err := gen.Encode(p, s.tree, s.of.params...)
		if err != nil {
			return nil, &unmadeError{s.id, err}
		}
		v, _, err := gen.Decode(p, s.of.st.Name.Schema, b, s.of.params...)
		if err == nil {
			s.bytes, s.decoded = b, v
			return s, nil
		}
		last = err
		var e *gen.DecodeError
		if !errors.As(err, &e) || e.Rule == nil {
			break
		}
		scopes(gen.Scope{Self: s.tree, Args: s.of.args()}, func(sc gen.Scope) {
			if reads(sc, e.Rule.Hold) {
				m.satisfy(sc, e.Rule.Hold)
			}
		})
	}
	return nil, &unmadeError{s.id, last}
}

// reads reports whether an item that e names exists in sc.
func reads(sc gen.Scope, e *gen.Expr) bool {
	for _, r := range refs(e) {
		if r.Param == nil && len(r.Path) > 0 && sc.Resolve(r) != nil {
			return true
		}
	}
	for _, r := range refs(e) {
		if r.Param != nil && sc.Args[r.Param] != nil {
			return true
		}
	}
	return false
}

// scopes visits every struct in the tree with the parameters that it was given.
func scopes(sc gen.Scope, visit func(gen.Scope)) {
	if sc.Self.Struct != nil {
		visit(sc)
	}
	for _, k := range sc.Self.Kids {
		switch {
		case k.Item == nil: // TLV
			scopes(gen.Scope{Self: k, Args: sc.ArgsOf(k)}, visit)
		case k.Item.Kind == gen.KindArray && k.Item.Array.Struct != nil:
			for _, e := range k.Kids {
				scopes(gen.Scope{Self: e, Args: sc.Bind(k.Item.Array.Struct, k.Item.Array.Args)}, visit)
			}
		case k.Arm != nil && k.Arm.Struct != nil:
			scopes(gen.Scope{Self: k, Args: sc.Bind(k.Arm.Struct, k.Arm.Args)}, visit)
		case k.Struct != nil:
			scopes(gen.Scope{Self: k, Args: sc.Bind(k.Struct, k.Item.Args)}, visit)
		case k.Item.Kind == gen.KindList:
			scopes(gen.Scope{Self: k, Args: sc.ArgsOf(k)}, visit)
		}
	}
}

// shape is what a struct can hold, found by walking everything below it.
type shape struct {
	optional []*gen.Item
	cases    []*gen.Case
	arrays   []*gen.Item
	switches []*gen.Item
}

// shapeOf walks st. A switch contributes only the arm that picks names for it; without one it is listed and not entered.
func shapeOf(st *gen.Struct, picks map[*gen.Switch]pick) *shape {
	s := &shape{}
	s.walk(st, picks)
	return s
}

func (s *shape) walk(st *gen.Struct, picks map[*gen.Switch]pick) {
	if st == nil {
		return
	}
	for _, item := range st.Items {
		if item.When != nil {
			s.optional = append(s.optional, item)
		}
		switch item.Kind {
		case gen.KindStruct:
			s.walk(item.Struct, picks)
		case gen.KindArray:
			s.arrays = append(s.arrays, item)
			s.walk(item.Array.Struct, picks)
		case gen.KindList:
			s.cases = append(s.cases, item.List.Cases...)
			for _, c := range item.List.Cases {
				s.walk(c.Struct, picks)
			}
		case gen.KindSwitch:
			s.switches = append(s.switches, item)
			s.walk(picks[item.Switch].armStruct(), picks)
		}
	}
}

func (p pick) armStruct() *gen.Struct {
	if p.arm == nil {
		return nil
	}
	return p.arm.Struct
}
