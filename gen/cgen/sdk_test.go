// SPDX-License-Identifier: Apache-2.0

package cgen

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// example compiles examples/decode.c against the two files that users copy.
func example(t testing.TB) string {
	t.Helper()
	return build(t, filepath.Join(sdk(t), "examples/decode.c"), sdk(t))
}

func TestExampleDecodesTheWriteItBuilds(t *testing.T) {
	got := run(t, example(t))
	want := "Write on path 3, psn 7\n" +
		"message 42 of stream 1: 16 bytes at 4096 of region 0xfeed\n" +
		"data \"sixteen bytes...\"\n"
	if got != want {
		t.Errorf("got:\n%swant:\n%s", got, want)
	}
}

func TestExampleDecodesWritesOfTheVectors(t *testing.T) {
	program, writes := example(t), 0
	for _, v := range readVectors(t) {
		if !v.OK || v.Fields["plain.write.message.message"] == "" || writes == 5 {
			continue
		}
		writes++
		got := run(t, program, v.Hex)
		if want := "message " + v.Fields["plain.write.message.message"] + " of stream " + v.Fields["plain.write.message.stream"] + ":"; !strings.Contains(got, want) {
			t.Errorf("%s: no %q in\n%s", v.ID, want, got)
		}
	}
	if writes == 0 {
		t.Error("no vector is a WRITE")
	}
}

func TestExampleNamesWhatIsWrong(t *testing.T) {
	out, err := exec.Command(example(t), "10").CombinedOutput()
	if err == nil || !strings.HasPrefix(string(out), "E_SHORT at byte 0 (base.version)") {
		t.Errorf("got %v, %s", err, out)
	}
}

// TestPackageInstalls installs to a directory of its own and compiles a user's program with what pkg-config says.
func TestPackageInstalls(t *testing.T) {
	dir := t.TempDir()
	make := func(targets ...string) {
		t.Helper()
		args := append([]string{"-s", "-C", sdk(t), "BUILD=" + filepath.Join(dir, "build"), "PREFIX=" + filepath.Join(dir, "root")}, targets...)
		run(t, "make", args...)
	}
	make("check", "install")
	if _, err := exec.LookPath("pkg-config"); err != nil {
		t.Log("pkg-config is not installed; its file was not tried")
		return
	}
	t.Setenv("PKG_CONFIG_PATH", filepath.Join(dir, "root/lib/pkgconfig"))
	args := strings.Fields(run(t, "pkg-config", "--cflags", "--libs", "metaroce-wire"))
	program := filepath.Join(dir, "user")
	run(t, "cc", append([]string{"-o", program, filepath.Join(sdk(t), "examples/decode.c")}, args...)...)
	run(t, program)
}

func TestCMakePackageIsFound(t *testing.T) {
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Log("cmake is not installed; its files were not tried")
		return
	}
	dir := t.TempDir()
	root := filepath.Join(dir, "root")
	run(t, "cmake", "-S", sdk(t), "-B", filepath.Join(dir, "sdk"), "-DBUILD_TESTING=OFF", "-DCMAKE_INSTALL_PREFIX="+root)
	run(t, "cmake", "--build", filepath.Join(dir, "sdk"), "--target", "install")
	user := `cmake_minimum_required(VERSION 3.16)
project(user C)
find_package(metaroce 0.1 REQUIRED)
add_executable(user ` + filepath.Join(sdk(t), "examples/decode.c") + `)
target_link_libraries(user PRIVATE metaroce::wire)
`
	if err := os.MkdirAll(filepath.Join(dir, "user"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "user/CMakeLists.txt"), []byte(user), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, "cmake", "-S", filepath.Join(dir, "user"), "-B", filepath.Join(dir, "out"), "-DCMAKE_PREFIX_PATH="+root)
	run(t, "cmake", "--build", filepath.Join(dir, "out"))
	run(t, filepath.Join(dir, "out/user"))
}
