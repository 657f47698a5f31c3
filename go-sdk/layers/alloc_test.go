// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"slices"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// hot are the accepted vectors without text.
func hot(t testing.TB) []vector {
	t.Helper()
	return slices.DeleteFunc(accepted(t), vector.hasText)
}

// parser reads frames into p.
func parser(p *Packet) *gopacket.DecodingLayerParser {
	var eth layers.Ethernet
	var ip layers.IPv4
	var udp layers.UDP
	var payload gopacket.Payload
	return gopacket.NewDecodingLayerParser(layers.LayerTypeEthernet, &eth, &ip, &udp, p, &payload)
}

func TestDecodingLayerParserDoesNotAllocate(t *testing.T) {
	var p Packet
	parser := parser(&p)
	decoded := make([]gopacket.LayerType, 0, 8)
	for _, v := range hot(t) {
		src := frame(t, wire.Port, v.src)
		decode := func() {
			if err := parser.DecodeLayers(src, &decoded); err != nil {
				t.Fatalf("%s: %v", v.ID, err)
			}
		}
		decode() // grows the arrays once
		if !slices.Contains(decoded, LayerTypePacket) || slices.Contains(decoded, gopacket.LayerTypePayload) != (len(p.payload) > 0) {
			t.Fatalf("%s: layers %v, payload of %d bytes", v.ID, decoded, len(p.payload))
		}
		if allocs := testing.AllocsPerRun(3, decode); allocs != 0 {
			t.Errorf("%s: %v allocations", v.ID, allocs)
		}
	}
}

func TestSerializeDoesNotAllocate(t *testing.T) {
	buf := gopacket.NewSerializeBuffer()
	for _, v := range hot(t) {
		var p Packet
		if err := p.DecodeFromBytes(v.src, gopacket.NilDecodeFeedback); err != nil {
			t.Fatal(err)
		}
		inner := []gopacket.SerializableLayer{&p, gopacket.Payload(p.payload)}
		for _, opts := range []gopacket.SerializeOptions{{FixLengths: true}, {FixLengths: true, ComputeChecksums: true}} {
			serialize := func() {
				if err := gopacket.SerializeLayers(buf, opts, inner...); err != nil {
					t.Fatal(err)
				}
			}
			serialize() // grows the buffer once
			if allocs := testing.AllocsPerRun(3, serialize); allocs != 0 {
				t.Errorf("%s, %+v: %v allocations", v.ID, opts, allocs)
			}
		}
	}
}
