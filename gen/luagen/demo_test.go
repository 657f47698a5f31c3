// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/openmetaroce/metaroce/gen"
)

// The demonstration: one connection from handshake to close, with a lost packet, as a capture and as tshark sums it up.
const (
	demoCapture = "../../wireshark/testdata/demo.pcapng"
	demoSummary = "../../wireshark/testdata/demo.txt"
)

// side is an end of the demonstration's connection.
type side int

const (
	opener side = iota
	acceptor
)

// demoPacket is one packet: a vector of the opcode that has the named field, with numbers and bytes changed.
type demoPacket struct {
	from    side
	opcode  string
	field   string
	numbers map[string]uint64
	bytes   map[string][]byte
}

const demoData = 1024

// demoWrite is chunk n of a message of four, under transmission number tsn.
func demoWrite(n, tsn uint64) demoPacket {
	return demoPacket{opener, "Write", "plain.write.data", map[string]uint64{"base.psn": 100 + n, "base.tsn": tsn, "plain.write.message.stream": 1,
		"plain.write.message.offset": n * demoData, "plain.write.message.length": 4 * demoData, "plain.write.message.floor": n,
		"plain.write.write_target.key": 0xfeed0001, "plain.write.write_target.at": n * demoData},
		map[string][]byte{"plain.write.data": bytes.Repeat([]byte{byte('a' + n)}, demoData)}}
}

func demoPackets() []demoPacket {
	hello := func(from side, opcode string, n map[string]uint64) demoPacket {
		return demoPacket{from, opcode, "plain." + snake(opcode), n, nil}
	}
	ack := func(tsn, base, largest, at uint64) demoPacket {
		return demoPacket{acceptor, "Ack", "plain.ack", map[string]uint64{"base.psn": 900, "base.tsn": tsn, "plain.ack.ack.sent_at": at,
			"plain.ack.blocks[0].base": base, "plain.ack.blocks[0].largest": largest, "plain.ack.blocks[0].received_at": at - 2000,
			"plain.ack.blocks[0].packets": largest - 99}, nil}
	}
	gap := ack(900, 101, 103, 1_000_000)
	gap.field = "plain.ack.blocks[0].sack"
	gap.bytes = map[string][]byte{gap.field: append([]byte{0x60}, make([]byte, 31)...)}
	return []demoPacket{
		hello(opener, "Open", map[string]uint64{"plain.open.open.tag": 0xaaaa0001, "plain.open.open.first": 100}),
		hello(acceptor, "Accept", map[string]uint64{"plain.accept.accept.tag": 0xbbbb0002, "plain.accept.accept.first": 900}),
		demoWrite(0, 100), demoWrite(1, 101), demoWrite(2, 102), demoWrite(3, 103), // the second one is lost behind the capture
		gap,
		demoWrite(1, 104),
		ack(901, 104, 104, 1_200_000),
		hello(opener, "Close", map[string]uint64{"base.psn": 104, "base.tsn": 105}),
		hello(acceptor, "Closed", map[string]uint64{"base.psn": 900, "base.tsn": 902}),
	}
}

// encode makes the packet from the smallest vector that has the opcode and the field.
func (d demoPacket) encode(t testing.TB, p *gen.Protocol, vectors []*vector) []byte {
	t.Helper()
	best := (*vector)(nil)
	for _, v := range vectors {
		if v.OK && v.Fields["base.opcode"] == memberNumber(t, p, d.opcode) && v.Fields["base.secure"] == "0" && hasField(v, d.field) &&
			(best == nil || len(v.Fields) < len(best.Fields)) {
			best = v
		}
	}
	if best == nil {
		t.Fatalf("no vector of %s has %s", d.opcode, d.field)
	}
	tree, _, err := gen.Decode(p, best.Packet, best.data)
	if err != nil {
		t.Fatal(err)
	}
	if d.opcode != "Open" {
		tree.Lookup("base.tag").Num = []uint64{0xbbbb0002, 0xaaaa0001}[d.from]
	}
	if blocks := tree.Lookup("plain.ack.blocks"); blocks != nil {
		blocks.Kids = blocks.Kids[:1]
	}
	for path, n := range d.numbers {
		lookup(t, tree, path).Num = n
	}
	for path, b := range d.bytes {
		lookup(t, tree, path).Bytes = b
	}
	b, err := gen.Encode(p, tree)
	if err != nil {
		t.Fatalf("%s: %v", d.opcode, err)
	}
	return b
}

func lookup(t testing.TB, tree *gen.Value, path string) *gen.Value {
	t.Helper()
	v := tree.Lookup(path)
	if v == nil {
		t.Fatalf("the packet has no %s", path)
	}
	return v
}

func hasField(v *vector, prefix string) bool {
	for path := range v.Fields {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return prefix == "plain.closed" && v.Fields["plain.close.code"] != ""
}

func memberNumber(t testing.TB, p *gen.Protocol, name string) string {
	t.Helper()
	for _, e := range p.Enums {
		for _, m := range e.Members {
			if e.Name.Schema == "Opcode" && m.Name.Schema == name {
				return strconv.FormatUint(m.First, 10)
			}
		}
	}
	t.Fatalf("there is no opcode %s", name)
	return ""
}

// writeDemo writes the capture: opener at .1, acceptor at .2, one packet every 20 us.
func writeDemo(t *testing.T, p *gen.Protocol) []byte {
	t.Helper()
	var file bytes.Buffer
	options := pcapgo.NgWriterOptions{SectionInfo: pcapgo.NgSectionInfo{Application: "gopacket"}}
	w, err := pcapgo.NewNgWriterInterface(&file, pcapgo.NgInterface{Name: "demo", LinkType: layers.LinkTypeEthernet, SnapLength: 1 << 18}, options)
	if err != nil {
		t.Fatal(err)
	}
	vectors := loadVectors(t, p)
	ends := []net.IP{{10, 0, 0, 1}, {10, 0, 0, 2}}
	ports := []int{50000, p.Targets.UDPPort}
	for i, d := range demoPackets() {
		to := 1 - d.from
		data := datagram(t, route{ends[d.from], ends[to], ports[d.from], ports[to]}, d.encode(t, p, vectors))
		at := time.Unix(1_700_000_000, 0).Add(time.Duration(i) * 20 * time.Microsecond)
		if err := w.WritePacket(gopacket.CaptureInfo{Timestamp: at, Length: len(data), CaptureLength: len(data)}, data); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

func TestDemonstrationIsCurrent(t *testing.T) {
	p := loadProtocol(t)
	capture := writeDemo(t, p)
	if *update {
		if err := os.WriteFile(demoCapture, capture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	proto := p.Targets.LuaProto
	summary := tshark(t, generated(t, p), demoCapture, "-T", "fields", "-e", "_ws.col.Info", "-e", proto+".sack.missing", "-e",
		proto+".analysis.resend", "-e", proto+".error")
	if *update {
		if err := os.WriteFile(demoSummary, summary, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for path, now := range map[string][]byte{demoCapture: capture, demoSummary: summary} {
		have, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, now) {
			t.Errorf("%s is stale: go test ./gen/luagen -run Demonstration -update\n%s", path, cmp.Diff(string(have), string(now)))
		}
	}
}
