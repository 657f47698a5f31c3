// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/google/gopacket/pcapgo"
	"github.com/openmetaroce/metaroce/gen"
)

const (
	schemaFile = "../../schema/metaroce.mrs"
	vectorFile = "../../schema/vectors/metaroce.json"
	// lead is what stands before the UDP payload in the captures: Ethernet, IPv4 and UDP.
	lead = 14 + 20 + 8
	// runLimit ends a tshark that hangs.
	runLimit = 50 * time.Second
)

// vector is one entry of the vector file.
type vector struct {
	ID     string            `json:"id"`
	Packet string            `json:"packet"`
	Hex    string            `json:"hex"`
	Stage  string            `json:"stage"`
	OK     bool              `json:"ok"`
	Fields map[string]string `json:"fields"`
	Error  struct {
		Code  string `json:"code"`
		Field string `json:"field"`
		Off   int    `json:"off"`
	} `json:"error"`
	data []byte
}

// loadProtocol compiles the project's schema.
func loadProtocol(t testing.TB) *gen.Protocol {
	t.Helper()
	p, err := gen.Load(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// loadVectors reads the vectors whose datagrams a dissector is called for: those with at least one byte.
func loadVectors(t testing.TB, p *gen.Protocol) []*vector {
	t.Helper()
	raw, err := os.ReadFile(vectorFile)
	if err != nil {
		t.Fatal(err)
	}
	return parseVectors(t, p, raw)
}

func parseVectors(t testing.TB, p *gen.Protocol, raw []byte) []*vector {
	t.Helper()
	var file struct {
		Schema  string    `json:"schema"`
		Vectors []*vector `json:"vectors"`
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	if file.Schema != p.WireHash {
		t.Fatalf("the vectors are of wire hash %s, the schema of %s: generate them anew", file.Schema, p.WireHash)
	}
	var vs []*vector
	for _, v := range file.Vectors {
		if v.data = unhex(t, v.Hex); len(v.data) > 0 {
			vs = append(vs, v)
		}
	}
	if len(vs) == 0 {
		t.Fatal("there are no vectors")
	}
	return vs
}

// generated writes the dissector of p to a file and returns its path.
func generated(t testing.TB, p *gen.Protocol) string {
	t.Helper()
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), files[0].Path)
	if err := os.WriteFile(path, files[0].Data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// frame is one captured datagram; captured is the number of payload bytes that the capture holds, -1 for all.
type frame struct {
	payload  []byte
	captured int
}

// writePcap writes UDP datagrams to port as a capture file and returns its path.
func writePcap(t *testing.T, port int, frames []frame) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.pcap")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := pcapgo.NewWriter(f)
	if err := w.WriteFileHeader(1<<18, layers.LinkTypeEthernet); err != nil {
		t.Fatal(err)
	}
	start := time.Unix(1_700_000_000, 0)
	for i, fr := range frames {
		data := datagram(t, route{net.IP{10, 0, 0, 1}, net.IP{10, 0, 0, 2}, 50000, port}, fr.payload)
		info := gopacket.CaptureInfo{Timestamp: start.Add(time.Duration(i) * time.Millisecond), Length: len(data), CaptureLength: len(data)}
		if fr.captured >= 0 {
			info.CaptureLength = lead + fr.captured
		}
		if err := w.WritePacket(info, data[:info.CaptureLength]); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

// route is where a datagram comes from and goes to.
type route struct {
	src, dst         net.IP
	srcPort, dstPort int
}

func datagram(t testing.TB, r route, payload []byte) []byte {
	t.Helper()
	eth := &layers.Ethernet{SrcMAC: net.HardwareAddr{2, 0, 0, 0, 0, 1}, DstMAC: net.HardwareAddr{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4}
	ip := &layers.IPv4{Version: 4, TTL: 64, Protocol: layers.IPProtocolUDP, SrcIP: r.src, DstIP: r.dst}
	udp := &layers.UDP{SrcPort: layers.UDPPort(r.srcPort), DstPort: layers.UDPPort(r.dstPort)}
	if err := udp.SetNetworkLayerForChecksum(ip); err != nil {
		t.Fatal(err)
	}
	b := gopacket.NewSerializeBuffer()
	opts := gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true}
	if err := gopacket.SerializeLayers(b, opts, eth, ip, udp, gopacket.Payload(payload)); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// tshark runs tshark over a capture with the dissector and a script that forbids globals, and returns its output.
// Anything that Lua has to say is a failure.
func tshark(t *testing.T, script, pcap string, args ...string) []byte {
	t.Helper()
	strict, err := filepath.Abs("testdata/strict.lua")
	if err != nil {
		t.Fatal(err)
	}
	return plainTshark(t, pcap, append([]string{"-X", "lua_script:" + strict, "-X", "lua_script:" + script}, args...)...)
}

// plainTshark runs tshark as it comes.
func plainTshark(t *testing.T, pcap string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Fatal("tshark is missing: apt-get install -y --no-install-recommends tshark")
	}
	ctx, cancel := context.WithTimeout(context.Background(), runLimit)
	defer cancel()
	all := append([]string{"-n", "-r", pcap}, args...)
	cmd := exec.CommandContext(ctx, "tshark", all...)
	home := t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "LC_ALL=C.UTF-8")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("tshark %s: %v (%v)\n%s", strings.Join(args, " "), err, ctx.Err(), stderr.String())
	}
	if e := stderr.String(); strings.Contains(e, "Lua") || strings.Contains(e, "doesn't exist") {
		t.Fatalf("tshark %s:\n%s", strings.Join(args, " "), e)
	}
	return stdout.Bytes()
}
