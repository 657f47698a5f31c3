// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// input is the file that is moved.
type input struct {
	Path   string `json:"-"`
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// describe hashes a file.
func describe(path string) (input, error) {
	f, err := os.Open(path)
	if err != nil {
		return input{}, err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return input{}, err
	}
	return input{Path: path, Name: filepath.Base(path), Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, nil
}

// packToolchain writes the source tree of the Go toolchain into a tar file, the same bytes each time.
func packToolchain(path string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	err = pack(f, filepath.Join(strings.TrimSpace(string(root)), "src"))
	return errors.Join(err, f.Close())
}

// pack writes the regular files below dir, in the order of their names, without owners and times.
func pack(out io.Writer, dir string) error {
	w := tar.NewWriter(out)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return add(w, path, filepath.ToSlash(name))
	})
	return errors.Join(err, w.Close())
}

func add(w *tar.Writer, path, name string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: int64(len(data)), Mode: 0o644, Format: tar.FormatPAX}
	if err := w.WriteHeader(&header); err != nil {
		return err
	}
	_, err = w.Write(data)
	return err
}

// head writes the first n bytes of a file into another one.
func head(from, to string, n int64) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, n))
	return errors.Join(err, out.Close())
}
