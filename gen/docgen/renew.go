// SPDX-License-Identifier: Apache-2.0

package docgen

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/openmetaroce/metaroce/gen"
)

// ErrMarker says that a marker of a page cannot be followed.
var ErrMarker = errors.New("docgen: bad marker")

// Part is one part of a page that is printed from the schema.
type Part struct {
	Kind  string // diagram, enum or tlv
	Name  string
	Line  int  // of the marker, from 1
	Stale bool // the page does not show what the schema says
}

var (
	marker = regexp.MustCompile(`^<!-- mrgen:(\w+)(?: (\w+))? -->$`)
	fence  = regexp.MustCompile("^```[a-z]*$")
)

// Renew returns a page with all its marked parts as the schema has them, and lists the parts. A marker that names nothing or
// has no part behind it is ErrMarker, with its line.
func Renew(page []byte, p *gen.Protocol) ([]byte, []Part, error) {
	lines := strings.SplitAfter(string(page), "\n")
	var out bytes.Buffer
	var parts []Part
	inside := false
	for i := 0; i < len(lines); i++ {
		text := strings.TrimSpace(lines[i])
		out.WriteString(lines[i])
		m := marker.FindStringSubmatch(text)
		if strings.HasPrefix(text, "```") {
			inside = !inside
		}
		if m == nil || inside || m[1] == "end" {
			continue
		}
		part := Part{Kind: m[1], Name: m[2], Line: i + 1}
		want, err := show(p, part)
		if err != nil {
			return nil, nil, err
		}
		first, last, err := extentOf(lines, part)
		if err != nil {
			return nil, nil, err
		}
		inside = part.Kind == "diagram" // its end is still to come
		part.Stale = strings.Join(lines[first:last], "") != want
		parts = append(parts, part)
		for _, line := range lines[i+1 : first] {
			out.WriteString(line)
		}
		out.WriteString(want)
		i = last - 1
	}
	return out.Bytes(), parts, nil
}

// extentOf finds the lines of a part: those within the fence or before the end marker.
func extentOf(lines []string, part Part) (first, last int, err error) {
	at := part.Line
	if part.Kind == "diagram" {
		for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
			at++
		}
		if at == len(lines) || !fence.MatchString(strings.TrimSpace(lines[at])) {
			return 0, 0, fmt.Errorf("%w: line %d: no ```text block follows the diagram %s", ErrMarker, part.Line, part.Name)
		}
		at++
	}
	for last = at; last < len(lines); last++ {
		text := strings.TrimSpace(lines[last])
		if part.Kind == "diagram" && text == "```" || part.Kind != "diagram" && text == "<!-- mrgen:end -->" {
			return at, last, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: line %d: the %s %s never ends", ErrMarker, part.Line, part.Kind, part.Name)
}

// show prints a part from the schema, one line after the other.
func show(p *gen.Protocol, part Part) (string, error) {
	var lines []string
	switch part.Kind {
	case "diagram":
		if s := p.StructNamed(part.Name); s != nil {
			lines = gen.Diagram(s)
		}
	case "enum":
		for _, e := range p.Enums {
			if e.Name.Schema == part.Name {
				lines = append([]string{enumTitles, "|---|---|---|"}, enumRows(e)...)
			}
		}
	case "tlv":
		for _, l := range p.Lists {
			if l.Name.Schema == part.Name {
				lines = append([]string{listTitles, "|---|---|---|---|"}, caseRows(l)...)
			}
		}
	default:
		return "", fmt.Errorf("%w: line %d: there is no mrgen:%s", ErrMarker, part.Line, part.Kind)
	}
	if lines == nil {
		return "", fmt.Errorf("%w: line %d: the schema has no %s %s", ErrMarker, part.Line, part.Kind, part.Name)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// caseRows are the rows of a list's elements that carry a value.
func caseRows(l *gen.List) []string {
	cases := *l
	cases.End, cases.Bares = nil, nil
	return listRows(&cases)
}
