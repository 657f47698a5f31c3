// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/google/gopacket"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// FuzzLayer feeds arbitrary bytes: the layer accepts what the codec accepts, its parts are the packet, and what it writes
// under any options is what the codec writes.
func FuzzLayer(f *testing.F) {
	for _, src := range seeds(f) {
		f.Add(src)
	}
	var p Packet // reused, as a parser does
	f.Fuzz(func(t *testing.T, src []byte) {
		var codec wire.Packet
		_, want := codec.Decode(src)
		var df feedback
		err := p.DecodeFromBytes(src, &df)
		if !sameError(want, err) {
			t.Fatalf("codec: %v, layer: %v", want, err)
		}
		if df.truncated != errors.Is(err, wire.ErrShort) {
			t.Fatalf("truncated %v after %v", df.truncated, err)
		}
		if packet := gopacket.NewPacket(src, LayerTypePacket, strict); len(src) > 0 && (packet.ErrorLayer() == nil) != (err == nil) {
			t.Fatalf("NewPacket gives %v after %v", packet, err)
		}
		if err != nil {
			return
		}
		if all := slices.Concat(p.contents, p.payload, p.Trailer()); !bytes.Equal(all, src) {
			t.Fatalf("the parts are\n%x of\n%x", all, src)
		}
		for _, opts := range allOptions {
			buf := gopacket.NewSerializeBuffer()
			if err := gopacket.SerializeLayers(buf, opts, &p, gopacket.Payload(p.payload)); err != nil {
				t.Fatalf("%+v: %v", opts, err)
			}
			if want := expected(t, &codec, opts); !bytes.Equal(buf.Bytes(), want) {
				t.Fatalf("%+v:\n%x, want\n%x", opts, buf.Bytes(), want)
			}
		}
	})
}

// seeds are the accepted vectors, and for every kind of packet one with each error.
func seeds(f *testing.F) [][]byte {
	f.Helper()
	type fault struct {
		code   string
		opcode byte
	}
	var out [][]byte
	seen := map[fault]bool{}
	for _, v := range loadVectors(f) {
		if v.Error != nil {
			kind := fault{code: v.Error.Code}
			if len(v.src) > 1 {
				kind.opcode = v.src[1]
			}
			if seen[kind] {
				continue
			}
			seen[kind] = true
		}
		out = append(out, v.src)
	}
	return out
}

// sameError compares what two errors say about a packet.
func sameError(a, b error) bool {
	var x, y *wire.Error
	if !errors.As(a, &x) || !errors.As(b, &y) {
		return a == nil && b == nil
	}
	return *x == *y
}
