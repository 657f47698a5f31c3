// SPDX-License-Identifier: Apache-2.0

package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// echo is a Port that gives back, as arrivals, what was sent.
type echo struct{ back []engine.Datagram }

func (e *echo) Receive() ([]engine.Datagram, error) {
	back := e.back
	e.back = nil
	return back, nil
}

func (e *echo) Buffers() [][]byte { return [][]byte{make([]byte, 9000)} }

func (e *echo) Send(out []engine.Datagram) error {
	e.back = append(e.back, out...)
	return nil
}

// seen is a packet as the file tells it.
type seen struct {
	Interface, From, To string
	ECN                 uint8
	Payload             []byte
}

// read takes a file apart.
func read(t *testing.T, file []byte) (out []seen) {
	t.Helper()
	r, err := pcapgo.NewNgReader(bytes.NewReader(file), pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	for {
		data, info, err := r.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		i, err := r.Interface(info.InterfaceIndex)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, takeApart(t, i.Name, data))
	}
}

func takeApart(t *testing.T, name string, data []byte) seen {
	t.Helper()
	p := gopacket.NewPacket(data, layers.LinkTypeRaw, gopacket.Default)
	if p.ErrorLayer() != nil {
		t.Fatal(p.ErrorLayer().Error())
	}
	s := seen{Interface: name}
	switch ip := p.NetworkLayer().(type) {
	case *layers.IPv4:
		s.ECN = ip.TOS
	case *layers.IPv6:
		s.ECN = ip.TrafficClass
	}
	udp := p.TransportLayer().(*layers.UDP)
	flow := p.NetworkLayer().NetworkFlow()
	s.From, s.To = fmt.Sprintf("%v %d", flow.Src(), udp.SrcPort), fmt.Sprintf("%v %d", flow.Dst(), udp.DstPort)
	s.Payload = udp.Payload
	return s
}

func route(local, remote string) engine.Route {
	return engine.Route{Local: netip.MustParseAddrPort(local), Remote: netip.MustParseAddrPort(remote)}
}

// datagram is one whose opcode is o.
func datagram(r engine.Route, ecn uint8, o wire.Opcode) engine.Datagram {
	b := make([]byte, 60)
	b[0], b[1], b[59] = 0x10, byte(o), ecn
	return engine.Datagram{Route: r, ECN: ecn, Bytes: b}
}

func TestFileHoldsBothDirectionsWithTheirHeaders(t *testing.T) {
	var file bytes.Buffer
	p, err := Wrap(&echo{}, &file, Config{Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	one, two := route("10.0.0.1:5001", "10.0.0.2:4797"), route("[fd00::1]:5002", "[fd00::2]:4797")
	list := []engine.Datagram{
		datagram(one, engine.ECT0, wire.OpcodeWrite), datagram(two, engine.CE, wire.OpcodeAck), datagram(one, engine.NotECT, wire.OpcodeWrite),
	}
	if err := p.Send(list); err != nil {
		t.Fatal(err)
	}
	if in, err := p.Receive(); len(in) != 3 || err != nil {
		t.Fatalf("%d datagrams, %v", len(in), err)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	i1, i2 := "test 10.0.0.1:5001-10.0.0.2:4797", "test [fd00::1]:5002-[fd00::2]:4797"
	want := []seen{
		{i1, "10.0.0.1 5001", "10.0.0.2 4797", engine.ECT0, list[0].Bytes},
		{i2, "fd00::1 5002", "fd00::2 4797", engine.CE, list[1].Bytes},
		{i1, "10.0.0.1 5001", "10.0.0.2 4797", engine.NotECT, list[2].Bytes},
		{i1, "10.0.0.2 4797", "10.0.0.1 5001", engine.ECT0, list[0].Bytes},
		{i2, "fd00::2 4797", "fd00::1 5002", engine.CE, list[1].Bytes},
		{i1, "10.0.0.2 4797", "10.0.0.1 5001", engine.NotECT, list[2].Bytes},
	}
	if diff := cmp.Diff(want, read(t, file.Bytes())); diff != "" {
		t.Error(diff)
	}
	var counts Counts
	counts.Sent[wire.OpcodeWrite], counts.Sent[wire.OpcodeAck] = 2, 1
	counts.Received, counts.Written = counts.Sent, 6
	if diff := cmp.Diff(counts, p.Counts()); diff != "" {
		t.Error(diff)
	}
}

func TestLimitEndsTheFileNotTheCounting(t *testing.T) {
	var file bytes.Buffer
	p, err := Wrap(&echo{}, &file, Config{Limit: 5})
	if err != nil {
		t.Fatal(err)
	}
	for range 7 {
		if err := p.Send([]engine.Datagram{datagram(route("10.0.0.1:1", "10.0.0.2:2"), 0, wire.OpcodeSend)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	c := p.Counts()
	if c.Written != 5 || c.Skipped != 2 || c.Sent[wire.OpcodeSend] != 7 {
		t.Errorf("%d written, %d skipped, %d counted", c.Written, c.Skipped, c.Sent[wire.OpcodeSend])
	}
	if got := len(read(t, file.Bytes())); got != 5 {
		t.Errorf("%d packets in the file", got)
	}
}

func TestTimesAreTheClocks(t *testing.T) {
	var file bytes.Buffer
	at := time.Date(2026, 8, 24, 1, 2, 3, 456789123, time.UTC)
	p, err := Wrap(&echo{}, &file, Config{Clock: func() time.Time { return at }})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Send([]engine.Datagram{datagram(route("10.0.0.1:1", "10.0.0.2:2"), 0, wire.OpcodeSend)}); err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	r, err := pcapgo.NewNgReader(&file, pcapgo.DefaultNgReaderOptions)
	if err != nil {
		t.Fatal(err)
	}
	_, info, err := r.ReadPacketData()
	if err != nil || !info.Timestamp.Equal(at) {
		t.Errorf("time %v, %v", info.Timestamp, err)
	}
}

func TestEmptyCaptureIsAReadableFile(t *testing.T) {
	var file bytes.Buffer
	p, err := Wrap(&echo{}, &file, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := read(t, file.Bytes()); len(got) != 0 {
		t.Errorf("%d packets", len(got))
	}
}

// full is a disk without room.
type full struct{}

var errFull = errors.New("no room")

func (full) Write([]byte) (int, error) { return 0, errFull }

func TestFullDiskStopsRecordingNotTraffic(t *testing.T) {
	p, err := Wrap(&echo{}, full{}, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		if err := p.Send([]engine.Datagram{datagram(route("10.0.0.1:1", "10.0.0.2:2"), 0, wire.OpcodeSend)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Flush(); !errors.Is(err, errFull) {
		t.Errorf("Flush: %v", err)
	}
	if p.Counts().Sent[wire.OpcodeSend] != 200 {
		t.Errorf("%d counted", p.Counts().Sent[wire.OpcodeSend])
	}
}

func TestWrapRejectsNegativeLimit(t *testing.T) {
	if _, err := Wrap(&echo{}, io.Discard, Config{Limit: -1}); !errors.Is(err, ErrConfig) {
		t.Errorf("%v", err)
	}
}
