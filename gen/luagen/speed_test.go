// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"encoding/binary"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
)

const (
	speedPackets = 40_000 // of each capture
	speedRounds  = 7
	speedPorts   = 4791 // RoCEv2
)

// speedCapture writes datagrams to a port, eight from the opener and then one back, and returns the path.
func speedCapture(t testing.TB, port, count int, payload func(i int) []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "speed.pcap")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(1<<16, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	ends := []net.IP{{10, 0, 0, 1}, {10, 0, 0, 2}}
	for i := range count {
		from := 0
		if i%9 == 8 {
			from = 1
		}
		data := datagram(t, route{ends[from], ends[1-from], 50000, port}, payload(i))
		info := gopacket.CaptureInfo{Timestamp: time.Unix(1_700_000_000, 0).Add(time.Duration(i) * time.Microsecond), Length: len(data), CaptureLength: len(data)}
		if err := w.WritePacket(info, data); err != nil {
			t.Fatal(err)
		}
	}
	return name
}

// rocePacket is a packet of an RDMA write, or an acknowledgement.
func rocePacket(i int) []byte {
	bth := []byte{0x07, 0, 0xff, 0xff, 0, 0, 0, 5, 0, byte(i >> 16), byte(i >> 8), byte(i)}
	if i%9 == 8 {
		bth[0] = 0x11
		return append(append(bth, 0, byte(i>>16), byte(i>>8), byte(i)), 0, 0, 0, 0)
	}
	return append(append(bth, make([]byte, demoData)...), 0, 0, 0, 0)
}

// ourPackets makes writes and acknowledgements with a vector, over sixteen paths. Their checksums are not right, and nobody looks.
func ourPackets(t testing.TB) func(i int) []byte {
	t.Helper()
	p := loadProtocol(t)
	vectors := loadVectors(t, p)
	write := demoWrite(0, 100).encode(t, p, vectors)
	gap := demoPackets()[6].encode(t, p, vectors)
	return func(i int) []byte {
		b := slices.Clone(write)
		if i%9 == 8 {
			b = slices.Clone(gap)
		}
		binary.BigEndian.PutUint16(b[2:], uint16(i%16)<<4|binary.BigEndian.Uint16(b[2:])&15)
		binary.BigEndian.PutUint32(b[12:], uint32(i/16))
		binary.BigEndian.PutUint32(b[16:], uint32(i))
		return b
	}
}

// processorTime runs tshark and returns what the processors spent on it.
func processorTime(t testing.TB, args ...string) time.Duration {
	t.Helper()
	cmd := exec.Command("tshark", args...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LC_ALL=C.UTF-8")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// BenchmarkSummary compares the time for a line per packet, without a tree, with that of Wireshark's own InfiniBand dissector for as
// many packets of the same size. Start-up is left out. It reports the median of interleaved rounds.
func BenchmarkSummary(b *testing.B) {
	script := generated(b, loadProtocol(b))
	port := loadProtocol(b).Targets.UDPPort
	mine := ourPackets(b)
	ours, roce := speedCapture(b, port, speedPackets, mine), speedCapture(b, speedPorts, speedPackets, rocePacket)
	oursOne, roceOne := speedCapture(b, port, 1, mine), speedCapture(b, speedPorts, 1, rocePacket)
	load := []string{"-X", "lua_script:" + script, "-n", "-r"}
	plain := []string{"-n", "-r"}
	var ratios []float64
	for b.Loop() {
		ratios = ratios[:0]
		for range speedRounds {
			lua := processorTime(b, append(load, ours)...) - processorTime(b, append(load, oursOne)...)
			own := processorTime(b, append(plain, roce)...) - processorTime(b, append(plain, roceOne)...)
			ratios = append(ratios, float64(lua)/float64(own))
		}
	}
	slices.Sort(ratios)
	b.ReportMetric(ratios[len(ratios)/2], "x-infiniband")
	b.ReportMetric(ratios[0], "x-least")
	b.ReportMetric(0, "ns/op")
}
