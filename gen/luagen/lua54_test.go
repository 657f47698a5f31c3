// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen"
)

// TestDissectorRunsOnLua54 checks every vector on the version that Wireshark has from 4.4 on, with a stand-in for
// Wireshark itself. Resends are no errors and left out.
func TestDissectorRunsOnLua54(t *testing.T) {
	lua, err := exec.LookPath("lua5.4")
	if err != nil {
		t.Log("lua5.4 is not installed; only tshark's version was tried")
		return
	}
	p := loadProtocol(t)
	vectors := loadVectors(t, p)
	var in bytes.Buffer
	for _, v := range vectors {
		in.WriteString(v.Hex + "\n")
	}
	cmd := exec.Command(lua, "testdata/stub.lua", generated(t, p))
	cmd.Stdin = &in
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(vectors) {
		t.Fatalf("%d lines for %d packets", len(lines), len(vectors))
	}
	expert := p.Targets.LuaProto + ".expert."
	for i, v := range vectors {
		want := "ok"
		if v.Error.Code != "" {
			want = expert + strings.ToLower(v.Error.Code)
		}
		got := strings.TrimPrefix(lines[i], "\r")
		if got == expert+"resend" || got == expert+"gap" {
			got = "ok"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", v.ID, got, want)
		}
	}
}

// TestExampleDissectorsRunOnLua54 does the same for the schemas of common protocols, as far as their first packets go.
func TestExampleDissectorsRunOnLua54(t *testing.T) {
	lua, err := exec.LookPath("lua5.4")
	if err != nil {
		t.Log("lua5.4 is not installed; only tshark's version was tried")
		return
	}
	for _, name := range exampleNames {
		p := exampleSchema(t, name)
		script := generated(t, p)
		for _, b := range batches(t, p) {
			if dissectorOf(t, p, b.packet) != p.Targets.LuaProto || strings.Contains(b.settings, `"1"`) {
				continue
			}
			var in bytes.Buffer
			for _, data := range b.bytes {
				fmt.Fprintf(&in, "%x\n", data)
			}
			cmd := exec.Command(lua, "testdata/stub.lua", script)
			cmd.Stdin = &in
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, out)
			}
			lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			if len(lines) != len(b.bytes) {
				t.Fatalf("%s: %d lines for %d packets", name, len(lines), len(b.bytes))
			}
			for i, data := range b.bytes {
				if want := b.ask(t, p, data).expert(p); lines[i] != want {
					t.Errorf("%s %x: %s, want %s", name, data, lines[i], want)
				}
			}
		}
	}
}

// expert is the first expert item of a packet.
func (v verdict) expert(p *gen.Protocol) string {
	switch {
	case len(v.lints) > 0:
		return p.Targets.LuaProto + ".expert.lint"
	case v.bad != nil:
		return p.Targets.LuaProto + ".expert." + strings.ToLower(v.bad.Code.Name)
	}
	return "ok"
}
