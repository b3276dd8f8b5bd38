package tracegen

import (
	"fmt"
	"slices"
)

// A Trouble is a run with one thing wrong with it, or with something that only
// looks as if it were: what a judge of traces must, and must not, say of it.
type Trouble struct {
	Name string
	// Rule is the id of the rule that finds what is wrong: "" where nothing is.
	Rule string
	// Near is the id of the rule that a careless judge would take it for, if any.
	Near string
	// Limits are settings of a judge that the trouble needs, "" for the usual ones.
	Limits string
	// NS is how long the trouble lasts, and OfNS what it is a part of, where that is
	// plain from the telling; 0 elsewhere.
	NS, OfNS int64

	Ranks []Story // one trace for each
}

// Troubles returns all of them. They are about the traces of one program each, of a
// few steps.
func Troubles() []Trouble {
	return slices.Concat(captureTroubles(), idleTroubles(), callTroubles(), communicationTroubles(), copyTroubles(),
		kernelTroubles(), stepTroubles(), phaseTroubles(), memoryTroubles())
}

// A plant is a program that runs on one device while its trouble is told. It keeps
// the device busy as long as nothing is said of a gap: launches take 3 µs, and
// kernels longer.
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

// outside takes back the idle time that was noted since the last work: before the
// first and after the last is in no window.
func (p *plant) outside() {
	for key, ns := range p.s.since {
		if p.s.idle[key] -= ns; p.s.idle[key] == 0 {
			delete(p.s.idle, key)
		}
	}
	clear(p.s.since)
}

// oneRank tells of one rank.
func oneRank(name string, body func(p *plant)) []Story {
	p := newPlant(name)
	body(p)
	return []Story{p.tell()}
}

// ranksOf tells of several ranks, whose numbers the body gets.
func ranksOf(n int, name string, body func(p *plant, rank int)) (out []Story) {
	for rank := range n {
		p := newPlant(fmt.Sprintf("%s_rank%d", name, rank))
		p.s.rank, p.s.ranks = rank, n
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

// Latencies of a plant: from the beginning of a call to that of the kernel that it
// launches on a device that has nothing to do, and of a wait that is over.
const (
	plantLaunch = 4 * us
	plantWake   = 2 * us
)

// launch has the device run a kernel: behind all others if it is still busy then.
func (p *plant) launch(name string, ns int64) { p.launchOn(name, computeStream, ns) }

func (p *plant) launchOn(name string, stream int, ns int64) {
	call := p.api + "LaunchKernel"
	switch {
	case len(p.g.works) > 0 && p.g.end >= p.t.now+plantLaunch:
		p.g.follow(p.t.call(call, 3*us), name, stream, ns)
	default:
		first := len(p.g.works) == 0
		p.t.until(max(p.t.now, p.g.end))
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

// mix has the device run kernels one after the other.
func (p *plant) mix(ns int64, of ...share) {
	for _, k := range of {
		p.launch(k.name, ns/1000*k.permille)
	}
}

// compute is what a training or an inference usually runs: no kernel is most of it,
// and three quarters are matrix products and attention.
func (p *plant) compute(ns int64) {
	p.mix(ns, share{p.gemmUp, 300}, share{p.attention, 250}, share{p.gemmQKV, 200}, share{p.normForward, 100}, share{p.activation, 150})
}

// settle waits, in no call, until the device has nothing left to do, if it has any.
func (p *plant) settle() { p.t.until(max(p.t.now, p.g.end)) }

// sync waits for the device, as reading a result does.
func (p *plant) sync() { p.await(p.api + "StreamSynchronize") }

// await makes a call that waits for the device.
func (p *plant) await(call string) {
	p.t.in(catRuntime, call, func() {
		p.settle()
		p.wait(p.t, Synchronizing, call, plantWake)
	})
}

// step tells a step, which waits for the device at its end.
func (p *plant) step(body func()) {
	p.mark(func() {
		body()
		p.sync()
	})
}

// mark tells a step that ends when the device is done with it, without a call that
// waits for that.
func (p *plant) mark(body func()) {
	p.at++
	p.t.note(stepName(p.at), func() {
		body()
		p.settle()
	})
}

// steps tells so many equal steps.
func (p *plant) steps(n int, body func()) {
	for range n {
		p.step(body)
	}
}

// pause is time in which the host does something else and the device has nothing
// to do.
func (p *plant) pause(state, name string, ns int64) {
	p.settle()
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

// within tells what happens in an annotation of the program.
func (p *plant) within(name string, body func()) { p.t.note(name, body) }

// nextBatch is what PyTorch calls the loading of a batch.
const nextBatch = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"

// waitForCopy makes a call that copies after all that was launched, and waits for
// the copy.
func (p *plant) waitForCopy(call, name string, ns, bytes int64) {
	end := p.g.end + ns
	c := p.t.in(catRuntime, call, func() {
		p.t.until(end)
		p.wait(p.t, Copying, call, plantWake)
	})
	p.g.run(c, name, computeStream, end-ns, ns).bytes = bytes
}

// beside has the device do something in the last part of what was launched, so that
// it hides under that.
func (p *plant) beside(call, name string, stream int, ns, bytes int64) {
	c := p.t.call(call, 3*us)
	p.g.run(c, name, stream, p.g.end-ns, ns).bytes = bytes
}

// copyAfter has the device copy after all that was launched, by a call that does not
// wait.
func (p *plant) copyAfter(name string, ns, bytes int64) {
	p.g.follow(p.t.call(p.api+"MemcpyAsync", 3*us), name, copyStream, ns).bytes = bytes
}

// exposed has the ranks communicate while none of them computes.
func (p *plant) exposed(ns int64) { p.launchOn(p.allReduce, commStream, ns) }

// spread is a busy stretch with a pause of the host in each millisecond of it.
func (p *plant) spread(milliseconds int, idle int64) {
	for range milliseconds {
		p.compute(ms - idle)
		p.pause(InPython, "demo/train.py(88): collate", idle-plantLaunch)
	}
}
