// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"fmt"
	"go/ast"
	"path"
	"strings"
)

// Limits of size.
const (
	mostFileLines     = 500
	mostFunctionLines = 70
	mostParameters    = 4
	mostFields        = 20
)

// findLongFiles looks at code. A document or a schema is as long as its subject.
func findLongFiles(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.Files {
		if ext := path.Ext(f.Path); f.Generated || ext == ".md" || ext == ".mrs" {
			continue
		}
		if n := len(lines(f.Text)); n > mostFileLines {
			found = append(found, Finding{f.Path, mostFileLines + 1, path.Base(f.Path), fmt.Sprintf("the file has %d lines, allowed are %d", n, mostFileLines)})
		}
	}
	return found, nil
}

func findLongFunctions(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.hand() {
		for _, decl := range f.Syntax.Decls {
			ast.Inspect(decl, func(n ast.Node) bool {
				name, ok := functionName(n)
				if !ok {
					return true
				}
				if lines := t.Fset.Position(n.End()).Line - t.line(n) + 1; lines > mostFunctionLines {
					found = append(found, Finding{f.Path, t.line(n), name, fmt.Sprintf("%s has %d lines, allowed are %d", name, lines, mostFunctionLines)})
				}
				_, literal := n.(*ast.FuncLit)
				return literal
			})
		}
	}
	return found, nil
}

// functionName names a declared function as Type.Name or Name; a literal outside a function is "func".
func functionName(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.FuncLit:
		return "func", true
	case *ast.FuncDecl:
		if n.Recv == nil || len(n.Recv.List) == 0 {
			return n.Name.Name, true
		}
		return receiverName(n.Recv.List[0].Type) + "." + n.Name.Name, true
	}
	return "", false
}

func receiverName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiverName(e.X)
	case *ast.IndexExpr:
		return receiverName(e.X)
	case *ast.IndexListExpr:
		return receiverName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// signatures calls visit with every declared function and interface method of the hand-written files.
func signatures(t *Tree, visit func(f *File, name string, typ *ast.FuncType)) {
	for _, f := range t.hand() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				name, _ := functionName(n)
				visit(f, name, n.Type)
			case *ast.TypeSpec:
				methods(n, func(name string, typ *ast.FuncType) { visit(f, n.Name.Name+"."+name, typ) })
			}
			return true
		})
	}
}

func methods(spec *ast.TypeSpec, visit func(name string, typ *ast.FuncType)) {
	face, ok := spec.Type.(*ast.InterfaceType)
	if !ok {
		return
	}
	for _, m := range face.Methods.List {
		if typ, ok := m.Type.(*ast.FuncType); ok && len(m.Names) == 1 {
			visit(m.Names[0].Name, typ)
		}
	}
}

func findManyParameters(t *Tree) ([]Finding, error) {
	var found []Finding
	signatures(t, func(f *File, name string, typ *ast.FuncType) {
		if n := typ.Params.NumFields(); n > mostParameters {
			found = append(found, Finding{f.Path, t.line(typ), name, fmt.Sprintf("%s takes %d parameters, allowed are %d", name, n, mostParameters)})
		}
	})
	return found, nil
}

func findBoolParameters(t *Tree) ([]Finding, error) {
	var found []Finding
	signatures(t, func(f *File, name string, typ *ast.FuncType) {
		for _, p := range typ.Params.List {
			if isBool(p.Type) {
				found = append(found, Finding{f.Path, t.line(p), name, name + " takes a bool"})
			}
		}
	})
	return found, nil
}

func isBool(e ast.Expr) bool {
	if v, ok := e.(*ast.Ellipsis); ok {
		return isBool(v.Elt)
	}
	id, ok := e.(*ast.Ident)
	return ok && id.Name == "bool"
}

func findWideStructs(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.hand() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			spec, ok := n.(*ast.TypeSpec)
			if !ok || isPlainValue(spec.Name.Name) {
				return true
			}
			typ, ok := spec.Type.(*ast.StructType)
			if ok && typ.Fields.NumFields() > mostFields {
				found = append(found, Finding{f.Path, t.line(spec), spec.Name.Name,
					fmt.Sprintf("%s has %d fields, allowed are %d", spec.Name.Name, typ.Fields.NumFields(), mostFields)})
			}
			return true
		})
	}
	return found, nil
}

// isPlainValue tells the structs that are lists of settings or counters, which nobody owns.
func isPlainValue(name string) bool {
	return strings.HasSuffix(name, "Config") || strings.HasSuffix(name, "Stats") || name == "Event" || name == "Work"
}
