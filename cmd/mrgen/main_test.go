// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the wanted texts of testdata/script")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mrgen": main})
}

func TestMrgenCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           filepath.Join("testdata", "script"),
		UpdateScripts: *update,
		Setup:         copySchema,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"replace": command(replace),
			"notemp":  command(noTemporaryFiles),
			"capture": command(makeCapture),
		},
	})
}

// copySchema gives a script the real schema and its configuration, without examples, so that scripts can change widths.
func copySchema(env *testscript.Env) error {
	dir := filepath.Join(env.WorkDir, "metaroce", "schema")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for _, name := range []string{"metaroce.mrs", "mrgen.toml"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "schema", name))
		if err != nil {
			return err
		}
		text := string(data)
		for _, word := range []string{"\nexample \"", "\nreject \""} {
			text, _, _ = strings.Cut(text, word)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// command makes a script command that must not fail.
func command(run func(*testscript.TestScript, []string)) func(*testscript.TestScript, bool, []string) {
	return func(ts *testscript.TestScript, neg bool, args []string) {
		if neg {
			ts.Fatalf("this command cannot be negated")
		}
		run(ts, args)
	}
}

// replace FILE OLD NEW changes the first occurrence of a text.
func replace(ts *testscript.TestScript, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: replace FILE OLD NEW")
	}
	name := ts.MkAbs(args[0])
	text := ts.ReadFile(args[0])
	if !strings.Contains(text, args[1]) {
		ts.Fatalf("%s lacks %q", args[0], args[1])
	}
	ts.Check(os.WriteFile(name, []byte(strings.Replace(text, args[1], args[2], 1)), 0o644))
}

// notemp DIR fails when a temporary file was left behind.
func noTemporaryFiles(ts *testscript.TestScript, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, _ os.DirEntry, err error) error {
		if strings.Contains(filepath.Base(path), ".mrgen-") {
			ts.Fatalf("%s was left behind", path)
		}
		return err
	}))
}
