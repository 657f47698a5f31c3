// SPDX-License-Identifier: Apache-2.0

package tidy

import (
	"testing"
)

// most is the number of exceptions that exist. It may only be lowered.
const most = 0

func TestTreeKeepsTheHouseRules(t *testing.T) {
	tree, err := Read("..")
	if err != nil {
		t.Fatal(err)
	}
	list, err := Exceptions()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) > most {
		t.Errorf("exceptions.txt has %d entries, allowed are %d: keep the rule instead", len(list), most)
	}
	used := map[Exception]bool{}
	for _, rule := range Rules() {
		t.Run(rule.Name, func(t *testing.T) {
			found, err := rule.Find(tree)
			if err != nil {
				t.Fatal(err)
			}
			sortFindings(found)
			for _, f := range Excuse(rule.Name, found, list, used) {
				t.Errorf("%v; instead: %s", f, rule.Instead)
			}
		})
	}
	for _, e := range list {
		if !used[e] {
			t.Errorf("exceptions.txt: nothing needs %s %s %s any more: remove it", e.Rule, e.File, e.Symbol)
		}
	}
}

func TestTableListsOnlyPackagesThatExist(t *testing.T) {
	tree, err := Read("..")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, f := range tree.Files {
		if f.Syntax != nil {
			found[dirOf(f.Path)] = true
		}
	}
	for dir := range table {
		if !found[dir] {
			t.Errorf("imports.go: the table lists %s, which does not exist: remove it", dir)
		}
	}
}
