// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/openmetaroce/metaroce/engine/sim"
)

// unit is a suffix and what it multiplies by.
type unit struct {
	suffix string
	factor float64
}

var (
	sizeUnits = []unit{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"B", 1}, {"", 1}}
	rateUnits = []unit{{"Kbps", 1e3}, {"Mbps", 1e6}, {"Gbps", 1e9}, {"Tbps", 1e12}, {"bps", 1}}
)

// parse reads a number with one of the units; the result is a whole number of the base unit, 0 to 2^53.
func parse(text string, units []unit) (int64, error) {
	for _, u := range units {
		number, ok := strings.CutSuffix(text, u.suffix)
		if !ok {
			continue
		}
		x, err := strconv.ParseFloat(number, 64)
		if err != nil {
			break
		}
		x *= u.factor
		if x < 0 || x > 1<<53 || x != math.Trunc(x) {
			break
		}
		return int64(x), nil
	}
	var names []string
	for _, u := range units {
		if u.suffix != "" {
			names = append(names, u.suffix)
		}
	}
	return 0, fmt.Errorf("%q is not a number with one of the units %s", text, strings.Join(names, ", "))
}

// size is a number of bytes.
type size int64

// UnmarshalText reads "2MiB", "64KiB", "1GiB", "100B" or "100".
func (s *size) UnmarshalText(text []byte) error {
	n, err := parse(string(text), sizeUnits)
	*s = size(n)
	return err
}

func (s size) String() string {
	for _, u := range []unit{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if s > 0 && s%size(u.factor) == 0 {
			return fmt.Sprintf("%d%s", s/size(u.factor), u.suffix)
		}
	}
	return fmt.Sprintf("%dB", int64(s))
}

// rate is a speed.
type rate sim.Rate

// UnmarshalText reads "400Gbps" and the like.
func (r *rate) UnmarshalText(text []byte) error {
	n, err := parse(string(text), rateUnits)
	if err == nil && (n < 1e6 || n > 100e12) {
		err = fmt.Errorf("%q is outside 1Mbps to 100Tbps", text)
	}
	*r = rate(n)
	return err
}

func (r rate) String() string {
	for _, u := range []unit{{"Tbps", 1e12}, {"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}} {
		if r > 0 && r%rate(u.factor) == 0 {
			return fmt.Sprintf("%d%s", r/rate(u.factor), u.suffix)
		}
	}
	return fmt.Sprintf("%dbps", int64(r))
}

// buffer is the length of a queue: a number of bytes, or a multiple of the bandwidth-delay product.
type buffer struct {
	text  string
	bytes int64
	bdp   float64
}

// UnmarshalText reads "1bdp", "0.5bdp" or a size.
func (b *buffer) UnmarshalText(text []byte) error {
	b.text = string(text)
	number, ok := strings.CutSuffix(b.text, "bdp")
	if !ok {
		n, err := parse(b.text, sizeUnits)
		b.bytes = n
		return err
	}
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x > 0 && x <= 1e6) {
		return fmt.Errorf("%q is neither a size nor a multiple of the bandwidth-delay product such as 1bdp", text)
	}
	b.bdp = x
	return nil
}

func (b buffer) String() string { return b.text }

// of returns the queue's length in bytes when the bandwidth-delay product is that many.
func (b buffer) of(productBytes float64) int {
	if b.bdp > 0 {
		return int(b.bdp * productBytes)
	}
	return int(b.bytes)
}

// thresholds are where ECN marking begins and where it is certain, as fractions of the queue.
type thresholds struct {
	text     string
	from, to float64
}

// UnmarshalText reads "0.2,0.8" or "off".
func (e *thresholds) UnmarshalText(text []byte) error {
	*e = thresholds{text: string(text)}
	if e.text == "off" {
		return nil
	}
	low, high, _ := strings.Cut(e.text, ",")
	from, err1 := strconv.ParseFloat(low, 64)
	to, err2 := strconv.ParseFloat(high, 64)
	if err1 != nil || err2 != nil || !(from >= 0 && from <= to && to > 0 && to <= 1) {
		return fmt.Errorf("%q is neither off nor two fractions of the queue such as 0.2,0.8", text)
	}
	e.from, e.to = from, to
	return nil
}

func (e thresholds) String() string { return e.text }
