// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// report is what a run has to say. Its JSON keys are stable. Everything but Machine is a fact of virtual time, and the
// same for the same seed.
type report struct {
	FCTMax    float64 `json:"fct_max_seconds"`
	FCTMean   float64 `json:"fct_mean_seconds"`
	FCTP99    float64 `json:"fct_p99_seconds"`
	Ideal     float64 `json:"ideal_seconds"`
	Goodput   float64 `json:"goodput_bits_per_second"`
	Flows     int     `json:"flows"`
	FlowsDone int     `json:"flows_done"`
	Packets   uint64  `json:"packets"`
	Resent    uint64  `json:"resent"`
	Dropped   uint64  `json:"dropped"`
	CEMarked  uint64  `json:"ce_marked"`
	RTOFired  uint64  `json:"rto_fired"`
	Events    uint64  `json:"events"`
	TraceHash string  `json:"trace_hash"`
	Machine   machine `json:"machine"`
}

// newReport sums up a run. Times of completion are those of the flows that are done, 0 if none is.
func newReport(c *runCommand, cfg *sim.Config, res *sim.Result) *report {
	r := &report{
		Ideal:     cfg.Network.Ideal(int(c.Size), c.Chunk).Seconds(),
		Flows:     len(res.Flows),
		Packets:   res.Packets,
		Resent:    res.Resent,
		Dropped:   res.Network.Dropped(),
		CEMarked:  res.Network.Marked,
		RTOFired:  res.RTOFired,
		Events:    res.Events,
		TraceHash: fmt.Sprintf("%016x", res.Trace),
	}
	var times []time.Duration
	var sum time.Duration
	var payload uint64
	for _, f := range res.Flows {
		if f.Finished == 0 {
			continue
		}
		times = append(times, f.Finished-f.Begun)
		sum += f.Finished - f.Begun
		payload += f.Bytes
	}
	r.FlowsDone = len(times)
	if len(times) == 0 {
		return r
	}
	slices.Sort(times)
	r.FCTMax = times[len(times)-1].Seconds()
	r.FCTMean = sum.Seconds() / float64(len(times))
	r.FCTP99 = times[(len(times)*99+99)/100-1].Seconds()
	if r.FCTMax > 0 {
		r.Goodput = 8 * float64(payload) / r.FCTMax
	}
	return r
}

// write prints the table, the JSON, or both.
func (r *report) write(c *runCommand, out io.Writer) error {
	if c.JSON == "-" {
		return r.encode(out)
	}
	r.print(c, out)
	if c.JSON == "" {
		return nil
	}
	f, err := os.Create(c.JSON)
	if err != nil {
		return err
	}
	if err := r.encode(f); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}

func (r *report) encode(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

// print writes what people read. The seed is the first line.
func (r *report) print(c *runCommand, out io.Writer) {
	fmt.Fprintf(out, "seed %d\n", c.Seed)
	fmt.Fprintf(out, "workload %s, %v, %d hosts, %s, %v, %v a link, chunk %d, buffer %v, ecn %v, %s%d paths, loss %v%s, %s\n",
		c.Workload, c.Size, c.Hosts, c.Topology, c.Rate, c.Latency, c.Chunk, c.Buffer, c.ECN, c.planes(), c.Paths, c.Loss, c.losers(), c.Transport)
	micros := func(seconds float64) string { return fmt.Sprintf("%.3f", 1e6*seconds) }
	t := newTable(out)
	t.AppendHeader(table.Row{"flows", "done", "fct max µs", "fct mean µs", "fct p99 µs", "ideal µs", "max ÷ ideal", "goodput Gb/s"})
	t.AppendRow(table.Row{
		r.Flows, r.FlowsDone, micros(r.FCTMax), micros(r.FCTMean), micros(r.FCTP99), micros(r.Ideal),
		fmt.Sprintf("%.4f", r.FCTMax/r.Ideal), fmt.Sprintf("%.2f", r.Goodput/1e9),
	})
	t.Render()
	t = newTable(out)
	t.AppendHeader(table.Row{"packets", "resent", "dropped", "ce marked", "rto fired", "events", "trace hash"})
	t.AppendRow(table.Row{r.Packets, r.Resent, r.Dropped, r.CEMarked, r.RTOFired, r.Events, r.TraceHash})
	t.Render()
	fmt.Fprintf(out, "%.2f s, %.2f s CPU, %.0f MiB on this machine\n", r.Machine.Wall, r.Machine.CPU, float64(r.Machine.RSS)/(1<<20))
}

// newTable returns a table that leaves headers as they are.
func newTable(out io.Writer) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	style := table.StyleLight
	style.Format.Header = text.FormatDefault
	t.SetStyle(style)
	return t
}

// planes tells of planes where there are several.
func (c *runCommand) planes() string {
	if c.Planes == 1 {
		return ""
	}
	return fmt.Sprintf("%d planes, ", c.Planes)
}

// losers tells what Loss applies to.
func (c *runCommand) losers() string {
	switch {
	case c.Loss == 0:
		return ""
	case c.LossAcks:
		return " of all packets"
	}
	return " of data packets"
}
