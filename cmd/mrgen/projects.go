// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// projects returns the nearest project and those below its directory, outer ones first.
func projects() ([]*project, error) {
	top, err := findProject()
	if err != nil {
		return nil, err
	}
	all := []*project{top}
	err = filepath.WalkDir(top.root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() || name == top.root {
			return err
		}
		if base := d.Name(); strings.HasPrefix(base, ".") || base == "testdata" || base == "node_modules" {
			return filepath.SkipDir
		}
		data, err := os.ReadFile(filepath.Join(name, filepath.FromSlash(configName)))
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		p, err := parseProject(data, name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top.root, name)
		p.below = filepath.ToSlash(rel)
		all = append(all, p)
		return err
	})
	return all, err
}

// projectOf is the project whose schema a file is; nil when no configuration above the file names it.
func projectOf(file string) (*project, error) {
	path, err := filepath.Abs(file)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return projectAbove(filepath.Dir(path), func(p *project) bool {
		schema, err := os.Stat(filepath.Join(p.root, filepath.FromSlash(p.Schema)))
		return err == nil && os.SameFile(info, schema)
	})
}

// shown is the path of one of the project's files in messages: relative to the outermost project.
func (p *project) shown(file string) string { return path.Join(p.below, file) }
