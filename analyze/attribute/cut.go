package attribute

import (
	"cmp"
	"slices"
	"sort"

	"assay/analyze/hosttree"
	"assay/internal/interval"
	"assay/trace"
)

// A cut divides the walk along the longest thread of the group with more events, so that two
// cores have as much to do: the second part is walked along with the other group. It begins
// with the events that are open then. These are guessed, because they are known only after
// the first part. If the guess was wrong, the second part is walked along again.
type cut struct {
	th            *hosttree.Thread
	at            int64
	before, after *hosttree.Thread
	first, second *walker
	open          []hosttree.Frame // at the cut, as the second part has it
	left          []hosttree.Frame // at the cut, as the first part left it
	shapes        bool             // are asked for

	// Of the second part.
	questions       [][]question
	unasked         []interval.Span
	peaks, launches []int32
}

// leastCut is how many events the second part must have to be worth its tables.
const leastCut = 1 << 15

// cutOf cuts a thread, or returns nil if that would gain nothing. The walkers of the main
// threads are given and must not have begun.
func (a *Attribution) cutOf(mains, others []*hosttree.Thread, walkers []*walker, asked Asked) *cut {
	inMains, longestMain := events(mains)
	inOthers, longestOther := events(others)
	second, longest := (inMains-inOthers)/2, longestMain
	if second < 0 {
		second, longest = -second, longestOther
	}
	if longest == nil || second < cmp.Or(asked.LeastCut, leastCut) || second >= longest.Len() {
		return nil
	}
	c := &cut{th: longest, shapes: asked.Shapes, at: longest.Quantile(1 - float64(second)/float64(longest.Len()))}
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

// events returns how many events threads have, and the longest of them.
func events(threads []*hosttree.Thread) (n int, longest *hosttree.Thread) {
	for _, th := range threads {
		if n += th.Len(); longest == nil || th.Len() > longest.Len() {
			longest = th
		}
	}
	return n, longest
}

// of reports whether a thread is cut.
func (c *cut) of(th *hosttree.Thread) bool { return c != nil && c.th == th }

// ofMain reports whether a main thread is cut.
func (c *cut) ofMain() bool { return c != nil && c.first.main }

// ofOther reports whether another thread is cut.
func (c *cut) ofOther() bool { return c != nil && !c.first.main }

// divide leaves to the first walker what concerns the time before the cut.
func (c *cut) divide() {
	w := c.first
	w.until = c.at
	starts := func(list []int32, of func(int32) int64) int {
		return sort.Search(len(list), func(i int) bool { return of(list[i]) >= c.at })
	}
	n := starts(w.peaks, func(i int32) int64 { return w.memories.atPeaks[i].Start })
	w.peaks, c.peaks = w.peaks[:n], w.peaks[n:]
	w.changes = w.peaks
	n = starts(w.launches, w.Links.Start)
	c.launches = w.launches[n:]
	w.ask(w.launches[:n])
	c.unasked = w.record.unasked
	if w.questions == nil {
		return
	}
	c.questions = make([][]question, len(w.questions.lists))
	for i, list := range w.questions.lists {
		n := sort.Search(len(list), func(i int) bool { return list[i].span.Start >= c.at })
		if n > 0 && list[n-1].span.End > c.at { // one question of a device at a time
			rest := list[n-1]
			rest.span.Start, list[n-1].span.End = c.at, c.at
			c.questions[i] = append(c.questions[i], rest)
		}
		c.questions[i] = append(c.questions[i], list[n:]...)
		w.questions.lists[i] = list[:n]
	}
	w.idle.asked[w.track] = w.questions.lists
	w.questions.begin()
}

// walkFirst walks along the first part.
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
		g.idle.asked[track] = slices.Clone(c.questions)
	}
	w := a.walkerOf(g, track)
	w.main, w.from, w.peaks, w.changes = c.first.main, c.at, c.peaks, c.peaks
	w.record.unasked = c.unasked
	w.ask(c.launches)
	c.second = w
}

// walkSecond walks along the second part, where some events are open.
func (c *cut) walkSecond(open []hosttree.Frame) {
	w := c.second
	c.open = open
	w.tooDeep += hosttree.WalkFrom(c.after, w, c.at, open)
	w.idle.unanswered(w.track)
}

// guess returns what is probably open at the cut.
func (c *cut) guess() []hosttree.Frame { return c.before.OpenAt(c.at) }

// finish takes what the second part asked and recorded, once both were walked along.
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
	for track, lists := range c.second.idle.asked { // of main threads
		for _, list := range lists {
			for _, q := range list {
				c.first.Attribution.idle.ask(track, q)
			}
		}
	}
	clear(c.second.idle.asked)
}

// suspend adds up the time until now of the last event of the stack, which is still open.
func (w *walker) suspend(stack []hosttree.Open[open]) {
	top := &stack[len(stack)-1]
	w.passOn(stack)
	switch top.Kind {
	case trace.CPUOp:
		w.ops.suspend(&top.Frame, &top.Data)
	case trace.Python:
		w.runOf(stack).open--
	case trace.Annotation:
		w.notes.of(top.Name).open--
	}
}

// Resume opens an event again that was counted where it began.
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
		w.notes.of(top.Name).open++
	}
}
