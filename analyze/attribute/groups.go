package attribute

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"

	"assay/analyze/hosttree"
	"assay/internal/runsort"
	"assay/trace"
)

// Threads are walked in two groups, on two cores: the main threads of the processes, and all
// others. If one group has most of the events, its longest thread is cut in two: see cut. Each
// group has tables of its own, which are joined at the end. Contexts and rows are numbered as
// if the main threads had been walked last, so the result does not depend on scheduling.

// A group holds the tables of the threads that one core walks.
type group struct {
	ctx         *contexts
	idle        *idleness
	ops         opTable
	lines       runTable // Python functions
	notes       runTable // annotations
	modules     moduleTable
	forward     sequences              // operators of the forward pass by sequence number
	engine      map[trace.TrackID]bool // threads that autograd's engine runs on
	unannotated []int32                // launches outside of annotations, on threads that are not main threads
	trains      bool                   // there is a backward pass
	tooDeep     int64                  // events that the walk left out
}

func newGroup(t *trace.Trace, shapes bool) *group {
	return &group{
		ctx: newContexts(t), ops: newOpTable(t, shapes), lines: make(runTable, t.Names()), notes: make(runTable, t.Names()),
		modules: make(moduleTable), forward: sequences{pages: make(map[sequenceKey]*sequencePage)},
		engine: make(map[trace.TrackID]bool),
	}
}

// walk walks all threads and joins their tables.
func (a *Attribution) walk(opts Options) {
	var others, mains []*hosttree.Thread
	for _, th := range a.threads {
		if a.isMain(th.Track) {
			mains = append(mains, th)
		} else {
			others = append(others, th)
		}
	}
	main, launches := newGroup(a.t, opts.Shapes), a.launchesOfOthers()
	if opts.Host != nil || opts.Launched != nil { // the callbacks must not run on two cores
		a.walkThreads(others, nil)
		main.idle = a.idle.fork(mains)
		walkers := a.mainWalkers(main, mains, launches)
		for i, w := range walkers {
			w.walkThread(mains[i], nil)
		}
		a.join(walkers)
		return
	}
	records := a.newRecords(mains)
	main.idle = a.idle.fork(mains)
	walkers := a.mainWalkers(main, mains, launches)
	for i, w := range walkers {
		w.record = records[i]
	}
	c := a.cutOf(mains, others, walkers, opts)
	var background sync.WaitGroup
	background.Go(func() {
		for i, w := range walkers {
			w.walkThread(mains[i], c)
		}
		if c.splitsOther() {
			c.walkSecond(c.guess())
		}
	})
	a.walkThreads(others, c)
	if c.splitsMain() {
		c.walkSecond(c.guess())
	}
	background.Wait()
	if c != nil {
		c.finish()
	}
	for _, w := range walkers {
		w.answerLate(a.idle)
	}
	switch {
	case c.splitsOther():
		walkers = slices.Insert(walkers, 0, c.second)
	case c.splitsMain():
		walkers = slices.Insert(walkers, slices.Index(walkers, c.first)+1, c.second)
	}
	a.join(walkers)
}

func (a *Attribution) isMain(track trace.TrackID) bool {
	return a.mains[a.t.Tracks[track].PID] == track
}

// walkThreads walks threads that are not main threads; of the thread that is cut, the first part.
func (a *Attribution) walkThreads(threads []*hosttree.Thread, c *cut) {
	for _, th := range threads {
		if c.splits(th) {
			c.walkFirst()
			continue
		}
		w := a.walkerOf(a.group, th.Track)
		w.setNext()
		w.walkThread(th, nil)
	}
}

// walkThread walks a thread, or the first part of the thread that is cut.
func (w *walker) walkThread(th *hosttree.Thread, c *cut) {
	if c.splits(th) {
		c.walkFirst()
		return
	}
	w.tooDeep += hosttree.Walk(th, w)
	th.Release()
}

func (a *Attribution) walkerOf(g *group, track trace.TrackID) *walker {
	w := &walker{
		Attribution: a, group: g, track: track, process: a.processes[track], from: math.MinInt64, until: math.MaxInt64,
		peaks: a.memories.byThread[track], questions: g.idle.questionsTo(track, a.isMain(track)),
	}
	w.pendingPeaks = w.peaks
	return w
}

func (a *Attribution) mainWalkers(main *group, mains []*hosttree.Thread, launches [][]int32) (out []*walker) {
	for _, th := range mains {
		w := a.walkerOf(main, th.Track)
		w.main = true
		w.ask(launches[w.process])
		out = append(out, w)
	}
	return out
}

// ask sets the launches of other threads whose time the walk looks up: they take the annotation
// that is open on this main thread.
func (w *walker) ask(launches []int32) {
	w.launches, w.pendingLaunches = launches, launches
	w.launchContexts = make([]contextID, 0, len(launches))
	w.setNext()
}

// launchesOfOthers returns the links of threads that are not the main thread of their process,
// by process and sorted by the start of the call.
func (a *Attribution) launchesOfOthers() [][]int32 {
	out, count := make([][]int32, a.processCount()), make([]int, len(a.t.Tracks))
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

// join adds the results of walkers of other groups, in the order of the list.
func (a *Attribution) join(walkers []*walker) {
	ids := make(map[*group][]contextID)
	first := make([]int32, len(a.t.Tracks)) // the first walker of a thread, plus 1; the next ones follow it
	for i, w := range walkers {
		if ids[w.group] == nil {
			ids[w.group] = a.ctx.join(w.ctx)
		}
		if first[w.track] == 0 {
			first[w.track] = int32(i) + 1
		}
		for _, i := range w.peaks {
			m := &a.memories.atPeaks[i]
			m.context = ids[w.group][m.context]
		}
	}
	for i := range a.origins {
		k := &a.Links.List[i]
		if first[k.Track] == 0 {
			continue
		}
		for _, w := range walkers[first[k.Track]-1:] {
			if w.track == k.Track && w.from <= k.Start && k.Start < w.until {
				a.origins[i].context = ids[w.group][a.origins[i].context]
			}
			if w.track != k.Track || k.Start < w.until {
				break
			}
		}
	}
	joined := make(map[*group]bool)
	for _, w := range walkers {
		if !joined[w.group] {
			joined[w.group] = true
			a.group.join(w.group, ids[w.group])
		}
	}
	a.inheritAnnotations(walkers, ids)
}

// inheritAnnotations gives launches of other threads that no annotation encloses the annotation
// that was open on the main thread at that time.
func (a *Attribution) inheritAnnotations(walkers []*walker, ids map[*group][]contextID) {
	without := make([]bool, len(a.origins))
	for _, i := range a.unannotated {
		without[i] = true
	}
	for _, w := range walkers {
		for i, id := range w.launchContexts {
			c := a.ctx.at(ids[w.group][id])
			if o := &a.origins[w.launches[i]]; without[w.launches[i]] {
				if o.note = c.annotation; c.optimizer && o.pass == otherPass {
					o.pass = optimizerPass
				}
			}
		}
	}
}

// join adds the tables of another group, whose contexts have other numbers.
func (g *group) join(other *group, ids []contextID) {
	g.ops.join(&other.ops)
	g.lines.join(other.lines)
	g.notes.join(other.notes)
	for id, r := range other.modules {
		g.modules.row(ids[id]).add(r)
	}
	g.forward.join(&other.forward, ids)
	g.idle.join(other.idle)
	maps.Copy(g.engine, other.engine)
	g.unannotated = append(g.unannotated, other.unannotated...)
	g.trains = g.trains || other.trains
	g.tooDeep += other.tooDeep
}
