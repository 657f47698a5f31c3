// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/openmetaroce/metaroce/engine"
	"github.com/openmetaroce/metaroce/fuzz/model"
	"github.com/openmetaroce/metaroce/go-sdk/wire"
	"pgregory.net/rapid"
)

// arena is a connection whose wire belongs to rapid, and beside it what the specification says: for each direction and path a
// Ledger and a Board, for each stream an Outbox and an Inbox. Every packet that an end sends is compared with the model before
// it is let onto the wire.
type arena struct {
	t     *rapid.T
	now   engine.Time
	space wire.Space
	paths int
	ends  [2]*engine.Endpoint
	conns [2]engine.ConnID
	first [2]uint32
	// strict: the wire keeps order within a path, so that the model knows when a chunk is lost and when it is given up.
	strict  bool
	wire    [2][]queue // by sender and path
	halves  [2][]half
	begun   []*parcel // packets of no path
	chunks  map[chunkID]chunkRef
	streams [2]map[uint16]*lane // by sender
	chunk   int                 // payload of a full packet
	buf     []byte
}

// queue is what is under way in one direction of a path.
type queue []*parcel

// half is one direction of a path: its sender's side and its receiver's.
type half struct {
	ledger *model.Ledger
	board  *model.Board
	window *model.Window
	counts model.Counts // as the last ACK taken in said
	seen   engine.PathStats
	// overtaken counts transmissions that an earlier route has not delivered in time.
	overtaken uint64
}

// parcel is a packet on the wire, with unbounded numbers.
type parcel struct {
	from   int
	d      engine.Datagram
	opcode wire.Opcode
	path   int
	packet model.Packet
	chunk  model.Chunk
	stream uint16
	blocks []report
}

// report is a block of an ACK.
type report struct {
	path   int
	block  model.Block
	counts model.Counts
}

// chunkID names a PSN, chunkRef the chunk that it names.
type chunkID struct {
	from, path int
	psn        int64
}

type chunkRef struct {
	stream  uint16
	message int64
	offset  int
	reply   bool
}

const arenaPaths = 4

func newArena(t *rapid.T, cfg engine.Config) *arena {
	a := &arena{
		t: t, now: engine.Time(time.Second), paths: rapid.IntRange(1, arenaPaths).Draw(t, "paths"),
		chunks: map[chunkID]chunkRef{}, streams: [2]map[uint16]*lane{{}, {}}, buf: make([]byte, 2000),
	}
	cfg.SeqBits = rapid.SampledFrom([]int{10, 11, 32}).Draw(t, "bits")
	cfg.Chunk = rapid.SampledFrom([]int{8, 64}).Draw(t, "chunk")
	a.chunk = cfg.Chunk
	cfg.Paths, cfg.InitialRTT, cfg.MinRTO = a.paths, 50*time.Microsecond, 20*time.Microsecond
	cfg.InitialWindow = rapid.IntRange(2, 40).Draw(t, "window") * (cfg.Chunk + engine.Overhead)
	a.space = wire.Space(cfg.SeqBits)
	for i := range a.ends {
		cfg.Seed[0], cfg.Seed[1], cfg.Accept = byte(i), rapid.Byte().Draw(t, "seed"), i == 1
		end, err := engine.New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		a.ends[i] = end
		a.wire[i] = make([]queue, a.paths)
		for range a.paths {
			packet := cfg.Chunk + engine.Overhead
			a.halves[i] = append(a.halves[i], half{
				ledger: model.NewLedger(), board: model.NewBoard(), counts: model.Counts{LastDuplicate: -1},
				window: model.NewWindow(model.Limits{First: cfg.InitialWindow, Least: packet, Most: 4 << 20, Step: packet}),
			})
		}
	}
	a.connect()
	return a
}

func (a *arena) connect() {
	routes := make([]engine.Route, a.paths)
	for i := range routes {
		routes[i] = engine.Route{Local: netip.AddrPortFrom(there.Addr(), uint16(20000+i)), Remote: here}
	}
	if _, err := a.ends[0].Open(a.now, routes); err != nil {
		a.t.Fatal(err)
	}
	for range 40 {
		a.pump(0)
		a.pump(1)
		for i := range a.ends {
			for p := range a.wire[i] {
				for len(a.wire[i][p]) > 0 {
					a.deliver(a.take(i, p))
				}
			}
		}
		for len(a.begun) > 0 {
			p := a.begun[0]
			a.begun = a.begun[1:]
			a.deliver(p)
		}
		a.advance(a.now.Add(10 * time.Microsecond))
	}
	if a.conns[0] == 0 || a.conns[1] == 0 {
		a.t.Fatal("no connection")
	}
}

// pump lets an end send all that it wants to, and looks at each packet.
func (a *arena) pump(end int) {
	for range 10_000 {
		d, ok := a.ends[end].NextDatagram(a.now, a.buf)
		if !ok {
			a.settle(end)
			return
		}
		d.Bytes = slices.Clone(d.Bytes)
		p := a.sent(end, d)
		if p.opcode >= wire.OpcodeOpen && p.opcode <= wire.OpcodeVersions && p.opcode != wire.OpcodeConfirm {
			a.begun = append(a.begun, p)
			continue
		}
		a.wire[end][p.path] = append(a.wire[end][p.path], p)
	}
	a.t.Fatalf("end %d never stops sending", end)
}

// advance lets time pass at both ends.
func (a *arena) advance(to engine.Time) {
	a.now = max(a.now, to)
	for end := range a.ends {
		a.ends[end].Advance(a.now)
		a.timeouts(end)
		a.events(end)
		a.pump(end)
	}
}

// take removes the first packet of a queue.
func (a *arena) take(from, path int) *parcel {
	p := a.wire[from][path][0]
	a.wire[from][path] = a.wire[from][path][1:]
	return p
}

// deliver hands a packet to its end, and lets both model and engine say what it leads to.
func (a *arena) deliver(p *parcel) {
	to := 1 - p.from
	before := a.inFlight(to)
	d := p.d
	d.Route.Local, d.Route.Remote = d.Route.Remote, d.Route.Local
	if p.packet.CE {
		d.ECN = engine.CE
	}
	a.ends[to].HandleDatagram(a.now, d)
	a.turns(to)
	if p.opcode < wire.OpcodeOpen || p.opcode > wire.OpcodeVersions || p.opcode == wire.OpcodeConfirm {
		a.arrived(to, p, before)
		a.failures(to)
	}
	a.events(to)
	a.pump(to)
}

func (a *arena) inFlight(end int) []int {
	bytes := make([]int, a.paths)
	for i := range bytes {
		bytes[i] = a.halves[end][i].ledger.InFlight()
	}
	return bytes
}

// stats returns an end's counters by path.
func (a *arena) stats(end int) []engine.PathStats {
	s, _ := a.ends[end].ConnStats(a.conns[end])
	return s.Paths
}

// timeouts tells the ledgers which timers have run out: the reasons are the engine's, the consequences are not.
func (a *arena) timeouts(end int) {
	if !a.strict {
		return
	}
	for _, s := range a.stats(end) {
		h := &a.halves[end][s.ID]
		if n := s.Lost - h.seen.Lost; n > 0 {
			if want := h.ledger.Overtake(); n != want {
				a.t.Fatalf("end %d, path %d: %d transmissions of earlier routes are lost, the model says %d", end, s.ID, n, want)
			}
			h.seen.Lost = s.Lost
			h.overtaken += n
		}
		for range s.RTOFired - h.seen.RTOFired {
			h.ledger.Timeout()
			h.window = nil // it begins anew when the path is heard again
		}
		h.seen.RTOFired = s.RTOFired
	}
	a.turns(end)
	a.failures(end)
}

// turns tells the ledgers which paths have another route.
func (a *arena) turns(end int) {
	for _, s := range a.stats(end) {
		if h := &a.halves[end][s.ID]; s.Route != h.seen.Route {
			h.ledger.Turn()
			h.seen.Route = s.Route
		}
	}
}

// failures tells the ledgers which paths have gone out of service.
func (a *arena) failures(end int) {
	if !a.strict {
		return
	}
	for _, s := range a.stats(end) {
		h := &a.halves[end][s.ID]
		if s.Downs != h.seen.Downs {
			h.ledger.GiveUpAll()
		}
		h.seen.Downs = s.Downs
	}
}

// revivals forgets the windows of paths that have come back: they begin anew.
func (a *arena) revivals(end int) {
	for _, s := range a.stats(end) {
		if h := &a.halves[end][s.ID]; s.Ups != h.seen.Ups {
			h.window, h.seen.Ups = nil, s.Ups
		}
	}
}

// settle compares what is in flight: every packet enters once and leaves once.
func (a *arena) settle(end int) {
	if err := a.ends[end].Check(); err != nil {
		a.t.Fatal(err)
	}
	if !a.strict {
		return
	}
	for _, s := range a.stats(end) {
		if want := a.halves[end][s.ID].ledger.InFlight(); s.InFlight != want {
			a.t.Fatalf("end %d, path %d: %d bytes in flight, the model says %d", end, s.ID, s.InFlight, want)
		}
	}
}

// wireNumber is an unbounded number as the wire carries it.
func (a *arena) wireNumber(sender int, n int64) uint32 { return a.space.Add(a.first[sender], n) }

// near is the unbounded number, close to one that is known, that the wire carries as n.
func (a *arena) near(sender int, known int64, n uint32) int64 {
	return known + a.space.Diff(n, a.wireNumber(sender, known))
}

func (a *arena) fail(p *parcel, format string, args ...any) {
	a.t.Fatalf("end %d, %v on path %d (PSN %d, TSN %d): %s", p.from, p.opcode, p.path, p.packet.PSN, p.packet.TSN, fmt.Sprintf(format, args...))
}
