// SPDX-License-Identifier: Apache-2.0

package layers

import (
	"bytes"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// strict lets a panic through, so that a test sees it.
var strict = gopacket.DecodeOptions{SkipDecodeRecovery: true}

// envelope are the layers around a packet from port 50000 to port.
func envelope(t testing.TB, port layers.UDPPort) []gopacket.SerializableLayer {
	t.Helper()
	eth := &layers.Ethernet{
		SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4,
	}
	ip := &layers.IPv4{
		Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IPv4(10, 0, 0, 1).To4(), DstIP: net.IPv4(10, 0, 0, 2).To4(),
	}
	udp := &layers.UDP{SrcPort: 50000, DstPort: port}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	return []gopacket.SerializableLayer{eth, ip, udp}
}

// frame puts a packet's bytes into an Ethernet frame.
func frame(t testing.TB, port layers.UDPPort, src []byte) []byte {
	t.Helper()
	buf := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(buf, opts, append(envelope(t, port), gopacket.Payload(src))...); err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(buf.Bytes())
}

// capture writes frames to a pcapng file in memory.
func capture(t *testing.T, frames [][]byte) *pcapgo.NgReader {
	t.Helper()
	var file bytes.Buffer
	w, err := pcapgo.NewNgWriter(&file, layers.LinkTypeEthernet)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range frames {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(int64(i), 0), CaptureLength: len(f), Length: len(f)}
		if err := w.WritePacket(info, f); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPcapngReadsBackThroughNewPacket(t *testing.T) {
	vectors := loadVectors(t)
	var frames [][]byte
	for _, v := range vectors {
		frames = append(frames, frame(t, wire.Port, v.src))
	}
	source := gopacket.NewPacketSource(capture(t, frames), layers.LinkTypeEthernet)
	for _, lazy := range []bool{false, true} {
		if lazy {
			source = gopacket.NewPacketSource(capture(t, frames), layers.LinkTypeEthernet)
		}
		source.DecodeOptions = gopacket.DecodeOptions{SkipDecodeRecovery: true, Lazy: lazy}
		for _, v := range vectors {
			p, err := source.NextPacket()
			if err != nil {
				t.Fatal(err)
			}
			checkCaptured(t, v, p)
		}
		if _, err := source.NextPacket(); !errors.Is(err, io.EOF) {
			t.Errorf("behind the last packet: %v", err)
		}
	}
}

// checkCaptured compares the layers of a captured packet with its vector.
func checkCaptured(t *testing.T, v vector, p gopacket.Packet) {
	t.Helper()
	_ = p.Layers() // decodes a lazy packet
	if len(v.src) == 0 {
		return // gopacket ends at an empty payload
	}
	layer, ok := p.Layer(LayerTypePacket).(*Packet)
	if ok != v.decodes() {
		t.Errorf("%s: has the layer: %v", v.ID, ok)
	}
	if !ok {
		var fault *wire.Error
		if failure := p.ErrorLayer(); failure == nil || !errors.As(failure.Error(), &fault) || fault.Code.String() != v.Error.Code {
			t.Errorf("%s: error layer %v", v.ID, failure)
		}
		if p.Metadata().Truncated != (v.Error.Code == "E_SHORT") {
			t.Errorf("%s: truncated %v", v.ID, p.Metadata().Truncated)
		}
		return
	}
	if p.ErrorLayer() != nil || p.Metadata().Truncated {
		t.Errorf("%s: %v, truncated %v", v.ID, p.ErrorLayer(), p.Metadata().Truncated)
	}
	var payload []byte
	if app := p.ApplicationLayer(); app != nil {
		payload = app.Payload()
	}
	if !bytes.Equal(payload, layer.payload) {
		t.Errorf("%s: the application gets %x of %x", v.ID, payload, layer.payload)
	}
}

func TestCapturedPacketSerializesToItself(t *testing.T) {
	for _, v := range accepted(t) {
		if !v.Canonical {
			continue
		}
		src := frame(t, wire.Port, v.src)
		p := gopacket.NewPacket(src, layers.LayerTypeEthernet, strict)
		if err := p.Layer(layers.LayerTypeUDP).(*layers.UDP).SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
			t.Fatal(err)
		}
		for _, opts := range allOptions {
			buf := gopacket.NewSerializeBuffer()
			if err := gopacket.SerializePacket(buf, opts, p); err != nil {
				t.Errorf("%s, %+v: %v", v.ID, opts, err)
			} else if !bytes.Equal(buf.Bytes(), src) {
				t.Errorf("%s, %+v:\n%x, want\n%x", v.ID, opts, buf.Bytes(), src)
			}
		}
	}
}

func TestRegisterBindsOnePortAndMoreCanBeBound(t *testing.T) {
	v := accepted(t)[0]
	const other = 4798
	if p := gopacket.NewPacket(frame(t, other, v.src), layers.LayerTypeEthernet, strict); p.Layer(LayerTypePacket) != nil {
		t.Errorf("port %d is bound", other)
	}
	layers.RegisterUDPPortLayerType(other, LayerTypePacket)
	defer layers.RegisterUDPPortLayerType(other, gopacket.LayerTypeZero)
	if p := gopacket.NewPacket(frame(t, other, v.src), layers.LayerTypeEthernet, strict); p.Layer(LayerTypePacket) == nil {
		t.Errorf("port %d is not bound: %v", other, p)
	}
	if LayerTypePacket != testBase || LayerTypeBody != testBase+1 || LayerTypePacket.String() != "MetaRoCE" {
		t.Errorf("types %d and %d, name %v", LayerTypePacket, LayerTypeBody, LayerTypePacket)
	}
}

func TestRegisterPanicsOnATakenNumber(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the second registration was silent")
		}
	}()
	Register(testBase)
}
