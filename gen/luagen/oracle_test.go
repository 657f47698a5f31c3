// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/openmetaroce/metaroce/gen"
)

// rival is a dissector of Wireshark's own that reads the same packets as one of ours.
type rival struct {
	schema, packet string
	layer          gopacket.LayerType                  // of the packets in gopacket's test frames
	proto          string                              // its name in PDML
	start          string                              // the dissector that the bytes which wrap makes are handed to
	wrap           func(t *testing.T, b []byte) []byte // nil = the packet itself
	fields         string                              // lines of: field of the rival, field of ours without the protocol, how to compare
	options        []string                            // of tshark
	mend           func(b []byte) []byte               // makes a packet one that the rival reads; nil = there is none
}

// overUDP puts a packet into a datagram to port.
func overUDP(port int) func(*testing.T, []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		return datagram(t, route{[]byte{10, 0, 0, 1}, []byte{10, 0, 0, 2}, 50000, port}, b)[14:]
	}
}

// overIP puts a packet into an IPv4 packet of a protocol.
func overIP(protocol layers.IPProtocol) func(*testing.T, []byte) []byte {
	return func(t *testing.T, b []byte) []byte {
		ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: protocol, SrcIP: []byte{10, 0, 0, 1}, DstIP: []byte{10, 0, 0, 2}}
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}, ip, gopacket.Payload(b)); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
}

// gopacketFrames are Ethernet frames from gopacket's tests.
func gopacketFrames(t *testing.T) [][]byte {
	t.Helper()
	raw, err := os.ReadFile("../testdata/packets/gopacket.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out [][]byte
	for _, line := range strings.Split(string(raw), "\n") {
		if name, text, ok := strings.Cut(line, " "); ok && name != "#" {
			out = append(out, unhex(t, text))
		}
	}
	return out
}

// samples are the packets to dissect: those in gopacket's frames, then those of the schema's vectors that the interpreter
// accepts.
func (r *rival) samples(t *testing.T, p *gen.Protocol) (out [][]byte, foreign int) {
	t.Helper()
	seen := map[string]bool{}
	add := func(b []byte) {
		if r.mend != nil {
			b = r.mend(b)
		}
		_, _, err := gen.Decode(p, r.packet, b)
		if b == nil || err != nil || seen[string(b)] {
			return
		}
		seen[string(b)] = true
		out = append(out, b)
	}
	for _, f := range append(gopacketFrames(t), writtenFrames(t)...) {
		for _, l := range gopacket.NewPacket(f, layers.LayerTypeEthernet, gopacket.Default).Layers() {
			if r.layer != 0 && l.LayerType() == r.layer {
				add(slices.Concat(l.LayerContents(), l.LayerPayload()))
			}
		}
	}
	foreign = len(out)
	for _, b := range batches(t, p) {
		for _, data := range b.bytes {
			if b.packet == r.packet {
				add(data)
			}
		}
	}
	return out, foreign
}

// rivalTrees reads the fields of the first tree item of proto in every packet: attributes by name, in order.
func rivalTrees(t *testing.T, data []byte, proto string) []map[string][]map[string]string {
	t.Helper()
	var packets []map[string][]map[string]string
	dec := xml.NewDecoder(bytes.NewReader(data))
	dec.Strict = false
	state := 0 // 0 = before the protocol, 1 = in it, 2 = behind it
	for {
		tok, err := dec.RawToken()
		if errors.Is(err, io.EOF) {
			return packets
		}
		if err != nil {
			t.Fatal(err)
		}
		switch el := tok.(type) {
		case xml.StartElement:
			attr := attributes(el)
			switch {
			case el.Name.Local == "packet":
				packets, state = append(packets, map[string][]map[string]string{}), 0
			case el.Name.Local == "proto" && attr["name"] == proto && state == 0:
				state = 1
			case el.Name.Local == "field" && state == 1:
				m := packets[len(packets)-1]
				m[attr["name"]] = append(m[attr["name"]], attr)
			}
		case xml.EndElement:
			if el.Name.Local == "proto" && state == 1 {
				state = 2
			}
		}
	}
}

// value is a value of the rival in the form of ours.
func (w row) value(attr map[string]string) string {
	show := strings.TrimSuffix(attr["show"], ".")
	switch show {
	case "True":
		show = "1"
	case "False":
		show = "0"
	}
	n, err := strconv.ParseInt(show, 0, 64)
	if u, uerr := strconv.ParseUint(show, 0, 64); err != nil && uerr == nil {
		n, err = int64(u), nil
	}
	switch {
	case w.has("bytes"):
		return "hex:" + attr["value"]
	case w.has("swapped") && len(attr["value"]) == 8:
		v := attr["value"]
		u, _ := strconv.ParseUint(v[6:8]+v[4:6]+v[2:4]+v[0:2], 16, 64)
		return strconv.FormatUint(u, 10)
	case err != nil:
		return "?" + attr["show"]
	case w.has("words"): // theirs counts bytes
		return strconv.FormatInt(n/4, 10)
	case w.has("low7"):
		return strconv.FormatInt(n%128, 10)
	case w.has("hex"):
		return fmt.Sprintf("hex:%0*x", len(attr["value"]), uint64(n))
	case n < 0 && !w.has("signed"):
		return strconv.FormatUint(uint64(n), 10)
	}
	return strconv.FormatInt(n, 10)
}

// row is one line of a mapping table. how holds, separated by commas: "first" = only the first value counts; "if" = the rival
// need not show it; and the form of its value.
type row struct{ theirs, ours, how string }

func (w row) has(word string) bool { return slices.Contains(strings.Split(w.how, ","), word) }

func (r *rival) rows() []row {
	var out []row
	for _, line := range strings.Split(strings.TrimSpace(r.fields), "\n") {
		f := append(strings.Fields(line), "")
		out = append(out, row{f[0], f[1], f[2]})
	}
	return out
}

// allItems lists every item of a schema by filter, heads included.
func allItems(p *gen.Protocol) map[string]*gen.Item {
	m := map[string]*gen.Item{}
	for _, s := range p.Structs {
		for _, it := range s.Items {
			m[filterOf(p, s, it)] = it
		}
	}
	return m
}

// compare dissects all samples twice.
func (r *rival) compare(t *testing.T) {
	t.Helper()
	p := exampleSchema(t, r.schema)
	samples, foreign := r.samples(t, p)
	ownOptions := append([]string{"-T", "pdml", "-o", p.Targets.LuaProto + ".reserved:TRUE"}, asUser(dissectorOf(t, p, r.packet))...)
	own := readPDML(t, tshark(t, generated(t, p), writeUserPcap(t, samples, nil), ownOptions...), p.Targets.LuaProto, allItems(p))
	var wrapped [][]byte
	for _, b := range samples {
		if r.wrap != nil {
			b = r.wrap(t, b)
		}
		wrapped = append(wrapped, b)
	}
	options := slices.Concat([]string{"-T", "pdml"}, r.options, asUser(r.start))
	rivals := rivalTrees(t, plainTshark(t, writeUserPcap(t, wrapped, nil), options...), r.proto)
	values, wrong, asked := 0, 0, map[string]int{}
	for i := range samples {
		for _, w := range r.rows() {
			var want []string
			for _, attr := range rivals[i][w.theirs] {
				want = append(want, w.value(attr))
			}
			var got []string
			for _, name := range strings.Split(w.ours, "|") {
				got = append(got, own[i].fields[p.Targets.LuaProto+"."+name]...)
			}
			asked[w.theirs] += len(want)
			values += len(want)
			if w.has("if") && len(want) == 0 {
				continue
			}
			if w.has("first") {
				got, want = got[:min(len(got), 1)], want[:min(len(want), 1)]
			}
			if !slices.Equal(got, want) {
				t.Errorf("%x: %s = %v, Wireshark's %s = %v", samples[i], w.ours, got, w.theirs, want)
				wrong++
			}
		}
		if wrong > 30 {
			t.Fatal("too many differences")
		}
	}
	for _, w := range r.rows() {
		if asked[w.theirs] == 0 {
			t.Errorf("no packet has %s", w.theirs)
		}
	}
	t.Logf("%s: %d packets, %d of them from gopacket; %d fields, %d values", r.packet, len(samples), foreign, len(r.rows()), values)
}

func TestDissectorsShowWhatWiresharksOwnShow(t *testing.T) {
	for _, r := range rivals {
		t.Run(r.packet, func(t *testing.T) {
			t.Parallel()
			r.compare(t)
		})
	}
}
