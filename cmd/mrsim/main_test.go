// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mrsim": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", UpdateScripts: *update, RequireExplicitExec: true})
}

func TestSizesRatesAndBuffersRefuseWhatTheyDoNotMean(t *testing.T) {
	for _, c := range []struct {
		text string
		into interface{ UnmarshalText([]byte) error }
		want string // empty: refused
	}{
		{"2MiB", new(size), "2MiB"},
		{"64KiB", new(size), "64KiB"},
		{"1.5KiB", new(size), "1536B"},
		{"0", new(size), "0B"},
		{"1.5", new(size), ""},
		{"-1", new(size), ""},
		{"2MB", new(size), ""},
		{"1e30", new(size), ""},
		{"NaN", new(size), ""},
		{"400Gbps", new(rate), "400Gbps"},
		{"1.6Tbps", new(rate), "1600Gbps"},
		{"400", new(rate), ""},
		{"0Gbps", new(rate), ""},
		{"400GBps", new(rate), ""},
		{"1bdp", new(buffer), "1bdp"},
		{"100KiB", new(buffer), "100KiB"},
		{"0bdp", new(buffer), ""},
		{"NaNbdp", new(buffer), ""},
		{"bdp", new(buffer), ""},
		{"0.2,0.8", new(thresholds), "0.2,0.8"},
		{"off", new(thresholds), "off"},
		{"0.8,0.2", new(thresholds), ""},
		{"0.2", new(thresholds), ""},
		{"0.2,1.8", new(thresholds), ""},
	} {
		err := c.into.UnmarshalText([]byte(c.text))
		if (err != nil) != (c.want == "") {
			t.Errorf("%T %q: %v", c.into, c.text, err)
			continue
		}
		if s, ok := c.into.(interface{ String() string }); err == nil && ok && s.String() != c.want {
			t.Errorf("%T %q reads as %s, want %s", c.into, c.text, s, c.want)
		}
	}
}
