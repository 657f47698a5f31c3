// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

const exampleDir = "../schema/examples"

func exampleSchema(t testing.TB, name string) *Protocol {
	t.Helper()
	p, err := Load(filepath.Join(exampleDir, name+".mrs"))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestExampleSchemasHaveTheSizesOfTheirStandards(t *testing.T) {
	sizes := map[string]map[string][2]int{
		"ip": {
			"Ip4Addr": {4, 4}, "Ipv4": {20, 65535}, "Ipv6": {40, 65575}, "Pseudo4": {12, 12}, "Pseudo6": {40, 40},
			"Udp": {8, 65535}, "Tcp": {20, 65535},
		},
		"vxlan":  {"Vxlan": {8, 65527}},
		"geneve": {"Geneve": {8, 65527}},
		"gre":    {"Gre": {4, 65535}},
		"rocev2": {
			"Bth": {12, 12}, "Reth": {16, 16}, "Aeth": {4, 4}, "AtomicEth": {28, 28}, "AtomicAckEth": {8, 8}, "ImmDt": {4, 4},
			"CnpBody": {16, 16}, "RoceV2": {16, 65527},
		},
		"ptp": {"Timestamp": {10, 10}, "PortId": {10, 10}, "Ptp": {34, 65535}},
		"bfd": {"Auth": {3, 255}, "Bfd": {24, 255}},
	}
	files, err := filepath.Glob(filepath.Join(exampleDir, "*.mrs"))
	if err != nil || len(files) != len(sizes) {
		t.Fatalf("%d schemas, want %d (%v)", len(files), len(sizes), err)
	}
	for name, want := range sizes {
		p := exampleSchema(t, name)
		if len(p.Examples) == 0 {
			t.Errorf("%s has no example", name)
		}
		for s, w := range want {
			if st := p.StructNamed(s); st == nil || st.Min != w[0] || st.Max != w[1] {
				t.Errorf("%s: %s is %+v, want %v", name, s, st, w)
			}
		}
	}
}

// frames reads Ethernet frames: a source and hex digits on each line.
func frames(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/packets/gopacket.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if name, text, ok := strings.Cut(s.Text(), " "); ok && name != "#" {
			out[name] = unhex(text)
		}
	}
	return out
}

// oracle compares our schemas with gopacket's layers.
type oracle struct {
	t       *testing.T
	schemas map[string]*Protocol
	agreed  map[string]int // packets with the same fields, by kind
	sums    int            // checksums that both compute to the same number
	refused map[string]int // packets that only gopacket accepts, by our error
}

func newOracle(t *testing.T) *oracle {
	o := &oracle{t: t, schemas: map[string]*Protocol{}, agreed: map[string]int{}, refused: map[string]int{}}
	for _, name := range []string{"ip", "vxlan", "geneve", "gre", "bfd"} {
		o.schemas[name] = exampleSchema(t, name)
	}
	return o
}

// compare decodes the bytes of one layer; name is for messages.
func (o *oracle) compare(name string, r reading) {
	p := o.schemas[r.schema]
	v, _, err := Decode(p, r.packet, r.bytes)
	var bad *DecodeError
	if errors.As(err, &bad) {
		o.refused[r.packet+" "+bad.Code.Name+" "+bad.Field]++
		if short := r.truncated && bad.Code.Number == ShortNumber; !short && !strings.Contains(name, "/") {
			o.t.Errorf("%s: %s: %v\n% x", name, r.packet, err, r.bytes)
		}
		return
	}
	got := Flatten(v)
	for path, want := range r.fields {
		if got[path] != want {
			o.t.Errorf("%s: %s: %s = %q, gopacket says %q\n% x", name, r.packet, path, got[path], want, r.bytes)
		}
	}
	o.agreed[r.packet]++
	o.checksum(name, r)
}

// checksum compares the sum that we compute with gopacket's.
func (o *oracle) checksum(name string, r reading) {
	if !r.hasSum {
		return
	}
	p, params := o.schemas["ip"], []*Value{}
	if r.packet != "Ipv4" {
		params = append(params, pseudo(o.t, p, r))
	}
	b := slices.Clone(r.bytes)
	if err := Resum(p, r.packet, b, params...); err != nil {
		o.t.Errorf("%s: %v", name, err)
		return
	}
	at := map[string]int{"Ipv4": 10, "Udp": 6, "Tcp": 16}[r.packet]
	if got := uint16(b[at])<<8 | uint16(b[at+1]); got != r.sum && !(got == 0xffff && r.sum == 0) {
		o.t.Errorf("%s: %s: sum %#x, gopacket computes %#x\n% x", name, r.packet, got, r.sum, r.bytes)
		return
	}
	o.sums++
}

// pseudo makes the pseudo-header from the layer below.
func pseudo(t *testing.T, p *Protocol, r reading) *Value {
	protocol := map[string]byte{"Udp": 17, "Tcp": 6}[r.packet]
	n := len(r.bytes)
	var v *Value
	var err error
	switch l := r.below.(type) {
	case *layers.IPv4:
		v, err = Header(p, "Pseudo4", slices.Concat(l.SrcIP.To4(), l.DstIP.To4(), []byte{0, protocol, byte(n >> 8), byte(n)}))
	case *layers.IPv6:
		v, err = Header(p, "Pseudo6", slices.Concat(l.SrcIP, l.DstIP, []byte{0, 0, byte(n >> 8), byte(n), 0, 0, 0, protocol}))
	}
	if err != nil || v == nil {
		t.Fatal(r.packet, err)
	}
	return v
}

func TestExampleSchemasAgreeWithGopacketsLayers(t *testing.T) {
	o := newOracle(t)
	all := frames(t)
	for name, b := range all {
		for _, r := range readings(gopacket.NewPacket(b, layers.LayerTypeEthernet, gopacket.Default)) {
			o.compare(name, r)
		}
	}
	for _, kind := range []string{"Ipv4", "Ipv6", "Udp", "Tcp", "Vxlan", "Geneve", "Gre", "Bfd"} {
		if o.agreed[kind] == 0 {
			t.Errorf("no %s was compared", kind)
		}
	}
	t.Logf("%d frames: %v packets, %d checksums agree; truncated: %v", len(all), o.agreed, o.sums, o.refused)
}

func TestExampleSchemasAgreeWithGopacketOnDamagedPackets(t *testing.T) {
	o := newOracle(t)
	for name, b := range frames(t) {
		for bit := 14 * 8; bit < min(len(b), 90)*8; bit += 3 {
			damaged := bytes.Clone(b)
			damaged[bit/8] ^= 0x80 >> (bit % 8)
			p := gopacket.NewPacket(damaged, layers.LayerTypeEthernet, gopacket.Default)
			for _, r := range readings(p) {
				o.compare(fmt.Sprintf("%s/%d", name, bit), r)
			}
		}
	}
	t.Logf("%v packets, %d checksums agree; only gopacket accepts: %v", o.agreed, o.sums, o.refused)
}
