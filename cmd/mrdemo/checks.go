// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// kind tells what a failed check means.
type kind string

const (
	// correctness: something is wrong, and the command fails.
	correctness kind = "correctness"
	// reported: the machine, or chance, did not do what was hoped.
	reported kind = "report"
)

// check is one thing that the demonstration looks at.
type check struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Bar   string `json:"bar"`
	OK    bool   `json:"ok"`
	Kind  kind   `json:"kind"`
}

// The bars.
const (
	leastGoodput  = 150e6 // B/s, without loss
	leastRatio    = 0.9   // goodput with loss over goodput without
	leastDropPart = 0.8   // of the configured loss, in each direction
	evenPaths     = 14.0 / 16
	evenShare     = 0.5     // deviation from an even share of the packets
	leastSpread   = 2 << 20 // bytes of the file for each path, from which on shares must be even
)

// transferChecks judges the pairs of transfers.
func transferChecks(r *runReport) (out []check) {
	add := func(k kind, name string, ok bool, bar, value string) {
		out = append(out, check{Name: name, Value: value, Bar: bar, OK: ok, Kind: k})
	}
	equal, uneven := 0, 0
	least, paths := 1<<30, 0
	var data, resent, downs uint64
	for _, t := range r.Runs {
		if t.Sender.SHA256 == r.Input.SHA256 && t.Receiver.SHA256 == r.Input.SHA256 {
			equal++
		}
		paths = len(t.Sender.Paths)
		even := evenlyUsed(t.Sender.Paths)
		least = min(least, even)
		if float64(even) < evenPaths*float64(paths) {
			uneven++
		}
		if t.Loss > 0 {
			data += t.Sender.Injected.DroppedData
			resent += t.Sender.resent()
			downs += t.Sender.downs()
		}
	}
	add(correctness, "runs whose SHA-256 is equal at both ends", equal == len(r.Runs), fmt.Sprint(len(r.Runs)), fmt.Sprint(equal))
	spread := correctness
	if r.Input.Bytes < int64(paths)*leastSpread {
		spread = reported // too few packets to be even
	}
	add(spread, fmt.Sprintf("paths within 50 %% of an even share, least of all runs, of %d", paths), uneven == 0,
		fmt.Sprintf("≥ %.0f", evenPaths*float64(paths)), fmt.Sprint(least))
	out = append(out, r.dropCheck("sender", senderOf), r.dropCheck("receiver", receiverOf))
	repair := correctness
	if downs > 0 {
		repair = reported // chunks that moved to another path count as new there
	}
	add(repair, "resends, for dropped data packets", resent >= data, fmt.Sprintf("≥ %d", data), fmt.Sprint(resent))
	add(reported, "goodput without loss, median", r.GoodputLossless >= leastGoodput,
		fmt.Sprintf("≥ %.0f MB/s", leastGoodput/1e6), fmt.Sprintf("%.0f MB/s", r.GoodputLossless/1e6))
	add(reported, fmt.Sprintf("goodput with %.3g %% loss over without, median of pairs", 100*r.Loss), r.Ratio >= leastRatio,
		fmt.Sprintf("≥ %.2f", leastRatio), fmt.Sprintf("%.3f", r.Ratio))
	return out
}

// dropCheck judges whether as many datagrams of a side were dropped as was asked for. Too few are a fault only when chance
// cannot be the reason: feedback is rare, since one acknowledgement serves many packets.
func (r *runReport) dropCheck(name string, side func(*transferReport) *sideReport) check {
	sum := r.injected(side)
	n := float64(sum.Dropped + sum.Passed)
	bar := leastDropPart * r.Loss
	c := check{
		Name: "datagrams from the " + name + " dropped on purpose", OK: sum.fraction() >= bar, Kind: reported,
		Bar: fmt.Sprintf("≥ %.2f %%", 100*bar), Value: fmt.Sprintf("%.2f %% of %.0f", 100*sum.fraction(), n),
	}
	if sum.fraction() < r.Loss-4*math.Sqrt(r.Loss*(1-r.Loss)/max(n, 1)) {
		c.Kind = correctness
	}
	return c
}

// evenlyUsed counts the paths whose share of the packets is near an even one.
func evenlyUsed(paths []pathReport) (n int) {
	total := uint64(0)
	for _, p := range paths {
		total += p.Packets
	}
	share := float64(total) / float64(max(len(paths), 1))
	for _, p := range paths {
		if d := float64(p.Packets) - share; d >= -evenShare*share && d <= evenShare*share {
			n++
		}
	}
	return n
}

// dissectionChecks compares what tshark saw of one side with what the SDK counted there.
func dissectionChecks(d *dissection, side *sideReport, other *sideReport) (out []check) {
	add := func(name string, ok bool, bar, value string) {
		out = append(out, check{Name: d.Role + "'s capture: " + name, Value: value, Bar: bar, OK: ok, Kind: correctness})
	}
	counted := total(side)
	if bar := "as the SDK has counted"; maps.Equal(counted, d.ByOpcode) {
		add("packets by opcode", true, bar, "equal")
	} else {
		add("packets by opcode", false, bar+": "+describeCounts(counted), describeCounts(d.ByOpcode))
	}
	add("packets in the file", d.Packets == side.Captured && side.Skipped == 0, fmt.Sprint(side.Captured), fmt.Sprint(d.Packets))
	add("resends equal to the SDK's count", d.Resends == side.resent(), fmt.Sprint(side.resent()), fmt.Sprint(d.Resends))
	if other.Injected.DroppedData > 0 || side.Injected.DroppedData > 0 {
		add("acknowledgements that name gaps", d.Gaps > 0, "≥ 1", fmt.Sprint(d.Gaps))
	}
	for _, f := range []struct {
		name string
		n    uint64
	}{{"malformed packets", d.Malformed}, {"Lua errors", d.LuaErrors}, {"packets not dissected", d.Foreign}} {
		add(f.name, f.n == 0, "0", fmt.Sprint(f.n))
	}
	return out
}

// total adds up what a side has sent and received, by opcode.
func total(side *sideReport) map[string]uint64 {
	out := maps.Clone(side.Sent)
	for o, n := range side.Received {
		out[o] += n
	}
	return out
}

// describeCounts lists opcodes by name.
func describeCounts(counts map[string]uint64) (text string) {
	for i, o := range slices.Sorted(maps.Keys(counts)) {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprintf("%s %d", o, counts[o])
	}
	return text
}
