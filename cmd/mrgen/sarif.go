// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"unicode/utf8"

	"github.com/openmetaroce/metaroce/gen/lint"
	"github.com/openmetaroce/metaroce/gen/syntax"
)

// object is a JSON object whose shape SARIF prescribes.
type object map[string]any

// printSARIF writes one run of the Static Analysis Results Interchange Format, version 2.1.0.
func printSARIF(w io.Writer, diags []syntax.Diagnostic) error {
	var rules []object
	index := map[string]int{}
	files := sources{}
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
		if fixes := sarifFixes(files, d); fixes != nil {
			r["fixes"] = fixes
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

// sarifFixes are the changes that remove a fault.
func sarifFixes(files sources, d syntax.Diagnostic) (all []object) {
	for _, f := range d.Fixes {
		var edits []object
		for _, e := range f.Edits {
			edits = append(edits, object{
				"deletedRegion":   sarifRegion(files.read(d.File), e),
				"insertedContent": object{"text": e.Text},
			})
		}
		all = append(all, object{
			"description":     object{"text": f.Title},
			"artifactChanges": []object{{"artifactLocation": object{"uri": d.File}, "replacements": edits}},
		})
	}
	return all
}

// sarifRegion gives the bytes of an edit as lines and columns.
func sarifRegion(src []byte, e syntax.Edit) object {
	place := func(off int) (line, col int) {
		before := src[:min(off, len(src))]
		start := bytes.LastIndexByte(before, '\n') + 1
		return bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1
	}
	line, col := place(e.Off)
	endLine, endCol := place(e.End)
	return object{"startLine": line, "startColumn": col, "endLine": endLine, "endColumn": endCol}
}
