// SPDX-License-Identifier: Apache-2.0

package luagen

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"
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
