// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/openmetaroce/metaroce/gen"
)

// changed returns the packet with another number in a scalar of whole bytes, which lies in the root's first run.
func changed(t *testing.T, root *gen.Struct, packet []byte, path string, add uint64) []byte {
	t.Helper()
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
	root := rootOf(t, p, v.Packet)
	again := changed(t, root, v.data, "base.tsn", 1)
	frames := []frame{
		{v.data, -1},
		{again, -1}, // sent again
		{changed(t, root, v.data, "base.psn", 1), -1}, // another slot
		{v.data, -1}, // an old copy
		{changed(t, root, again, "base.tag", 1), -1},    // another connection
		{changed(t, root, again, "base.psn", 256), -1},  // the same slot, a window later
		{changed(t, root, v.data, "base.psn", 256), -1}, // its old copy
		{changed(t, root, v.data, "base.tsn", 1<<31), -1},
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
