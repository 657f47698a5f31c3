// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// changed returns the packet with add added to a scalar of whole bytes, which lies in the first run of every packet.
func changed(t *testing.T, packet []byte, path string, add uint64) []byte {
	t.Helper()
	p := loadProtocol(t)
	root := rootOf(t, p, "Packet")
	for _, p := range leavesOf(runOf(root)) {
		if pathText(p.path) != path {
			continue
		}
		b := append([]byte{}, packet...)
		first, size := p.window()
		for i := size - 1; i >= 0; i-- {
			add += uint64(b[first+i])
			b[first+i] = byte(add)
			add >>= 8
		}
		return b
	}
	t.Fatalf("the first run has no item %s", path)
	return nil
}

func vectorWith(t *testing.T, vectors []*vector, suffix string) *vector {
	t.Helper()
	for _, v := range vectors {
		for path := range v.Fields {
			if strings.HasSuffix(path, suffix) {
				return v
			}
		}
	}
	t.Fatalf("no vector has a field %s", suffix)
	return nil
}

func TestAnalysisMarksResends(t *testing.T) {
	p := loadProtocol(t)
	v := vectorWith(t, loadVectors(t, p), ".message.stream")
	again := changed(t, v.data, "base.tsn", 1)
	frames := []frame{
		{v.data, -1},
		{again, -1},                               // sent again
		{changed(t, v.data, "base.psn", 1), -1},   // another slot
		{v.data, -1},                              // an old copy
		{changed(t, again, "base.tag", 1), -1},    // another connection
		{changed(t, again, "base.psn", 256), -1},  // the same slot, a window later
		{changed(t, v.data, "base.psn", 256), -1}, // its old copy
		{changed(t, v.data, "base.tsn", 1<<31), -1},
	}
	out := tshark(t, generated(t, p), writePcap(t, p.Targets.UDPPort, frames), "-T", "fields", "-e", p.Targets.LuaProto+".analysis.resend")
	if diff := cmp.Diff([]string{"", "1", "", "", "", "", "", ""}, strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")); diff != "" {
		t.Error(diff)
	}
}

func TestAnalysisFlagsGaps(t *testing.T) {
	p := loadProtocol(t)
	v := vectorWith(t, loadVectors(t, p), ".sack")
	out := tshark(t, generated(t, p), writePcap(t, p.Targets.UDPPort, []frame{{v.data, -1}}), "-Y", p.Targets.LuaProto+".analysis.gap >= 1")
	if !strings.Contains(string(out), p.Targets.LuaName) {
		t.Errorf("an acknowledgement with gaps is not flagged: %q", out)
	}
}

// tagged leaves out the packets that bear no tag, and those without data.
func tagged(vectors []*vector) []*vector {
	var out []*vector
	for _, v := range vectors {
		if v.Fields["base.tag"] != "0" && len(v.Fields["plain.write.data"]) > len("hex:") {
			out = append(out, v)
		}
	}
	return out
}

func TestDissectorSplitsAggregates(t *testing.T) {
	p := loadProtocol(t)
	v := vectorWith(t, tagged(loadVectors(t, p)), ".write.data")
	n := 2000/len(v.data) + 2
	long := bytes.Repeat(v.data, n)
	short := long[:len(long)-len(v.data)/2]
	script, tsn := generated(t, p), p.Targets.LuaProto+".base.tsn"
	pcap := writePcap(t, p.Targets.UDPPort, []frame{{long, -1}, {short, -1}, {v.data, -1}})
	columns := []string{"-T", "fields", "-e", tsn, "-e", p.Targets.LuaProto + ".error"}
	lines := strings.Split(string(tshark(t, script, pcap, columns...)), "\n")
	for i, want := range []int{n, n, 1} {
		cols := strings.Split(lines[i], "\t")
		if got := strings.Count(cols[0], ",") + 1; got != want {
			t.Errorf("datagram %d shows %d packets, want %d", i+1, got, want)
		}
		if failed := cols[1] != ""; failed != (i == 1) {
			t.Errorf("datagram %d: error %q", i+1, cols[1])
		}
	}
	whole := string(tshark(t, script, pcap, append(columns, "-o", p.Targets.LuaProto+".split:FALSE")...))
	if strings.Contains(strings.Split(whole, "\n")[0], ",") {
		t.Error("the preference does not turn splitting off")
	}
}

func TestDissectorFollowsPreferencesAndDecodeAs(t *testing.T) {
	p := loadProtocol(t)
	v := vectorWith(t, loadVectors(t, p), ".write.data")
	script, proto := generated(t, p), p.Targets.LuaProto
	pcap := writePcap(t, 6000, []frame{{v.data, -1}})
	status := []string{"-T", "fields", "-e", proto + ".packet.crc.status"}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"another port", nil, ""},
		{"port preference", []string{"-o", proto + ".port:6000"}, "1"},
		{"decode as", []string{"-d", "udp.port==6000," + proto}, "1"},
		{"no verification", []string{"-o", proto + ".port:6000", "-o", proto + ".crc:Never"}, "2"},
	} {
		if got := strings.TrimSpace(string(tshark(t, script, pcap, append(c.args, status...)...))); got != c.want {
			t.Errorf("%s: checksum status %q, want %q", c.name, got, c.want)
		}
	}
}
