// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"os/exec"
	"strings"
	"testing"
)

// TestReadmeCommandsWork runs the commands of the README's code blocks that change nothing: those that read and print.
func TestReadmeCommandsWork(t *testing.T) {
	tree, err := Read("..")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	prose(tree.File("README.md"), func(n int, line string, state fence) {
		name, _, _ := strings.Cut(line, " ")
		if state == outside || name != "tshark" && !strings.HasPrefix(line, "go run ./cmd/") {
			return
		}
		ran++
		t.Run(line, func(t *testing.T) {
			if _, err := exec.LookPath(name); err != nil {
				t.Fatal("tshark is not installed; run: scripts/deps.sh tshark")
			}
			cmd := exec.Command("sh", "-c", line)
			cmd.Dir = ".."
			out, err := cmd.CombinedOutput()
			if err != nil || len(out) == 0 {
				t.Errorf("README.md:%d: %v\n%s", n, err, out)
			}
		})
	})
	if ran == 0 {
		t.Error("the README shows no command")
	}
}
