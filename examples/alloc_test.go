// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"encoding/hex"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	genevelayers "github.com/openmetaroce/metaroce/examples/inet/geneve/layers"
	vxlanlayers "github.com/openmetaroce/metaroce/examples/inet/vxlan/layers"
)

// register registers the layers but leaves the ports to gopacket's own.
func register() {
	if vxlanlayers.LayerTypeVxlan == 0 {
		vxlanlayers.Register(1700)
		genevelayers.Register(1710)
	}
	layers.RegisterUDPPortLayerType(4789, layers.LayerTypeVXLAN)
	layers.RegisterUDPPortLayerType(6081, layers.LayerTypeGeneve)
}

// ownGeneve is gopacket's layer with the method that DecodingLayerParser asks for besides.
type ownGeneve struct{ layers.Geneve }

func (g *ownGeneve) CanDecode() gopacket.LayerClass { return layers.LayerTypeGeneve }

// contest is a packet that a generated layer and gopacket's own decode.
type contest struct {
	name      string
	hex       string
	ours, own gopacket.DecodingLayer
}

func contests() []contest {
	register()
	frame := "00163e0871cf36dc851eb34008004500003c22e000004011e238c0a87a46c0a87a01"
	return []contest{
		{"vxlan", "08000000" + "0000ff00" + frame, new(vxlanlayers.Vxlan), new(layers.VXLAN)},
		{"geneve", "0000655800000a00" + frame, new(genevelayers.Geneve), new(ownGeneve)},
		{"geneve with options", "0300655800000500" + "ff010500" + "ffff0501aabbccdd" + frame, new(genevelayers.Geneve), new(ownGeneve)},
	}
}

// decode is a DecodingLayerParser that stops behind one layer.
func decode(t testing.TB, l gopacket.DecodingLayer, data []byte) func() {
	t.Helper()
	first := l.(gopacket.Layer).LayerType()
	parser := gopacket.NewDecodingLayerParser(first, l)
	parser.IgnoreUnsupported = true
	decoded := make([]gopacket.LayerType, 0, 4)
	g, own := l.(*ownGeneve)
	run := func() {
		if own {
			g.Options = g.Options[:0] // which it appends to without end
		}
		if err := parser.DecodeLayers(data, &decoded); err != nil || len(decoded) != 1 {
			t.Fatal(len(decoded), err)
		}
	}
	run()
	return run
}

func (c contest) data(t testing.TB) []byte {
	data, err := hex.DecodeString(c.hex)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestGeneratedLayersDoNotAllocate(t *testing.T) {
	for _, c := range contests() {
		if n := testing.AllocsPerRun(200, decode(t, c.ours, c.data(t))); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}
