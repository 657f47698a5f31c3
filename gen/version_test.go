// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsComeAndGoWithVersions(t *testing.T) {
	p := compiled(t, `
versions 1..3 by Base.version;
header Base { version : u4 in 1..3; kind : u4; region : u8 since 2; legacy : u16 until 2; middle : u8 since 2 until 3; last : u8 if kind == 5 since 3; }
header Body(base : Base) { x : u8; y : u8 since 3; }
packet P max 20 {
  base : Base;
  body : Body(base);
  z : u8 since 2;
  rest : switch base.kind { 1 => { a : u8 until 3; b : u8; } _ => nothing; }
  where base.version < 2 || base.region != 9;
}`)
	on(t, p, "P").roundTrip("10"+"0007"+"01", map[string]string{"base.version": "1", "base.kind": "0", "base.legacy": "7", "body.x": "1"})
	on(t, p, "P").roundTrip("21"+"0708"+"01"+"02"+"0304", map[string]string{
		"base.version": "2", "base.kind": "1", "base.region": "7", "base.middle": "8", "body.x": "1", "z": "2", "case1.a": "3", "case1.b": "4",
	})
	on(t, p, "P").roundTrip("35"+"0709"+"0102"+"03", map[string]string{
		"base.version": "3", "base.kind": "5", "base.region": "7", "base.last": "9", "body.x": "1", "body.y": "2", "z": "3",
	})
	on(t, p, "P").rejects("21"+"0908"+"01"+"02"+"0304", "E_WHERE base.region")
	on(t, p, "P").rejects("41"+"0908"+"01"+"02"+"0304", "E_RANGE base.version")
}

func TestTheCallerMayKnowTheVersion(t *testing.T) {
	p := compiled(t, `
versions 1..2 by caller;
packet P(version : u8 = 1) { a : u8; b : u8 since 2; }`)
	on(t, p, "P").roundTrip("07", map[string]string{"a": "7"})
	v, n, err := Decode(p, "P", []byte{7, 8}, Number(2))
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	if diff := cmp.Diff(map[string]string{"a": "7", "b": "8"}, Flatten(v)); diff != "" {
		t.Error(diff)
	}
}

func TestNamesMayBeOverriddenForATarget(t *testing.T) {
	p := compiled(t, `
enum Kind : u8 open @name(go = "Sort", c = "sort") { One = 1 @name(go = "First"); }
header Head @name(go = "Top", c = "top", filter = "top") { kind : Kind @name(go = "Sort", filter = "sort"); }
tlv List max 9 { head { t : u8; l : u8; } key t; length l; 1 => one : nothing unique @name(go = "Uno"); }
packet P { head : Head; list : List; }`)
	want := []Name{{"Head", "Top", "top", "top"}, {"kind", "Sort", "kind", "sort"}, {"Kind", "Sort", "sort", "kind"}, {"One", "First", "one", "one"}, {"one", "Uno", "one", "one"}}
	s := p.StructNamed("Head")
	got := []Name{s.Name, s.Items[0].Name, p.Enums[0].Name, p.Enums[0].Members[0].Name, p.Lists[0].Cases[0].Name}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if plain := compiled(t, "header Head { kind : u8; }"); plain.WireHash != compiled(t, `header Head { kind : u8 @name(go = "Sort"); }`).WireHash {
		t.Error("a name for one target changed the wire hash")
	}
}
