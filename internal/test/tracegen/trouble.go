package tracegen

import (
	"fmt"
	"slices"
)

// A Trouble is a run with one problem, or with a property that only looks like
// a problem, and the finding expected for it.
type Trouble struct {
	Name string
	// Rule is the id of the rule that finds the problem, or "" if there is
	// none.
	Rule string
	// Near is the id of the rule that is easily confused with it, if any.
	Near string
	// Limits are settings of a judge that the trouble needs, "" for the
	// defaults.
	Limits string
	// NS is the duration of the problem, and OfNS its base, if they follow from
	// the definition; otherwise 0.
	NS, OfNS int64

	Ranks []Story // one trace for each
}

// Troubles returns all troubles. Each has the traces of one program, of a few
// steps.
func Troubles() []Trouble {
	return slices.Concat(captureTroubles(), idleTroubles(), callTroubles(), communicationTroubles(), copyTroubles(),
		kernelTroubles(), stepTroubles(), phaseTroubles(), memoryTroubles())
}

// A plant is a program on one device with a trouble. It keeps the device busy
// unless a gap is requested: launches take 3 µs, and kernels longer.
type plant struct {
	*lane
	names
	at int64 // number of the last step
}

func newPlant(name string) *plant {
	p := &plant{lane: newLane(newScene(name)), names: cudaNames()}
	p.s.repeats = true
	return p
}

// tell ends the program.
func (p *plant) tell() Story {
	p.outside()
	return p.s.tell()
}

// outside removes the idle time recorded since the last work, because idle time
// before the first and after the last work is in no window.
func (p *plant) outside() {
	for key, ns := range p.s.since {
		if p.s.idle[key] -= ns; p.s.idle[key] == 0 {
			delete(p.s.idle, key)
		}
	}
	clear(p.s.since)
}

// oneRank returns the story of one rank.
func oneRank(name string, body func(p *plant)) []Story {
	p := newPlant(name)
	body(p)
	return []Story{p.tell()}
}

// ranksOf returns the stories of several ranks; body receives their numbers.
func ranksOf(n int, name string, body func(p *plant, rank int)) (out []Story) {
	for rank := range n {
		p := newPlant(fmt.Sprintf("%s_rank%d", name, rank))
		p.s.rank, p.s.ranks = rank, n
		p.main.of.number += int64(rank) // each rank is a process
		p.main.tid += int64(rank)
		body(p, rank)
		out = append(out, p.tell())
	}
	return out
}

// windows returns the time of all devices from their first work to their last.
func windows(ranks []Story) (ns int64) {
	for _, s := range ranks {
		for _, d := range s.Truth.Devices {
			ns += d.WindowNS
		}
	}
	return ns
}

// Latencies of a plant: from the start of a call to the start of the kernel
// that it launches on an idle device, and from the end of a wait.
const (
	plantLaunch = 4 * us
	plantWake   = 2 * us
)

// launch makes the device run a kernel, after all others if it is still busy.
func (p *plant) launch(name string, ns int64) { p.launchOn(name, computeStream, ns) }

func (p *plant) launchOn(name string, stream int, ns int64) {
	call := p.api + "LaunchKernel"
	switch {
	case len(p.g.works) > 0 && p.g.end >= p.t.now+plantLaunch:
		p.g.follow(p.t.call(call, 3*us), name, stream, ns)
	default:
		first := len(p.g.works) == 0
		p.finalize()
		c := p.t.call(call, plantLaunch+2*us)
		if p.s.own(p.g, LaunchLatency, "", "", plantLaunch); first {
			p.outside()
		}
		p.g.run(c, name, stream, c.start+plantLaunch, ns)
	}
}

// A share is a kernel and its thousandths of the work.
type share struct {
	name     string
	permille int64
}

// mix makes the device run kernels one after the other.
func (p *plant) mix(ns int64, of ...share) {
	for _, k := range of {
		p.launch(k.name, ns/1000*k.permille)
	}
}

// compute adds a typical mix of training or inference: no kernel dominates, and
// three quarters are matrix products and attention.
func (p *plant) compute(ns int64) {
	p.mix(ns, share{p.gemmUp, 300}, share{p.attention, 250}, share{p.gemmQKV, 200}, share{p.normForward, 100}, share{p.activation, 150})
}

// sync waits for the device, as reading a result does.
func (p *plant) sync() { p.await(p.api + "StreamSynchronize") }

// await makes a call that waits for the device.
func (p *plant) await(call string) {
	p.t.in(catRuntime, call, func() {
		p.finalize()
		p.wait(p.t, Synchronizing, call, plantWake)
	})
}

// step adds a step that waits for the device at its end.
func (p *plant) step(body func()) {
	p.mark(func() {
		body()
		p.sync()
	})
}

// mark adds a step that ends when the device is done with it, without a call
// that waits for that.
func (p *plant) mark(body func()) {
	p.at++
	p.t.note(stepName(p.at), func() {
		body()
		p.finalize()
	})
}

// steps adds the given number of equal steps.
func (p *plant) steps(n int, body func()) {
	for range n {
		p.step(body)
	}
}

// pause advances the time while the host does something else and the device has
// no work.
func (p *plant) pause(state, name string, ns int64) {
	p.finalize()
	switch state {
	case InPython:
		p.t.python(name, func() { p.wait(p.t, state, name, ns) })
	case InOperator, DataLoading:
		p.t.op(name, func() { p.wait(p.t, state, name, ns) })
	case InAnnotation:
		p.t.note(name, func() { p.wait(p.t, state, name, ns) })
	case Allocating, Calling, Copying:
		p.late(p.t, state, name, ns)
	default:
		p.wait(p.t, state, name, ns)
	}
}

// within runs body inside an annotation of the program.
func (p *plant) within(name string, body func()) { p.t.note(name, body) }

// nextBatch is PyTorch's name for the loading of a batch.
const nextBatch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

// waitForCopy makes a call that copies after all launched work, and waits for
// the copy.
func (p *plant) waitForCopy(call, name string, ns, bytes int64) {
	end := p.g.end + ns
	c := p.t.in(catRuntime, call, func() {
		p.t.until(end)
		p.wait(p.t, Copying, call, plantWake)
	})
	p.g.run(c, name, computeStream, end-ns, ns).bytes = bytes
}

// beside makes the device run an op during the last part of the launched work,
// so that it is overlapped.
func (p *plant) beside(call, name string, stream int, ns, bytes int64) {
	c := p.t.call(call, 3*us)
	p.g.run(c, name, stream, p.g.end-ns, ns).bytes = bytes
}

// copyAfter makes the device copy after all launched work, by a call that does
// not wait.
func (p *plant) copyAfter(name string, ns, bytes int64) {
	p.g.follow(p.t.call(p.api+"MemcpyAsync", 3*us), name, copyStream, ns).bytes = bytes
}

// exposed makes the ranks communicate while none of them computes.
func (p *plant) exposed(ns int64) { p.launchOn(p.allReduce, commStream, ns) }

// spread adds a busy interval with a pause of the host in each millisecond.
func (p *plant) spread(milliseconds int, idle int64) {
	for range milliseconds {
		p.compute(ms - idle)
		p.pause(InPython, "demo/train.py(88): collate", idle-plantLaunch)
	}
}
