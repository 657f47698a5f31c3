// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"testing"
)

func TestExplainShowsEveryCodeWithAnExample(t *testing.T) {
	for _, code := range Explained() {
		x, ok := Explain(code)
		if !ok || x.Text == "" {
			t.Errorf("%s is not explained", code)
		}
		if code[1] != '_' && (x.Help == "" || x.Fixed == "" || x.Bad == "" || x.Says == "") {
			t.Errorf("%s lacks help, an example or what is said about it: %+v", code, x)
		}
	}
	if _, ok := Explain("E9999"); ok {
		t.Error("E9999 does not exist and is explained")
	}
}
