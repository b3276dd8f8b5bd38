package attribute

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"assay/internal/hosttree"
	"assay/internal/runsort"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// Threads are walked along in two groups, on two cores: the main threads of the processes, and
// all others. Each group has tables of its own, which are joined at the end. Numbers are given
// as if the main threads came last, so that the result does not depend on the cores.

// A group is what the walk along some threads finds.
type group struct {
	ctx     *contexts
	idle    *idleness
	ops     opTable
	lines   runTable // Python functions
	notes   runTable // annotations
	modules moduleTable
	forward sequences              // the operator of the forward pass
	engine  map[trace.TrackID]bool // threads that autograd's engine runs on
	noNote  []int32                // links of threads that are not main, which have no annotation open
	trains  bool                   // there is a backward pass
	tooDeep int64                  // events that were left out of the walk
}

func newGroup(t *trace.Trace, shapes bool) *group {
	return &group{
		ctx: newContexts(t), ops: newOpTable(t, shapes), lines: make(runTable, t.Names()), notes: make(runTable, t.Names()),
		modules: make(moduleTable), forward: sequences{pages: make(map[sequenceKey]*sequencePage)}, engine: make(map[trace.TrackID]bool),
	}
}

// walk walks along all threads.
func (a *Attribution) walk(asked Asked) {
	var others, mains []*hosttree.Thread
	for _, th := range a.threads {
		if a.isMain(th.Track) {
			mains = append(mains, th)
		} else {
			others = append(others, th)
		}
	}
	main := newGroup(a.t, asked.Shapes)
	launches := a.launchesOfOthers()
	walkers := func() (out []*walker) {
		main.idle = a.idle.fork(mains)
		for _, th := range mains {
			w := a.walkerOf(main, th)
			w.main, w.launches = true, launches[a.processes[th.Track]]
			w.asked = w.launches
			w.told = make([]contextID, 0, len(w.asked))
			w.setNext()
			out = append(out, w)
		}
		return out
	}
	along := func(list []*walker) {
		for i, w := range list {
			w.tooDeep += hosttree.Walk(mains[i], w)
			mains[i].Release()
		}
	}
	var ofMains []*walker
	var beside sync.WaitGroup
	inTurn := asked.Host != nil || asked.Launched != nil
	if !inTurn {
		// The questions that other threads pass on to the main ones are not known yet.
		unasked := a.unasked(mains)
		ofMains = walkers()
		for i, w := range ofMains {
			w.record = unasked[i]
		}
		beside.Go(func() { along(ofMains) })
	}
	for _, th := range others {
		w := a.walkerOf(a.group, th)
		w.setNext()
		w.tooDeep += hosttree.Walk(th, w)
		th.Release()
	}
	if inTurn {
		ofMains = walkers()
		along(ofMains)
	}
	beside.Wait()
	for _, w := range ofMains {
		w.answerLate(a.idle)
	}
	a.join(main, ofMains)
}

func (a *Attribution) isMain(track trace.TrackID) bool {
	return a.mains[a.t.Tracks[track].PID] == track
}

func (a *Attribution) walkerOf(g *group, th *hosttree.Thread) *walker {
	return &walker{
		Attribution: a, group: g, track: th.Track, process: a.processes[th.Track],
		changes: a.memories.byThread[th.Track], questions: g.idle.questionsTo(th.Track, a.isMain(th.Track)),
	}
}

// launchesOfOthers returns the links of the threads that are not the main one of their
// process, by process and the time of the call.
func (a *Attribution) launchesOfOthers() [][]int32 {
	out, count := make([][]int32, len(a.t.Tracks)), make([]int, len(a.t.Tracks))
	for i := range a.Links.List {
		count[a.Links.List[i].Track]++
	}
	for track, n := range count {
		if count[track] = 0; n > 0 && !a.isMain(trace.TrackID(track)) {
			count[track] = n
			out[a.processes[track]] = slices.Grow(out[a.processes[track]], n)
		}
	}
	for i := range a.Links.List {
		if track := a.Links.List[i].Track; count[track] > 0 {
			out[a.processes[track]] = append(out[a.processes[track]], int32(i))
		}
	}
	for _, list := range out {
		runsort.Sort(list, func(x, y int32) int {
			if from, to := a.Links.Start(x), a.Links.Start(y); from != to {
				return cmp.Compare(from, to)
			}
			return cmp.Compare(x, y)
		})
	}
	return out
}

// join adds what the walk along the main threads found.
func (a *Attribution) join(main *group, walkers []*walker) {
	ids := a.ctx.join(main.ctx)
	ofMain := make([]bool, len(a.t.Tracks))
	for _, w := range walkers {
		ofMain[w.track] = true
		for _, i := range a.memories.byThread[w.track] {
			a.memories.atPeaks[i].context = ids[a.memories.atPeaks[i].context]
		}
	}
	for i := range a.origins {
		if track := a.Links.List[i].Track; ofMain[track] {
			a.origins[i].context = ids[a.origins[i].context]
		}
	}
	without := make([]bool, len(a.origins))
	for _, i := range a.noNote {
		without[i] = true
	}
	for _, w := range walkers {
		for i, id := range w.told {
			c := a.ctx.at(ids[id])
			if o := &a.origins[w.launches[i]]; without[w.launches[i]] {
				if o.note = c.annotation; c.optimizer && o.pass == otherPass {
					o.pass = optimizerPass
				}
			}
		}
	}
	a.ops.join(&main.ops)
	a.lines.join(main.lines)
	a.notes.join(main.notes)
	for id, r := range main.modules {
		a.modules.of(ids[id]).add(r)
	}
	a.forward.join(&main.forward, ids)
	a.idle.join(main.idle)
	a.trains = a.trains || main.trains
	a.tooDeep += main.tooDeep
}

// join adds contexts and returns their numbers, by those that they had.
func (c *contexts) join(other *contexts) []contextID {
	ids := make([]contextID, len(other.list))
	for id := 1; id < len(ids); id++ {
		n := other.at(contextID(id))
		ids[id] = c.below(ids[n.parent], &hosttree.Frame{Name: n.name, Kind: n.kind})
	}
	return ids
}

// join adds the rows of another table.
func (o *opTable) join(other *opTable) {
	for i := range other.rows {
		from := &other.rows[i]
		r := o.row(from.name)
		r.Count += from.Count
		r.CPUSelfNS, r.CPUTotalNS = summary.Plus(r.CPUSelfNS, from.CPUSelfNS), summary.Plus(r.CPUTotalNS, from.CPUTotalNS)
		r.GPUSelfNS, r.GPUTotalNS = summary.Plus(r.GPUSelfNS, from.GPUSelfNS), summary.Plus(r.GPUTotalNS, from.GPUTotalNS)
		r.Launched += from.Launched
		for key, s := range from.shapes {
			if r.shapes == nil {
				r.shapes = make(map[shapeKey]*summary.OpShape)
			}
			if have := r.shapes[key]; have != nil {
				have.Count += s.Count
				have.GPUSelfNS, have.GPUTotalNS = summary.Plus(have.GPUSelfNS, s.GPUSelfNS), summary.Plus(have.GPUTotalNS, s.GPUTotalNS)
				continue
			}
			r.shapes[key] = s
		}
	}
}

// join adds the runs of another table.
func (t runTable) join(other runTable) {
	for name, r := range other {
		if r != nil {
			t.of(trace.Sym(name)).add(r)
		}
	}
}

// add adds runs of which none is open.
func (r *run) add(other *run) {
	r.count += other.count
	r.cpuTotal = summary.Plus(r.cpuTotal, other.cpuTotal)
}

// join adds the operators of another table, which replace those of the same number.
func (s *sequences) join(other *sequences, ids []contextID) {
	for key, page := range other.pages {
		for at, c := range page {
			if c != 0 {
				s.set(key.process, key.page<<pageBits|trace.ID(at), ids[c])
			}
		}
	}
}

// A record is what a main thread did while other threads of its process may have no answer.
type record struct {
	unasked []interval.Span // what is left of the questions to other threads
	list    []recorded
}

type recorded struct {
	from, to int64
	doing    idleKey
}

// recordSlack is up to how much time, in ns, between two questions is recorded, too: most
// are about the gaps between short kernels, and would take more memory than the record.
const recordSlack = 100_000

// unasked returns a record for each main thread, for the time of the questions to the other
// threads of its process.
func (a *Attribution) unasked(mains []*hosttree.Thread) []record {
	byProcess := make(map[uint32][]interval.Span)
	for track, lists := range a.idle.asked {
		if a.isMain(track) {
			continue
		}
		for _, list := range lists {
			all := byProcess[a.processes[track]]
			for i := range list {
				if n := len(all); i > 0 && list[i].span.Start-all[n-1].End < recordSlack {
					all[n-1].End = max(all[n-1].End, list[i].span.End)
				} else {
					all = append(all, list[i].span)
				}
			}
			byProcess[a.processes[track]] = all
		}
	}
	out := make([]record, len(mains))
	for i, th := range mains {
		out[i].unasked = interval.Of(byProcess[a.processes[th.Track]]...).Spans()
	}
	return out
}

// from returns when the next question to another thread begins.
func (r *record) from() int64 {
	if len(r.unasked) == 0 {
		return math.MaxInt64
	}
	return r.unasked[0].Start
}

// add records a stretch if it meets a question to another thread.
func (r *record) add(from, to int64, doing idleKey) {
	for len(r.unasked) > 0 && r.unasked[0].End <= from {
		r.unasked = r.unasked[1:]
	}
	if r.from() < to {
		r.list = append(r.list, recorded{from, to, doing})
	}
}

// answerLate answers the questions that others passed on to the thread while it was walked
// along.
func (w *walker) answerLate(others *idleness) {
	late := others.asked[w.track]
	delete(others.asked, w.track)
	w.idle.unanswered(w.track)
	if late == nil {
		return
	}
	w.idle.asked[w.track] = late
	q := w.idle.questionsTo(w.track, true)
	at := int64(math.MinInt64)
	for _, s := range w.record.list {
		if s.to > q.asksFrom {
			q.answer(s.from, s.to, s.doing)
		}
		at = s.to
	}
	q.answer(at, math.MaxInt64, idleKeyOf(byHost, isUnrecorded, 0)) // ends the last one
}

// fork returns a copy for the answers of the main threads, and leaves the questions to them to it.
func (x *idleness) fork(mains []*hosttree.Thread) *idleness {
	y := &idleness{
		a: x.a, most: x.most, others: x.others, host: x.host, tooMany: x.tooMany, names: slices.Clone(x.names), byName: maps.Clone(x.byName),
		asked: make(map[trace.TrackID][][]question), rows: make([]idleTable, len(x.rows)), shown: make([][]shownGap, len(x.shown)), first: make([][]stepIdle, len(x.first)),
	}
	for i := range x.rows {
		y.rows[i].index = make(map[idleKey]int32)
		y.shown[i] = make([]shownGap, len(x.shown[i]))
		for _, st := range x.first[i] {
			y.first[i] = append(y.first[i], stepIdle{st.span, make(map[int32]*summary.StepIdle)})
		}
	}
	for _, th := range mains {
		if lists := x.asked[th.Track]; lists != nil {
			y.asked[th.Track] = lists
			delete(x.asked, th.Track)
		}
	}
	return y
}

// join adds the idle time that the main threads explain.
func (x *idleness) join(y *idleness) {
	for track := range y.asked {
		y.unanswered(track)
	}
	names := make([]int32, len(y.names))
	for i, name := range y.names {
		names[i] = x.number(name)
	}
	for device := range y.rows {
		rows := make([]int32, len(y.rows[device].rows))
		for number, r := range y.rows[device].rows {
			key := y.rows[device].keys[number]
			at := x.rows[device].of(x, idleKeyOf(idleOwner(key>>40), key.state(), names[key.name()]))
			rows[number] = at
			to := x.rows[device].rows[at]
			to.NS += r.NS
			to.Count += r.Count
			to.MaxNS = max(to.MaxNS, r.MaxNS)
			to.ShortGapsNS += r.ShortGapsNS
		}
		for i := range y.shown[device] {
			for number, ns := range y.shown[device][i].shares {
				x.shown[device][i].add(rows[number], ns)
			}
		}
		for i := range y.first[device] {
			for number, r := range y.first[device][i].rows {
				x.first[device][i].add(rows[number], *r)
			}
		}
	}
}
