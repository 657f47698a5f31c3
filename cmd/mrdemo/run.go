// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/schollz/progressbar/v3"
)

// runCommand is the whole demonstration.
type runCommand struct {
	File          string        `arg:"" optional:"" type:"existingfile" help:"File to move. Default: a tar of the Go toolchain's source tree."`
	Paths         int           `default:"16" help:"Paths, each with a source port of its own."`
	Pairs         int           `default:"3" help:"Pairs of transfers, without and with loss in turn."`
	Rounds        int           `default:"3" help:"Times that each of them moves the file; its goodput is the median."`
	Loss          float64       `default:"0.01" help:"Probability that a datagram vanishes, in each direction."`
	Seed          uint64        `default:"6097" help:"Seed of the losses. The default one loses its share early, whatever the number of packets."`
	Chunk         int           `default:"0" help:"Payload of a full packet in bytes. Default: the SDK's."`
	Dissector     string        `default:"wireshark/metaroce.lua" help:"The Wireshark dissector."`
	CapturedBytes int64         `default:"16777216" help:"Part of the file that the captured transfer moves. 0: no capture."`
	Keep          string        `type:"path" placeholder:"DIR" help:"Keep input and captures there. Default: a temporary directory, removed."`
	Timeout       time.Duration `default:"10m" help:"Give up after this time."`
	JSON          bool          `help:"Report as JSON."`
}

// runReport is what the demonstration has found.
type runReport struct {
	Input           input             `json:"input"`
	Paths           int               `json:"paths"`
	Loss            float64           `json:"loss"`
	Seed            uint64            `json:"seed"`
	Runs            []*transferReport `json:"runs"`
	GoodputLossless float64           `json:"goodput_lossless_median_bytes_per_second"`
	GoodputLossy    float64           `json:"goodput_lossy_median_bytes_per_second"`
	Ratio           float64           `json:"goodput_ratio_median"`
	CPU             float64           `json:"cpu_seconds_per_gigabyte_lossless_median"`
	Captured        *transferReport   `json:"captured_run,omitempty"`
	Dissections     []*dissection     `json:"dissections,omitempty"`
	Checks          []check           `json:"checks"`
	OK              bool              `json:"ok"`
}

// Run moves the file, prints what happened, and fails when something is not correct.
func (c *runCommand) Run(s streams) error {
	ctx, cancel := context.WithTimeout(context.Background(), c.Timeout)
	defer cancel()
	if err := c.prepared(); err != nil {
		return err
	}
	dir, remove, err := c.directory()
	if err != nil {
		return err
	}
	defer remove()
	r, err := c.measure(ctx, s, dir)
	if err != nil {
		return err
	}
	if c.JSON {
		e := json.NewEncoder(s.out)
		e.SetIndent("", "  ")
		err = e.Encode(r)
	} else {
		err = printReport(s.out, r)
	}
	if err == nil && !r.OK {
		err = errFailed
	}
	return err
}

// prepared tells early what would be missed late.
func (c *runCommand) prepared() error {
	if c.CapturedBytes <= 0 {
		return nil
	}
	if _, err := exec.LookPath("tshark"); err != nil {
		return errNoTshark
	}
	_, err := os.Stat(c.Dissector)
	return err
}

// directory returns where files go, and what removes them.
func (c *runCommand) directory() (string, func(), error) {
	if c.Keep != "" {
		return c.Keep, func() {}, os.MkdirAll(c.Keep, 0o755)
	}
	dir, err := os.MkdirTemp("", "mrdemo-")
	return dir, func() { os.RemoveAll(dir) }, err
}

// measure makes all transfers and judges them.
func (c *runCommand) measure(ctx context.Context, s streams, dir string) (*runReport, error) {
	bar := progress(s, 2*c.Pairs+2)
	defer bar.Finish()
	bar.Describe("input")
	r := &runReport{Paths: c.Paths, Loss: c.Loss, Seed: c.Seed}
	var err error
	if r.Input, err = c.input(dir); err != nil {
		return nil, err
	}
	if err := c.pairs(ctx, r, bar); err != nil {
		return nil, err
	}
	r.summarise()
	r.Checks = transferChecks(r)
	if c.CapturedBytes > 0 {
		bar.Describe("capture")
		if err := c.captured(ctx, r, dir); err != nil {
			return nil, err
		}
	}
	r.OK = !slices.ContainsFunc(r.Checks, func(c check) bool { return c.Kind == correctness && !c.OK })
	return r, nil
}

// progress shows what is going on when somebody looks.
func progress(s streams, steps int) *progressbar.ProgressBar {
	if s.tty == nil {
		return progressbar.DefaultSilent(int64(steps))
	}
	return progressbar.NewOptions(steps, progressbar.OptionSetWriter(s.tty), progressbar.OptionClearOnFinish())
}

// input is the named file, or the default one.
func (c *runCommand) input(dir string) (input, error) {
	path := c.File
	if path == "" {
		path = filepath.Join(dir, "go-src.tar")
		if err := packToolchain(path); err != nil {
			return input{}, err
		}
	}
	return describe(path)
}

// plan is a transfer between two processes of this command.
func (c *runCommand) plan(in input, loss float64, seed uint64) (*transferPlan, error) {
	binary, err := executable()
	if err != nil {
		return nil, err
	}
	return &transferPlan{binary: binary, in: in, loss: loss, seed: seed, rounds: 1, flags: []string{
		"--paths", strconv.Itoa(c.Paths), "--chunk", strconv.Itoa(c.Chunk), "--timeout", c.Timeout.String(),
	}}, nil
}

// pairs moves the file without and with loss in turn, so that a change of the machine's mood meets both.
func (c *runCommand) pairs(ctx context.Context, r *runReport, bar *progressbar.ProgressBar) error {
	for i := range c.Pairs {
		for _, loss := range []float64{0, c.Loss} {
			if err := bar.Add(1); err != nil {
				return err
			}
			bar.Describe(fmt.Sprintf("pair %d, loss %.3g %%", i+1, 100*loss))
			plan, err := c.plan(r.Input, loss, c.Seed+uint64(i))
			if err != nil {
				return err
			}
			plan.rounds = c.Rounds
			t, err := plan.run(ctx)
			if err != nil {
				return fmt.Errorf("pair %d, loss %v: %w", i+1, loss, err)
			}
			r.Runs = append(r.Runs, t)
		}
	}
	return nil
}

// captured moves the file's head with loss, both sides recording, and has the records dissected.
func (c *runCommand) captured(ctx context.Context, r *runReport, dir string) error {
	path := filepath.Join(dir, "head")
	if err := head(r.Input.Path, path, c.CapturedBytes); err != nil {
		return err
	}
	in, err := describe(path)
	if err != nil {
		return err
	}
	plan, err := c.plan(in, c.Loss, c.Seed)
	if err != nil {
		return err
	}
	plan.captures = [2]string{filepath.Join(dir, "sender.pcapng"), filepath.Join(dir, "receiver.pcapng")}
	if r.Captured, err = plan.run(ctx); err != nil {
		return fmt.Errorf("captured transfer: %w", err)
	}
	sides := [2]*sideReport{r.Captured.Sender, r.Captured.Receiver}
	for i, side := range sides {
		d, err := dissect(ctx, c.Dissector, plan.captures[i], side)
		if err != nil {
			return err
		}
		r.Dissections = append(r.Dissections, d)
		r.Checks = append(r.Checks, dissectionChecks(d, side, sides[1-i])...)
	}
	return nil
}

// summarise computes the medians.
func (r *runReport) summarise() {
	var without, with, ratios, cpu []float64
	for i := 0; i+1 < len(r.Runs); i += 2 {
		a, b := r.Runs[i].Sender, r.Runs[i+1].Sender
		without, with = append(without, a.Goodput), append(with, b.Goodput)
		ratios = append(ratios, b.Goodput/a.Goodput)
		cpu = append(cpu, (a.CPUSeconds+r.Runs[i].Receiver.CPUSeconds)/float64(a.Bytes)*1e9)
	}
	r.GoodputLossless, r.GoodputLossy, r.Ratio, r.CPU = median(without), median(with), median(ratios), median(cpu)
}

// median of no values is 0.
func median(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// senderOf and receiverOf pick a side.
func senderOf(t *transferReport) *sideReport   { return t.Sender }
func receiverOf(t *transferReport) *sideReport { return t.Receiver }

// injected adds up what happened to a side's datagrams in the lossy transfers.
func (r *runReport) injected(side func(*transferReport) *sideReport) (sum injectedReport) {
	for _, t := range r.Runs {
		if t.Loss > 0 {
			sum.Dropped += side(t).Injected.Dropped
			sum.Passed += side(t).Injected.Passed
		}
	}
	return sum
}
