// SPDX-License-Identifier: Apache-2.0

package syntax

import (
	"regexp"
	"strings"
)

// productions names our grammar's parts in the words of the manual.
var productions = map[string]string{
	"Body": "`{`", "BodyType": "`{`", "Ident": "a name", "Dotted": "a name", "Expr": "an expression", "Term": "a value",
	"Range": "a value or a range", "End": "`;`", "Type": "a type", "Set": "a range or a set in braces", "Cover": "what the sum covers",
	"CoverPart": "what the sum covers", "Named": "a type", "Array": "`[`", "Param": "a parameter", "Arm": "an arm", "Rule": "a rule",
	"Case": "a case", "CaseKey": "a case", "KeyTuple": "a key", "Member": "a member", "ReservedItem": "a number or a name in quotes", "Switch": "a switch",
	"ItemPath": "the path of an item", "PathStep": "a name", "Attr": "an attribute", "SumValue": "a number or a word",
	"Setting": "a setting", "Item": "an item", "Clause": "a clause", "Scalar": "a type",
	"name": "a name", "typename": "a name that begins with a capital", "number": "a number", "string": "a text in quotes", "keyword": "a word",
}

var (
	expected = regexp.MustCompile(`\(expected (.*)\)$`)
	element  = regexp.MustCompile(`"((?:\\.|[^"\\])*)"|<([a-z]+)>|([A-Z][A-Za-z]*)`)
)

// rewrite turns participle's "expected …" into our wording; empty when it names nothing useful.
func rewrite(message string) string {
	m := expected.FindStringSubmatch(message)
	if m == nil {
		return ""
	}
	// Only the first alternative or sequence element matters; optional parts are behind it.
	e := element.FindStringSubmatch(m[1])
	switch {
	case e == nil:
		return ""
	case e[1] != "":
		return "`" + strings.ReplaceAll(e[1], `\`, "") + "`"
	case e[2] != "":
		return productions[e[2]]
	}
	return productions[e[3]]
}

// adviceFor tells how to mend a missing part.
func adviceFor(e *fault) string {
	switch {
	case e.want == "`;`":
		return "end the line before it with `;`; clauses stand in the order serial, opaque, in, = or default, sized, over, if, since, until, @attribute"
	case e.want == "a value":
		return "write a number, a name or an expression in parentheses"
	case e.code == "E0006":
		return Help(e.code)
	case e.say != "":
		return "join two comparisons with `&&`"
	}
	return "write " + e.want + " before it"
}
