// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// jain is the fairness index of shares: 1 when all are equal, 1/n when one has everything.
func jain(shares []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, s := range shares {
		sum += s
		squares += s * s
	}
	return sum * sum / (float64(len(shares)) * squares)
}

// Paths that are equal, each with a marking queue of its own, get equal shares, although one of them begins with an outage.
//
//mr:prop P34
//mr:test MR-PATH-011 MR-CC-002
func TestEqualPathsHaveEqualShares(t *testing.T) {
	const paths = 8
	cfg := Config{
		Seed: 7,
		Engine: engine.Config{
			InitialWindow: 4 * (4096 + engine.Overhead), MaxWindow: 64 << 20, InitialRTT: 100 * time.Microsecond, MinRTO: 50 * time.Microsecond,
		},
		Network: Network{
			Rate: 100e9, Latency: 5 * time.Microsecond, Paths: paths,
			Hops: []Hop{{Rate: 5e9, Latency: 10 * time.Microsecond, Own: true, Queue: 400_000, MarkFrom: 30_000, MarkTo: 90_000}},
		},
		Faults:  Faults{Blackholes: []Blackhole{{Path: 3, Begin: 0, End: 2 * time.Millisecond}}},
		Streams: []Stream{{Messages: []Message{{Op: engine.OpWrite, Size: 128 << 20}}}},
	}
	var r *run
	var err error
	var middle, latest []engine.PathStats
	cfg.Progress = func(placed, total uint64) {
		if s, ok := r.hosts[0].endpoint.ConnStats(r.hosts[0].conn); ok && placed < total/2 {
			middle = s.Paths
		} else if ok {
			latest = s.Paths
		}
	}
	r, err = newRun(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.execute(); err != nil {
		t.Fatal(err)
	}
	var shares []float64
	marked := uint64(0)
	for i, p := range latest {
		shares = append(shares, float64(p.Acked-middle[i].Acked))
		marked += p.CEReported
	}
	if index := jain(shares); index < 0.9 || len(shares) != paths || marked == 0 {
		t.Errorf("fairness %.3f of %v, %d packets marked", index, shares, marked)
	} else {
		t.Logf("fairness %.4f of %v, %d packets marked", index, shares, marked)
	}
}
