// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// build compiles this command.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "mrdemo")
	if out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return binary
}

// file writes size bytes of noise.
func file(t *testing.T, size int) input {
	t.Helper()
	data := make([]byte, size)
	rng := rand.NewChaCha8([32]byte{1})
	if _, err := rng.Read(data); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "noise")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	in, err := describe(path)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func TestTwoProcessesMoveAFile(t *testing.T) {
	binary, in := build(t), file(t, 8<<20+12345)
	for _, loss := range []float64{0, 0.01, 0.1} {
		t.Run(fmt.Sprint(loss), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			received := filepath.Join(t.TempDir(), "received")
			plan := transferPlan{binary: binary, in: in, loss: loss, seed: 5, rounds: 2}
			plan.receiverFlags = []string{"--out", received}
			r, err := plan.run(ctx)
			if err != nil {
				t.Fatal(err)
			}
			if r.Sender.SHA256 != in.SHA256 || r.Receiver.SHA256 != in.SHA256 {
				t.Errorf("sha256 %s and %s, want %s", r.Sender.SHA256, r.Receiver.SHA256, in.SHA256)
			}
			if got, err := describe(received); err != nil || got.SHA256 != in.SHA256 {
				t.Errorf("the file that was written: %+v, %v", got, err)
			}
			if n := r.Sender.Injected.DroppedData; n > r.Sender.resent()+r.Sender.Moved || (loss > 0) != (n > 0) {
				t.Errorf("%d data packets dropped, %d resent", n, r.Sender.resent())
			}
			if len(r.Sender.Paths) != 16 {
				t.Errorf("%d paths", len(r.Sender.Paths))
			}
		})
	}
}

func TestDemonstrationAgreesWithTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Fatal(errNoTshark)
	}
	in := file(t, 4<<20)
	var out, complaints bytes.Buffer
	cmd := exec.Command(build(t), "run", in.Path, "--pairs", "1", "--captured-bytes", "2097152", "--json",
		"--dissector", "../../wireshark/metaroce.lua", "--timeout", "30s")
	cmd.Stdout, cmd.Stderr = &out, &complaints
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, complaints.Bytes(), out.Bytes())
	}
	if complaints.Len() > 0 {
		t.Errorf("written to a pipe: %s", complaints.Bytes())
	}
	var r runReport
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if !r.OK || len(r.Dissections) != 2 || r.Dissections[0].ByOpcode["Write"] < 256 {
		t.Errorf("%+v", r)
	}
}

func TestCommandLineFaultsAreUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"run", "--pairs", "x"}, {"send", "127.0.0.1:1"}, {"receive", "--loss", "2"}, {"nonsense"},
	} {
		var out, complaints bytes.Buffer
		if code := execute(args, streams{out: &out, err: &complaints}); code != exitUsage || complaints.Len() == 0 {
			t.Errorf("%q: exit code %d, %q", args, code, complaints.String())
		}
	}
	var out bytes.Buffer
	if code := execute([]string{"--help"}, streams{out: &out, err: &out}); code != exitOK {
		t.Errorf("help: exit code %d", code)
	}
}
