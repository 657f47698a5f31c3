// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// Bounds for any source: time of processors, which depends less on how busy the machine is, and bytes of garbage and all. A
// machine that does nothing else needs half of them.
const (
	hostileTime   = 4 * time.Second
	hostileMemory = 3 << 29
	hostileText   = 1 << 20 // of the messages
)

// processorTime is what this process has used so far.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// bounded loads a schema that must be refused within bounds.
func bounded(t *testing.T, path string) *SchemaError {
	t.Helper()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	start := processorTime(t)
	_, err := Load(path)
	used := processorTime(t) - start
	runtime.ReadMemStats(&after)
	var schema *SchemaError
	if !errors.As(err, &schema) {
		t.Fatalf("no diagnostic: %v", err)
	}
	if used > hostileTime {
		t.Errorf("took %v", used)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > hostileMemory {
		t.Errorf("allocated %d MiB", n>>20)
	}
	if n := len(schema.Error()); n > hostileText {
		t.Errorf("the messages have %d bytes", n)
	}
	t.Logf("%v, %d MiB, %d diagnostics", used, (after.TotalAlloc-before.TotalAlloc)>>20, len(schema.Diagnostics))
	return schema
}

func TestHostileFilesEndInDiagnosticsWithinBounds(t *testing.T) {
	const top = "edition 1;\npackage a.b;\nbyteorder big;\nbitorder msb;\n"
	full := func(before, each, after string) string {
		return before + strings.Repeat(each, (syntax.MaxSource-len(before)-len(after)-1)/len(each)) + after
	}
	numbered := func(each string) string {
		var b strings.Builder
		b.WriteString(top)
		for i := 0; b.Len() < syntax.MaxSource-2*len(each)-20; i++ {
			b.WriteString(strings.ReplaceAll(each, "$", fmt.Sprint(i)))
		}
		return b.String() + "x"
	}
	for name, src := range map[string]string{
		"a line of 10 MB":              strings.Repeat("a", 10<<20),
		"a name of 1 MB":               full(top+"const ", "A", "= true;"),
		"a number of 1 MB":             full(top+"const A = ", "9", ";"),
		"a hexadecimal number of 1 MB": full(top+"const A = 0x", "f", ";"),
		"a text of 1 MB":               full(top+"error E_A = 64 \"", "a", "\""),
		"a comment of 1 MB":            full(top+"/*", "*", ""),
		"documentation of 1 MB":        full(top, "/// a\n", "const"),
		"brackets of 1 MB":             full(top+"const A = ", "(", ""),
		"braces of 1 MB":               full(top+"header A ", "{ a : ", ""),
		"closing braces of 1 MB":       full(top, "}", ""),
		"bits of 1 MB on one line":     full(top+"header A { ", "a:bit;", "}"),
		"signs of 1 MB":                full(top+"const A = ", "-", "1;"),
		"a sum of 1 MB":                full(top+"const A = 1", "+1", ";"),
		"bad bytes of 1 MB":            full(top, "$", ""),
		"zeros of 1 MB":                full("", "\x00", ""),
		"bytes that are no text":       full("", "\xff", ""),
		"large constants":              top + "const A = 1 << 63 << 63;\nconst B = A * A;\nconst C = 0xffffffffffffffff * 0xffffffffffffffff;",
		"powers of powers":             top + "const A0 = 0xffffffff;" + powers(60),
		"a large width":                top + "header A { a : u99999999999999999999; b : bits<99999999999999>; c : rsvd 999999999999 zero; d : bytes[0x7fffffffffffffff]; }",
		"large sizes":                  top + "header A { a : u8[0x7fffffffffffffff]; b : pad[0x7fffffffffffffff] zero; c : u64[0xffffffffffffffff]; }",
		"nested large arrays":          top + "header A { a : u8[65535]; }\nheader B { a : A[65535]; }\nheader C { a : B[65535]; }\npacket D { a : C[65535]; b : u3; }",
		"an example of 1 MB":           full(top+"packet A max 9 { a : payload; }\nexample \"a\" A { hex \"", "00", "\"; }"),
		"headers without end":          numbered("header A$ { a : u8; where a in 1..$; }\n"),
		"errors in all headers":        numbered("header A$ { a : u8; where bad.bad; }\n"),
		"enums without end":            numbered("enum A$ : u8 open { B = $; }\n"),
		"imports without end":          top[:len("edition 1;\npackage a.b;\n")] + strings.TrimPrefix(numbered("import \"x$.mrs\" as x$;\n"), top),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "hostile.mrs")
			if err := os.WriteFile(path, []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			bounded(t, path)
		})
	}
}

// powers declares constants each of which is the square of the one before.
func powers(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "const A%d = A%d * A%d;\n", i+1, i, i)
	}
	return b.String()
}

// TestFilesWithoutEndAreNotReadToTheirEnd reads a file that has no end.
func TestFilesWithoutEndAreNotReadToTheirEnd(t *testing.T) {
	s := bounded(t, "/dev/zero")
	if s.Diagnostics[0].Code != "E0003" {
		t.Errorf("%s", s)
	}
	path := filepath.Join(t.TempDir(), "imports.mrs")
	if err := os.WriteFile(path, []byte("edition 1;\npackage a.b;\nimport \"zero.mrs\";\nbyteorder big;\nbitorder msb;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/zero", filepath.Join(filepath.Dir(path), "zero.mrs")); err != nil {
		t.Fatal(err)
	}
	if s := bounded(t, path); !strings.Contains(s.Error(), "E0003") {
		t.Errorf("%s", s)
	}
}

// TestImportsOfHostileFilesAreBounded has schemas that import each other in circles, deeply, and two of each at each level.
func TestImportsOfHostileFilesAreBounded(t *testing.T) {
	const top = "edition 1;\npackage a.b;\n%s\nbyteorder big;\nbitorder msb;\nheader A { a : u8; }\n"
	for name, imports := range map[string]func(i, n int) string{
		"a circle of 40": func(i, n int) string { return fmt.Sprintf("import %q;", fmt.Sprintf("x%d.mrs", (i+1)%n)) },
		"itself":         func(i, _ int) string { return fmt.Sprintf("import %q;", fmt.Sprintf("x%d.mrs", i)) },
		"all of all": func(_, n int) string {
			var b bytes.Buffer
			for j := range n {
				fmt.Fprintf(&b, "import \"x%d.mrs\" as y%d;\n", j, j)
			}
			return b.String()
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			const n = 40
			for i := range n {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("x%d.mrs", i)), fmt.Appendf(nil, top, imports(i, n)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			bounded(t, filepath.Join(dir, "x0.mrs"))
		})
	}
}
