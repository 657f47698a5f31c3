// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/rogpeppe/go-internal/testscript"
)

// makeCapture NAME writes a capture of five frames, as pcap or pcapng by the extension of its name.
func makeCapture(ts *testscript.TestScript, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: capture NAME")
	}
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	frames, err := sampleFrames()
	ts.Check(err)
	ts.Check(writeFrames(f, frames))
	ts.Check(f.Close())
}

// sampleFrames are a good packet over IPv4, something else, a bad packet over IPv6, another port, and a cut packet.
func sampleFrames() ([][]byte, error) {
	four := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: net.IP{10, 0, 0, 1}, DstIP: net.IP{10, 0, 0, 2}}
	six := &layers.IPv6{Version: 6, HopLimit: 64, NextHeader: layers.IPProtocolUDP, SrcIP: net.ParseIP("fd00::1"), DstIP: net.ParseIP("fd00::2")}
	frames := make([][]byte, 5)
	for i, x := range []struct {
		ip       gopacket.SerializableLayer
		src, dst layers.UDPPort
		payload  []byte
	}{
		{four, 50000, 4797, []byte{0x15, 1, 2, 3}}, {}, {six, 4797, 50000, []byte{0x15, 1, 2, 9}}, {four, 50000, 53, []byte{1}}, {four, 50000, 4797, []byte{0x15, 1, 2, 3}},
	} {
		eth := &layers.Ethernet{SrcMAC: make([]byte, 6), DstMAC: make([]byte, 6), EthernetType: layers.EthernetTypeIPv4}
		if x.ip == nil {
			eth.EthernetType = layers.EthernetTypeLinkLayerDiscovery
			frames[i] = append([]byte(nil), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0xcc, 0, 0)
			continue
		}
		if x.ip == six {
			eth.EthernetType = layers.EthernetTypeIPv6
		}
		buf := gopacket.NewSerializeBuffer()
		err := gopacket.SerializeLayers(buf, gopacket.SerializeOptions{FixLengths: true}, eth, x.ip, &layers.UDP{SrcPort: x.src, DstPort: x.dst}, gopacket.Payload(x.payload))
		if err != nil {
			return nil, err
		}
		frames[i] = append([]byte(nil), buf.Bytes()...)
	}
	return frames, nil
}

// writeFrames writes the frames a second apart; the last one is cut two bytes before its end.
func writeFrames(f *os.File, frames [][]byte) error {
	write := func(gopacket.CaptureInfo, []byte) error { return fmt.Errorf("no such kind of capture") }
	switch filepath.Ext(f.Name()) {
	case ".pcap":
		w := pcapgo.NewWriterNanos(f)
		if err := w.WriteFileHeader(65535, layers.LinkTypeEthernet); err != nil {
			return err
		}
		write = w.WritePacket
	case ".pcapng":
		w, err := pcapgo.NewNgWriter(f, layers.LinkTypeEthernet)
		if err != nil {
			return err
		}
		defer w.Flush()
		write = w.WritePacket
	}
	for i, data := range frames {
		info := gopacket.CaptureInfo{Timestamp: time.Unix(int64(1_000_000_000+i), 5), CaptureLength: len(data), Length: len(data)}
		if i == len(frames)-1 {
			data = data[:44]
			info.CaptureLength = len(data)
		}
		if err := write(info, data); err != nil {
			return err
		}
	}
	return nil
}

// TestDecodeRefusesDamagedCaptures cuts a capture at every byte: no panic, and an error for what is not whole.
func TestDecodeRefusesDamagedCaptures(t *testing.T) {
	dir := t.TempDir()
	schema := filepath.Join(dir, "tiny.mrs")
	src := "edition 1;\npackage test.tiny;\nbyteorder big;\nbitorder msb;\noption lua { bind = udp.port(4797); }\npacket Tiny { a : u8; b : u16; low : u8; where low < 5; }\n"
	if err := os.WriteFile(schema, []byte(src), 0o644); err != nil {
		t.Fatal(err)
	}
	frames, err := sampleFrames()
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{".pcap", ".pcapng"} {
		f, err := os.Create(filepath.Join(dir, "whole"+kind))
		if err != nil {
			t.Fatal(err)
		}
		if err := writeFrames(f, frames); err != nil {
			t.Fatal(err)
		}
		whole, err := os.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		clean := 0
		for n := 4; n < len(whole); n++ {
			var out, errs strings.Builder
			status := run([]string{"decode", "--schema", schema, "-"}, streams{strings.NewReader(string(whole[:n])), &out, &errs})
			if status == exitOK || status == exitFault && errs.Len() > 0 {
				clean++
			}
			if status == exitUsage && errs.Len() == 0 {
				t.Errorf("%s cut to %d bytes: status %d without a message", kind, n, status)
			}
		}
		if clean > 20 {
			t.Errorf("%s: %d of %d cuts went unnoticed", kind, clean, len(whole))
		}
	}
}
