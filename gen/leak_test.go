// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"regexp"
	"strings"
	"testing"

	"github.com/openmetaroce/metaroce/gen/syntax"
)

var (
	quoted = regexp.MustCompile("(?s)`[^`]*`|\"[^\"]*\"")
	// goNames are words that begin with a capital, or have one inside, and are none of ours.
	goNames  = regexp.MustCompile(`\*|\b(?:[a-z]+[A-Z]|[A-Z][a-z]+[A-Z])[A-Za-z]*\b|\b(?:Decl|Item|Body|Type|Ident|Expr|Term|Clause|Range|Arm|Rule|Case|Scalar|Named)\b`)
	ourWords = strings.NewReplacer("LANGUAGE.md", "", "Name(", "(", "a*item", "")
)

// TestBrokenSchemasAreAnsweredInOurWords breaks a rich schema at every word, in many ways, and reads the answers: neither a name of
// the compiler's own types nor the wording of the parser below it may be in them.
func TestBrokenSchemasAreAnsweredInOurWords(t *testing.T) {
	intruders := []string{"", ";", "{", "}", "7", "Name", "word", "\"text\"", "..", "=>", "(", "]", "where"}
	faults := 0
	for _, source := range []string{rich, richer} {
		tokens := words.FindAllString(source, -1)
		for i, old := range tokens {
			if strings.TrimSpace(old) == "" {
				continue
			}
			tokens[i] = intruders[i%len(intruders)] + " "
			for _, d := range syntax.Parse("mutant.mrs", strings.Join(tokens, "")).Diags {
				checkWords(t, d)
				faults++
			}
			tokens[i] = old
		}
	}
	if faults < 500 {
		t.Errorf("only %d faults", faults)
	}
}

func checkWords(t *testing.T, d syntax.Diagnostic) {
	t.Helper()
	texts := []string{d.Message, d.Mark, d.Help}
	for _, l := range d.Labels {
		texts = append(texts, l.Text)
	}
	for _, text := range texts {
		bare := ourWords.Replace(quoted.ReplaceAllString(text, ""))
		if m := leaks.FindString(bare) + goNames.FindString(bare); m != "" {
			t.Fatalf("%q leaks in %q of %v", m, text, d)
		}
	}
}
