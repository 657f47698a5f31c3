// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/openmetaroce/metaroce/engine/impair"
)

// good is a report in which all is well: 64 MiB, one pair.
func good() *runReport {
	sideOf := func(role string, loss float64) *sideReport {
		s := &sideReport{Role: role, Bytes: 64 << 20, SHA256: "equal", Seconds: 0.1, Goodput: 64 << 20 / 0.1}
		for i := range 16 {
			s.Paths = append(s.Paths, pathReport{Path: uint16(i), Packets: 500, Local: "127.0.0.1:5", Remote: "127.0.0.1:6"})
		}
		if loss > 0 {
			s.Injected = injectedReport{Dropped: 80, DroppedData: 80, Passed: 7920}
			s.Paths[3].Resent = 80
		}
		return s
	}
	r := &runReport{Input: input{Bytes: 64 << 20, SHA256: "equal"}, Paths: 16, Loss: 0.01}
	for _, loss := range []float64{0, 0.01} {
		r.Runs = append(r.Runs, &transferReport{Loss: loss, Sender: sideOf("sender", loss), Receiver: sideOf("receiver", loss)})
	}
	r.summarise()
	return r
}

// fails returns the kinds of the checks that are not passed.
func fails(checks []check) (out []kind) {
	for _, c := range checks {
		if !c.OK {
			out = append(out, c.Kind)
		}
	}
	return out
}

func TestTransferChecksNoticeEveryFault(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(r *runReport)
		want  kind
	}{
		{"nothing", func(*runReport) {}, ""},
		{"hash", func(r *runReport) { r.Runs[1].Receiver.SHA256 = "other" }, correctness},
		{"a path in four unused", func(r *runReport) {
			for i := range 4 {
				r.Runs[0].Sender.Paths[i].Packets = 10
			}
		}, correctness},
		{"no loss injected", func(r *runReport) { r.Runs[1].Receiver.Injected = injectedReport{Passed: 10_000} }, correctness},
		{"little loss injected by chance", func(r *runReport) { r.Runs[1].Receiver.Injected = injectedReport{Passed: 50} }, reported},
		{"too few resends", func(r *runReport) { r.Runs[1].Sender.Paths[3].Resent = 79 }, correctness},
		{"too few resends beside a path that went down", func(r *runReport) {
			r.Runs[1].Sender.Paths[3].Resent, r.Runs[1].Sender.Paths[4].Downs = 79, 1
		}, reported},
		{"slow", func(r *runReport) { r.GoodputLossless = 149e6 }, reported},
		{"slow with loss", func(r *runReport) { r.Ratio = 0.8 }, reported},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			c.spoil(r)
			got := fails(transferChecks(r))
			switch {
			case c.want == "" && len(got) == 0:
			case len(got) != 1 || got[0] != c.want:
				t.Errorf("failed checks %q, want one of kind %q", got, c.want)
			}
		})
	}
}

func TestDissectionChecksNoticeEveryFault(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(d *dissection, s *sideReport)
		want  int
	}{
		{"nothing", func(*dissection, *sideReport) {}, 0},
		{"a packet missing", func(d *dissection, _ *sideReport) { d.Packets--; d.ByOpcode["Write"]-- }, 2},
		{"an opcode too much", func(d *dissection, _ *sideReport) { d.ByOpcode["Vendor"] = 1 }, 1},
		{"capture cut off", func(_ *dissection, s *sideReport) { s.Skipped = 1 }, 1},
		{"resends", func(d *dissection, _ *sideReport) { d.Resends++ }, 1},
		{"no gaps seen", func(d *dissection, _ *sideReport) { d.Gaps = 0 }, 1},
		{"malformed", func(d *dissection, _ *sideReport) { d.Malformed++ }, 1},
		{"Lua error", func(d *dissection, _ *sideReport) { d.LuaErrors++ }, 1},
		{"fall-through", func(d *dissection, _ *sideReport) { d.Foreign++ }, 1},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := good()
			s, other := r.Runs[1].Sender, r.Runs[1].Receiver
			s.Sent, s.Received, s.Captured = map[string]uint64{"Write": 8}, map[string]uint64{"Ack": 2}, 10
			d := &dissection{Packets: 10, ByOpcode: map[string]uint64{"Write": 8, "Ack": 2}, Resends: 80, Gaps: 1}
			c.spoil(d, s)
			if got := fails(dissectionChecks(d, s, other)); len(got) != c.want {
				t.Errorf("%d checks failed, want %d", len(got), c.want)
			}
		})
	}
}

func TestDissectionCountsLines(t *testing.T) {
	d := dissection{ByOpcode: map[string]uint64{}}
	own := map[string]bool{"5000": true}
	for _, line := range [][]string{
		{"0x01", "", "", "", "", "", "5000"}, {"1", "17", "", "", "", "", "5000"}, {"1", "17", "", "", "", "", "4797"},
		{"0x10", "", "2", "", "", "", "4797"}, {"", "", "", "", "", "1", "4797"}, {"1", "", "", "E_SHORT", "", "", "1"},
	} {
		if err := d.take(line, own); err != nil {
			t.Fatal(err)
		}
	}
	want := dissection{Packets: 6, Resends: 1, Gaps: 1, Malformed: 1, LuaErrors: 1, Foreign: 1}
	if got := d; got.Packets != want.Packets || got.Resends != 1 || got.Gaps != 1 || got.Malformed != 1 ||
		got.LuaErrors != 1 || got.Foreign != 1 || got.ByOpcode["Write"] != 4 || got.ByOpcode["Ack"] != 1 {
		t.Errorf("%+v", got)
	}
	if err := d.take([]string{"1"}, own); err == nil {
		t.Error("a short line was taken")
	}
}

func TestDefaultSeedLosesItsShareHoweverMuchIsSent(t *testing.T) {
	const first, pairs, loss = 6097, 3, 0.01
	for i := range uint64(pairs) {
		sender, receiver := seeds(first + i)
		for _, c := range []struct {
			seed        uint64
			least, most int
		}{{sender, 2000, 60_000}, {receiver, 150, 20_000}} {
			dice := impair.NewDice(impair.Config{Loss: loss}, rand.New(rand.NewPCG(c.seed, 0)))
			for n := 1; n <= c.most; n++ {
				dice.Roll(nil)
				if n >= c.least && float64(dice.Dropped) < leastDropPart*loss*float64(n) {
					t.Fatalf("seed %d drops %d of the first %d", c.seed, dice.Dropped, n)
				}
			}
		}
	}
}

func TestPackWritesTheSameBytesEachTime(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"b": "two", "a": "one", "c/d": "three"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var one, two bytes.Buffer
	if err := pack(&one, dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, "a"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := pack(&two, dir); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || one.Len() == 0 {
		t.Errorf("%d and %d bytes, different", one.Len(), two.Len())
	}
}

func TestMedianIsTheMiddle(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{3, 1, 2}, 2}, {[]float64{4, 1, 2, 3}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median %v of %v", got, c.values)
		}
	}
}
