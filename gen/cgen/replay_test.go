// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const vectorsPath = "../../schema/vectors/metaroce.json"

// vector is one entry of a vector file.
type vector struct {
	ID        string            `json:"id"`
	Packet    string            `json:"packet"`
	Params    map[string]string `json:"params"`
	Hex       string            `json:"hex"`
	Stage     string            `json:"stage"`
	OK        bool              `json:"ok"`
	Consumed  int               `json:"consumed"`
	Canonical bool              `json:"canonical"`
	Fields    map[string]string `json:"fields"`
	Error     *vectorError      `json:"error"`
	Lint      string            `json:"-"` // broken rules of the packet itself, a bit for each, in hex; empty when it has no rules
}

type vectorError struct {
	Code  string `json:"code"`
	Field string `json:"field"`
	Off   int    `json:"off"`
}

func readVectors(t testing.TB) []vector {
	t.Helper()
	data, err := os.ReadFile(vectorsPath)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("%s: %v", vectorsPath, err)
	}
	if len(file.Vectors) == 0 {
		t.Fatalf("%s has no vectors", vectorsPath)
	}
	return file.Vectors
}

// answer is what the dump program says about one packet.
type answer struct {
	Result  string // "ok 60", "error E_SHORT 20 stream"
	Fields  map[string]string
	Lint    string
	Pack    string
	Rebuild string
	Extra   []string // complaints of the program itself
}

// query asks the dump program about packets.
func query(t testing.TB, program string, vectors []vector) []answer {
	t.Helper()
	var in bytes.Buffer
	for _, v := range vectors {
		fmt.Fprintf(&in, "%s %s %s%s\n", v.Stage, v.Packet, v.Hex, paramText(v))
	}
	cmd := exec.Command(program)
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, stderr.Bytes())
	}
	answers := readAnswers(t, out)
	if len(answers) != len(vectors) {
		t.Fatalf("%d answers to %d packets", len(answers), len(vectors))
	}
	return answers
}

func readAnswers(t testing.TB, out []byte) []answer {
	t.Helper()
	var answers []answer
	var a answer
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		word, rest, _ := strings.Cut(line, " ")
		path, value, isField := strings.Cut(line, "=")
		switch {
		case line == ".":
			answers = append(answers, a)
			a = answer{}
		case word == "ok":
			a.Result, a.Fields = line, map[string]string{}
		case word == "error":
			a.Result = line[:strings.LastIndexByte(line, ' ')+1] + leaf(rest)
		case word == "lint":
			a.Lint = rest
		case word == "pack":
			a.Pack = rest
		case word == "rebuild":
			a.Rebuild = rest
		case isField && a.Fields != nil:
			a.Fields[path] = fieldText(t, value)
		default:
			a.Extra = append(a.Extra, line)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return answers
}

// fieldText turns the program's spelling of a string into that of vectors.
func fieldText(t testing.TB, value string) string {
	t.Helper()
	digits, ok := strings.CutPrefix(value, "utf8:")
	if !ok {
		return value
	}
	text, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return "text:" + string(text)
}

// leaf is the last name of an item path, without index. C errors name struct and item; a path names the way to it.
func leaf(path string) string {
	path = path[strings.LastIndexAny(path, ". ")+1:]
	name, _, _ := strings.Cut(path, "[")
	return name
}

// expected is the answer that agrees with a vector. got fills in what the vector leaves open.
func expected(v vector, got answer) answer {
	if !v.OK {
		return answer{Result: fmt.Sprintf("error %s %d %s", v.Error.Code, v.Error.Off, leaf(v.Error.Field))}
	}
	want := answer{Result: "ok " + strconv.Itoa(v.Consumed), Fields: v.Fields, Lint: v.Lint, Pack: got.Pack, Rebuild: got.Rebuild}
	if v.Canonical {
		want.Pack = v.Hex[:2*v.Consumed]
		want.Rebuild = want.Pack
	}
	return want
}

func compare(t *testing.T, vectors []vector, answers []answer) {
	t.Helper()
	bad := 0
	for i, v := range vectors {
		if diff := cmp.Diff(expected(v, answers[i]), answers[i]); diff != "" {
			t.Errorf("%s (-vector +C):\n%s", v.ID, diff)
			if bad++; bad == 10 {
				t.Fatal("more differences are not shown")
			}
		}
	}
}

//mr:prop P4 P47
func TestGeneratedCReplaysVectors(t *testing.T) {
	vectors := readVectors(t)
	program := buildDump(t, sdk(t))
	compare(t, vectors, query(t, program, vectors))
	accepted, canonical := 0, 0
	for _, v := range vectors {
		if v.OK {
			accepted++
		}
		if v.Canonical {
			canonical++
		}
	}
	if canonical == 0 {
		t.Error("no canonical vector: nothing was packed")
	}
	t.Logf("%d vectors replayed: %d accepted (%d packed byte for byte), %d rejected", len(vectors), accepted, canonical, len(vectors)-accepted)
}

func TestGeneratedCPassesItsSelfTest(t *testing.T) {
	out, err := exec.Command(buildDump(t, sdk(t)), "selftest").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var checks int
	if n, err := fmt.Sscanf(string(out), "%d checks", &checks); n != 1 || checks == 0 {
		t.Fatalf("no checks ran: %q (%v)", out, err)
	}
	t.Logf("%d checks", checks)
}

// sdk is the directory of the C SDK.
func sdk(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../../c-sdk")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
