// SPDX-License-Identifier: Apache-2.0

package engine_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/openmetaroce/metaroce/engine"
)

// endCommand lets an application do something.
func (s *stage) endCommand(end int, verb string, words []string) error {
	if s.ends[end] == nil {
		return fmt.Errorf("no ends yet")
	}
	switch verb {
	case "region", "deregister", "memory", "path", "drops":
		return s.inspect(end, verb, words)
	}
	v := settingsOf(words)
	e, id, stream := s.ends[end], s.conns[end], uint16(v.number("stream", 0))
	var err error
	switch verb {
	case "close":
		err = e.Close(s.now, id)
	case "end":
		err = e.EndStream(s.now, id, stream)
	case "cancel":
		err = e.Cancel(s.now, id, stream, uint64(v.number("id", 0)))
	case "receive":
		operation, size := v.number("id", 0), v.number("size", 64)
		buffer := make([]byte, size)
		s.memory[fmt.Sprint(operation)] = buffer
		err = e.PostReceive(s.now, id, engine.Receive{Stream: stream, ID: uint64(operation), Buffer: buffer})
	case "write", "send", "read", "add", "swap":
		err = e.Post(s.now, id, s.work(verb, v))
	default:
		return fmt.Errorf("unknown command of an end")
	}
	if wrong := v.done(); wrong != nil {
		return wrong
	}
	if err != nil {
		s.line("%s   refuses: %v", endNames[end], err)
	}
	return nil
}

// work is an operation whose bytes all have the value of its id.
func (s *stage) work(verb string, v *settings) engine.Work {
	id, size := v.number("id", 0), v.number("size", 0)
	w := engine.Work{
		Stream: uint16(v.number("stream", 0)), ID: uint64(id), Key: s.keys[v.text("to")], At: uint64(v.number("at", 0)),
		Immediate: v.has("imm"), Value: uint32(v.number("imm", 0)), Match: uint64(v.number("match", 0)),
		Operand: uint64(v.number("operand", 0)), Compare: uint64(v.number("compare", 0)), Fence: v.has("fence"),
	}
	if v.has("deadline") {
		w.Deadline = s.now.Add(v.duration("deadline"))
	}
	switch verb {
	case "write":
		w.Op, w.Data = engine.OpWrite, bytes.Repeat([]byte{byte(id)}, size)
	case "send":
		w.Op, w.Data = engine.OpSend, bytes.Repeat([]byte{byte(id)}, size)
	case "read":
		w.Op, w.Into = engine.OpRead, make([]byte, size)
		s.memory[fmt.Sprint(id)] = w.Into
	case "add":
		w.Op = engine.OpFetchAdd
	case "swap":
		w.Op = engine.OpCompareSwap
	}
	return w
}

var rightsByName = map[string]engine.Rights{
	"": 0, "write": engine.RemoteWrite, "read": engine.RemoteRead, "atomic": engine.RemoteAtomic,
}

// inspect registers memory and shows it, or counters.
func (s *stage) inspect(end int, verb string, words []string) error {
	e := s.ends[end]
	if verb == "drops" {
		stats := e.Stats()
		for i, n := range stats.Drops {
			if n > 0 {
				s.line("%s   has dropped %d: %v", endNames[end], n, engine.Drop(i))
			}
		}
		return nil
	}
	if len(words) == 0 {
		return fmt.Errorf("%s of what?", verb)
	}
	name := words[0]
	switch verb {
	case "region":
		v := settingsOf(words[1:])
		memory := make([]byte, v.number("size", 64))
		var rights engine.Rights
		for _, right := range strings.Split(v.text("rights"), "+") {
			rights |= rightsByName[right]
		}
		key, err := e.Register(memory, rights)
		s.memory[name], s.keys[name] = memory, key
		if err != nil {
			return err
		}
		return v.done()
	case "deregister":
		return e.Deregister(s.keys[name])
	case "path":
		return s.printPath(end, name)
	}
	memory, ok := s.memory[name]
	if !ok {
		return fmt.Errorf("no such memory")
	}
	s.line("%s   %s: %s", endNames[end], name, runsOf(memory))
	return nil
}

func (s *stage) printPath(end int, name string) error {
	stats, _ := s.ends[end].ConnStats(s.conns[end])
	for _, p := range stats.Paths {
		if fmt.Sprint(p.ID) == name {
			s.line("%s   p%d :%d sent=%d resent=%d lost=%d acked=%d probes=%d timeouts=%d down=%d up=%d window=%d inflight=%d",
				endNames[end], p.ID, p.Route.Local.Port(), p.Packets, p.Resent, p.Lost, p.Acked, p.TailProbes, p.RTOFired, p.Downs, p.Ups,
				p.Window, p.InFlight)
			return nil
		}
	}
	return fmt.Errorf("no such path")
}

// runsOf prints memory as runs of equal bytes: 3x64 is 64 bytes of the value 3.
func runsOf(memory []byte) string {
	var runs []string
	for len(memory) > 0 {
		n := 1
		for n < len(memory) && memory[n] == memory[0] {
			n++
		}
		runs = append(runs, fmt.Sprintf("%dx%d", memory[0], n))
		memory = memory[n:]
	}
	return strings.Join(runs, " ")
}
