// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// explained are the ways in which a generated layer and gopacket's own may differ, and why. A difference is explained when what
// `verdict` returns begins with a key.
var explained = map[string]string{
	"Ipv4: cut": "gopacket accepts a packet that ends before its length says, and only notes it",
	"Ipv6: cut": "the same",
	"Udp: cut":  "the same",

	"Ipv4: ours: E_FIXED version":   "gopacket does not look at the version",
	"Ipv6: ours: E_FIXED version":   "the same",
	"Gre: ours: E_FIXED version":    "gopacket decodes version 1 (PPTP), which is another layout, by the same layer",
	"Bfd: ours: E_FIXED version":    "gopacket does not look at the version",
	"Geneve: ours: E_FIXED version": "gopacket reads one bit of the version and does not look at it",

	"Ipv4: ours: E_SIZE total_length":   "to gopacket a length of zero means all bytes, as segmentation offload leaves it",
	"Udp: ours: E_RANGE length":         "to gopacket a length of zero means all bytes, as in jumbograms",
	"Ipv4: ours: E_RANGE options":       "RFC 791: the pointer of a route counts from 4; gopacket keeps the bytes of options as they are",
	"Ipv4: ours: E_TLV":                 "gopacket keeps the bytes of options as they are, whatever their length",
	"Ipv4: gopacket: Invalid IP option": "gopacket wants options of three bytes at least; RFC 791 allows a type and a length without data",
	"Tcp: ours: E_TLV":                  "gopacket keeps the bytes of options as they are, whatever their length, and repeated ones",
	"Ipv6: gopacket:":                   "gopacket decodes hop-by-hop options with the header, and wants them when the length is zero; here they are payload",
	"Ipv6: value: payload":              "gopacket takes hop-by-hop options out of the payload",

	"Gre: ours: E_RESERVED":        "gopacket reads source routes of RFC 1701, and ignores the bits between",
	"Gre: value: payload":          "gopacket reads the acknowledgement number of version 1 in version 0, where the bit is reserved",
	"Gre: gopacket: panic":         "gopacket indexes the acknowledgement number of version 1 beyond the end",
	"Geneve: ours: E_SHORT":        "gopacket lets the last option end behind the options, accepts seven bytes, and cuts the length of an option to four bits",
	"Geneve: ours: E_TLV":          "gopacket keeps the bytes of options as they are",
	"Geneve: value: payload":       "gopacket cuts the length of an option to four bits, and lets the last one end behind the options",
	"Geneve: gopacket:":            "gopacket cuts the length of an option to four bits",
	"Vxlan: value: policy_applied": "gopacket reads the policy-applied bit as 0x80; the draft puts it at 0x08",

	"Bfd: ours: E_RESERVED multipoint": "RFC 5880: the bit must be zero",
	"Bfd: ours: E_RANGE":               "RFC 5880: neither multiplier, my discriminator nor the authentication's length may be zero, and a password has 1 to 16 bytes",
	"Bfd: ours: E_WHERE your_discr":    "RFC 5880: without the peer's discriminator a session is down",
	"Bfd: ours: E_TRAILING":            "gopacket accepts bytes behind the packet or its authentication",
	"Bfd: ours: E_SHORT auth":          "gopacket does not compare the authentication's length with its bytes",
	"Bfd: gopacket: BFD packet length": "gopacket wants the packet to be all of the datagram",
}

// why explains a verdict; empty when nothing does.
func why(verdict string) string {
	for key, text := range explained {
		if strings.HasPrefix(verdict, key) {
			return text
		}
	}
	return ""
}

// feedback notes that a layer found its bytes cut off.
type feedback struct{ truncated bool }

func (f *feedback) SetTruncated() { f.truncated = true }

var digits = regexp.MustCompile(`[0-9]+`)

// try decodes; text is empty when that works. gopacket's layers panic on some bytes.
func try(d decoder, data []byte) (text string, cut bool) {
	df := &feedback{}
	defer func() {
		if recover() != nil {
			text = "panic"
		}
		cut = df.truncated
	}()
	if err := d.DecodeFromBytes(data, df); err != nil {
		if f := failureOf(err); f.code != "" {
			return strings.TrimSpace(f.code + " " + f.field), false
		}
		return digits.ReplaceAllString(err.Error(), "#"), false
	}
	return "", false
}

// verdict compares the two layers of a protocol on some bytes. Empty: they agree in all. Otherwise it is "Udp: ours: E_X field" or
// "Udp: gopacket: text" for the one that alone rejects, or "Udp: value: name".
func (r rival) verdict(data []byte) string {
	ours, _ := try(r.ours, data)
	own, cut := try(r.own, data)
	switch {
	case ours != "" && own != "":
		return ""
	case ours != "" && cut:
		return r.name + ": cut"
	case ours != "":
		return r.name + ": ours: " + digits.ReplaceAllString(ours, "#")
	case own != "":
		return r.name + ": gopacket: " + own
	}
	for _, p := range append(r.fields(), octets("payload", r.ours.LayerPayload(), r.own.LayerPayload())) {
		if !reflect.DeepEqual(p.ours, p.own) {
			return r.name + ": value: " + p.name
		}
	}
	return ""
}

// frames are Ethernet frames of gopacket's own tests.
func frames(t testing.TB) map[string][]byte {
	t.Helper()
	f, err := os.Open("../gen/testdata/packets/gopacket.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	out := map[string][]byte{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, text, ok := strings.Cut(lines.Text(), " ")
		if data, err := hex.DecodeString(text); ok && name != "#" && err == nil {
			out[name] = data
		}
	}
	return out
}

// sample is the bytes of one layer: its own and its payload.
type sample struct {
	name  string
	layer gopacket.LayerType
	data  []byte
}

func samples(t testing.TB) []sample {
	t.Helper()
	var out []sample
	all := frames(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		p := gopacket.NewPacket(all[name], layers.LayerTypeEthernet, gopacket.Default)
		for _, l := range p.Layers() {
			if _, ok := rivals()[l.LayerType()]; ok {
				out = append(out, sample{name, l.LayerType(), slices.Concat(l.LayerContents(), l.LayerPayload())})
			}
		}
	}
	return out
}

func TestGeneratedLayersAgreeWithGopacketOnItsTestData(t *testing.T) {
	same := map[string]int{}
	for _, s := range samples(t) {
		r := rivals()[s.layer]
		switch v := r.verdict(s.data); {
		case v == "":
			same[r.name]++
		case why(v) == "":
			t.Errorf("%s: %s\n%x", s.name, v, s.data)
		}
	}
	for _, r := range rivals() {
		if same[r.name] == 0 {
			t.Errorf("no %s is the same in both", r.name)
		}
	}
	t.Log(same)
}

// probes are bytes for differences that chance does not find.
var probes = []struct {
	layer gopacket.LayerType
	hex   string
}{
	{layers.LayerTypeGRE, "00800800"},
	{layers.LayerTypeIPv4, "4600001800000000400100007f0000017f00000194030000"},
	{layers.LayerTypeBFD, "2040051800000001000000000000f4240000f42400000000" + "0000"},
	{layers.LayerTypeGeneve, "0100655800000a00" + "01030100"},
	{layers.LayerTypeGeneve, "1100655800000a00" + "00010110" + strings.Repeat("fe", 64)},
}

// TestGeneratedLayersDifferFromGopacketOnlyAsExplained flips bits of gopacket's test data, cuts it and writes over it.
func TestGeneratedLayersDifferFromGopacketOnlyAsExplained(t *testing.T) {
	seen, same := map[string]int{}, map[string]int{}
	dice := rand.New(rand.NewPCG(1, 2))
	look := func(r rival, data []byte) {
		v := r.verdict(data)
		if v == "" {
			same[r.name]++
			return
		}
		if seen[v]++; seen[v] == 1 && why(v) == "" {
			t.Errorf("%q\n%x", v, data)
		}
	}
	for _, s := range samples(t) {
		r := rivals()[s.layer]
		for bit := range min(len(s.data), 64) * 8 {
			damaged := slices.Clone(s.data)
			damaged[bit/8] ^= 0x80 >> (bit % 8)
			look(r, damaged)
		}
		for n := range min(len(s.data), 80) {
			look(r, s.data[:n:n])
		}
		for range 2000 {
			damaged := slices.Clone(s.data)
			for range 1 + dice.IntN(4) {
				damaged[dice.IntN(min(len(damaged), 64))] = byte(dice.Uint32() >> dice.IntN(8))
			}
			look(r, damaged)
		}
	}
	for _, p := range probes {
		data, err := hex.DecodeString(p.hex)
		if err != nil {
			t.Fatal(err)
		}
		look(rivals()[p.layer], data)
	}
	for key := range explained {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(v string) bool { return strings.HasPrefix(v, key) }) {
			t.Errorf("nothing differs as %q says", key)
		}
	}
	t.Logf("the same: %v", same)
	for _, v := range slices.Sorted(maps.Keys(seen)) {
		t.Logf("%6d %s: %s", seen[v], v, why(v))
	}
}

// FuzzGeneratedLayersAgainstGopacket looks for differences that are not explained.
func FuzzGeneratedLayersAgainstGopacket(f *testing.F) {
	kinds := slices.Sorted(maps.Keys(rivals()))
	for _, s := range samples(f) {
		f.Add(uint8(slices.Index(kinds, s.layer)), s.data)
	}
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		r := rivals()[kinds[int(kind)%len(kinds)]]
		if v := r.verdict(data); v != "" && why(v) == "" {
			t.Errorf("%q: %s", v, fmt.Sprintf("%x", data))
		}
	})
}
