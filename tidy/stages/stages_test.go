// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestJudgeCountsLeavesAndKeepsReasons(t *testing.T) {
	tests := []struct {
		name   string
		events string
		want   Count
		report string
	}{
		{"leaves count, parents do not", `
			{"Action":"pass","Package":"p","Test":"TestA/one/deep"}
			{"Action":"pass","Package":"p","Test":"TestA/one"}
			{"Action":"pass","Package":"p","Test":"TestA/two"}
			{"Action":"pass","Package":"p","Test":"TestA"}
			{"Action":"pass","Package":"p","Test":"TestB"}
			{"Action":"pass","Package":"p"}`, Count{3, 0, 0}, ""},
		{"a failed leaf counts once", `
			{"Action":"output","Package":"p","Test":"TestA/one","Output":"    a_test.go:1: broken\n"}
			{"Action":"fail","Package":"p","Test":"TestA/one"}
			{"Action":"pass","Package":"p","Test":"TestA/two"}
			{"Action":"fail","Package":"p","Test":"TestA"}
			{"Action":"fail","Package":"p"}`, Count{1, 1, 0}, "broken"},
		{"a parent that fails by itself counts", `
			{"Action":"pass","Package":"p","Test":"TestA/one"}
			{"Action":"fail","Package":"p","Test":"TestA"}
			{"Action":"fail","Package":"p"}`, Count{1, 1, 0}, "p TestA"},
		{"a package that does not build counts", `
			{"Action":"build-output","ImportPath":"p [p.test]","Output":"p/a.go:1:1: syntax error\n"}
			{"Action":"build-fail","ImportPath":"p [p.test]"}
			{"Action":"fail","Package":"p","FailedBuild":"p [p.test]"}`, Count{0, 1, 0}, "syntax error"},
		{"a listed reason is a skip", `
			{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: needs root: not found\n"}
			{"Action":"skip","Package":"p","Test":"TestA"}
			{"Action":"pass","Package":"p"}`, Count{0, 0, 1}, ""},
		{"another reason is a failure", `
			{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: flaky, sometimes needs root\n"}
			{"Action":"skip","Package":"p","Test":"TestA"}`, Count{0, 1, 0}, "flaky"},
		{"a package without tests counts nothing", `{"Action":"skip","Package":"p"}`, Count{}, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := judgeTests([]byte(strings.TrimLeft(test.events, "\n")), nil, nil)
			if diff := cmp.Diff(test.want, r.Count); diff != "" {
				t.Errorf("count (-want +got):\n%s", diff)
			}
			if !strings.Contains(r.Report, test.report) || test.report == "" && r.Report != "" {
				t.Errorf("report %q, want it to contain %q", r.Report, test.report)
			}
		})
	}
}

func TestStageJudgesItsSteps(t *testing.T) {
	sh := func(script string) Step { return Step{Args: []string{"sh", "-c", script}} }
	silent := sh("echo file.go")
	silent.Kind = Silent
	tests := []struct {
		name  string
		steps []Step
		want  Count
	}{
		{"exit status 0 passes", []Step{sh("true"), sh("echo done")}, Count{2, 0, 0}},
		{"another one fails, and nothing runs after it", []Step{sh("true"), sh("exit 3"), sh("true")}, Count{1, 1, 0}},
		{"a command may count itself", []Step{sh("echo noise; echo 7 passed, 0 failed, 2 skipped")}, Count{7, 0, 2}},
		{"a count does not hide an exit status", []Step{sh("echo 7 passed, 0 failed, 0 skipped; exit 1")}, Count{0, 1, 0}},
		{"a count of failures is kept", []Step{sh("echo 7 passed, 2 failed, 0 skipped; exit 1")}, Count{7, 2, 0}},
		{"a failed count fails without exit status", []Step{sh("echo 7 passed, 2 failed, 0 skipped")}, Count{7, 2, 0}},
		{"output breaks silence", []Step{silent}, Count{0, 1, 0}},
		{"no check is a failure", nil, Count{0, 1, 0}},
		{"zero counted checks are a failure", []Step{sh("echo 0 passed, 0 failed, 0 skipped")}, Count{0, 1, 0}},
		{"only skips are a failure", []Step{sh("echo 0 passed, 0 failed, 4 skipped")}, Count{0, 1, 4}},
		{"the environment is added to", []Step{{Args: []string{"sh", "-c", `test "$X" = y`}, Env: []string{"X=y"}}}, Count{1, 0, 0}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r := Stage{Name: "s", Budget: time.Minute, Steps: test.steps}.run()
			if diff := cmp.Diff(test.want, r.Count); diff != "" {
				t.Errorf("count (-want +got):\n%s\n%s", diff, r.Report)
			}
		})
	}
}

func TestStageStopsAtItsBudget(t *testing.T) {
	begin := time.Now()
	r := Stage{Name: "s", Budget: 50 * time.Millisecond, Steps: []Step{{Args: []string{"sh", "-c", "sleep 60 & sleep 60"}}}}.run()
	if r.Failed == 0 || !strings.Contains(r.Report, "budget") {
		t.Errorf("the stage came to %v: %s", r.Count, r.Report)
	}
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("stopping took %v", d)
	}
}

func TestStageWithoutTestsFails(t *testing.T) {
	r := Stage{Name: "s", Budget: time.Minute, Steps: []Step{{Kind: GoTest, Args: []string{"-run", "^TestNone$", "."}}}}.run()
	if r.Failed != 1 || !strings.Contains(r.Report, "ran no check") {
		t.Errorf("the stage came to %v: %s", r.Count, r.Report)
	}
}

// TestPlanRunsEveryTest looks for folders with tests that no stage of the plan names.
func TestPlanRunsEveryTest(t *testing.T) {
	var patterns []string
	for _, s := range everyChange() {
		for _, step := range s.Steps {
			if step.Kind == GoTest {
				patterns = append(patterns, step.Args...)
			}
		}
	}
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && p != root) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(p, "_test.go") {
			return nil
		}
		rel, err := filepath.Rel(root, filepath.Dir(p))
		if err != nil {
			return err
		}
		pkg := "./" + filepath.ToSlash(rel)
		if !slices.ContainsFunc(patterns, func(pattern string) bool {
			base, below := strings.CutSuffix(pattern, "/...")
			return pkg == base || below && strings.HasPrefix(pkg, base+"/")
		}) {
			t.Errorf("no stage runs the tests of %s: add it to plan.go", pkg)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPlansAreNamedAndBudgeted(t *testing.T) {
	for _, name := range []string{"test", "all", "fuzz"} {
		stages, ok := plan(name)
		if !ok || len(stages) == 0 {
			t.Errorf("plan %s has no stages", name)
		}
		for _, s := range stages {
			if s.Name == "" || s.Doc == "" || s.Budget <= 0 || len(s.Steps) == 0 {
				t.Errorf("plan %s: %+v is incomplete", name, s)
			}
		}
	}
	if _, ok := plan("tset"); ok {
		t.Error("an unknown plan is accepted")
	}
}
