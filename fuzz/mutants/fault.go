// SPDX-License-Identifier: Apache-2.0

package main

import (
	"embed"
	"fmt"
	"path"
	"strings"
)

//go:embed faults/*.txt
var faultFiles embed.FS

// canary is the kind of the faults that prove the harness.
const canary = "canary"

// Fault is one wrong line, or a few.
type Fault struct {
	Name  string
	Kind  string
	Blind bool   // chosen before the tests were read
	File  string // slash-separated, relative to the module's root
	Old   string // lines that occur once in File
	New   string
}

// Faults reads all fault files, canaries first.
func Faults() (all []Fault, err error) {
	names, err := faultFiles.ReadDir("faults")
	if err != nil {
		return nil, err
	}
	var canaries, others []Fault
	seen := map[string]bool{}
	for _, entry := range names {
		text, err := faultFiles.ReadFile(path.Join("faults", entry.Name()))
		if err != nil {
			return nil, err
		}
		faults, err := parseFaults(string(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", entry.Name(), err)
		}
		for _, f := range faults {
			if seen[f.Name] {
				return nil, fmt.Errorf("%s: %s is there twice", entry.Name(), f.Name)
			}
			seen[f.Name] = true
			if f.Kind == canary {
				canaries = append(canaries, f)
			} else {
				others = append(others, f)
			}
		}
	}
	return append(canaries, others...), nil
}

// parseFaults reads the faults of a file. Each is a paragraph: a line "name kind" or "name kind blind", a line "file PATH",
// the old lines behind "-" and the new ones behind "+". Lines that begin with # are comments.
func parseFaults(text string) (faults []Fault, err error) {
	for _, paragraph := range strings.Split(text, "\n\n") {
		f := Fault{}
		var before, after []string
		for _, line := range strings.Split(strings.TrimSpace(paragraph), "\n") {
			words := strings.Fields(line)
			switch {
			case line == "" || line[0] == '#':
			case line[0] == '-':
				before = append(before, line[1:])
			case line[0] == '+':
				after = append(after, line[1:])
			case words[0] == "file" && len(words) == 2:
				f.File = words[1]
			case f.Name == "" && (len(words) == 2 || len(words) == 3 && words[2] == "blind"):
				f.Name, f.Kind, f.Blind = words[0], words[1], len(words) == 3
			default:
				return nil, fmt.Errorf("%q is no line of a fault", line)
			}
		}
		if f.Name == "" && f.File == "" && before == nil {
			continue
		}
		f.Old, f.New = strings.Join(before, "\n")+"\n", strings.Join(after, "\n")+"\n"
		if f.Name == "" || f.File == "" || len(before) == 0 || len(after) == 0 || f.Old == f.New {
			return nil, fmt.Errorf("%q is no complete fault", paragraph)
		}
		faults = append(faults, f)
	}
	return faults, nil
}

// Apply puts the fault into a source text.
func (f *Fault) Apply(source string) (string, error) {
	n := 0
	for rest := "\n" + source; ; n++ {
		// A line of the fault is a whole line of the source.
		i := strings.Index(rest, "\n"+f.Old)
		if i < 0 {
			break
		}
		rest = rest[i+1:]
	}
	if n != 1 {
		return "", fmt.Errorf("%s: its old lines occur %d times in %s", f.Name, n, f.File)
	}
	return strings.Replace("\n"+source, "\n"+f.Old, "\n"+f.New, 1)[1:], nil
}
