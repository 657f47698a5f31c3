// SPDX-License-Identifier: Apache-2.0

package syntax

// Visitor is called for the parts of declarations, outer ones first; every member may be nil.
type Visitor struct {
	Item   func(*Item)
	Switch func(*Switch)
	Case   func(*Case)
}

// Visit walks through all headers, packets and lists of a file.
func (v Visitor) Visit(f *File) {
	for _, d := range f.Decls {
		switch {
		case d.Struct != nil:
			v.body(d.Struct.Body)
		case d.List != nil:
			v.list(d.List)
		}
	}
}

func (v Visitor) list(l *List) {
	for _, r := range l.Rules {
		switch {
		case r.Head != nil:
			v.body(r.Head)
		case r.Case != nil:
			if v.Case != nil {
				v.Case(r.Case)
			}
			v.typ(r.Case.Type)
		}
	}
}

func (v Visitor) body(b *Body) {
	if b == nil {
		return
	}
	for _, it := range b.Items {
		if v.Item != nil {
			v.Item(it)
		}
		switch {
		case it.If != nil:
			v.body(it.If.Then)
			for _, m := range it.If.More {
				v.body(m.Then)
			}
			v.body(it.If.Else)
		case it.Field != nil:
			v.typ(it.Field.Type)
		}
	}
}

func (v Visitor) typ(t *Type) {
	if t == nil {
		return
	}
	switch {
	case t.Body != nil:
		v.body(t.Body.Body)
	case t.Switch != nil:
		if v.Switch != nil {
			v.Switch(t.Switch)
		}
		for _, a := range t.Switch.Arms {
			v.typ(a.Type)
		}
	}
}

// ItemAt finds the innermost item of a body that stands at a place; nil when there is none.
func (f *File) ItemAt(p Pos) (found *Item) {
	Visitor{Item: func(it *Item) {
		if it.Pos.Offset <= p.Offset && p.Offset < it.EndPos.Offset {
			found = it
		}
	}}.Visit(f)
	return found
}
