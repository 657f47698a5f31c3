// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// settings are the key=value words of a command. What nobody has asked for is an error.
type settings struct {
	values map[string]string
	asked  map[string]bool
	err    error
}

func settingsOf(words []string) *settings {
	v := &settings{values: map[string]string{}, asked: map[string]bool{}}
	for _, w := range words {
		key, value, _ := strings.Cut(w, "=")
		v.values[key] = value
	}
	return v
}

func (v *settings) text(key string) string {
	v.asked[key] = true
	return v.values[key]
}

func (v *settings) has(key string) bool {
	v.asked[key] = true
	_, ok := v.values[key]
	return ok
}

func (v *settings) number(key string, otherwise int) int {
	if !v.has(key) {
		return otherwise
	}
	n, err := strconv.Atoi(v.values[key])
	if err != nil {
		v.err = err
	}
	return n
}

func (v *settings) duration(key string) time.Duration {
	if !v.has(key) {
		return 0
	}
	d, err := time.ParseDuration(v.values[key])
	if err != nil {
		v.err = err
	}
	return d
}

// done returns what was wrong with the settings.
func (v *settings) done() error {
	for key := range v.values {
		if !v.asked[key] && v.err == nil {
			v.err = fmt.Errorf("unknown setting %q", key)
		}
	}
	return v.err
}

// command carries out one line.
func (s *stage) command(words []string) error {
	if end := slices.Index(endNames, words[0]); end >= 0 && len(words) > 1 {
		return s.endCommand(end, words[1], words[2:])
	}
	verb, rest := words[0], words[1:]
	switch verb {
	case "ends":
		return s.configure(settingsOf(rest))
	case "open":
		_, err := s.open(settingsOf(rest))
		return err
	case "connect":
		return s.connect(settingsOf(rest))
	case "run", "quiet":
		s.muted = verb == "quiet"
		defer func() { s.muted = false }()
		return s.run(rest)
	case "until":
		return s.untilEvent(rest)
	case "numbers":
		s.absolute = slices.Equal(rest, []string{"absolute"})
		return nil
	case "drop", "double", "mark", "hold":
		return s.addRule(verb, rest)
	case "release":
		return s.release(rest)
	case "cut":
		return s.addCut(rest)
	case "mend":
		s.cuts, s.rules = nil, nil
		return nil
	case "inject":
		return s.inject(rest)
	}
	return fmt.Errorf("unknown command")
}

func (s *stage) configure(v *settings) error {
	c := &s.cfg
	for key, field := range map[string]*int{
		"chunk": &c.Chunk, "paths": &c.Paths, "burst": &c.Burst, "window": &c.InitialWindow, "most": &c.MaxWindow, "every": &c.AckEvery,
		"streamwindow": &c.StreamWindow, "span": &c.Span, "messages": &c.Messages, "requests": &c.Requests, "streams": &c.Streams,
		"seqbits": &c.SeqBits,
	} {
		*field = v.number(key, *field)
	}
	for key, field := range map[string]*time.Duration{
		"ackdelay": &c.MaxAckDelay, "rtt": &c.InitialRTT, "rto": &c.MinRTO, "dead": &c.DeadAfter,
	} {
		if v.has(key) {
			*field = v.duration(key)
		}
	}
	s.wantBits = v.number("first", -1)
	if err := v.done(); err != nil {
		return err
	}
	return s.build()
}

func (s *stage) open(v *settings) (paths int, err error) {
	n := v.number("paths", 1)
	if err := v.done(); err != nil {
		return 0, err
	}
	if s.ends[0] == nil {
		if err := s.build(); err != nil {
			return 0, err
		}
	}
	s.conns[0], err = s.ends[0].Open(s.now, routes(n))
	return n, err
}

// connect opens a connection and lets it become quiet.
func (s *stage) connect(v *settings) error {
	n, err := s.open(v)
	if err != nil {
		return err
	}
	s.muted = true
	err = s.until(engine.Never, never)
	s.muted = false
	if len(s.events[1]) == 0 {
		return fmt.Errorf("no connection: %v", s.events)
	}
	s.line("connected over %d paths", n)
	return err
}

func (s *stage) run(words []string) error {
	if len(words) == 0 {
		return s.until(engine.Never, never)
	}
	d, err := time.ParseDuration(words[0])
	if err != nil {
		return err
	}
	return s.until(s.now.Add(d), never)
}

func (s *stage) untilEvent(words []string) error {
	if len(words) != 2 {
		return fmt.Errorf("until END EVENT")
	}
	end := slices.Index(endNames, words[0])
	for kind, name := range eventNames {
		if name != words[1] || end < 0 {
			continue
		}
		seen := len(s.events[end])
		return s.until(engine.Never, func() bool {
			return slices.ContainsFunc(s.events[end][seen:], func(ev engine.Event) bool { return ev.Kind == kind })
		})
	}
	return fmt.Errorf("no such event")
}

// opcodeOf finds an opcode by its name.
func opcodeOf(name string) (wire.Opcode, error) {
	for o := range 256 {
		if wire.Opcode(o).String() == name {
			return wire.Opcode(o), nil
		}
	}
	return 0, fmt.Errorf("no opcode %q", name)
}

func (s *stage) addRule(action string, words []string) error {
	r := &rule{action: action}
	if action == "hold" && len(words) > 0 {
		r.name, words = words[0], words[1:]
	}
	if len(words) < 3 {
		return fmt.Errorf("%s END OPCODE NUMBER", action)
	}
	var err error
	if r.opcode, err = opcodeOf(words[1]); err != nil {
		return err
	}
	r.from, r.words = slices.Index(endNames, words[0]), words[3:]
	from, to, isRange := strings.Cut(words[2], "..")
	switch {
	case words[2] == "all":
		r.first, r.last = 1, 1<<30
	case isRange:
		_, err = fmt.Sscan(from+" "+to, &r.first, &r.last)
	default:
		_, err = fmt.Sscan(from, &r.first)
		r.last = r.first
	}
	if err != nil || r.first < 1 || r.from < 0 {
		return fmt.Errorf("no packet is meant")
	}
	s.rules = append(s.rules, r)
	return nil
}

func (s *stage) addCut(words []string) error {
	if len(words) < 2 || slices.Index(endNames, words[0]) < 0 {
		return fmt.Errorf("cut END PORT")
	}
	v := settingsOf(words[2:])
	c := cut{from: slices.Index(endNames, words[0]), longer: v.number("longer", 0)}
	if err := v.done(); err != nil {
		return err
	}
	if strings.HasPrefix(words[1], "p") {
		c.path = words[1]
	} else if words[1] != "all" {
		port, err := strconv.ParseUint(words[1], 10, 16)
		if err != nil {
			return err
		}
		c.port = uint16(port)
	}
	s.cuts = append(s.cuts, c)
	return nil
}

// release hands over a packet that a rule holds.
func (s *stage) release(words []string) error {
	if len(words) == 0 {
		return fmt.Errorf("release NAME")
	}
	f, ok := s.held[words[0]]
	if !ok {
		return fmt.Errorf("nothing is held under that name")
	}
	if !slices.Contains(words[1:], "copy") {
		delete(s.held, words[0])
	}
	d := f.datagram
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	s.line("%s>%s %s  // released: %s", endNames[1-f.to], endNames[f.to], s.packetText(1-f.to, d), words[0])
	s.arrive(flight{s.now, f.to, f.datagram})
	return nil
}
