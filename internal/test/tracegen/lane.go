package tracegen

import "fmt"

// A lane is a device and the thread that feeds it, for stories of one kernel at
// a time: while one runs, the thread prepares the cause of the gap after it. A
// lane uses computeStream for its kernels, and copyStream for work that they
// overlap.
type lane struct {
	s       *scene
	main, t *thread // t launches
	g       *gpu
	api     string               // "cuda" or "hip"
	ns      func(ns int64) int64 // varies a length
	kernels int                  // so far
	steps   int64                // ProfilerStep# so far
}

func newLane(s *scene) *lane {
	p := s.process(4217, "")
	l := &lane{s: s, main: p.thread(4217, "python"), g: s.gpu(p, 0), api: "cuda", ns: func(ns int64) int64 { return ns }}
	l.t = l.main
	return l
}

// kernel returns a name that no other kernel has.
func (l *lane) kernel() string {
	l.kernels++
	return fmt.Sprintf("kernel_%d", l.kernels)
}

// first launches the first kernel of the story. Some more launches make the
// thread the main one.
func (l *lane) first() {
	for range 4 {
		c := l.t.call(l.api+"LaunchKernel", 3*us)
		l.g.follow(c, l.kernel(), computeStream, 40*us)
	}
}

// finalize has the thread do nothing until the device has nothing left to do, if it has any.
func (l *lane) finalize() { l.t.until(max(l.t.now, l.g.end)) }

// wait lets time pass on a thread while the device is idle.
func (l *lane) wait(t *thread, state, name string, ns int64) {
	t.spend(ns)
	l.s.own(l.g, HostLate, state, name, ns)
}

// late makes a call while the device is idle.
func (l *lane) late(t *thread, state, call string, ns int64) {
	t.in(catRuntime, call, func() { l.wait(t, state, call, ns) })
}

// overrun makes a call that begins while the device is busy and ends when it is
// idle. The work launched by the call itself overlaps the kernel.
func (l *lane) overrun(state, call, launches string, ns int64) {
	c := l.t.in(catRuntime, call, func() {
		l.t.until(l.g.end)
		l.wait(l.t, state, call, ns)
	})
	if launches != "" {
		l.g.run(c, launches, copyStream, c.start+us, 2*us)
	}
}

// run makes c launch a kernel and waits until it is running.
func (l *lane) run(c *node, start int64) {
	l.g.run(c, l.kernel(), computeStream, start, l.ns(40*us))
	l.t.until(max(l.t.now, start))
}

// inside launches a kernel that starts before its call returns.
func (l *lane) inside() {
	delay := l.ns(4 * us)
	c := l.t.call(l.api+"LaunchKernel", delay+l.ns(2*us))
	l.s.own(l.g, LaunchLatency, "", "", delay)
	l.run(c, c.start+delay)
}

// after launches a kernel that starts some time after its call has returned.
// The story defines the cause of that time; the call is launch latency.
func (l *lane) after(owner string, rest int64) {
	c := l.t.call(l.api+"LaunchKernel", l.ns(6*us))
	l.s.own(l.g, LaunchLatency, "", "", c.end-c.start)
	l.s.own(l.g, owner, "", "", rest)
	l.run(c, c.end+rest)
}

// queued launches a kernel while another is running. It starts only some time
// after the other one has ended.
func (l *lane) queued(owner string, rest int64) {
	c := l.t.call(l.api+"LaunchKernel", l.ns(4*us))
	l.s.own(l.g, owner, "", "", rest)
	l.run(c, l.g.end+rest)
}

// straddle launches a kernel by a call that begins while another is running and
// returns after that one has ended.
func (l *lane) straddle(within, rest int64) {
	at := l.g.end
	l.t.until(at - l.ns(2*us))
	c := l.t.in(catRuntime, l.api+"LaunchKernel", func() { l.t.until(at + within) })
	l.s.own(l.g, LaunchLatency, "", "", within+rest)
	l.run(c, c.end+rest)
}
