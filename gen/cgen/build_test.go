// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openmetaroce/metaroce/gen"
)

var update = flag.Bool("update", false, "write the generated files of c-sdk anew")

const schemaPath = "../../schema/metaroce.mrs"

// warnings are those that users of the code may have turned on.
var warnings = strings.Fields("-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror")

var sanitizers = strings.Fields("-fsanitize=address,undefined -fno-sanitize-recover=all")

// built holds the programs of this test run, by their main file.
var built = struct {
	sync.Mutex
	programs map[string]string
	dir      string
}{programs: map[string]string{}}

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "cgen")
	if err != nil {
		panic(err)
	}
	built.dir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// buildDump compiles the test program of the generated files below dir.
func buildDump(t testing.TB, dir string) string {
	t.Helper()
	return build(t, filepath.Join(dir, "tests/dump.gen.c"), dir)
}

// build compiles a main file with the generated code below dir, with sanitizers; once in a test run.
func build(t testing.TB, main, dir string) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	if p := built.programs[main]; p != "" {
		return p
	}
	program := filepath.Join(built.dir, "program"+strconv.Itoa(len(built.programs)))
	args := append([]string{"-std=c11", "-O0", "-g", "-Wstrict-prototypes", "-I" + filepath.Join(dir, "include"), "-o", program}, warnings...)
	args = append(append(args, sanitizers...), main)
	run(t, "gcc", append(args, sources(t, dir)...)...)
	built.programs[main] = program
	return program
}

func sources(t testing.TB, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "src/*.gen.c"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no generated sources in %s (%v)", dir, err)
	}
	return files
}

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

func generate(t testing.TB, schema string) []gen.File {
	t.Helper()
	p, err := gen.Load(schema)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Generate(p)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func writeFiles(t testing.TB, dir string, files []gen.File) {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestGeneratedFilesAreFresh(t *testing.T) {
	files := generate(t, schemaPath)
	if *update {
		writeFiles(t, sdk(t), files)
	}
	for _, f := range files {
		have, err := os.ReadFile(filepath.Join(sdk(t), filepath.FromSlash(f.Path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, f.Data) {
			t.Errorf("c-sdk/%s differs from what the schema gives; run this test with -update:\n%s", f.Path,
				cmp.Diff(strings.Split(string(have), "\n"), strings.Split(string(f.Data), "\n")))
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	a, b := generate(t, schemaPath), generate(t, schemaPath)
	for i := range a {
		if !bytes.Equal(a[i].Data, b[i].Data) {
			t.Errorf("%s differs", a[i].Path)
		}
	}
}

// dialects are the ways in which users compile the generated code. Clang takes part where it is installed.
var dialects = []struct{ name, flags string }{
	{"gcc c11", "gcc -std=c11 -O2 -Wstrict-prototypes -Wmissing-prototypes -Wundef"},
	{"gcc freestanding", "gcc -std=c11 -O1 -ffreestanding -nostdlib"},
	{"gcc c17, 8-bit crc steps, no strings", "gcc -std=c17 -O0 -DMR_CRC_BITWISE -DMR_NO_STRINGS -DMR_PACK_UNCHECKED"},
	{"gcc without builtins", "gcc -std=c11 -O0 -DMR_PORTABLE -DMR_CRC32C_EXTERNAL"},
	{"gcc with sums of its own", "gcc -std=c11 -O1 -DMR_INET_EXTERNAL -DMR_CRC24_EXTERNAL -DMR_ICRC_EXTERNAL"},
	{"g++ c++17", "g++ -std=c++17 -O1 -x c++"},
	{"clang c11", "clang -std=c11 -O1 -Wstrict-prototypes"},
	{"clang++ c++17", "clang++ -std=c++17 -O1 -x c++"},
	{"clang 32 bits", "clang -std=c11 -O1 -m32 -ffreestanding"},
}

func TestGeneratedCCompiles(t *testing.T) {
	_, general := general(t)
	_, richer := testSchema(t, "testdata/richer")
	dirs := map[string]string{"metaroce": sdk(t), "features": features(t), "general": general, "richer": richer}
	prefixes := map[string]string{"metaroce": "MR_", "features": "TP_", "general": "TG_", "richer": "TR_"}
	for name, dir := range dirs {
		for _, d := range dialects {
			t.Run(name+"/"+d.name, func(t *testing.T) {
				t.Parallel()
				compile(t, dir, strings.Fields(strings.ReplaceAll(d.flags, "MR_", prefixes[name])))
			})
		}
	}
}

func compile(t *testing.T, dir string, command []string) {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		if strings.HasPrefix(command[0], "clang") {
			t.Logf("%s is not installed", command[0])
			return
		}
		t.Fatal(err)
	}
	args := append(command[1:], warnings...)
	args = append(args, "-I"+filepath.Join(dir, "include"), "-c", "-o", filepath.Join(t.TempDir(), "out.o"))
	run(t, command[0], append(args, sources(t, dir)...)...)
}

// TestGeneratedCUsesOnlyFreestandingHeaders also keeps calls into a C library out, which a linker would find too late.
func TestGeneratedCUsesOnlyFreestandingHeaders(t *testing.T) {
	for _, f := range generate(t, schemaPath) {
		if strings.HasPrefix(f.Path, "tests/") {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			name, found := strings.CutPrefix(strings.TrimSpace(line), "#include <")
			if found && !strings.Contains("stdint.h> stddef.h> stdbool.h>", name) {
				t.Errorf("%s includes <%s", f.Path, name)
			}
			if strings.Contains(line, "malloc") || strings.Contains(line, "__attribute__") {
				t.Errorf("%s: %s", f.Path, line)
			}
		}
	}
}
