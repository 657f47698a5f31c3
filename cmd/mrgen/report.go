// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"path/filepath"

	"github.com/openmetaroce/metaroce/gen"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// reportFlags choose how diagnostics are printed.
type reportFlags struct {
	JSON  bool `name:"json" xor:"form" help:"Print one JSON object a line."`
	SARIF bool `name:"sarif" xor:"form" help:"Print one SARIF 2.1.0 log."`
}

// machine tells whether a program reads the answer.
func (f reportFlags) machine() bool { return f.JSON || f.SARIF }

// print writes diagnostics in the wanted form; in text nothing is written when there are none.
func (f reportFlags) print(w io.Writer, diags []syntax.Diagnostic) error {
	switch {
	case f.JSON:
		return printJSONLines(w, diags)
	case f.SARIF:
		return printSARIF(w, diags)
	}
	printText(w, diags)
	return nil
}

// answer prints the diagnostics that an error carries, where a program reads them. Other errors are returned as they are.
func (f reportFlags) answer(w io.Writer, err error) error {
	diags := gen.Diagnostics(err)
	if !f.machine() || err != nil && diags == nil {
		return err
	}
	if err := f.print(w, diags); err != nil {
		return err
	}
	if diags != nil {
		return errFault
	}
	return nil
}

// jsonSpan is a part of one line. Lines and columns count from 1, columns in characters, bytes from 0; endCol is exclusive.
type jsonSpan struct {
	Byte    int `json:"byte"`
	Line    int `json:"line"`
	Col     int `json:"col"`
	EndLine int `json:"endLine"`
	EndCol  int `json:"endCol"`
}

type jsonLabel struct {
	Span jsonSpan `json:"span"`
	Text string   `json:"text"`
}

// jsonFix is a change that removes the fault: edits of the file, which do not overlap.
type jsonFix struct {
	Title string     `json:"title"`
	Edits []jsonEdit `json:"edits"`
}

// jsonEdit replaces the bytes from Byte up to EndByte.
type jsonEdit struct {
	Byte    int    `json:"byte"`
	EndByte int    `json:"endByte"`
	Text    string `json:"text"`
}

type jsonDiagnostic struct {
	Code     string      `json:"code"`
	Severity string      `json:"severity"`
	File     string      `json:"file"`
	Span     jsonSpan    `json:"span"`
	Message  string      `json:"message"`
	Mark     string      `json:"mark,omitempty"`
	Labels   []jsonLabel `json:"labels"`
	Fixes    []jsonFix   `json:"fixes"`
	Help     string      `json:"help"`
}

// sources reads files once each, to turn lines and columns into bytes.
type sources map[string][]byte

func (s sources) span(file string, at syntax.Span) jsonSpan {
	return jsonSpan{syntax.ByteOffset(s.read(file), at.Line, at.Col), at.Line, at.Col, at.Line, at.EndCol}
}

func (s sources) read(file string) []byte {
	src, ok := s[file]
	if !ok {
		src, _ = syntax.ReadFile(filepath.FromSlash(file)) // a file that has gone has no bytes
		s[file] = src
	}
	return src
}

func jsonFixes(d syntax.Diagnostic) []jsonFix {
	out := []jsonFix{}
	for _, f := range d.Fixes {
		j := jsonFix{Title: f.Title}
		for _, e := range f.Edits {
			j.Edits = append(j.Edits, jsonEdit{e.Off, e.End, e.Text})
		}
		out = append(out, j)
	}
	return out
}

func printJSONLines(w io.Writer, diags []syntax.Diagnostic) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	files := sources{}
	for _, d := range diags {
		j := jsonDiagnostic{
			Code: d.Code, Severity: d.Severity(), File: d.File, Span: files.span(d.File, syntax.Span{Line: d.Line, Col: d.Col, EndCol: d.EndCol}),
			Message: d.Message, Mark: d.Mark, Labels: []jsonLabel{}, Fixes: jsonFixes(d), Help: d.Help,
		}
		for _, l := range d.Labels {
			j.Labels = append(j.Labels, jsonLabel{files.span(d.File, l.Span), l.Text})
		}
		if err := enc.Encode(j); err != nil {
			return err
		}
	}
	return nil
}
