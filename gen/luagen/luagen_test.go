// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite generated files and goldens")

// shipped is the dissector that users install.
const shipped = "../../wireshark/metaroce.lua"

func TestShippedDissectorIsCurrent(t *testing.T) {
	files, err := Generate(loadProtocol(t))
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(shipped, files[0].Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(shipped)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, files[0].Data) {
		t.Errorf("%s is stale: go test ./gen/luagen -run ShippedDissector -update", shipped)
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	first, err := Generate(loadProtocol(t))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Generate(loadProtocol(t))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first[0].Data, second[0].Data) {
		t.Error("two runs print different files")
	}
}

// operators matches what Lua 5.2 cannot parse outside of strings, and what Wireshark 4.4 no longer has.
var operators = regexp.MustCompile(`//|>>|<<|[&|]|~[^=]|\bbit32\b|\bunpack\b|\bloadstring\b|\bsetfenv\b|\bgoto\b`)

// code strips comments and strings from Lua.
func code(lua []byte) []string {
	text := regexp.MustCompile(`(?s)\[\[.*?\]\]`).ReplaceAllFunc(lua, func(m []byte) []byte {
		return bytes.Repeat([]byte("\n"), bytes.Count(m, []byte("\n")))
	})
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		l = regexp.MustCompile(`"(\\.|[^"\\])*"`).ReplaceAllString(l, `""`)
		lines[i], _, _ = strings.Cut(l, "--")
	}
	return lines
}

func TestGeneratedLuaSuitsEveryVersion(t *testing.T) {
	path := generated(t, loadProtocol(t))
	lua, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	assigned := regexp.MustCompile(`^(?:function [A-Za-z_]\w*\(|[A-Za-z_]\w* =)`)
	for i, l := range code(lua) {
		if m := operators.FindString(l); m != "" {
			t.Errorf("line %d uses %s: %s", i+1, m, l)
		}
		if m := assigned.FindString(l); m != "" {
			t.Errorf("line %d assigns a global: %s", i+1, m)
		}
	}
	for _, compiler := range []string{"luac5.2", "luac5.4"} {
		if _, err := exec.LookPath(compiler); err != nil {
			t.Logf("%s is not installed; only the text was looked at", compiler)
			continue
		}
		listing, err := exec.Command(compiler, "-l", "-p", path).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", compiler, err, listing)
		}
		if m := regexp.MustCompile(`.*SETTABUP.*_ENV.*`).Find(listing); m != nil {
			t.Errorf("%s: a global is assigned: %s", compiler, m)
		}
	}
}

func TestLicenseAllowsWireshark(t *testing.T) {
	for schema, want := range map[string]string{"Apache-2.0": "GPL-2.0-or-later OR Apache-2.0", "MIT": "MIT", "": ""} {
		if got := license(schema); got != want {
			t.Errorf("%q: %q, want %q", schema, got, want)
		}
	}
}
