// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

// SchemaError is why a schema was refused.
type SchemaError struct {
	Diagnostics []syntax.Diagnostic // at least one, in the order of the source
}

// Error lists all faults as mrgen prints them.
func (e *SchemaError) Error() string { return listed(e.Diagnostics, "fault") }

// listed prints diagnostics and counts them.
func listed(diags []syntax.Diagnostic, noun string) string {
	var b strings.Builder
	for _, d := range diags {
		b.WriteString(d.String())
	}
	b.WriteString(plural(len(diags), noun))
	return b.String()
}

// Load reads and compiles a schema file and those that it imports. The error is a *SchemaError when a schema is wrong.
func Load(path string) (*Protocol, error) {
	src, err := syntax.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	p, diags := CompileFrom(filepath.ToSlash(path), src, func(name string) ([]byte, error) { return syntax.ReadFile(filepath.FromSlash(name)) })
	if len(diags) > 0 {
		return nil, &SchemaError{diags}
	}
	return p, nil
}
