// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"sort"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// TestFiltersFindWhatTheTreeShows compares packets that are shown with packets that are only filtered: the latter get no
// more of the tree than the filter names.
func TestFiltersFindWhatTheTreeShows(t *testing.T) {
	p := loadProtocol(t)
	var frames []frame
	for i, v := range loadVectors(t, p) {
		if i%8 == 0 {
			frames = append(frames, frame{v.data, -1})
		}
	}
	pcap, script := writePcap(t, p.Targets.UDPPort, frames), generated(t, p)
	shown := readPDML(t, tshark(t, script, pcap, "-T", "pdml"), p.Targets.LuaProto, map[string]*gen.Item{})
	counts := map[string]int{}
	for _, d := range shown {
		for name := range d.fields {
			counts[name]++
		}
	}
	for _, name := range oneOfEachStruct(p, counts) {
		out := string(tshark(t, script, pcap, "-Y", name))
		if got := strings.Count(out, "\n"); got != counts[name] {
			t.Errorf("%s finds %d packets, the trees show %d", name, got, counts[name])
		}
	}
}

// oneOfEachStruct picks up to eight filters: of every struct the one that most packets have, rare structs first, and two
// that the generator adds.
func oneOfEachStruct(p *gen.Protocol, counts map[string]int) []string {
	best := map[string]string{}
	for _, name := range sortedKeys(counts) {
		parts := strings.Split(name, ".")
		if len(parts) != 3 {
			continue
		}
		if old, ok := best[parts[1]]; !ok || counts[name] > counts[old] {
			best[parts[1]] = name
		}
	}
	var names []string
	for _, s := range sortedKeys(best) {
		names = append(names, best[s])
	}
	sort.SliceStable(names, func(i, j int) bool { return counts[names[i]] < counts[names[j]] })
	names = append(names[:min(len(names), 6)], fmt.Sprint(p.Targets.LuaProto, ".base"), fmt.Sprint(p.Targets.LuaProto, ".error"))
	return names
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
