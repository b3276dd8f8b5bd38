package attribute

import (
	"cmp"
	"slices"
	"sort"

	"assay/analyze/hosttree"
	"assay/internal/interval"
	"assay/trace"
)

// A cut splits the longest thread of the larger group in two parts, so that both cores have
// about the same number of events: the core of the smaller group walks the second part.
//
// The second part starts with the events that are open at the cut. They are known for certain
// only after the first part, which runs at the same time, so they are guessed from the start
// and end times. If the guess was wrong, the second part is walked again.
type cut struct {
	th            *hosttree.Thread
	at            int64
	before, after *hosttree.Thread
	first, second *walker
	open          []hosttree.Frame // open at the cut, as the second part assumed
	left          []hosttree.Frame // open at the cut, as the first part found
	shapes        bool             // as in Options

	// Input of the second part.
	questions       [][]question
	recordSpans     []interval.Span
	peaks, launches []int32
}

// leastCut is the number of events from which the second part is worth tables of its own.
const leastCut = 1 << 15

// cutOf cuts a thread, or returns nil if that would not save time. The walkers of the main
// threads must not have started.
func (a *Attribution) cutOf(mains, others []*hosttree.Thread, walkers []*walker, opts Options) *cut {
	inMains, longestMain := events(mains)
	inOthers, longestOther := events(others)
	second, longest := (inMains-inOthers)/2, longestMain
	if second < 0 {
		second, longest = -second, longestOther
	}
	if longest == nil || second < cmp.Or(opts.LeastCut, leastCut) || second >= longest.Len() {
		return nil
	}
	c := &cut{th: longest, shapes: opts.Shapes, at: longest.Quantile(1 - float64(second)/float64(longest.Len()))}
	if i := slices.Index(mains, longest); i >= 0 {
		c.first = walkers[i]
	} else {
		c.first = a.walkerOf(a.group, longest.Track)
	}
	c.before, c.after = longest.Cut(c.at)
	longest.Release()
	c.divide()
	c.fork()
	return c
}

// events returns the number of events of some threads, and the thread with the most of them.
func events(threads []*hosttree.Thread) (n int, longest *hosttree.Thread) {
	for _, th := range threads {
		if n += th.Len(); longest == nil || th.Len() > longest.Len() {
			longest = th
		}
	}
	return n, longest
}

// splits reports whether th is the thread that is cut. A nil cut splits no thread.
func (c *cut) splits(th *hosttree.Thread) bool { return c != nil && c.th == th }

// splitsMain reports whether the thread that is cut is a main thread.
func (c *cut) splitsMain() bool { return c != nil && c.first.main }

// splitsOther reports whether the thread that is cut is not a main thread.
func (c *cut) splitsOther() bool { return c != nil && !c.first.main }

// divide moves the launches, allocations and questions after the cut from the first walker to
// the second.
func (c *cut) divide() {
	w := c.first
	w.until = c.at
	starts := func(list []int32, of func(int32) int64) int {
		return sort.Search(len(list), func(i int) bool { return of(list[i]) >= c.at })
	}
	n := starts(w.peaks, func(i int32) int64 { return w.memories.atPeaks[i].Start })
	w.peaks, c.peaks = w.peaks[:n], w.peaks[n:]
	w.pendingPeaks = w.peaks
	n = starts(w.launches, w.Links.Start)
	c.launches = w.launches[n:]
	w.ask(w.launches[:n])
	c.recordSpans = w.record.recordSpans
	if w.questions == nil {
		return
	}
	c.questions = make([][]question, len(w.questions.lists))
	for i, list := range w.questions.lists {
		n := sort.Search(len(list), func(i int) bool { return list[i].span.Start >= c.at })
		if n > 0 && list[n-1].span.End > c.at { // questions of a device do not overlap
			rest := list[n-1]
			rest.span.Start, list[n-1].span.End = c.at, c.at
			c.questions[i] = append(c.questions[i], rest)
		}
		c.questions[i] = append(c.questions[i], list[n:]...)
		w.questions.lists[i] = list[:n]
	}
	w.idle.pending[w.track] = w.questions.lists
	w.questions.begin()
}

// walkFirst walks the first part.
func (c *cut) walkFirst() {
	open, tooDeep := hosttree.WalkUntil(c.before, c.first, c.at)
	c.first.tooDeep += tooDeep
	for _, o := range open {
		c.left = append(c.left, o.Frame)
	}
	for n := len(open); n > 0; n-- {
		c.first.suspend(open[:n])
	}
	if q := c.first.questions; q != nil {
		q.end(c.at)
	}
}

// fork makes the walker of the second part, with tables of its own.
func (c *cut) fork() {
	a, track := c.first.Attribution, c.first.track
	g := newGroup(a.t, c.shapes)
	g.idle = a.idle.fork(nil)
	if c.questions != nil {
		g.idle.pending[track] = slices.Clone(c.questions)
	}
	w := a.walkerOf(g, track)
	w.main, w.from, w.peaks, w.pendingPeaks = c.first.main, c.at, c.peaks, c.peaks
	w.record.recordSpans = c.recordSpans
	w.ask(c.launches)
	c.second = w
}

// walkSecond walks the second part, assuming that the given events are open at the cut.
func (c *cut) walkSecond(open []hosttree.Frame) {
	w := c.second
	c.open = open
	w.tooDeep += hosttree.WalkFrom(c.after, w, c.at, open)
	w.idle.unanswered(w.track)
}

// guess returns the events that are probably open at the cut.
func (c *cut) guess() []hosttree.Frame { return c.before.OpenAt(c.at) }

// finish checks the guess and moves the questions and records of the second part to the
// first. Both parts must have been walked.
func (c *cut) finish() {
	if !slices.Equal(c.open, c.left) {
		c.fork()
		c.walkSecond(c.left)
	}
	c.before.Release()
	c.after.Release()
	for _, r := range c.second.record.list {
		r.doing = c.first.idle.translated(c.second.idle, r.doing)
		c.first.record.list = append(c.first.record.list, r)
	}
	for track, lists := range c.second.idle.pending { // of main threads
		for _, list := range lists {
			for _, q := range list {
				c.first.Attribution.idle.ask(track, q)
			}
		}
	}
	clear(c.second.idle.pending)
}

// suspend adds the time and the work so far of the last event of the stack, which stays open,
// to its tables.
func (w *walker) suspend(stack []hosttree.Open[open]) {
	top := &stack[len(stack)-1]
	w.passOn(stack)
	switch top.Kind {
	case trace.CPUOp:
		w.ops.suspend(&top.Frame, &top.Data)
	case trace.Python:
		w.runOf(stack).open--
	case trace.Annotation:
		w.notes.row(top.Name).open--
	}
}

// Resume opens an event at the start of the second part. The first part has counted it, so it
// does not count again.
func (w *walker) Resume(stack []hosttree.Open[open]) {
	top := &stack[len(stack)-1]
	w.inherit(stack)
	switch top.Kind {
	case trace.CPUOp:
		w.ops.row(top.Name).open++
		w.openOp(stack)
	case trace.Python:
		w.runOf(stack).open++
	case trace.Annotation:
		w.notes.row(top.Name).open++
	}
}
