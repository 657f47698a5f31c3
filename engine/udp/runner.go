// SPDX-License-Identifier: Apache-2.0

//go:build linux

package udp

import (
	"sync"
	"time"

	"github.com/openmetaroce/metaroce/engine"
)

// Command is something that others want done with the Endpoint.
type Command interface {
	// Run is called once, on the Runner's goroutine. It must not block and must not keep e.
	Run(now engine.Time, e *engine.Endpoint)
}

// Func is a Command that is a function.
type Func func(now engine.Time, e *engine.Endpoint)

// Run calls f.
func (f Func) Run(now engine.Time, e *engine.Endpoint) { f(now, e) }

// RunnerConfig is what a Runner works with.
type RunnerConfig struct {
	// Endpoint and Port belong to the Runner from Start on; the Runner closes Port when it ends.
	Endpoint *engine.Endpoint
	Port     *Port
	// Through is Port inside wrappers that impair or record. Default Port itself.
	Through engine.Port
	// Event is called on the Runner's goroutine for each event. It must not block; it may use the Endpoint.
	Event func(now engine.Time, e engine.Event)
	// Spin is how long the loop goes on looking before it sleeps: latency for CPU time. Default 0.
	Spin time.Duration
}

// Runner is the goroutine that owns an Endpoint and its Port. Its methods may be called by anybody.
type Runner struct {
	cfg    RunnerConfig
	pump   engine.Pump
	origin time.Time
	done   chan struct{}
	err    error // valid once done is closed
	active engine.Time
	seen   uint64 // datagrams received by the last look

	mu       sync.Mutex
	queue    []Command
	spare    []Command
	sleeping bool
	stopping bool
}

// Start begins the loop.
func Start(cfg RunnerConfig) *Runner {
	if cfg.Through == nil {
		cfg.Through = cfg.Port
	}
	r := &Runner{
		cfg: cfg, pump: engine.Pump{Endpoint: cfg.Endpoint, Port: cfg.Through},
		origin: time.Now(), done: make(chan struct{}),
	}
	go r.loop()
	return r
}

// Now is the Runner's clock. It starts near 0 and never steps.
func (r *Runner) Now() engine.Time { return engine.Time(time.Since(r.origin)) + 1 }

// Do has the loop run a command, after all earlier ones. When it returns nil, Run will be called, even if the loop is
// about to end. The only error is ErrStopped.
func (r *Runner) Do(c Command) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopping {
		return ErrStopped
	}
	r.queue = append(r.queue, c)
	r.wake()
	return nil
}

// wake ends the loop's sleep. mu is held, so that the Port is open.
func (r *Runner) wake() {
	if r.sleeping {
		r.sleeping = false
		r.cfg.Port.Wake()
	}
}

// Stop ends the loop, closes the Port and waits for both. It returns what Err returns.
func (r *Runner) Stop() error {
	r.mu.Lock()
	if !r.stopping {
		r.stopping = true
		r.wake()
	}
	r.mu.Unlock()
	<-r.done
	return r.err
}

// Done is closed when the loop has ended. From then on the Endpoint belongs to nobody and may be read.
func (r *Runner) Done() <-chan struct{} { return r.done }

// Err returns why the loop ended: nil after Stop, else the Port's error. It waits for the end.
func (r *Runner) Err() error {
	<-r.done
	return r.err
}

// loop runs until Stop or an error of the Port.
func (r *Runner) loop() {
	err := r.run()
	r.mu.Lock()
	r.stopping = true
	r.mu.Unlock()
	r.commands(r.Now())
	r.events(r.Now())
	if closed := r.cfg.Port.Close(); err == nil {
		err = closed
	}
	r.err = err
	close(r.done)
}

func (r *Runner) run() error {
	for {
		now := r.Now()
		ran, stop := r.commands(now)
		wake, err := r.pump.Turn(now)
		if err != nil {
			return err
		}
		faults := r.faults(now)
		events := r.events(now)
		if stop {
			return nil
		}
		if faults+events > 0 || wake <= now || r.spins(now, ran) {
			continue
		}
		if err := r.sleep(wake); err != nil {
			return err
		}
	}
}

// commands runs what is queued and tells how much that was and whether the loop should end.
func (r *Runner) commands(now engine.Time) (ran int, stop bool) {
	r.mu.Lock()
	list := r.queue
	r.queue, r.spare = r.spare[:0], list
	stop = r.stopping
	r.mu.Unlock()
	for i := range list {
		list[i].Run(now, r.cfg.Endpoint)
		list[i] = nil
	}
	return len(list), stop
}

// faults tells the engine what the sockets have learned of routes and returns how many there were.
func (r *Runner) faults(now engine.Time) int {
	list := r.cfg.Port.Faults()
	for _, f := range list {
		r.cfg.Endpoint.RouteError(now, f.Route, f.Fault)
	}
	return len(list)
}

// events delivers what has happened and returns how many events there were.
func (r *Runner) events(now engine.Time) (n int) {
	for {
		e, ok := r.cfg.Endpoint.NextEvent()
		if !ok {
			return n
		}
		n++
		if r.cfg.Event != nil {
			r.cfg.Event(now, e)
		}
	}
}

// spins tells whether to look again rather than sleep.
func (r *Runner) spins(now engine.Time, ran int) bool {
	if r.cfg.Spin == 0 {
		return false
	}
	if seen := r.cfg.Port.stats.Received; ran > 0 || seen != r.seen {
		r.seen, r.active = seen, now
	}
	return now.Sub(r.active) < r.cfg.Spin
}

// sleep waits for datagrams, commands or the instant wake.
func (r *Runner) sleep(wake engine.Time) error {
	d := time.Duration(-1)
	if wake != engine.Never {
		if d = wake.Sub(r.Now()); d <= 0 {
			return nil
		}
	}
	r.mu.Lock()
	if len(r.queue) > 0 || r.stopping {
		r.mu.Unlock()
		return nil
	}
	r.sleeping = true
	r.mu.Unlock()
	err := r.cfg.Port.Wait(d)
	r.mu.Lock()
	r.sleeping = false
	r.mu.Unlock()
	return err
}
