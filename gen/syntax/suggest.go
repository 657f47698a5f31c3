// SPDX-License-Identifier: Apache-2.0

package syntax

import "strings"

// Kept tells whether the report is shown; advice that costs time is only worth it then.
func (r *Report) Kept() bool { return r.i >= 0 }

// Suggest advises the most similar one of some names, or lists them when none is similar.
func (r *Report) Suggest(name string, names []string) *Report {
	if !r.Kept() {
		return r
	}
	best, least := "", len(name)/2+1
	for _, n := range names {
		if d := distance(name, n); d > 0 && d < least {
			best, least = n, d
		}
	}
	switch {
	case best != "":
		return r.Help("did you mean `%s`?", best).respell(name, best)
	case len(names) == 0 || len(names) > 12:
		return r.Help("declare it first")
	}
	return r.Help("known here: %s", strings.Join(names, ", "))
}

// distance is the edit distance of two names of at most 64 letters.
func distance(a, b string) int {
	const most = 64
	if len(a) > most || len(b) > most {
		return most
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diagonal := row[0]
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j]+1, row[j+1]+1, diagonal+cost)
		}
	}
	return row[len(b)]
}
