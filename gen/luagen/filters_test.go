// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// itemsByFilter lists every named item that the root can reach. Heads of lists are left out: vectors do not name them.
func itemsByFilter(p *gen.Protocol) map[string]*gen.Item {
	heads := map[*gen.Struct]bool{}
	for _, l := range p.Lists {
		heads[l.Head] = true
	}
	m := map[string]*gen.Item{}
	for _, s := range p.Structs {
		for _, it := range s.Items {
			if !heads[s] && it.Name.Schema != "_" {
				m[filterOf(p, s, it)] = it
			}
		}
	}
	return m
}

func filterOf(p *gen.Protocol, s *gen.Struct, it *gen.Item) string {
	return strings.Join([]string{p.Targets.LuaProto, s.Name.Filter, it.Name.Filter}, ".")
}

// resolved is the item at a path of a vector: its filter; the item, nil for an empty list element.
type resolved struct {
	filter string
	item   *gen.Item
}

// resolve follows an item path through the schema: items by name, switches by the name of their arm, lists by that of the case.
func resolve(t *testing.T, p *gen.Protocol, root *gen.Struct, path string) resolved {
	t.Helper()
	s, parts := root, strings.Split(path, ".")
	for i := 0; i < len(parts); i++ {
		name, _, _ := strings.Cut(parts[i], "[")
		it := findItem(s, name)
		if it == nil {
			t.Fatalf("path %s: %s has no item %s", path, s.Name.Schema, name)
		}
		last := i == len(parts)-1
		switch it.Kind {
		case gen.KindStruct:
			s = it.Struct
		case gen.KindArray:
			if last {
				return resolved{filterOf(p, s, it), it}
			}
			s = it.Array.Struct
		case gen.KindSwitch:
			s = armStruct(it, name)
		case gen.KindList:
			i++
			name, _, _ := strings.Cut(parts[i], "[")
			c := findCase(it.List, name)
			if c.Struct == nil {
				return resolved{p.Targets.LuaProto + "." + it.List.Name.Filter + "." + c.Name.Filter, nil}
			}
			if i+1 < len(parts) {
				for _, it := range c.Head {
					if it.Name.Schema == parts[i+1] {
						return resolved{filterOf(p, it.Owner, it), it}
					}
				}
			}
			s = c.Struct
		default:
			return resolved{filterOf(p, s, it), it}
		}
	}
	t.Fatalf("path %s ends at a container", path)
	return resolved{}
}

// findItem finds an item by its name, or a switch that has an arm of that name.
func findItem(s *gen.Struct, name string) *gen.Item {
	for _, it := range s.Items {
		if it.Name.Schema == name && it.Kind != gen.KindSwitch || it.Kind == gen.KindSwitch && armStruct(it, name) != nil {
			return it
		}
	}
	return nil
}

func armStruct(it *gen.Item, name string) *gen.Struct {
	for _, a := range it.Switch.Arms {
		if snake(a.Name.Schema) == name {
			return a.Struct
		}
	}
	return nil
}

func findCase(l *gen.List, name string) *gen.Case {
	for _, c := range l.Cases {
		if c.Name.Schema == name {
			return c
		}
	}
	return nil
}
