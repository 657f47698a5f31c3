// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"unicode/utf8"

	"github.com/openmetaroce/metaroce/gen/lint"
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
	for _, d := range diags {
		fmt.Fprint(w, d.String())
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

type jsonDiagnostic struct {
	Code     string      `json:"code"`
	Severity string      `json:"severity"`
	File     string      `json:"file"`
	Span     jsonSpan    `json:"span"`
	Message  string      `json:"message"`
	Mark     string      `json:"mark,omitempty"`
	Labels   []jsonLabel `json:"labels"`
	Help     string      `json:"help"`
}

// sources reads files once each, to turn lines and columns into bytes.
type sources map[string][]byte

func (s sources) span(file string, at syntax.Span) jsonSpan {
	src, ok := s[file]
	if !ok {
		src, _ = syntax.ReadFile(filepath.FromSlash(file)) // a file that has gone has no bytes
		s[file] = src
	}
	return jsonSpan{byteOffset(src, at.Line, at.Col), at.Line, at.Col, at.Line, at.EndCol}
}

// byteOffset is where a line and column lie.
func byteOffset(src []byte, line, col int) int {
	at := 0
	for ; line > 1 && at < len(src); at++ {
		if src[at] == '\n' {
			line--
		}
	}
	for ; col > 1 && at < len(src) && src[at] != '\n'; col-- {
		_, n := utf8.DecodeRune(src[at:])
		at += n
	}
	return at
}

func printJSONLines(w io.Writer, diags []syntax.Diagnostic) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	files := sources{}
	for _, d := range diags {
		j := jsonDiagnostic{
			Code: d.Code, Severity: d.Severity(), File: d.File, Span: files.span(d.File, syntax.Span{Line: d.Line, Col: d.Col, EndCol: d.EndCol}),
			Message: d.Message, Mark: d.Mark, Labels: []jsonLabel{}, Help: d.Help,
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

// object is a JSON object whose shape SARIF prescribes.
type object map[string]any

// printSARIF writes one run of the Static Analysis Results Interchange Format, version 2.1.0.
func printSARIF(w io.Writer, diags []syntax.Diagnostic) error {
	var rules []object
	index := map[string]int{}
	results := []object{}
	for _, d := range diags {
		if _, ok := index[d.Code]; !ok {
			index[d.Code] = len(rules)
			rules = append(rules, sarifRule(d.Code))
		}
		r := object{
			"ruleId": d.Code, "ruleIndex": index[d.Code], "level": d.Severity(),
			"message":   object{"text": d.Message + "; help: " + d.Help},
			"locations": []object{sarifPlace(d.File, syntax.Span{Line: d.Line, Col: d.Col, EndCol: d.EndCol})},
		}
		var related []object
		for i, l := range d.Labels {
			place := sarifPlace(d.File, l.Span)
			place["id"], place["message"] = i+1, object{"text": l.Text}
			related = append(related, place)
		}
		if related != nil {
			r["relatedLocations"] = related
		}
		results = append(results, r)
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(object{
		"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0",
		"runs": []object{{
			"tool":       object{"driver": object{"name": "mrgen", "rules": slices.Concat([]object{}, rules)}},
			"columnKind": "unicodeCodePoints", "results": results,
		}},
	})
}

func sarifRule(code string) object {
	for _, k := range syntax.Codes() {
		if k.Code == code {
			return object{"id": code, "shortDescription": object{"text": k.Text}, "help": object{"text": k.Help}}
		}
	}
	if k := lint.Find(code); k != nil {
		return object{"id": code, "name": k.Word, "shortDescription": object{"text": k.Text}, "help": object{"text": k.Help}}
	}
	return object{"id": code}
}

func sarifPlace(file string, at syntax.Span) object {
	return object{"physicalLocation": object{
		"artifactLocation": object{"uri": file},
		"region":           object{"startLine": at.Line, "startColumn": at.Col, "endColumn": at.EndCol},
	}}
}
