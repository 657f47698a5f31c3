// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// dissected is what tshark shows of one packet.
type dissected struct {
	fields map[string][]string // filter to values, in the order of the tree
	isOurs bool
	broken string // message of a Lua error
}

// has returns the only value of a filter, or "".
func (d *dissected) has(filter string) string {
	if v := d.fields[filter]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// readPDML reads tshark's PDML. Numbers come in decimal, bytes and text as "hex:…" of their bytes, pads as their length;
// known gives the items by filter.
func readPDML(t *testing.T, data []byte, proto string, known map[string]*gen.Item) []*dissected {
	t.Helper()
	var packets []*dissected
	// Text in packets may hold characters that XML forbids and tshark passes on.
	for _, c := range []string{"\uffff", "\ufffe"} {
		data = bytes.ReplaceAll(data, []byte(c), []byte("?"))
	}
	dec := xml.NewDecoder(bytes.NewReader(data))
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return packets
		}
		if err != nil {
			t.Fatal(err)
		}
		el, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		switch el.Name.Local {
		case "packet":
			packets = append(packets, &dissected{fields: map[string][]string{}})
		case "proto", "field":
			packets[len(packets)-1].add(t, attributes(el), proto, known)
		}
	}
}

func attributes(el xml.StartElement) map[string]string {
	m := map[string]string{}
	for _, a := range el.Attr {
		m[a.Name.Local] = a.Value
	}
	return m
}

func (d *dissected) add(t *testing.T, attr map[string]string, proto string, known map[string]*gen.Item) {
	t.Helper()
	name := attr["name"]
	switch {
	case name == proto:
		d.isOurs = true
	case name == "_ws.lua.error":
		d.broken = attr["showname"] + attr["show"]
	case strings.HasPrefix(name, proto+"."):
		d.fields[name] = append(d.fields[name], shownValue(t, attr, known[name]))
	}
}

// shownValue is the value of a field; item is nil for fields that are none of the schema's.
func shownValue(t *testing.T, attr map[string]string, item *gen.Item) string {
	t.Helper()
	switch {
	case item == nil:
		return attr["show"]
	case item.Kind == gen.KindSpan && item.Span.Kind == gen.SpanPad:
		return attr["size"]
	case item.Kind == gen.KindSpan || item.Kind == gen.KindBits:
		return "hex:" + attr["value"]
	}
	show := attr["show"]
	if n, err := strconv.ParseUint(show, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	if n, err := strconv.ParseInt(show, 0, 64); err == nil {
		return strconv.FormatInt(n, 10)
	}
	t.Fatalf("%s shows %q, which is no number", attr["name"], show)
	return ""
}

// wantedValue is a vector's value in the same form, or "" for an item without bytes, which trees do not show.
func wantedValue(item *gen.Item, text string) string {
	if rest, ok := strings.CutPrefix(text, "text:"); ok {
		b := []byte(rest)
		if item.Span.Padded {
			b = append(b, make([]byte, item.Span.Fixed-len(b))...)
		}
		text = "hex:" + hex.EncodeToString(b)
	}
	if text == "hex:" || text == "0" && item.Kind == gen.KindSpan {
		return ""
	}
	return text
}

func unhex(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
