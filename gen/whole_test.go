// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// wholeCase is a packet of testdata/whole.mrs without its checksum, and what must come of it.
type wholeCase struct {
	name, packet, bytes string
	code, at            string            // wanted error; "" = none
	fields              map[string]string // wanted values, among others
}

var wholeCases = []wholeCase{
	{name: "a member that version 1 lacks", packet: "Ages", bytes: "10 02 00 00", code: "E_ENUM", at: "aged.age"},
	{name: "a member that version 2 has", packet: "Ages", bytes: "20 02 00 00", fields: map[string]string{"aged.age": "2"}},
	{name: "a member that version 3 lacks", packet: "Ages", bytes: "30 09 00 00 00", code: "E_ENUM", at: "aged.age"},
	{name: "a member of no version", packet: "Ages", bytes: "20 0a 00 00", code: "E_ENUM", at: "aged.age"},
	{name: "an arm that version 1 lacks", packet: "Ages", bytes: "10 00 01 00 05", code: "E_SORT", at: "aged.kind"},
	{name: "an arm that version 2 has", packet: "Ages", bytes: "20 00 04 00 05", fields: map[string]string{"aged.case1.x": "5"}},
	{name: "an arm that version 3 lacks", packet: "Ages", bytes: "30 00 07 02 00 0005", code: "E_SORT", at: "aged.kind"},
	{name: "two switches over one number", packet: "Switches", bytes: "01 00 1234 05 77",
		fields: map[string]string{"twice.case1.x": "4660", "twice.second_case1.x": "119"}},
	{name: "a second switch of its own", packet: "Switches", bytes: "02 01 80 00000009", fields: map[string]string{"twice.third_case1.value": "9"}},
	{name: "a second switch that rejects", packet: "Switches", bytes: "28 00 01 000000 05", code: "E_SORT", at: "twice.second"},
	{name: "a number too wide for its enum", packet: "Numbers", bytes: "4101 01 00010000", code: "E_ENUM", at: "lists.wide"},
	{name: "an element that is no member", packet: "Numbers", bytes: "8101 0103", code: "E_ENUM", at: "lists.few[1]"},
	{name: "texts", packet: "Words", bytes: "616200000000 61627e7f 780000 01 79 0000",
		fields: map[string]string{"texts.name": "text:ab", "texts.both": "text:x", "texts.free": "text:y"}},
	{name: "a text behind a NUL", packet: "Words", bytes: "616200000001 61626364 780000 00 0000", code: "E_PADDING", at: "texts.name"},
	{name: "a text that is not ASCII", packet: "Words", bytes: "616200000000 61c3a464 780000 00 0000", code: "E_STRING", at: "texts.title"},
	{name: "the size of a padded text", packet: "Words", bytes: "616200000000 61626364 780000 05 7979797979 0000", code: "E_WHERE", at: "texts.n"},
	{name: "named expressions", packet: "Names", bytes: "53 00 10 00", fields: map[string]string{"named.sum": "16", "named.case0.x": "0"}},
	{name: "a derived name", packet: "Names", bytes: "53 00 11 00", code: "E_DERIVED", at: "named.sum"},
	{name: "a name inside an arm", packet: "Names", bytes: "53 00 10 0b", code: "E_WHERE", at: "named.case0.x"},
	{name: "the count of an outer array", packet: "Questions", bytes: "20 00 0001 0002 0000000000000000 01 02", code: "E_WHERE", at: "asking.case1.x"},
	{name: "an outer signed number", packet: "Questions", bytes: "00 d8 0000000000000000 01 05", code: "E_WHERE", at: "asking.case1.x"},
	{name: "computed arguments", packet: "Questions", bytes: "00 00 0000000000000000 05 00 07", code: "E_WHERE", at: "asking.given.a"},
	{name: "elements with parameters", packet: "Elements", bytes: "10 07 04 0102 0500", fields: map[string]string{"extras.few.a": "5", "extras.few.rest": "hex:00"}},
	{name: "an element beside its parameter", packet: "Elements", bytes: "10 07 03 0101 08", code: "E_WHERE", at: "extras.few.a"},
	{name: "a body that reads the list's parameter", packet: "Elements", bytes: "10 07 03 0201 08", code: "E_WHERE", at: "extras.own[0].x"},
	{name: "a count that two bodies share", packet: "Shares", bytes: "02 00 00010002 01 00 616263", fields: map[string]string{"halves.c.n": "2", "odds.c.n": "1"}},
}

func TestWholeLanguageMeansWhatItsManualSays(t *testing.T) {
	p, err := Load("testdata/whole.mrs")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range wholeCases {
		t.Run(c.name, func(t *testing.T) { c.run(t, p) })
	}
}

func (c wholeCase) run(t *testing.T, p *Protocol) {
	b, err := hex.DecodeString(strings.ReplaceAll(c.bytes, " ", "") + "0000")
	if err != nil {
		t.Fatal(err)
	}
	tree, n, err := Decode(p, c.packet, b)
	var e *DecodeError
	switch {
	case c.code != "" && (!errors.As(err, &e) || e.Code.Name != c.code || e.Field != c.at):
		t.Fatalf("got %v, want %s at %s", err, c.code, c.at)
	case c.code != "":
		return
	case err != nil || n != len(b):
		t.Fatalf("%d of %d bytes: %v", n, len(b), err)
	}
	got := map[string]string{}
	for path, value := range Flatten(tree) {
		if _, ok := c.fields[path]; ok {
			got[path] = value
		}
	}
	if diff := cmp.Diff(c.fields, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := Resum(p, c.packet, b); err != nil {
		t.Fatal(err)
	}
	again, err := Encode(p, tree)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b, again); diff != "" {
		t.Errorf("encoded again: -want +got:\n%s", diff)
	}
}
