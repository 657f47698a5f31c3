// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

var (
	codeSpan = regexp.MustCompile("`([^`]+)`")
	// pathLike is a word with a slash or a known extension, and no signs of code.
	pathLike = regexp.MustCompile(`^[A-Za-z0-9_.*-]+(/[A-Za-z0-9_.*-]*)+$|^[A-Za-z0-9_-]+\.(go|md|mrs|toml|lua|sh|json|h|c|mod)$|^(Makefile|VERSION|LICENSE)$`)
	domain   = regexp.MustCompile(`^[a-z0-9-]+\.(com|org|io|net|in)/`)
	linkTo   = regexp.MustCompile(`\[[^\]]*\]\(([^)\s]+)\)`)
	makeCall = regexp.MustCompile("`(?:[A-Z]+=\\S+ )*make ([a-z][a-z-]*)|^make ([a-z][a-z-]*)")
	makeRule = regexp.MustCompile(`(?m)^([a-z][a-z -]*):`)
	headline = regexp.MustCompile(`^#+ +(.*)$`)
)

// prose calls visit with every line of a document and its number; fenced tells the lines inside a ``` block.
func prose(f *File, visit func(n int, line string, fenced fence)) {
	state := outside
	for i, line := range lines(f.Text) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			if state == outside {
				state = inside
			} else {
				state = outside
			}
			continue
		}
		visit(i+1, line, state)
	}
}

// fence tells prose from code blocks.
type fence int

const (
	outside fence = iota
	inside
)

// findDeadPaths reports paths in the documents at the root that name nothing: in code spans, and in code blocks where they have
// a slash. What a run leaves below out/ need not exist.
func findDeadPaths(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.markdown() {
		if dirOf(f.Path) != "." {
			continue
		}
		prose(f, func(n int, line string, state fence) {
			for _, p := range pathsIn(line, state) {
				if !domain.MatchString(p) && !strings.HasPrefix(p, "out/") && !t.exists(p) {
					found = append(found, Finding{f.Path, n, p, p + " does not exist"})
				}
			}
		})
	}
	return found, nil
}

func pathsIn(line string, state fence) []string {
	var words []string
	if state == inside {
		for _, w := range strings.Fields(line) {
			if strings.Contains(w, "/") {
				words = append(words, strings.TrimPrefix(strings.Trim(w, "\"'`(),;:"), "./"))
			}
		}
	} else {
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			words = append(words, m[1])
		}
	}
	return slices.DeleteFunc(words, func(w string) bool { return !pathLike.MatchString(w) || strings.Contains(w, "...") })
}

// findDeadLinks reports relative links and anchors that lead nowhere.
func findDeadLinks(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.markdown() {
		prose(f, func(n int, line string, state fence) {
			if state == inside {
				return
			}
			for _, m := range linkTo.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, ""), -1) {
				if what := t.deadLink(f, m[1]); what != "" {
					found = append(found, Finding{f.Path, n, m[1], what})
				}
			}
		})
	}
	return found, nil
}

func (t *Tree) deadLink(from *File, to string) string {
	if strings.Contains(to, "://") || strings.HasPrefix(to, "mailto:") {
		return ""
	}
	file, anchor, _ := strings.Cut(to, "#")
	target := from
	if file != "" {
		p := path.Join(dirOf(from.Path), file)
		if !t.exists(p) {
			return "the link " + to + " leads to no file"
		}
		target = t.File(p)
	}
	if anchor != "" && (target == nil || !slices.Contains(anchors(target), anchor)) {
		return "the link " + to + " leads to no heading"
	}
	return ""
}

// anchors returns the names under which the headings of a document can be linked to.
func anchors(f *File) []string {
	var out []string
	prose(f, func(n int, line string, state fence) {
		m := headline.FindStringSubmatch(line)
		if m == nil || state == inside {
			return
		}
		slug := strings.Map(func(r rune) rune {
			switch {
			case r == ' ' || r == '-':
				return '-'
			case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, m[1])
		out = append(out, slug)
	})
	return out
}

// findDeadTargets reports make commands in documents that the nearest Makefile, at their folder or above, does not have.
func findDeadTargets(t *Tree) ([]Finding, error) {
	var found []Finding
	for _, f := range t.markdown() {
		targets := t.targets(dirOf(f.Path))
		prose(f, func(n int, line string, state fence) {
			for _, m := range makeCall.FindAllStringSubmatch(line, -1) {
				if target := m[1] + m[2]; (m[1] != "" || state == inside) && !slices.Contains(targets, target) {
					found = append(found, Finding{f.Path, n, target, "make " + target + " is not a target of the Makefile"})
				}
			}
		})
	}
	return found, nil
}

func (t *Tree) targets(dir string) []string {
	makefile := t.File(path.Join(dir, "Makefile"))
	if makefile == nil {
		if dir == "." {
			return nil
		}
		return t.targets(path.Dir(dir))
	}
	var targets []string
	for _, m := range makeRule.FindAllSubmatch(makefile.Text, -1) {
		targets = append(targets, strings.Fields(string(m[1]))...)
	}
	return targets
}
