// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// TestFiltersFindWhatExampleTreesShow compares packets that are shown with packets that are only filtered, for the rarest
// field of every header.
func TestFiltersFindWhatExampleTreesShow(t *testing.T) {
	for _, name := range []string{"geneve", "ptp"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := exampleSchema(t, name)
			script := generated(t, p)
			for _, b := range batches(t, p) {
				if len(b.bytes) > 20 {
					b.filters(t, p, script)
				}
			}
		})
	}
}

func (b *batch) filters(t *testing.T, p *gen.Protocol, script string) {
	t.Helper()
	pcap := writeUserPcap(t, b.bytes, nil)
	counts := map[string]int{}
	for _, d := range readPDML(t, tshark(t, script, pcap, b.options(t, p)...), p.Targets.LuaProto, map[string]*gen.Item{}) {
		for name := range d.fields {
			counts[name]++
		}
	}
	rarest := map[string]string{}
	for _, name := range sortedKeys(counts) {
		header, _, ok := strings.Cut(strings.TrimPrefix(name, p.Targets.LuaProto+"."), ".")
		generic := header == "error" || header == "expert" || header == "lint"
		if old := rarest[header]; ok && !generic && !strings.Contains(name, ".reserved") && (old == "" || counts[name] < counts[old]) {
			rarest[header] = name
		}
	}
	var wrong, names []string
	for _, header := range sortedKeys(rarest) {
		names = append(names, rarest[header])
	}
	sort.SliceStable(names, func(i, j int) bool { return counts[names[i]] < counts[names[j]] })
	for _, name := range names[:min(len(names), 3)] {
		out := tshark(t, script, pcap, append(b.options(t, p)[2:], "-Y", name)...)
		if got := strings.Count(string(out), "\n"); got != counts[name] {
			wrong = append(wrong, fmt.Sprintf("%s finds %d packets, the trees show %s", name, got, strconv.Itoa(counts[name])))
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s: %s", b.packet, strings.Join(wrong, "; "))
	}
}
