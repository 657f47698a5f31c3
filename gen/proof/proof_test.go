// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// drawn draws schema number n; the same every time.
func drawn(t *testing.T, n int) string {
	t.Helper()
	text := ""
	check(t, n, func(rt *rapid.T) { text = schemas(nameOf(n)).Draw(rt, "schema") })
	return text
}

// check runs a property once, on the choices of number n.
func check(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	for name, value := range map[string]string{"rapid.seed": strconv.Itoa(n), "rapid.checks": "1", "rapid.nofailfile": "true"} {
		if err := flag.Set(name, value); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

func nameOf(n int) string { return fmt.Sprintf("s%d", n) }

// target is a codec as a program.
type target struct {
	program string
	refused func(*subject) bool
	same    func(want, got answer) string // the difference
}

// prove builds the codecs of all subjects and asks them. It returns the first fault of each subject that has one; a fault
// that cannot be told from others, such as code that does not compile, is looked for with half of the subjects.
func prove(dir string, all []*subject, flags string) map[*subject]error {
	faults := map[*subject]error{}
	all = slices.DeleteFunc(slices.Clone(all), func(s *subject) bool { return s.refused != "" })
	if len(all) == 0 {
		return faults
	}
	targets, err := build(dir, all, flags)
	if err != nil {
		if len(all) == 1 {
			return map[*subject]error{all[0]: err}
		}
		for i, half := range [][]*subject{all[:len(all)/2], all[len(all)/2:]} {
			for s, err := range prove(filepath.Join(dir, strconv.Itoa(i)), half, flags) {
				faults[s] = err
			}
		}
		return faults
	}
	for _, s := range all {
		for _, t := range targets {
			if !t.refused(s) && faults[s] == nil {
				if err := s.compare(t); err != nil {
					faults[s] = err
				}
			}
		}
	}
	return faults
}

func build(dir string, all []*subject, flags string) ([]target, error) {
	type built struct {
		program string
		err     error
	}
	inC := make(chan built)
	go func() {
		program, err := buildC(dir, all, flags)
		inC <- built{program, err}
	}()
	goProgram, err := buildGo(dir, all)
	if err == nil && flags == sanitizers {
		err = vetGo(dir)
	}
	c := <-inC
	return []target{
		{goProgram, func(s *subject) bool { return s.goRefused != nil }, sameAnswer},
		{c.program, func(s *subject) bool { return s.cRefused != nil }, sameInC},
	}, errors.Join(err, c.err)
}

// compare asks one program all questions of a subject.
func (s *subject) compare(t target) error {
	var in, stderr bytes.Buffer
	for _, q := range s.questions {
		in.WriteString(q.line())
	}
	cmd := exec.Command(t.program, s.name)
	cmd.Stdin, cmd.Stderr = &in, &stderr
	out, err := cmd.Output()
	answers, parsed := parse(string(out))
	if err != nil {
		text := stderr.String()
		return fmt.Errorf("%s: %w after %d answers, asked %s\n%s", filepath.Base(filepath.Dir(t.program)), err, len(answers),
			s.questions[min(len(answers), len(s.questions)-1)].line(), text[:min(len(text), 3000)])
	}
	if parsed != nil || len(answers) != len(s.questions) {
		return fmt.Errorf("%s: %d answers to %d questions: %w", filepath.Base(filepath.Dir(t.program)), len(answers), len(s.questions), parsed)
	}
	for i, q := range s.questions {
		if diff := t.same(q.want, answers[i]); diff != "" {
			return fmt.Errorf("%s answers otherwise than the interpreter: %s%s", filepath.Base(filepath.Dir(t.program)), q.line(), diff)
		}
	}
	return nil
}

// sameAnswer leaves bytes open that keep what the input has, unless that is canonical.
func sameAnswer(want, got answer) string {
	if want.copied = want.bytes; !want.canonical {
		want.copied, want.invalid = got.copied, got.invalid
	}
	got.canonical = want.canonical
	return cmp.Diff(want, got, cmp.AllowUnexported(answer{}))
}

// sameInC: errors in C name the item and the struct that holds it, not the way to it; and lists in C keep unknown elements,
// which their test program packs as well.
func sameInC(want, got answer) string {
	want.fault, got.fault = lastName(want.fault), lastName(got.fault)
	if !want.canonical {
		want.bytes = got.bytes
	}
	return sameAnswer(want, got)
}

// lastName cuts a fault's path down to the item's name.
func lastName(fault string) string {
	words := strings.SplitN(fault, " ", 3)
	if len(words) < 3 {
		return fault
	}
	path := words[2]
	name, _, _ := strings.Cut(path[strings.LastIndexAny(path, ". ")+1:], "[")
	return words[0] + " " + words[1] + " " + name
}

// rounds are how many schemas share one build.
const perRound = 40

// TestRandomSchemasMeanTheSameEverywhere is the proof. See the package's documentation for the variables.
func TestRandomSchemasMeanTheSameEverywhere(t *testing.T) {
	first, count, flags := 1, 12, ""
	if text := os.Getenv("MR_SCHEMA"); text != "" {
		first, count, flags = positive(t, text), 1, sanitizers
	}
	if text := os.Getenv("MR_SCHEMAS"); text != "" {
		count, flags = positive(t, text), sanitizers
	}
	var texts []string
	for n := range count {
		texts = append(texts, drawn(t, first+n))
	}
	tally := map[string]int{}
	failed := 0
	for at := first; at < first+count; at += perRound {
		var all []*subject
		for n := at; n < min(at+perRound, first+count); n++ {
			s, err := newSubject(nameOf(n), texts[n-first])
			if err != nil {
				failed = report(t, n, err, failed)
				continue
			}
			all = append(all, s)
			s.count(tally)
		}
		faults := prove(t.TempDir(), all, flags)
		for _, s := range all {
			if err := faults[s]; err != nil {
				n, _ := strconv.Atoi(s.name[1:])
				failed = report(t, n, err, failed)
			}
		}
	}
	t.Logf("schemas %d to %d: %s", first, first+count-1, strings.ReplaceAll(fmt.Sprintf("%#v", tally), ", ", "\n"))
	if count >= 100 && (tally["refused"] > count/4 || tally["without vectors"] > count/5 || tally["go refuses"] > count/2 || tally["c refuses"] > count/2) {
		t.Error("too many of them prove nothing")
	}
}

func positive(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%q is not a positive number", text)
	}
	return n
}

// count notes what became of a subject.
func (s *subject) count(tally map[string]int) {
	tally["questions"] += len(s.questions)
	for what, is := range map[string]bool{
		"refused": s.refused != "", "without vectors": s.unmade, "go refuses": s.goRefused != nil, "c refuses": s.cRefused != nil,
	} {
		if is {
			tally[what]++
		}
	}
	if s.refused != "" {
		tally[s.refused]++
	}
	for backend, err := range map[string]error{"go: ": s.goRefused, "c: ": s.cRefused} {
		if err != nil {
			tally[backend+err.Error()]++
		}
	}
	for _, q := range s.questions {
		if q.want.fault == "" {
			tally["accepted"]++
		}
	}
}

// report tells a fault, and shrinks the first one; the others can be run alone. It returns the faults so far.
func report(t *testing.T, n int, err error, before int) int {
	t.Errorf("schema %d (MR_SCHEMA=%d): %v", n, n, err)
	if before == 0 {
		shrink(t, n, err)
	}
	return before + 1
}

// shrink makes the schema smaller as long as it fails, and keeps the smallest one.
func shrink(t *testing.T, n int, first error) {
	dir := os.Getenv("MR_FOUND")
	if dir == "" {
		dir = filepath.Join(t.TempDir(), "found")
	}
	if err := errors.Join(os.MkdirAll(dir, 0o755), flag.Set("rapid.shrinktime", "60s")); err != nil {
		t.Fatal(err)
	}
	kept := filepath.Join(dir, nameOf(n)+".mrs")
	tries := 0
	t.Run("smaller", func(t *testing.T) {
		check(t, n, func(rt *rapid.T) {
			text := schemas("smaller").Draw(rt, "schema")
			s, err := newSubject("smaller", text)
			if err == nil && s.refused == "" {
				tries++
				work, _ := os.MkdirTemp("", "proof")
				err = prove(work, []*subject{s}, sanitizers)[s]
				_ = os.RemoveAll(work)
			}
			if err != nil && kindOf(err) == kindOf(first) {
				_ = os.WriteFile(kept, fmt.Appendf(nil, "// %s\n%s", strings.ReplaceAll(err.Error(), "\n", "\n// "), text), 0o644)
				rt.Fatal(err)
			}
		})
	})
	text, err := os.ReadFile(kept)
	t.Logf("the smallest one after %d builds is %s\n%s %v", tries, kept, text, err)
}

// kindOf keeps a fault from becoming another one while its schema shrinks.
func kindOf(err error) string {
	kind, _, _ := strings.Cut(err.Error(), ":")
	return strings.TrimRight(kind, "0123456789")
}

// TestSchemasThatHaveFailedBefore runs what the proof has found.
func TestSchemasThatHaveFailedBefore(t *testing.T) {
	names, err := filepath.Glob("testdata/*.mrs")
	if err != nil || len(names) == 0 {
		t.Fatal("no schemas", err)
	}
	var all []*subject
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		short := strings.TrimSuffix(filepath.Base(name), ".mrs")
		s, err := newSubject(short, string(text))
		if err != nil || s.refused != "" {
			t.Errorf("%s: %v %s", name, err, s.refused)
			continue
		}
		all = append(all, s)
	}
	faults := prove(t.TempDir(), all, sanitizers)
	for _, s := range slices.DeleteFunc(all, func(s *subject) bool { return faults[s] == nil }) {
		t.Errorf("%s: %v", s.name, faults[s])
	}
}
