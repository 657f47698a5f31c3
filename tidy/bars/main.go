// SPDX-License-Identifier: Apache-2.0

// Command bars measures the generated code and the compiler against the bars that they must not miss.
//
//	go run ./tidy/bars [-json FILE|-] [-only WORD]
//
// Times are compared as ratios: both contestants run in turns in one process, in rounds, and the median of the rounds'
// ratios counts; of the medians of programs that are linked in different orders the median is the figure. A figure whose
// rounds spread by more than 15 % is refused: the machine was too busy to tell. Run it from
// the top of the project. It gates nothing: the exit status is 0 unless something could not be run at all.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
)

func main() {
	file := flag.String("json", "", "write the figures to `FILE` as JSON; - is standard output, instead of the table")
	only := flag.String("only", "", "measure only bars whose names contain `WORD`")
	here := flag.Bool("here", false, "only compare times, in this program and no other")
	flag.Parse()
	t := new(tool)
	all := bars(t)
	if *here {
		all = contests(contest.bar)
	}
	err := run(all, *only, *file)
	if gone := t.remove(); err == nil {
		err = gone
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bars:", err)
		os.Exit(1)
	}
}

// report is what the JSON output holds.
type report struct {
	Go   string   `json:"go"`
	Arch string   `json:"arch"`
	CPUs int      `json:"cpus"`
	Bars []figure `json:"bars"`
}

func run(all []bar, only, file string) error {
	r := report{Go: runtime.Version(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Bars: []figure{}}
	for _, b := range all {
		if !strings.Contains(b.name, only) {
			continue
		}
		s, err := b.measure()
		if err != nil {
			return fmt.Errorf("%s: %w", b.name, err)
		}
		f := b.judge(s)
		r.Bars = append(r.Bars, f)
		if file != "-" {
			fmt.Println(f)
		}
	}
	if file == "" {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("figures: %w", err)
	}
	data = append(data, '\n')
	if file == "-" {
		_, err = os.Stdout.Write(data)
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
