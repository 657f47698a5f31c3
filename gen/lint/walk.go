// SPDX-License-Identifier: Apache-2.0

package lint

import "github.com/openmetaroce/metaroce/gen/syntax"

// visitor is called for the parts of all declarations; every member may be nil.
type visitor struct {
	item func(*syntax.Item)
	sw   func(*syntax.Switch)
	rule func(*syntax.Case)
}

func (v visitor) file(f *syntax.File) {
	for _, d := range f.Decls {
		switch {
		case d.Struct != nil:
			v.body(d.Struct.Body)
		case d.List != nil:
			v.list(d.List)
		}
	}
}

func (v visitor) list(l *syntax.List) {
	for _, r := range l.Rules {
		switch {
		case r.Head != nil:
			v.body(r.Head)
		case r.Case != nil:
			if v.rule != nil {
				v.rule(r.Case)
			}
			v.typ(r.Case.Type)
		}
	}
}

func (v visitor) body(b *syntax.Body) {
	if b == nil {
		return
	}
	for _, it := range b.Items {
		if v.item != nil {
			v.item(it)
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

func (v visitor) typ(t *syntax.Type) {
	if t == nil {
		return
	}
	switch {
	case t.Body != nil:
		v.body(t.Body.Body)
	case t.Switch != nil:
		if v.sw != nil {
			v.sw(t.Switch)
		}
		for _, a := range t.Switch.Arms {
			v.typ(a.Type)
		}
	}
}
