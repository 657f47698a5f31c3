// SPDX-License-Identifier: Apache-2.0

package examples

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/google/gopacket"

	bfdlayers "github.com/openmetaroce/metaroce/examples/bfd/control/layers"
	genevelayers "github.com/openmetaroce/metaroce/examples/inet/geneve/layers"
	grelayers "github.com/openmetaroce/metaroce/examples/inet/gre/layers"
	iplayers "github.com/openmetaroce/metaroce/examples/inet/ip/layers"
	vxlanlayers "github.com/openmetaroce/metaroce/examples/inet/vxlan/layers"
	ptplayers "github.com/openmetaroce/metaroce/examples/ptp/v2/layers"
	rocelayers "github.com/openmetaroce/metaroce/examples/rocev2/wire/layers"
	"github.com/openmetaroce/metaroce/gen/vectorgen"
)

// layer is a generated layer.
type layer interface {
	decoder
	gopacket.SerializableLayer
	Trailer() []byte
}

// layerFor is a fresh layer with a vector's parameters.
func layerFor(t testing.TB, packet string, g given) layer {
	t.Helper()
	switch packet {
	case "Ipv4":
		return new(iplayers.Ipv4)
	case "Ipv6":
		return new(iplayers.Ipv6)
	case "Udp":
		l := new(iplayers.Udp)
		l.SetPseudo(ipOuter(t, g, "pseudo"))
		return l
	case "Tcp":
		l := new(iplayers.Tcp)
		l.SetPseudo(ipOuter(t, g, "pseudo"))
		return l
	case "Vxlan":
		return new(vxlanlayers.Vxlan)
	case "Geneve":
		l := new(genevelayers.Geneve)
		l.SetStrict(g.number(t, "strict"))
		return l
	case "Gre":
		return new(grelayers.Gre)
	case "RoceV2":
		l := new(rocelayers.RoceV2)
		l.SetIp(roceOuter(t, g, "ip"))
		l.SetUdp(roceOuter(t, g, "udp"))
		return l
	case "Ptp":
		return new(ptplayers.Ptp)
	case "Bfd":
		return new(bfdlayers.Bfd)
	}
	t.Fatalf("no layer for %s", packet)
	return nil
}

func vectors(t testing.TB, name string) []vectorgen.Vector {
	t.Helper()
	files, err := vectorgen.Generate(load(t, name))
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vectorgen.Vector }
	if err := json.Unmarshal(files[0].Data, &file); err != nil {
		t.Fatal(err)
	}
	return file.Vectors
}

// TestLayersReplayTheVectors decodes each vector in a layer. Contents, payload and trailer are the packet, and what the layer
// writes around its payload is what was read.
func TestLayersReplayTheVectors(t *testing.T) {
	for _, name := range schemas {
		written := 0
		for _, v := range vectors(t, name) {
			src, err := hex.DecodeString(v.Hex)
			if err != nil {
				t.Fatal(err)
			}
			l := layerFor(t, v.Packet, v.Params)
			err = l.DecodeFromBytes(src, gopacket.NilDecodeFeedback)
			if (err == nil) != (v.OK || v.Stage == "verify") {
				t.Errorf("%s: %v", v.ID, err)
			}
			if !v.OK || err != nil {
				continue
			}
			whole := bytes.Join([][]byte{l.LayerContents(), l.LayerPayload(), l.Trailer()}, nil)
			if !bytes.Equal(whole, src[:v.Consumed]) {
				t.Errorf("%s: contents, payload and trailer are %x, want %x", v.ID, whole, src[:v.Consumed])
			}
			if *v.Canonical {
				written++
				serialized(t, l, v.ID, src[:v.Consumed])
			}
		}
		if written == 0 {
			t.Errorf("%s: no vector was written", name)
		}
	}
}

// serialized writes a layer around its payload in each of the ways that gopacket knows.
func serialized(t *testing.T, l layer, id string, want []byte) {
	t.Helper()
	for _, opts := range []gopacket.SerializeOptions{{}, {FixLengths: true}, {ComputeChecksums: true}, {FixLengths: true, ComputeChecksums: true}} {
		buf := gopacket.NewSerializeBuffer()
		if err := gopacket.SerializeLayers(buf, opts, l, gopacket.Payload(bytes.Clone(l.LayerPayload()))); err != nil {
			t.Errorf("%s: %+v: %v", id, opts, err)
			continue
		}
		// Where no sum was sent, one that is computed is one more than was there.
		if got := buf.Bytes(); !bytes.Equal(got, want) && !(opts.ComputeChecksums && unsummed(l)) {
			t.Errorf("%s: %+v: wrote\n%x, want\n%x", id, opts, got, want)
		}
	}
}

// unsummed tells whether a datagram was sent without a checksum.
func unsummed(l layer) bool {
	u, ok := l.(*iplayers.Udp)
	return ok && u.Checksum == 0
}

// TestCodecsDoNotAllocate decodes, writes and sums every vector that is accepted into memory that is large enough.
func TestCodecsDoNotAllocate(t *testing.T) {
	for _, name := range schemas {
		var all values
		for _, v := range vectors(t, name) {
			src, err := hex.DecodeString(v.Hex)
			if err != nil || !v.OK {
				continue
			}
			c := all.codec(t, v.Packet, v.Params)
			out := make([]byte, 0, 70000)
			n := testing.AllocsPerRun(3, func() {
				if _, err := c.decode(src); err != nil {
					t.Fatal(err)
				}
				if _, err := c.append(out); err != nil {
					t.Fatal(err)
				}
			})
			if n != 0 {
				t.Errorf("%s: %v allocations\n%s", v.ID, n, v.Hex)
			}
		}
	}
}
