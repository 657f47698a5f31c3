// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// origin is when scripts begin; they print the time since then.
const origin = engine.Time(time.Second)

// stage is two ends and a wire that a script commands, in virtual time.
type stage struct {
	now      engine.Time
	cfg      engine.Config
	wantBits int // of the opener's first number; -1 = any
	ends     [2]*engine.Endpoint
	conns    [2]engine.ConnID
	first    [2]uint32 // PSN and TSN that an end begins with
	tags     [2]uint64 // that packets to an end carry
	wire     []flight
	rules    []*rule
	cuts     []cut
	held     map[string]flight
	memory   map[string][]byte
	keys     map[string]engine.Key
	events   [2][]engine.Event
	drops    [2]engine.EndpointStats
	absolute bool
	muted    bool
	out      strings.Builder
}

var endNames = []string{"A", "B"}

func newStage() *stage {
	return &stage{
		now: origin, wantBits: -1,
		cfg:  engine.Config{Chunk: 64, InitialRTT: 100 * time.Microsecond, MinRTO: 20 * time.Microsecond},
		held: map[string]flight{}, memory: map[string][]byte{}, keys: map[string]engine.Key{},
	}
}

// build makes the ends: A opens, B accepts.
func (s *stage) build() error {
	for i := range s.ends {
		cfg := s.cfg
		cfg.Seed[0], cfg.Seed[9], cfg.Accept = byte(i+1), endSeed(), i == 1
		if i == 0 && s.wantBits >= 0 {
			seed, err := seedFor(cfg, uint32(s.wantBits))
			if err != nil {
				return err
			}
			cfg.Seed = seed
		}
		end, err := engine.New(cfg)
		if err != nil {
			return err
		}
		s.ends[i] = end
	}
	return nil
}

// seedFor looks for a seed with which an opener draws a first number.
func seedFor(cfg engine.Config, first uint32) (seed [32]byte, err error) {
	buf := make([]byte, 10000)
	for n := range 100_000 {
		seed = [32]byte{byte(n), byte(n >> 8), byte(n >> 16), 7, 9: endSeed()}
		cfg.Seed = seed
		end, err := engine.New(cfg)
		if err != nil {
			return seed, err
		}
		if _, err := end.Open(origin, routes(1)); err != nil {
			return seed, err
		}
		d, _ := end.NextDatagram(origin, buf)
		var p wire.Packet
		if _, err := p.Decode(d.Bytes); err == nil && p.Plain.Open.Open.First == first {
			return seed, nil
		}
	}
	return seed, fmt.Errorf("no seed makes %d the first number", first)
}

// play until an instant, or until nothing happens for a second when it is Never.
func (s *stage) until(end engine.Time, done func() bool) error {
	for steps := 0; ; steps++ {
		if steps > 100_000 {
			return fmt.Errorf("no end in sight after %d steps", steps)
		}
		next, err := s.step()
		if err != nil {
			return err
		}
		if done() {
			return nil
		}
		switch {
		case end == engine.Never && (next == engine.Never || next > s.now.Add(time.Second)):
			return nil
		case next > end:
			s.now = end
			return nil
		}
		s.now = max(s.now, next)
	}
}

func never() bool { return false }

// step does all that is due now, and returns when to look again.
func (s *stage) step() (next engine.Time, err error) {
	for len(s.wire) > 0 && s.wire[0].at <= s.now {
		f := s.wire[0]
		s.wire = s.wire[1:]
		s.arrive(f)
	}
	buf := make([]byte, 10000)
	next = engine.Never
	for i, end := range s.ends {
		end.Advance(s.now)
		for {
			d, ok := end.NextDatagram(s.now, buf)
			if !ok {
				break
			}
			s.transmit(i, d)
		}
		s.takeEvents(i)
		if err := end.Check(); err != nil {
			return 0, err
		}
		next = min(next, end.NextTimeout())
	}
	if len(s.wire) > 0 {
		next = min(next, s.wire[0].at)
	}
	return next, nil
}

func (s *stage) takeEvents(i int) {
	for {
		ev, ok := s.ends[i].NextEvent()
		if !ok {
			return
		}
		s.events[i] = append(s.events[i], ev)
		if ev.Kind == engine.Opened {
			s.conns[i] = ev.Conn
		}
		s.line("%s   %s", endNames[i], eventText(&ev))
	}
}

// arrive hands a packet to its end, and prints it when it is dropped there.
func (s *stage) arrive(f flight) {
	end := s.ends[f.to]
	end.HandleDatagram(s.now, f.datagram)
	stats := end.Stats()
	for i, n := range stats.Drops {
		if n != s.drops[f.to].Drops[i] {
			s.line("%s   drops %s: %v", endNames[f.to], opcodeText(f.datagram.Bytes), engine.Drop(i))
		}
	}
	s.drops[f.to] = stats
	s.takeEvents(f.to)
}

// transmit puts a packet on the wire, or does with it what a rule says.
func (s *stage) transmit(from int, d engine.Datagram) {
	d.Bytes = slices.Clone(d.Bytes)
	s.learn(from, d.Bytes)
	text := s.packetText(from, d)
	fate, name := s.judge(from, d, text)
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	f := flight{s.now.Add(wireDelay), 1 - from, d}
	note := ""
	switch fate {
	case "drop":
		note = "  // dropped"
	case "cut":
		note = "  // cut"
	case "hold":
		note = "  // held: " + name
		s.held[name] = f
	case "double":
		note = "  // doubled"
		s.wire = append(s.wire, f, f)
	case "mark":
		note = "  // marked"
		f.datagram.ECN = engine.CE
		s.wire = append(s.wire, f)
	default:
		s.wire = append(s.wire, f)
	}
	s.line("%s>%s %s%s", endNames[from], endNames[1-from], text, note)
}

// learn takes tags and first numbers from the handshake.
func (s *stage) learn(from int, b []byte) {
	var p wire.Packet
	if _, err := p.Decode(b); err != nil {
		return
	}
	switch p.Base.Opcode {
	case wire.OpcodeOpen:
		s.first[from], s.tags[from] = p.Plain.Open.Open.First, p.Plain.Open.Open.Tag
	case wire.OpcodeAccept:
		s.first[from], s.tags[from] = p.Plain.Accept.Accept.First, p.Plain.Accept.Accept.Tag
	}
}

// line prints one line with the time in microseconds.
func (s *stage) line(format string, args ...any) {
	if !s.muted {
		fmt.Fprintf(&s.out, "%9.1f  %s\n", float64(s.now-origin)/1000, strings.TrimRight(fmt.Sprintf(format, args...), " "))
	}
}

// rule says what to do with some packets of an end.
type rule struct {
	action, name string
	from         int
	opcode       wire.Opcode
	first, last  int // of the matching packets, from 1
	words        []string
	seen         int
}

// cut loses what an end sends over a port of the opener or on a path, if it is longer than a number of bytes.
type cut struct {
	from   int
	port   uint16 // 0 = all
	path   string // empty = all
	longer int
}

// judge finds the first rule for a packet. Every rule that matches counts it.
func (s *stage) judge(from int, d engine.Datagram, text string) (fate, name string) {
	words := strings.Fields(text)
	for _, r := range s.rules {
		if r.from != from || wire.Opcode(d.Bytes[1]) != r.opcode || !containsAll(words, r.words) {
			continue
		}
		r.seen++
		if r.seen >= r.first && r.seen <= r.last && fate == "" {
			fate, name = r.action, r.name
		}
	}
	port, path := openerPort(from, d), fmt.Sprintf("p%d", pathOf(d))
	for _, c := range s.cuts {
		if c.from == from && (c.port == 0 || c.port == port) && (c.path == "" || c.path == path) && len(d.Bytes) > c.longer {
			return "cut", ""
		}
	}
	return fate, name
}

func openerPort(from int, d engine.Datagram) uint16 {
	if from == 1 {
		return d.Route.Remote.Port()
	}
	return d.Route.Local.Port()
}

func containsAll(words, wanted []string) bool {
	return !slices.ContainsFunc(wanted, func(w string) bool { return !slices.Contains(words, w) })
}
