// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// quickstart is the block of commands with which README.md begins a protocol.
var quickstart = regexp.MustCompile("(?s)\n### Describe a protocol of your own\n.*?\n```\n(.*?)\n```\n")

// newcomer runs shell commands as a new user would: nothing of this repository is at hand but what the commands install.
type newcomer struct {
	t   *testing.T
	env []string
}

func (n newcomer) run(dir, script string) string {
	n.t.Helper()
	cmd := exec.Command("sh", "-ec", script)
	cmd.Dir, cmd.Env = dir, n.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		n.t.Fatalf("%s\n%v\n%s%s", script, err, out, errs.String())
	}
	return string(out)
}

func TestQuickstartOfTheReadmeWorks(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	block := quickstart.FindSubmatch(readme)
	if block == nil {
		t.Fatal("README.md has no quickstart")
	}
	dir, bin := filepath.Join(t.TempDir(), "sensor"), t.TempDir()
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	// Modules come from the cache, where those of this repository are.
	proxy := "file://" + filepath.ToSlash(strings.TrimSpace(string(cache))) + "/cache/download"
	n := newcomer{t, append(os.Environ(), "GOBIN="+bin, "PATH="+bin+":"+os.Getenv("PATH"), "GOPROXY="+proxy, "GOSUMDB=off", "GOWORK=off", "GOFLAGS=")}
	out := n.run("../..", strings.ReplaceAll(string(block[1]), "/tmp/sensor", dir))
	for _, want := range []string{"wrote sensor/structs.gen.go", "wrote sensor/layers/datagram.gen.go", "wrote c/src/sensor.gen.c", "wrote wireshark/sensor.lua",
		"wrote docs/sensor.md", "kind = 2 (Alarm)", "code = 5", "ok  \texample.org/sensor/sensor"} {
		if !strings.Contains(out, want) {
			t.Errorf("nothing says %q:\n%s", want, out)
		}
	}
	n.run(dir, "go vet ./... && mrgen lint && gcc -std=c11 -Wall -Wextra -Werror -Ic/include -c c/src/sensor.gen.c -o /dev/null")
	if doc := n.run(dir, "cat docs/sensor.md"); !strings.Contains(doc, "+-+-+-+-") || !strings.Contains(doc, "Thousandths of a degree") {
		t.Errorf("the reference lacks a diagram or a field's text:\n%s", doc)
	}
	n.dissects(dir)
	n.changes(dir)
}

// dissects lets tshark show a datagram with the generated dissector.
func (n newcomer) dissects(dir string) {
	n.t.Helper()
	n.run(dir, "printf '0000 12 00 00 07 00 05 00 01\\n' > packet.txt && text2pcap -u 40000,9000 packet.txt packet.pcap 2>/dev/null")
	got := n.run(dir, "tshark -n -X lua_script:wireshark/sensor.lua -r packet.pcap -T fields -e _ws.col.Protocol -e sensor.start.kind -e sensor.alarm.code 2>/dev/null")
	if want := "Sensor\t2\t5\n"; got != want {
		n.t.Errorf("tshark shows %q, want %q", got, want)
	}
}

// changes makes the schema another one: check notices, a slip is mended, and gen follows.
func (n newcomer) changes(dir string) {
	n.t.Helper()
	n.run(dir, "sed -i 's/  sensor : u16;/  sensor : u12;/' schema/sensor.mrs")
	n.run(dir, "! mrgen check schema/sensor.mrs 2> faults.txt && grep -q 'E0207' faults.txt && grep -q 'rsvd 4 zero' faults.txt")
	n.run(dir, "mrgen check --fix schema/sensor.mrs; mrgen fmt --check; ! mrgen check > /dev/null; mrgen gen && mrgen check && go test ./...")
}
