// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"encoding/hex"
	"slices"
	"testing"
	"time"

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

// BenchmarkAgainstGopacket runs both layers in turn and reports the median of the ratios of their times: below 1, ours is the
// faster one. Run it with -benchtime 11x or more.
func BenchmarkAgainstGopacket(b *testing.B) {
	const rounds, turns = 2_000, 40
	for _, c := range contests() {
		b.Run(c.name, func(b *testing.B) {
			ours, own := decode(b, c.ours, c.data(b)), decode(b, c.own, c.data(b))
			var ratios, times []float64
			for b.Loop() {
				for range turns {
					a, z := timed(ours, rounds), timed(own, rounds)
					ratios, times = append(ratios, a/z), append(times, a)
				}
			}
			slices.Sort(ratios)
			slices.Sort(times)
			b.ReportMetric(ratios[len(ratios)/2], "ratio")
			b.ReportMetric(times[len(times)/2], "ns/packet")
		})
	}
}

// timed is how long one call takes in nanoseconds.
func timed(f func(), rounds int) float64 {
	start := time.Now()
	for range rounds {
		f()
	}
	return float64(time.Since(start)) / float64(rounds)
}
