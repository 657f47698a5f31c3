// SPDX-License-Identifier: Apache-2.0

package sim

import "testing"

// BenchmarkOneFlow moves 16 MiB in one Write over a clean network at 100 Gb/s, memory, copies and checksums included.
func BenchmarkOneFlow(b *testing.B) {
	const size = 16 << 20
	b.SetBytes(size)
	b.ReportAllocs()
	var packets, events uint64
	for b.Loop() {
		cfg := plain(size)
		cfg.CheckEvery = 0
		res, err := Run(cfg)
		if err != nil {
			b.Fatal(err)
		}
		packets += res.Packets
		events += res.Events
	}
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds(), "packets/s")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}
