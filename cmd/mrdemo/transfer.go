// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
)

// transferPlan is one transfer between two new processes.
type transferPlan struct {
	binary        string // of this command
	in            input
	loss          float64
	seed          uint64
	rounds        int
	flags         []string // further options of both sides
	captures      [2]string
	receiverFlags []string
}

// transferReport is what both processes have said.
type transferReport struct {
	Loss     float64     `json:"loss"`
	Seed     uint64      `json:"seed"`
	Sender   *sideReport `json:"sender"`
	Receiver *sideReport `json:"receiver"`
}

// seeds returns the seeds of the losses of sender and receiver.
func seeds(seed uint64) (sender, receiver uint64) { return 2 * seed, 2*seed + 1 }

// run starts a receiver and then a sender, each in a process of its own, and waits for both.
func (p *transferPlan) run(ctx context.Context) (*transferReport, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sendSeed, receiveSeed := seeds(p.seed)
	loss := strconv.FormatFloat(p.loss, 'g', -1, 64)
	receiver, err := p.start(ctx, p.captures[1], receiveSeed, append([]string{"receive", "--listen", "127.0.0.1:0", "--loss", loss}, p.receiverFlags...))
	if err != nil {
		return nil, err
	}
	var at listening
	if err := receiver.line(&at); err != nil {
		return nil, receiver.wait(err)
	}
	sender, err := p.start(ctx, p.captures[0], sendSeed, []string{
		"send", at.Listening, p.in.Path, "--loss", loss, "--rounds", strconv.Itoa(p.rounds),
	})
	if err != nil {
		return nil, err
	}
	r := &transferReport{Loss: p.loss, Seed: p.seed}
	err = sender.wait(sender.line(&r.Sender))
	if err != nil {
		cancel()
	}
	return r, errors.Join(err, receiver.wait(receiver.line(&r.Receiver)))
}

// process is a running side.
type process struct {
	role   string
	cmd    *exec.Cmd
	lines  *bufio.Reader
	stderr *bytes.Buffer
}

func (p *transferPlan) start(ctx context.Context, capture string, seed uint64, args []string) (*process, error) {
	role := args[0]
	args = append(args, "--json", "--seed", strconv.FormatUint(seed, 10))
	if capture != "" {
		args = append(args, "--capture", capture)
	}
	args = append(args, p.flags...)
	out := &process{role: role, cmd: exec.CommandContext(ctx, p.binary, args...), stderr: &bytes.Buffer{}}
	out.cmd.Stderr = out.stderr
	stdout, err := out.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	out.lines = bufio.NewReader(stdout)
	if err := out.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", role, err)
	}
	return out, nil
}

// line decodes the next line of the process's report.
func (p *process) line(into any) error {
	text, err := p.lines.ReadBytes('\n')
	if err != nil && (len(text) == 0 || !errors.Is(err, io.EOF)) {
		return fmt.Errorf("no report: %w", err)
	}
	return json.Unmarshal(text, into)
}

// wait waits for the process's end. It returns that error, with the process's own words, before the one of reading its
// report.
func (p *process) wait(reading error) error {
	_, _ = io.Copy(io.Discard, p.lines)
	if err := p.cmd.Wait(); err != nil {
		return fmt.Errorf("%s: %w: %s", p.role, err, bytes.TrimSpace(p.stderr.Bytes()))
	}
	if reading != nil {
		return fmt.Errorf("%s: %w", p.role, reading)
	}
	return nil
}

// executable is the path of this command.
func executable() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("where is this command: %w", err)
	}
	return path, nil
}
