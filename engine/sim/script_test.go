// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestScriptSaysEverythingOfAConfig(t *testing.T) {
	for seed := range uint64(300) {
		cfg := Swarm(seed)
		text := cfg.Script()
		again, err := ParseScript(text)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if diff := cmp.Diff(cfg, again); diff != "" {
			t.Fatalf("seed %d (-drawn +read):\n%s", seed, diff)
		}
		if other := again.Script(); other != text {
			t.Fatalf("seed %d: written again it is another text:\n%s", seed, cmp.Diff(text, other))
		}
	}
}

func TestScriptRefusesWhatItDoesNotMean(t *testing.T) {
	for _, text := range []string{
		"walk", "fault", "fault fire", "run seed", "run seed=x", "run seed=-1", "network paths=1.5", "fault lose chance=much",
		"fault cut from=1", "write size=1", "stream\nwrite fence=1", "hop own=1", "run speed=1", "engine seed=1",
	} {
		if _, err := ParseScript(text); !errors.Is(err, ErrScript) {
			t.Errorf("%q: %v", text, err)
		}
	}
	c, err := ParseScript("# what it is about\n\nrun seed=3 # the third\n")
	if err != nil || c.Seed != 3 {
		t.Errorf("comments: seed %d, %v", c.Seed, err)
	}
}

// Every script that once failed stays, and passes for ever.
func TestKeptSeedsPass(t *testing.T) {
	files, err := filepath.Glob("testdata/seeds/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("there are no scripts")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			cfg, err := ParseScript(string(text))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Run(cfg); err != nil {
				t.Errorf("%v\n  again: go run ./cmd/mrsim replay engine/sim/%s", err, file)
			}
		})
	}
}
