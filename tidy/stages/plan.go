// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"time"
)

// plan returns the stages of a plan.
func plan(name string) ([]Stage, bool) {
	switch name {
	case "test":
		return everyChange(), true
	case "all":
		return slices.Concat(everyChange(), slow()), true
	case "fuzz":
		return []Stage{fuzzing(time.Hour, "60s", "./...")}, true
	}
	return nil, false
}

// everyChange is what must pass before a change is accepted, within six minutes on two cores.
func everyChange() []Stage {
	const minute = time.Minute
	return []Stage{
		{"format", "is all Go code formatted?", minute / 2, []Step{{Kind: Silent, Args: []string{"gofmt", "-l", "."}}}},
		{"build", "does everything compile?", 6 * minute, []Step{{Args: []string{"go", "build", "./..."}}}},
		{"vet", "does go vet object?", 3 * minute, []Step{{Args: []string{"go", "vet", "./..."}}}},
		{"lint", "does staticcheck object?", 5 * minute, []Step{{Args: []string{"go", "tool", "staticcheck", "./..."}}}},
		{"tidy", "are the house rules kept, and are the documents true?", minute, []Step{{Kind: GoTest, Args: []string{"./tidy/..."}}}},
		{"generated", "are the generated files those of the schema?", minute, []Step{{Args: []string{"go", "run", "./cmd/mrgen", "check"}}}},
		{"codec", "do compiler and codecs agree with the vectors?", 3 * minute, []Step{{Kind: GoTest, Args: []string{
			"./gen", "./gen/syntax", "./gen/compare", "./gen/docgen", "./gen/lint", "./gen/gogen", "./gen/layergen", "./gen/vectorgen",
			"./cmd/mrgen", "./go-sdk/wire", "./go-sdk/layers",
		}}}},
		{"proof", "do random schemas mean the same in all languages?", 4 * minute, []Step{{Kind: GoTest, Args: []string{"./gen/proof"}}}},
		{"protocols", "does the compiler serve protocols that are not ours?", 2 * minute, []Step{{Kind: GoTest, Args: []string{"./examples/..."}}}},
		{"c", "does the C codec agree with the vectors?", 3 * minute, []Step{
			{Args: []string{"make", "-s", "-C", "c-sdk", "check"}},
			{Kind: GoTest, Args: []string{"./gen/cgen"}},
		}},
		{"wireshark", "does tshark show what was sent?", 3 * minute, []Step{{Kind: GoTest, Args: []string{"./gen/luagen"}}}},
		{"engine", "does the engine keep its promises?", 2 * minute, []Step{{Kind: GoTest, Args: []string{"./engine", "./engine/internal/...", "./fuzz/..."}}}},
		{"simulator", "does every seed come out right?", 2 * minute, []Step{
			{Kind: GoTest, Args: []string{"./engine/sim/...", "./engine/impair/...", "./cmd/mrsim/..."}},
		}},
		{"sockets", "does it work over UDP on this machine?", 2 * minute, []Step{
			{Kind: GoTest, Args: []string{"./engine/udp/...", "./engine/capture/...", "./go-sdk/metaroce/...", "./cmd/mrdemo/..."}},
		}},
		fuzzing(4*minute, "15s", "./go-sdk/wire"),
	}
}

// slow is what a release passes in addition.
func slow() []Stage {
	const minute = time.Minute
	core := []string{"-timeout", "15m", "./go-sdk/wire", "./engine", "./engine/internal/..."}
	return []Stage{
		{"seeds", "do ten thousand seeds come out right?", 30 * minute, []Step{
			{Kind: GoTest, Args: []string{"-run", "Seeds", "-timeout", "30m", "./engine/sim"}, Env: []string{"MR_SEEDS=10000"}},
		}},
		{"fork", "do layers work with the maintained fork of gopacket?", 5 * minute, []Step{
			{Kind: GoTest, Args: []string{"-run", "AnotherSchema", "./gen/layergen"}, Env: []string{"MR_GOPACKET=github.com/gopacket/gopacket@v1.7.7"}},
		}},
		{"schemas", "do two hundred random schemas mean the same in all languages?", 8 * minute, []Step{
			{Kind: GoTest, Args: []string{"-run", "RandomSchemas", "-timeout", "15m", "./gen/proof"}, Env: []string{"MR_SCHEMAS=200"}},
		}},
		{"trace", "is each requirement proven by a test that ran?", 10 * minute, []Step{{Args: []string{"scripts/trace.sh", "-q"}}}},
		{"mutants", "does a test notice each small fault?", 20 * minute, []Step{{Args: []string{"go", "run", "./fuzz/mutants"}}}},
		{"crowd", "do 4,000 connections of 64 streams stay small?", 5 * minute, []Step{
			{Kind: GoTest, Args: []string{"-run", "Crowd", "./engine"}, Env: []string{"MR_CROWD=4000"}},
		}},
		{"race", "do the goroutines of the drivers race?", 10 * minute, []Step{
			{Kind: GoTest, Args: []string{"-race", "./engine/udp/...", "./go-sdk/metaroce/...", "./cmd/mrdemo/..."}},
		}},
		{"32bit", "does it work on 32-bit processors?", 10 * minute, []Step{{Kind: GoTest, Args: core, Env: []string{"GOARCH=386"}}}},
		{"arm", "does it work on an emulated ARM?", 20 * minute, []Step{
			{Kind: GoTest, Args: append([]string{"-exec", "qemu-arm-static", "-short"}, core...), Env: []string{"GOARCH=arm"}},
		}},
		{"mips", "does it work on an emulated big-endian MIPS?", 20 * minute, []Step{
			{Kind: GoTest, Args: append([]string{"-exec", "qemu-mips-static", "-short"}, core...), Env: []string{"GOARCH=mips"}},
		}},
	}
}

func fuzzing(budget time.Duration, args ...string) Stage {
	return Stage{"fuzz", "does hostile input break anything?", budget, []Step{{Kind: Fuzz, Args: args}}}
}
