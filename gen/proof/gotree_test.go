// SPDX-License-Identifier: Apache-2.0

package proof

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// buildGo makes one program of the Go packages of all subjects. It is asked with the subject's name as its argument.
func buildGo(dir string, all []*subject) (string, error) {
	dir = filepath.Join(dir, "go")
	files := []gen.File{
		{Path: "go.mod", Data: []byte("module proof\n\ngo 1.26\n")},
		{Path: "asked.go", Data: asked},
	}
	for _, s := range all {
		if s.goRefused != nil {
			continue
		}
		for _, f := range s.goFiles {
			files = append(files, gen.File{Path: s.name + "/" + f.Path, Data: f.Data})
		}
		files = append(files, gen.File{Path: "ask_" + s.name + ".go", Data: []byte(s.adapter())})
	}
	if err := writeFiles(dir, files); err != nil {
		return "", err
	}
	program := filepath.Join(dir, "asked")
	return program, command(dir, "go", "build", "-o", program, ".")
}

// vetGo lets go vet look at the packages, their tests included.
func vetGo(dir string) error { return command(filepath.Join(dir, "go"), "go", "vet", "./...") }

func writeFiles(dir string, files []gen.File) error {
	for _, f := range files {
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func command(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, bytes.ReplaceAll(out[:min(len(out), 4000)], []byte(dir), []byte(".")))
	}
	return nil
}

// adapter is the Go code that leads lines of text to the packets of one package.
func (s *subject) adapter() string {
	var code strings.Builder
	var all bytes.Buffer
	for _, f := range s.goFiles {
		all.Write(f.Data)
	}
	pkg := s.name
	fmt.Fprintf(&code, "package main\n\nimport (\n\t\"errors\"\n\n\t%s \"proof/%s\"\n)\n\n", pkg, pkg)
	fmt.Fprintf(&code, "func init() {\n\tfailures[%q] = func(err error) (code string, off int, field string, ok bool) {\n\t\tvar e *%s.Error\n", pkg, pkg)
	code.WriteString("\t\tif !errors.As(err, &e) {\n\t\t\treturn\n\t\t}\n\t\treturn e.Code.String(), e.Off, e.Field, true\n\t}\n")
	for _, st := range s.packets() {
		name := st.Name.Go
		decode, sum := s.callArgs(st)
		fmt.Fprintf(&code, "\tvar v%s %s.%s\n", name, pkg, name)
		fmt.Fprintf(&code, "\tpackets[%q] = func(g given) codec {\n\t\tv := &v%s\n\t\t_ = v\n\t\tc := codec{\n", pkg+" "+st.Name.Schema, name)
		fmt.Fprintf(&code, "\t\t\tdecode: func(b []byte) (int, error) { return v.Decode(b%s) },\n", decode)
		fmt.Fprintf(&code, "\t\t\tfields: func(yield func(path, value string)) { v.Fields(%s) },\n", strings.TrimPrefix(decode+", yield", ", "))
		fmt.Fprintf(&code, "\t\t\tappend: func() ([]byte, error) { return v.Append(nil%s) },\n", decode)
		fmt.Fprintf(&code, "\t\t\tlength: func() (int, error) { return v.Len(%s) },\n", strings.TrimPrefix(decode, ", "))
		fmt.Fprintf(&code, "\t\t\tvalidate: func() error { return v.Validate(%s) },\n\t\t}\n", strings.TrimPrefix(decode, ", "))
		for _, f := range []string{"Verify", "Resum"} {
			if bytes.Contains(all.Bytes(), []byte("func "+f+name+"(")) {
				fmt.Fprintf(&code, "\t\tc.%s = func(b []byte) error { return %s.%s%s(b%s) }\n", strings.ToLower(f), pkg, f, name, sum)
			}
		}
		code.WriteString("\t\treturn c\n\t}\n")
	}
	return code.String() + "}\n"
}

// callArgs are the arguments of decode, and those of verify, behind the first one.
func (s *subject) callArgs(st *gen.Struct) (decode, sum string) {
	for _, p := range st.Params {
		if !p.Cover {
			n := 8
			for n < p.Bits {
				n *= 2
			}
			def := uint64(0)
			if p.Default != nil {
				def = *p.Default
			}
			arg := fmt.Sprintf(", uint%d(g.number(%q, %d))", n, p.Name.Schema, def)
			decode, sum = decode+arg, sum+arg
			continue
		}
		kinds := p.Any
		if kinds == nil {
			kinds = []*gen.Struct{p.Struct}
		}
		arg := fmt.Sprintf(", %s.Outer{Kind: map[string]%s.OuterKind{", s.name, s.name)
		for _, k := range kinds {
			arg += fmt.Sprintf("%q: %s.Outer%s, ", k.Name.Schema, s.name, k.Name.Go)
		}
		sum += fmt.Sprintf("%s}[g.kind(%q)], Bytes: g.bytes(%q)}", arg, p.Name.Schema, p.Name.Schema)
	}
	return decode, sum
}

// asked is the main file of the program.
var asked = []byte(`package main

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type codec struct {
	decode                  func([]byte) (int, error)
	fields                  func(func(path, value string))
	append                  func() ([]byte, error)
	length                  func() (int, error)
	validate                func() error
	verify, resum           func([]byte) error
}

var (
	packets  = map[string]func(given) codec{}
	failures = map[string]func(error) (string, int, string, bool){}
)

type given map[string]string

func (g given) number(name string, otherwise uint64) uint64 {
	if g[name] == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(g[name], 10, 64)
	if err != nil {
		panic(err)
	}
	return n
}

func (g given) kind(name string) string { k, _, _ := strings.Cut(g[name], ":"); return k }

func (g given) bytes(name string) []byte {
	_, digits, ok := strings.Cut(g[name], ":")
	if !ok {
		return nil
	}
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return b
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<22)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		words := strings.Split(in.Text(), " ")
		b, err := hex.DecodeString(words[2])
		if err != nil {
			panic(err)
		}
		g := given{}
		for _, w := range words[3:] {
			name, value, _ := strings.Cut(w, "=")
			g[name] = value
		}
		tell(out, os.Args[1], packets[os.Args[1]+" "+words[1]](g), b)
		fmt.Fprintln(out, ".")
	}
}

func tell(out *bufio.Writer, pkg string, c codec, b []byte) {
	n, err := c.decode(b)
	if err == nil && c.verify != nil {
		err = c.verify(b)
	}
	if err != nil {
		code, off, field, ok := failures[pkg](err)
		if !ok {
			code = fmt.Sprintf("%T", err)
		}
		fmt.Fprintf(out, "error %s %d %s\n", code, off, field)
		return
	}
	fmt.Fprintf(out, "ok %d\n", n)
	c.fields(func(path, value string) {
		if text, ok := strings.CutPrefix(value, "text:"); ok {
			value = "utf8:" + hex.EncodeToString([]byte(text))
		}
		fmt.Fprintf(out, "%s=%s\n", path, value)
	})
	if err := c.validate(); err != nil {
		fmt.Fprintf(out, "invalid %v\n", err)
	}
	packed, err := c.append()
	if err == nil && c.resum != nil {
		err = c.resum(packed)
	}
	if err != nil {
		fmt.Fprintln(out, "pack E_")
		return
	}
	fmt.Fprintf(out, "pack %x\n", packed)
	if size, err := c.length(); err != nil || size != len(packed) {
		fmt.Fprintf(out, "length %d, %v\n", size, err)
	}
}
`)
