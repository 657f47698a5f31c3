// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// printReport writes the report for people.
func printReport(out io.Writer, r *runReport) error {
	p := printer{out: out}
	p.line("%s: %d bytes, sha256 %s", r.Input.Name, r.Input.Bytes, r.Input.SHA256)
	p.line("%d paths over loopback, two processes, seed %d\n", r.Paths, r.Seed)
	p.runs(r)
	for i := len(r.Runs) - 1; i >= 0; i-- {
		if r.Runs[i].Loss > 0 {
			p.paths(r.Runs[i])
			break
		}
	}
	p.dissections(r)
	p.checks(r.Checks)
	if r.OK {
		p.line("correct")
	} else {
		p.line("NOT CORRECT")
	}
	return p.err
}

// printer writes until the first error.
type printer struct {
	out io.Writer
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.out, format+"\n", args...)
	}
}

func (p *printer) table(title string, header table.Row, rows []table.Row) {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.SetTitle("%s", title)
	w.AppendHeader(header)
	w.AppendRows(rows)
	p.line("%s\n", w.Render())
}

func (p *printer) runs(r *runReport) {
	var rows []table.Row
	for i, t := range r.Runs {
		s, v := t.Sender, t.Receiver
		rows = append(rows, table.Row{
			i/2 + 1, fmt.Sprintf("%.3g %%", 100*t.Loss), fmt.Sprintf("%.0f", s.Goodput/1e6),
			fmt.Sprintf("%.2f", (s.CPUSeconds+v.CPUSeconds)/float64(s.Bytes)*1e9),
			s.Injected.DroppedData, s.resent(), v.Injected.Dropped,
			fmt.Sprintf("%.2f / %.2f", 100*s.Injected.fraction(), 100*v.Injected.fraction()), s.SHA256 == v.SHA256,
		})
	}
	p.table("Transfers", table.Row{
		"pair", "loss", "MB/s", "CPU s/GB", "data dropped", "resent", "feedback dropped", "dropped % out / back", "equal",
	}, rows)
	p.line("goodput without loss %.0f MB/s, with %.0f MB/s, median ratio %.3f, CPU of both sides %.2f s/GB\n",
		r.GoodputLossless/1e6, r.GoodputLossy/1e6, r.Ratio, r.CPU)
}

func (p *printer) paths(t *transferReport) {
	var rows []table.Row
	total := uint64(0)
	for _, q := range t.Sender.Paths {
		total += q.Packets
	}
	for _, q := range t.Sender.Paths {
		rows = append(rows, table.Row{
			q.Path, q.Local, q.Packets, fmt.Sprintf("%.1f %%", 100*float64(q.Packets)/float64(max(total, 1))), q.Resent, q.Lost,
			q.TailProbes, q.RTOFired, time.Duration(q.RTT * 1e9).Round(time.Microsecond), q.CE, fmt.Sprintf("%d KiB", q.Window>>10),
		})
	}
	p.table(fmt.Sprintf("Paths of the sender, last transfer with %.3g %% loss", 100*t.Loss), table.Row{
		"path", "local", "packets", "share", "resent", "lost", "tail probes", "RTO", "RTT", "CE", "window",
	}, rows)
}

func (p *printer) dissections(r *runReport) {
	if len(r.Dissections) == 0 {
		return
	}
	sides := []*sideReport{r.Captured.Sender, r.Captured.Receiver}
	var rows []table.Row
	for i, d := range r.Dissections {
		counted := total(sides[i])
		names := maps.Clone(counted)
		maps.Copy(names, d.ByOpcode)
		for _, o := range slices.Sorted(maps.Keys(names)) {
			rows = append(rows, table.Row{d.Role, o, counted[o], d.ByOpcode[o]})
		}
	}
	p.table("Captured packets", table.Row{"side", "opcode", "SDK", "tshark"}, rows)
}

func (p *printer) checks(checks []check) {
	var rows []table.Row
	for _, c := range checks {
		verdict := "pass"
		switch {
		case !c.OK && c.Kind == correctness:
			verdict = "FAIL"
		case !c.OK:
			verdict = "low"
		}
		rows = append(rows, table.Row{verdict, c.Name, c.Bar, c.Value})
	}
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	w.SetTitle("Checks")
	w.AppendHeader(table.Row{"", "what", "bar", "is"})
	w.AppendRows(rows)
	w.SetColumnConfigs([]table.ColumnConfig{{Number: 3, WidthMax: 36}, {Number: 4, WidthMax: 36}})
	p.line("%s\n", w.Render())
}
