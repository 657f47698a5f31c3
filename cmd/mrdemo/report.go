// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/go-sdk/metaroce"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
)

// sideReport is what one process knows of a transfer.
type sideReport struct {
	Role       string            `json:"role"`
	Name       string            `json:"name"`
	Bytes      int64             `json:"bytes"`
	SHA256     string            `json:"sha256"`
	Rounds     []float64         `json:"round_seconds"`
	Seconds    float64           `json:"seconds"` // median of the rounds
	Goodput    float64           `json:"goodput_bytes_per_second"`
	CPUSeconds float64           `json:"cpu_seconds"` // of a round
	Injected   injectedReport    `json:"injected"`
	Sent       map[string]uint64 `json:"sent_packets"`
	Received   map[string]uint64 `json:"received_packets"`
	Refused    map[string]uint64 `json:"refused_packets"`
	Sockets    socketReport      `json:"sockets"`
	Paths      []pathReport      `json:"paths"`
	Captured   uint64            `json:"captured_packets"`
	Skipped    uint64            `json:"capture_skipped_packets"`
}

// injectedReport counts what the impairment did to the datagrams that this side sent.
type injectedReport struct {
	Dropped     uint64 `json:"dropped"`
	DroppedData uint64 `json:"dropped_data"`
	Passed      uint64 `json:"passed"`
}

// socketReport is what the sockets have counted.
type socketReport struct {
	Sent          uint64 `json:"sent"`
	Trains        uint64 `json:"trains"`
	SendCalls     uint64 `json:"send_calls"`
	Received      uint64 `json:"received"`
	Merged        uint64 `json:"merged"`
	ReceiveCalls  uint64 `json:"receive_calls"`
	Blocked       uint64 `json:"blocked"`
	Dropped       uint64 `json:"dropped"`
	Truncated     uint64 `json:"truncated"`
	GSORefused    uint64 `json:"gso_refused"`
	GRORefused    uint64 `json:"gro_refused"`
	Waits         uint64 `json:"waits"`
	ReceiveBuffer int    `json:"receive_buffer_bytes"`
}

// fraction is the part of all datagrams that was dropped.
func (i injectedReport) fraction() float64 {
	if i.Dropped == 0 {
		return 0
	}
	return float64(i.Dropped) / float64(i.Dropped+i.Passed)
}

// pathReport is what one side knows of one path.
type pathReport struct {
	Path       uint16  `json:"path"`
	Local      string  `json:"local"`
	Remote     string  `json:"remote"`
	Packets    uint64  `json:"packets"`
	Resent     uint64  `json:"resent"`
	Lost       uint64  `json:"lost"`
	Received   uint64  `json:"received"`
	Duplicates uint64  `json:"duplicates"`
	TailProbes uint64  `json:"tail_probes"`
	RTOFired   uint64  `json:"rto_fired"`
	Downs      uint64  `json:"downs"`
	CE         uint64  `json:"ce_reported"`
	RTT        float64 `json:"rtt_seconds"`
	Window     int     `json:"window_bytes"`
}

// time notes how long the bytes took in one more round.
func (r *sideReport) time(w stopwatch) {
	wall, cpu := w.stop()
	n := float64(len(r.Rounds))
	r.Rounds = append(r.Rounds, wall.Seconds())
	r.Seconds = median(slices.Clone(r.Rounds))
	r.CPUSeconds = (r.CPUSeconds*n + cpu.Seconds()) / (n + 1)
	if r.Seconds > 0 {
		r.Goodput = float64(r.Bytes) / r.Seconds
	}
}

// fill takes in the counters after the end.
func (r *sideReport) fill(s metaroce.Stats, me *side) {
	r.Injected = injectedReport{Dropped: me.impair.Dropped, DroppedData: me.impair.DroppedData, Passed: me.impair.Passed}
	r.Sent, r.Received, r.Refused = byOpcode(&s.Endpoint.Sent), byOpcode(&s.Endpoint.Received), map[string]uint64{}
	for reason, n := range s.Endpoint.Drops {
		if n > 0 {
			r.Refused[engine.Drop(reason).String()] = n
		}
	}
	k := &s.Sockets
	r.Sockets = socketReport{
		Sent: k.Sent, Trains: k.Trains, SendCalls: k.SendCalls, Received: k.Received, Merged: k.Merged, ReceiveCalls: k.ReceiveCalls,
		Blocked: k.Blocked, Dropped: k.Dropped, Truncated: k.Truncated, GSORefused: k.GSORefused, GRORefused: k.GRORefused,
		Waits: k.Waits, ReceiveBuffer: k.ReceiveBuffer,
	}
	if me.capture != nil {
		c := me.capture.Counts()
		r.Captured, r.Skipped = c.Written, c.Skipped
	}
	for _, p := range s.Conn.Paths {
		r.Paths = append(r.Paths, pathReport{
			Path: p.ID, Local: p.Route.Local.String(), Remote: p.Route.Remote.String(), Packets: p.Packets, Resent: p.Resent,
			Lost: p.Lost, Received: p.Received, Duplicates: p.Duplicates, TailProbes: p.TailProbes, RTOFired: p.RTOFired,
			Downs: p.Downs,
			CE:    p.CEReported, RTT: p.RTT.Seconds(), Window: p.Window,
		})
	}
}

// resent sums up the paths' resends.
func (r *sideReport) resent() (n uint64) {
	for _, p := range r.Paths {
		n += p.Resent
	}
	return n
}

// downs sums up how often paths went out of service. The chunks of such a path go to others, as new packets there.
func (r *sideReport) downs() (n uint64) {
	for _, p := range r.Paths {
		n += p.Downs
	}
	return n
}

// byOpcode names the opcodes that occurred.
func byOpcode(counts *[256]uint64) map[string]uint64 {
	out := map[string]uint64{}
	for o, n := range counts {
		if n > 0 {
			out[wire.Opcode(o).String()] = n
		}
	}
	return out
}
