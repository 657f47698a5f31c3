// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

// maxInput bounds the hex digits and spaces that decode reads.
const maxInput = 1 << 20

// input is either bytes or a capture.
type input struct {
	bytes   []byte
	capture *capture
	file    *os.File // nil unless opened here
}

func (in *input) close() {
	if in.file != nil {
		_ = in.file.Close() // was only read
	}
}

// openInput finds out what the arguments are: hex digits, the name of a file, or - for standard input.
func openInput(args []string, stdin io.Reader) (*input, error) {
	in := &input{}
	switch {
	case len(args) == 1 && args[0] == "-":
	case len(args) == 1 && isFile(args[0]):
		f, err := os.Open(args[0])
		if err != nil {
			return nil, err
		}
		in.file, stdin = f, f
	default:
		b, err := parseHex(strings.Join(args, ""))
		in.bytes = b
		return in, err
	}
	err := in.read(bufio.NewReader(stdin))
	if err != nil {
		in.close()
		return nil, err
	}
	return in, nil
}

func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// read tells captures from hex digits by their first bytes.
func (in *input) read(r *bufio.Reader) error {
	head, err := r.Peek(4)
	if err == nil {
		if in.capture, err = openCapture(r, head); in.capture != nil || err != nil {
			return err
		}
	}
	text, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return err
	}
	in.bytes, err = parseHex(string(text))
	return err
}

func parseHex(text string) ([]byte, error) {
	if len(text) > maxInput {
		return nil, fmt.Errorf("more than %d characters", maxInput)
	}
	text = strings.NewReplacer("0x", "", ":", "", "-", "").Replace(strings.ToLower(strings.Join(strings.Fields(text), "")))
	b, err := hex.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("the bytes are neither a file nor pairs of hex digits: %w", err)
	}
	return b, nil
}

// capture reads frames from a pcap or pcapng.
type capture struct {
	read   func() (data []byte, link layers.LinkType, info gopacket.CaptureInfo, err error)
	number int
}

// openCapture returns nil when the first bytes are not those of a capture.
func openCapture(r *bufio.Reader, head []byte) (*capture, error) {
	classic := [][]byte{{0xa1, 0xb2, 0xc3, 0xd4}, {0xd4, 0xc3, 0xb2, 0xa1}, {0xa1, 0xb2, 0x3c, 0x4d}, {0x4d, 0x3c, 0xb2, 0xa1}}
	switch {
	case bytes.Equal(head, []byte{0x0a, 0x0d, 0x0d, 0x0a}):
		ng, err := pcapgo.NewNgReader(&blocks{r: r}, pcapgo.NgReaderOptions{WantMixedLinkType: true, SkipUnknownVersion: true})
		if err != nil {
			return nil, fmt.Errorf("pcapng: %w", err)
		}
		return &capture{read: func() ([]byte, layers.LinkType, gopacket.CaptureInfo, error) {
			data, info, err := ng.ReadPacketData()
			if err != nil {
				return nil, 0, info, err
			}
			link, ok := info.AncillaryData[0].(layers.LinkType)
			if !ok {
				return nil, 0, info, errors.New("a packet without link type")
			}
			return data, link, info, nil
		}}, nil
	case slices.ContainsFunc(classic, func(m []byte) bool { return bytes.Equal(m, head) }):
		old, err := pcapgo.NewReader(r)
		if err != nil {
			return nil, fmt.Errorf("pcap: %w", err)
		}
		return &capture{read: func() ([]byte, layers.LinkType, gopacket.CaptureInfo, error) {
			data, info, err := old.ReadPacketData()
			return data, old.LinkType(), info, err
		}}, nil
	}
	return nil, nil
}

// datagram is one UDP datagram of a capture.
type datagram struct {
	number   int // of its frame, from 1 as Wireshark counts
	time     time.Time
	src, dst string
	payload  []byte
	size     int // bytes that were sent; more than len(payload) when the capture has cut it
}

// String is the line above the datagram's tree.
func (d *datagram) String() string {
	s := fmt.Sprintf("frame %d, %s, %s > %s, %d bytes", d.number, d.time.UTC().Format(time.RFC3339Nano), d.src, d.dst, d.size)
	if d.size > len(d.payload) {
		s += fmt.Sprintf(", cut to %d by the capture", len(d.payload))
	}
	return s
}

// next reads one frame. It returns nil for one that is no datagram from or to one of the ports, io.EOF at the end.
func (c *capture) next(ports []int) (*datagram, error) {
	data, link, info, err := c.read()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	c.number++
	if err != nil {
		return nil, fmt.Errorf("frame %d: %w", c.number, err)
	}
	packet := gopacket.NewPacket(data, link, gopacket.DecodeOptions{NoCopy: true})
	udp, ok := packet.Layer(layers.LayerTypeUDP).(*layers.UDP)
	if !ok {
		return nil, nil
	}
	if len(ports) > 0 && !slices.Contains(ports, int(udp.SrcPort)) && !slices.Contains(ports, int(udp.DstPort)) {
		return nil, nil
	}
	d := &datagram{number: c.number, time: info.Timestamp, payload: udp.Payload}
	d.size = max(len(d.payload), int(udp.Length)-8)
	src, dst := "?", "?"
	if net := packet.NetworkLayer(); net != nil {
		src, dst = net.NetworkFlow().Src().String(), net.NetworkFlow().Dst().String()
	}
	d.src, d.dst = join(src, int(udp.SrcPort)), join(dst, int(udp.DstPort))
	return d, nil
}

// join is host:port, with brackets around an IPv6 address.
func join(host string, port int) string {
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	return fmt.Sprintf("%s:%d", host, port)
}
