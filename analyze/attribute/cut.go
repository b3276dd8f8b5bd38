package attribute

import (
	"slices"
	"sort"

	"assay/internal/hosttree"
	"assay/interval"
	"assay/trace"
)

// A cut divides the walk along a main thread that has more events than all others together, so
// that two cores have as much to do. The second part begins with the events that are open
// then. These are guessed, because they are known only after the first part. If the guess was
// wrong, the second part is walked along again.
type cut struct {
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

// cutOf cuts the longest of the main threads, or returns nil if that would gain nothing. The
// walkers must not have begun.
func cutOf(walkers []*walker, mains, others []*hosttree.Thread, least int) *cut {
	longest, rest := -1, 0
	for i, th := range mains {
		if longest < 0 || th.Len() > mains[longest].Len() {
			longest = i
		}
		rest += th.Len()
	}
	for _, th := range others {
		rest += th.Len()
	}
	if longest < 0 {
		return nil
	}
	th := mains[longest]
	rest -= th.Len()
	second := (th.Len() - rest) / 2
	if second < least {
		return nil
	}
	c := &cut{first: walkers[longest], shapes: walkers[longest].ops.last != nil, at: th.Quantile(1 - float64(second)/float64(th.Len()))}
	c.before, c.after = th.Cut(c.at)
	th.Release()
	c.divide()
	return c
}

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

// walkSecond walks along the second part, with tables of its own.
func (c *cut) walkSecond(open []hosttree.Frame) {
	a, track := c.first.Attribution, c.first.track
	g := newGroup(a.t, c.shapes)
	g.idle = a.idle.fork(nil)
	if c.questions != nil {
		g.idle.asked[track] = c.questions
	}
	w := a.walkerOf(g, track)
	w.main, w.peaks, w.changes = true, c.peaks, c.peaks
	w.record.unasked = c.unasked
	w.ask(c.launches)
	c.open, c.second = open, w
	w.tooDeep += hosttree.WalkFrom(c.after, w, c.at, open)
	w.idle.unanswered(track)
}

// finish returns the walker of the second part, once both parts were walked along.
func (c *cut) finish() *walker {
	if !slices.Equal(c.open, c.left) {
		c.walkSecond(c.left)
	}
	c.before.Release()
	c.after.Release()
	for _, r := range c.second.record.list {
		r.doing = c.first.idle.translated(c.second.idle, r.doing)
		c.first.record.list = append(c.first.record.list, r)
	}
	return c.second
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
