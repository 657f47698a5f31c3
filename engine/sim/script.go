// SPDX-License-Identifier: Apache-2.0

package sim

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// ErrScript is wrapped by the errors of ParseScript.
var ErrScript = errors.New("sim: bad script")

// setting is a word of a script that stands for a field: name=value, or the name alone for what is true. Fields that have
// their first value are left out.
type setting struct {
	name  string
	value any // pointer to a number, a time.Duration or a bool
	first any // what it is when nothing is said; nil = zero
}

// text returns the word, or "" for the first value.
func (s setting) text() string {
	v := reflect.ValueOf(s.value).Elem()
	if first := reflect.Zero(v.Type()); s.first == nil && v.Equal(first) || s.first != nil && v.Interface() == s.first {
		return ""
	}
	if v.Kind() == reflect.Bool {
		return s.name
	}
	return fmt.Sprintf("%s=%v", s.name, v.Interface())
}

// parse reads the part of a word behind "=".
func (s setting) parse(text string) error {
	v := reflect.ValueOf(s.value).Elem()
	if d, ok := s.value.(*time.Duration); ok {
		var err error
		*d, err = time.ParseDuration(text)
		return err
	}
	switch {
	case v.Kind() == reflect.Bool:
		if text != "" {
			return fmt.Errorf("%s takes no value", s.name)
		}
		v.SetBool(true)
	case v.CanInt():
		n, err := strconv.ParseInt(text, 10, v.Type().Bits())
		v.SetInt(n)
		return err
	case v.CanUint():
		n, err := strconv.ParseUint(text, 10, v.Type().Bits())
		v.SetUint(n)
		return err
	default:
		x, err := strconv.ParseFloat(text, 64)
		v.SetFloat(x)
		return err
	}
	return nil
}

func (c *Config) settings() []setting {
	return []setting{
		{"seed", &c.Seed, nil}, {"heal", &c.HealAt, nil}, {"start", &c.Start, nil}, {"deadline", &c.Deadline, nil},
		{"events", &c.MaxEvents, nil}, {"check", &c.CheckEvery, nil},
	}
}

func engineSettings(e *engine.Config) []setting {
	return []setting{
		{"chunk", &e.Chunk, nil}, {"burst", &e.Burst, nil}, {"initial-window", &e.InitialWindow, nil}, {"control", &e.Control, nil},
		{"capacity", &e.Capacity, nil}, {"max-window", &e.MaxWindow, nil}, {"max-ack-delay", &e.MaxAckDelay, nil},
		{"ack-every", &e.AckEvery, nil}, {"initial-rtt", &e.InitialRTT, nil}, {"min-rto", &e.MinRTO, nil},
		{"dead-after", &e.DeadAfter, nil}, {"stream-window", &e.StreamWindow, nil}, {"span", &e.Span, nil},
		{"messages", &e.Messages, nil}, {"requests", &e.Requests, nil}, {"streams", &e.Streams, nil}, {"posted", &e.Posted, nil},
		{"seq-bits", &e.SeqBits, nil},
	}
}

func (n *Network) settings() []setting {
	return []setting{
		{"rate", (*int64)(&n.Rate), nil}, {"latency", &n.Latency, nil}, {"planes", &n.Planes, nil}, {"paths", &n.Paths, nil},
		{"skew", &n.Skew, nil},
	}
}

func (h *Hop) settings() []setting {
	return []setting{
		{"rate", (*int64)(&h.Rate), nil}, {"latency", &h.Latency, nil}, {"queue", &h.Queue, nil}, {"mark-from", &h.MarkFrom, nil},
		{"mark-to", &h.MarkTo, nil}, {"own", &h.Own, nil},
	}
}

func (f *Fault) settings() []setting {
	return []setting{
		{"host", &f.Host, All}, {"plane", &f.Plane, All}, {"path", &f.Path, All}, {"from", &f.Begin, nil}, {"to", &f.End, nil},
		{"chance", &f.Chance, nil}, {"packet", &f.Packet, nil}, {"span", &f.Span, nil}, {"size", &f.Size, nil},
		{"stream", &f.Stream, nil}, {"operation", &f.Operation, nil},
	}
}

func (s *Stream) settings() []setting {
	return []setting{
		{"from", &s.From, nil}, {"depth", &s.Depth, nil}, {"receives", &s.Receives, nil}, {"pause", &s.Pause, nil},
	}
}

func (m *Message) settings() []setting {
	return []setting{{"size", &m.Size, nil}, {"pieces", &m.Pieces, nil}, {"immediate", &m.Immediate, nil}, {"fence", &m.Fence, nil}}
}

// opNames are the operations as scripts call them.
var opNames = map[engine.Op]string{
	engine.OpWrite: "write", engine.OpSend: "send", engine.OpRead: "read", engine.OpFetchAdd: "fetch-add", engine.OpCompareSwap: "compare-swap",
}

// Script returns the Config as text, which ParseScript reads: a line for the run, the engine, the network, each hop, each
// fault and each stream, and below a stream a line for each of its messages.
func (c Config) Script() string {
	var b strings.Builder
	line := func(head string, list []setting) {
		b.WriteString(head)
		for _, s := range list {
			if word := s.text(); word != "" {
				b.WriteString(" " + word)
			}
		}
		b.WriteString("\n")
	}
	line("run", c.settings())
	line("engine", engineSettings(&c.Engine))
	line("network", c.Network.settings())
	for i := range c.Network.Hops {
		line("hop", c.Network.Hops[i].settings())
	}
	for i := range c.Faults {
		line("fault "+c.Faults[i].Kind.String(), c.Faults[i].settings())
	}
	for i := range c.Streams {
		s := &c.Streams[i]
		line("stream", s.settings())
		for k := range s.Messages {
			line("  "+opNames[s.Messages[k].Op], s.Messages[k].settings())
		}
	}
	return b.String()
}

// ParseScript reads what Script writes. Empty lines, and what follows a #, mean nothing. Errors wrap ErrScript; whether the
// Config makes sense is for Run to say.
func ParseScript(text string) (Config, error) {
	var c Config
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if err := c.parseLine(words); err != nil {
			return c, fmt.Errorf("%w: line %d: %w", ErrScript, number, err)
		}
	}
	return c, nil
}

func (c *Config) parseLine(words []string) error {
	list, err := c.open(&words)
	if err != nil {
		return err
	}
	for _, word := range words {
		name, value, _ := strings.Cut(word, "=")
		i := slices.IndexFunc(list, func(s setting) bool { return s.name == name })
		if i < 0 {
			return fmt.Errorf("%q means nothing here", word)
		}
		if err := list[i].parse(value); err != nil {
			return fmt.Errorf("%q: %w", word, err)
		}
	}
	return nil
}

// open takes the head off a line and returns what its other words are about.
func (c *Config) open(words *[]string) ([]setting, error) {
	head := (*words)[0]
	*words = (*words)[1:]
	switch head {
	case "run":
		return c.settings(), nil
	case "engine":
		return engineSettings(&c.Engine), nil
	case "network":
		return c.Network.settings(), nil
	case "hop":
		c.Network.Hops = append(c.Network.Hops, Hop{})
		return c.Network.Hops[len(c.Network.Hops)-1].settings(), nil
	case "stream":
		c.Streams = append(c.Streams, Stream{})
		return c.Streams[len(c.Streams)-1].settings(), nil
	case "fault":
		if len(*words) == 0 {
			return nil, errors.New("which fault?")
		}
		k := slices.Index(kindNames[:], (*words)[0])
		if k <= 0 {
			return nil, fmt.Errorf("%q is no fault", (*words)[0])
		}
		*words = (*words)[1:]
		c.Faults = append(c.Faults, Everywhere(Kind(k)))
		return c.Faults[len(c.Faults)-1].settings(), nil
	}
	for op := engine.OpWrite; op <= engine.OpCompareSwap; op++ {
		if opNames[op] == head && len(c.Streams) > 0 {
			s := &c.Streams[len(c.Streams)-1]
			s.Messages = append(s.Messages, Message{Op: op})
			return s.Messages[len(s.Messages)-1].settings(), nil
		}
	}
	return nil, fmt.Errorf("%q begins no line", head)
}

// copy gives a field the value of another one of its type.
func (s setting) copy(from setting) {
	reflect.ValueOf(s.value).Elem().Set(reflect.ValueOf(from.value).Elem())
}
