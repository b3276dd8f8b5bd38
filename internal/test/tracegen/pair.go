package tracegen

import "fmt"

// A Pair is a program with one cause of lost time, made twice: with the cause and
// without. The difference of the windows is the truth about the cause.
type Pair struct {
	Name   string
	Rule   string // that must be first
	Bound  string // of the verdict
	Advice string // id of the first remedy
	Near   string // the rule that the run looks like

	// Within is the share of the truth by which the measure may differ from it: a cause can
	// delay the launches after it, which have their own cause.
	Within float64

	With, Little, Without []Story // Little has so little of the cause that it must not be reported
}

// LostNS is the time that the cause takes from the windows.
func (p Pair) LostNS() int64 { return windows(p.With) - windows(p.Without) }

// WindowNS is the time of the windows with the cause.
func (p Pair) WindowNS() int64 { return windows(p.With) }

// Pairs returns the pairs.
func Pairs() (out []Pair) {
	for _, list := range [][]pairOf{hostPairs(), queuePairs(), capturePairs(), clockPairs()} {
		for _, p := range list {
			out = append(out, p.pair())
		}
	}
	return out
}

// A pairOf makes the runs of a pair: body plays the program with so much of the cause
// for each time that it occurs.
type pairOf struct {
	name, rule, bound, advice, near string

	much, little int64 // ns of the cause; a little of 0 is no such run
	body         func(p *plant, cause int64)
}

func (p pairOf) pair() Pair {
	run := func(kind string, ns int64) []Story {
		return oneRank(fmt.Sprintf("%s_%s", p.name, kind), func(l *plant) { p.body(l, ns) })
	}
	out := Pair{Name: p.name, Rule: p.rule, Bound: p.bound, Advice: p.advice, Near: p.near, Within: 0.1, With: run("with", p.much), Without: run("without", 0)}
	if p.rule == "small-copies" {
		out.Within = 0.35 // the launches after the waits, and the copies themselves
	}
	if p.little > 0 {
		out.Little = run("little", p.little)
	}
	return out
}

// interrupt lets the host do something for some time while the device has no work. 0 is
// never.
func (p *plant) interrupt(state, name string, ns int64) {
	if ns > 0 {
		p.pause(state, name, ns)
	}
}

// hostPairs have a host that does other work while the device waits.
func hostPairs() []pairOf {
	const (
		save     = "demo/train.py(90): save_checkpoint"
		schedule = "demo/scheduler.py(41): next_batch"
		reward   = "demo/reward.py(17): score"
	)
	afterItem := func(state, name string, compute int64) func(*plant, int64) {
		return func(p *plant, ns int64) {
			for range 8 {
				p.compute(compute)
				p.t.op("aten::item", func() { p.waitForCopy("cudaMemcpyAsync", "Memcpy DtoH (Device -> Pageable)", 2*us, 8) })
				p.interrupt(state, name, ns)
			}
			p.compute(compute)
		}
	}
	return []pairOf{
		// 39% idle beside 17% copies, and 43% beside 22% communication: the limits of the
		// smaller parts are lower.
		{"checkpoint_beside_copies", "cpu-work", "host", "save-asynchronously", "exposed-copies", 3900 * us, 200 * us, func(p *plant, ns int64) {
			for range 5 {
				p.compute(4400 * us)
				p.copyAfter(hostToDevicePinned, 1700*us, 30<<20)
				p.interrupt(InPython, save, ns)
			}
			p.compute(ms)
		}},
		{"schedule_beside_communication", "cpu-work", "host", "move-off-the-launching-thread", "exposed-communication", 4300 * us, 200 * us, func(p *plant, ns int64) {
			for range 5 {
				p.compute(3500 * us)
				p.exposed(2200 * us)
				p.interrupt(InPython, schedule, ns)
			}
			p.compute(ms)
		}},
		{"schedule_after_a_wait", "cpu-work", "host", "move-off-the-launching-thread", "synchronizing-calls", 1200 * us, 40 * us, afterItem(InPython, schedule, 2*ms)},
		{"reward_after_a_wait", "cpu-work", "host", "move-off-the-launching-thread", "pageable-async-copies", 9 * ms, 200 * us, afterItem(InPython, reward, 8*ms)},
		{"decode_jpeg_after_a_wait", "cpu-work", "host", "move-off-the-launching-thread", "pageable-async-copies", 2500 * us, 60 * us, afterItem(InOperator, "image::decode_jpeg", 3*ms)},
		{"optimizer_on_the_cpu", "cpu-work", "host", "move-off-the-launching-thread", "pageable-async-copies", 6 * ms, 150 * us, afterItem(InOperator, "Optimizer.step#CPUAdam.step", 6*ms)},
		{"garbage_collection", "cpu-work", "host", "schedule-garbage-collection", "periodic-stalls", 12 * ms, 0, func(p *plant, ns int64) {
			for i := range 24 {
				p.mark(func() {
					p.compute(4 * ms)
					if i%5 == 3 {
						p.interrupt(InPython, "<built-in method collect of gc>", ns)
					}
				})
			}
			p.compute(ms)
		}},
		{"checkpoint_every_fourth_step", "cpu-work", "host", "save-asynchronously", "periodic-stalls", 12 * ms, 0, everyFourth(save)},
		{"log_every_fourth_step", "cpu-work", "host", "log-less-often", "periodic-stalls", 9 * ms, 0, everyFourth("demo/train.py(70): log_metrics")},
		{"evaluation_every_fourth_step", "cpu-work", "host", "evaluate-elsewhere", "gpu-idle", 14 * ms, 0, everyFourth("demo/train.py(95): evaluate")},
		{"small_copies_to_the_device", "small-copies", "host", "pack-and-pin", "launch-bound", 4 * us, 0, smallCopies(240, 25*us, "aten::to", 6*us, 256)},
		{"small_transfers", "small-copies", "host", "pack-and-pin", "synchronizing-calls", 3 * us, 0, smallCopies(300, 20*us, "aten::copy_", 9*us, 1024)},
	}
}

// everyFourth returns a program of 32 steps, of which every fourth does something on the host.
func everyFourth(name string) func(p *plant, ns int64) {
	return func(p *plant, ns int64) {
		for i := range 32 {
			p.mark(func() {
				p.compute(4 * ms)
				if i%4 == 3 {
					p.interrupt(InPython, name, ns)
				}
			})
		}
		p.compute(ms)
	}
}

// smallCopies returns a program with n kernels of a length, each followed by a blocking copy
// of some bytes, whose call takes a time.
func smallCopies(n int, kernel int64, op string, call, bytes int64) func(p *plant, ns int64) {
	return func(p *plant, ns int64) {
		for i := range n {
			p.launch([]string{p.gemmUp, p.attention, p.gemmQKV}[i%3], kernel)
			if ns == 0 {
				continue
			}
			p.finalize()
			p.t.op(op, func() {
				p.wait(p.t, InOperator, op, ns)
				c := p.t.call(p.api+"MemcpyAsync", call)
				p.s.own(p.g, LaunchLatency, "", "", call-us)
				p.g.run(c, "Memcpy HtoD (Pageable -> Device)", computeStream, c.start+call-us, us).bytes = bytes
				p.await(p.api + "StreamSynchronize")
			})
		}
		p.launch(p.gemmUp, kernel)
	}
}

// queuePairs have a device whose queue is never empty.
func queuePairs() []pairOf {
	// tiny launches kernels of 3 µs far ahead of the device, with a gap before each.
	tiny := func(p *plant, ns int64) {
		p.launch(p.gemmUp, 400*us)
		for i := range 2000 {
			p.follows([]string{p.gemmUp, p.attention, p.gemmQKV, p.add}[i%4], ns, 3*us)
		}
	}
	inGraph := func(p *plant, ns int64) {
		var nodes []graphNode
		for i := range 300 {
			nodes = append(nodes, graphNode{[]string{p.gemmUp, p.attention, p.gemmQKV, p.add}[i%4], computeStream, ns, 2500})
		}
		nodes[0].wait = 0
		g := p.s.capture(p.g, "cudaGraphLaunch", nodes...)
		p.launch(p.gemmUp, 200*us)
		for range 8 {
			p.s.own(p.g, BetweenKernels, "", "", int64(len(nodes)-1)*ns)
			g.launch(p.t, 10*us, p.g.end)
		}
	}
	return []pairOf{
		{"queue_of_tiny_kernels", "kernel-gaps", "compute", "fuse-small-kernels", "launch-bound", 1200, 100, tiny},
		{"graph_of_tiny_kernels_with_gaps", "kernel-gaps", "compute", "fuse-small-kernels", "launch-bound", 1000, 80, inGraph},
	}
}

// follows makes the device run a kernel a fixed time after all others. The device is still
// busy when the kernel is launched.
func (p *plant) follows(name string, gap, ns int64) {
	c := p.t.call(p.api+"LaunchKernel", 2*us)
	if p.g.end <= c.end {
		panic("tracegen: the queue is empty")
	}
	if gap > 0 {
		p.s.own(p.g, BetweenKernels, "", "", gap)
	}
	p.g.run(c, name, computeStream, p.g.end+gap, ns)
}

// capturePairs have captures that begin while the device runs work launched before.
func capturePairs() []pairOf {
	batch := func(p *plant, ns int64) {
		c := p.t.call(p.api+"LaunchKernel", 4*us)
		p.g.run(c, p.fill, copyStream, c.start+3*us, 4*us)
		p.finalize()
		c = p.t.call(p.api+"LaunchKernel", 4*us)
		p.s.own(p.g, LaunchLatency, "", "", 4*us)
		p.s.own(p.g, NotRecorded, "", "", ns)
		p.g.run(c, p.gemmUp, computeStream, c.end+ns, 40*us)
		for range 4 {
			p.compute(2500 * us)
		}
		p.sync()
	}
	return []pairOf{
		{"a_batch_before_the_capture", "not-recorded", "compute", "record-the-batch-before", "gpu-idle", 60 * ms, 5 * us, batch},
		{"a_long_batch_before_the_capture", "not-recorded", "compute", "record-the-batch-before", "gpu-idle", 460 * ms, 0, batch},
	}
}

// clockPairs have a device whose clock falls after a third of the run.
func clockPairs() []pairOf {
	steps := func(fast int) func(*plant, int64) {
		return func(p *plant, ns int64) {
			for i := range 30 {
				of := 4 * ms
				if i >= fast {
					of += ns
				}
				p.step(func() { p.compute(of) })
			}
		}
	}
	return []pairOf{
		{"clock_falls", "slowing-kernels", "compute", "check-the-clocks", "dominant-kernel", 2 * ms, 200 * us, steps(13)},
		{"clock_falls_further", "slowing-kernels", "compute", "check-the-clocks", "uneven-steps", 3 * ms, 0, steps(14)},
	}
}
