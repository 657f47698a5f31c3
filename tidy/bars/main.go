// SPDX-License-Identifier: Apache-2.0

// Command bars measures the generated code and the compiler against the bars that they must not miss.
//
//	go run ./tidy/bars [-json FILE|-] [-only WORD]
//
// Times are compared as ratios: both contestants run in turns in this process, in rounds, and the median of the rounds'
// ratios counts. A figure whose rounds spread by more than 15 % is refused: the machine was too busy to tell. Run it from
// the top of the project. It gates nothing: the exit status is 0 unless something could not be run at all.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
)

func main() {
	file := flag.String("json", "", "write the figures to `FILE` as JSON; - is standard output, instead of the table")
	only := flag.String("only", "", "measure only bars whose names contain `WORD`")
	flag.Parse()
	if err := run(*file, *only, os.Stdout); err != nil {
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

func run(file, only string, out io.Writer) error {
	t := new(tool)
	defer t.remove()
	r := report{Go: runtime.Version(), Arch: runtime.GOARCH, CPUs: runtime.NumCPU(), Bars: []figure{}}
	for _, b := range bars(t) {
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
			fmt.Fprintln(out, f)
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
		_, err = out.Write(data)
		return err
	}
	return os.WriteFile(file, data, 0o644)
}
