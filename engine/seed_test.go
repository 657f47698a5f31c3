// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// seedEnv names other tags, keys, first numbers and turns of paths than tests run with usually. What tests claim must not
// depend on them; of scripts the events remain the same, while packets may take other paths.
const seedEnv = "MR_ENDS"

// endSeed is the number that seedEnv holds, 0 without it.
func endSeed() byte {
	text := os.Getenv(seedEnv)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil {
		panic(fmt.Sprintf("%s=%q: %v", seedEnv, text, err))
	}
	return byte(n)
}

// eventsOf are the events in what a script prints, without their times, by end. Their names begin with a capital letter.
func eventsOf(printed string) (events []string) {
	for line := range strings.Lines(printed) {
		words := strings.Fields(line)
		if len(words) < 3 || words[1] != "A" && words[1] != "B" || !unicode.IsUpper(rune(words[2][0])) {
			continue
		}
		if _, err := strconv.ParseFloat(words[0], 64); err == nil {
			events = append(events, strings.Join(words[1:], " "))
		}
	}
	slices.SortStableFunc(events, func(a, b string) int { return int(a[0]) - int(b[0]) })
	return events
}
