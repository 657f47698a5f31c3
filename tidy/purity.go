// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// pure are the packages whose behaviour follows from their arguments alone.
var pure = []string{"engine", "engine/internal/...", "engine/sim/..."}

// impureImports may not be imported by a pure package at all.
var impureImports = []string{"net", "net/http", "os", "os/...", "log", "log/...", "sync", "sync/...", "syscall", "crypto/rand", "context", "runtime", "unsafe", "golang.org/x/sys/..."}

// impureFuncs are package-level functions that read a clock, a global generator or a random order, or write to the world.
var impureFuncs = map[string][]string{
	"time": {"Now", "Since", "Until", "Sleep", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker"},
	"maps": {"All", "Keys", "Values"},
	"fmt":  {"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
}

// seeded are the functions of math/rand that do not use its global generator.
var seeded = []string{"New", "NewPCG", "NewChaCha8", "NewSource", "NewZipf"}

func findImpurity(t *Tree) ([]Finding, error) {
	if !slices.ContainsFunc(t.Files, func(f *File) bool { return f.Syntax != nil && matches(pure, dirOf(f.Path)) }) {
		return nil, nil
	}
	fset := token.NewFileSet()
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedImports | packages.NeedCompiledGoFiles,
		Dir:  t.Root, Fset: fset,
	}, "./engine/...")
	if err != nil {
		return nil, err
	}
	var found []Finding
	for _, p := range loaded {
		dir := strings.TrimPrefix(p.PkgPath, t.Module+"/")
		if !matches(pure, dir) {
			continue
		}
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("tidy: purity needs a package that compiles: %w", p.Errors[0])
		}
		s := &suspect{tree: t, fset: fset, info: p.TypesInfo}
		for _, f := range p.Syntax {
			ast.Inspect(f, s.visit)
		}
		found = append(found, s.found...)
	}
	return found, nil
}

// suspect is one package under inspection.
type suspect struct {
	tree  *Tree
	fset  *token.FileSet
	info  *types.Info
	found []Finding
}

func (s *suspect) report(n ast.Node, symbol, what string) {
	at := s.fset.Position(n.Pos())
	root, err := filepath.EvalSymlinks(s.tree.Root)
	if err != nil {
		root = s.tree.Root
	}
	rel := at.Filename
	for _, base := range []string{s.tree.Root, root} {
		abs, err := filepath.Abs(base)
		if err != nil {
			continue
		}
		if r, err := filepath.Rel(abs, at.Filename); err == nil && !strings.HasPrefix(r, "..") {
			rel = filepath.ToSlash(r)
		}
	}
	s.found = append(s.found, Finding{rel, at.Line, symbol, what})
}

func (s *suspect) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.ImportSpec:
		if p := strings.Trim(n.Path.Value, `"`); p != "net/netip" && matches(impureImports, p) {
			s.report(n, p, "imports "+p)
		}
	case *ast.GoStmt:
		s.report(n, "go", "starts a goroutine")
	case *ast.SelectStmt:
		s.report(n, "select", "selects among channels")
	case *ast.ChanType:
		s.report(n, "chan", "uses a channel")
	case *ast.SendStmt:
		s.report(n, "chan", "sends on a channel")
	case *ast.RangeStmt:
		s.visitRange(n)
	case *ast.Ident:
		s.visitUse(n)
	}
	return true
}

func (s *suspect) visitRange(n *ast.RangeStmt) {
	switch s.info.TypeOf(n.X).Underlying().(type) {
	case *types.Map:
		s.report(n, "range", "ranges over a map")
	case *types.Chan:
		s.report(n, "chan", "receives from a channel")
	}
}

func (s *suspect) visitUse(id *ast.Ident) {
	obj := s.info.Uses[id]
	if obj == nil || obj.Pkg() == nil || obj.Parent() != obj.Pkg().Scope() {
		return
	}
	from, name := obj.Pkg().Path(), obj.Name()
	switch {
	case slices.Contains(impureFuncs[from], name):
		s.report(id, from+"."+name, "uses "+from+"."+name)
	case from == "math/rand" || from == "math/rand/v2":
		if _, isFunc := obj.(*types.Func); isFunc && !slices.Contains(seeded, name) {
			s.report(id, from+"."+name, "uses the global generator: rand."+name)
		}
	}
}
