package graph

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/runsort"
	"assay/trace"
)

var (
	blocking = lazyregexp.New(`^(?:cuda|hip|cu)(Device|Ctx|Stream|Event|Context)Synchronize`)
	freeing  = lazyregexp.New(`^(cuda|hip|cu)(Free|HostFree|FreeHost|MemFree)`) // waits for the device; malloc does not
	copying  = lazyregexp.New(`(?i)^(cuda|hip|cu)Memcpy`)
	async    = lazyregexp.New(`(?i)^(cuda|hip|cu)MemcpyAsync`)
)

// A job is a call that may wait for work.
type job struct {
	call    int32
	targets []int32
	kind    Kind // staged: the call returns while its only target, a copy, runs
	told    bool // the work is what a record names
}

// addBlocking divides calls that wait for work into an own part and a join at their end.
func (b *builder) addBlocking() {
	jobs := b.jobs()
	own := make(map[trace.Sym][]int64)
	var returns []int64
	for _, j := range jobs {
		x, last := &b.src.Spans[j.call], int64(-1)
		for _, u := range j.targets {
			last = max(last, b.End(u))
		}
		switch {
		case len(j.targets) == 0 || j.kind == Staged:
		case last < x.Start:
			own[x.Name] = append(own[x.Name], x.End-x.Start)
		case last <= x.End:
			returns = append(returns, x.End-last)
		}
	}
	b.typical.Return = min(TypicalOf(returns, defaultReturn), returnMost)
	b.stagingDelay(jobs)
	for _, j := range jobs {
		b.block(j, TypicalOf(own[b.src.Spans[j.call].Name], Us))
	}
}

// stagingDelay finds how long the calls of copies from pageable memory take until the copy begins, if its stream
// is idle: the first part goes to memory of the driver.
func (b *builder) stagingDelay(jobs []job) {
	var delays []int64
	for _, j := range jobs {
		if j.kind != Staged {
			continue
		}
		v, call := j.targets[0], &b.src.Spans[j.call]
		if before := b.Nodes[v].Pred; before == None || b.End(before) < call.Start {
			delays = append(delays, b.Start[v]-call.Start)
		}
	}
	b.typical.Staging = TypicalOf(delays, 0)
}

// block divides one call. usual is what calls of its name take that need not wait.
func (b *builder) block(j job, usual int64) {
	x := &b.src.Spans[j.call]
	v := x.first
	s, e := b.Start[v], b.End(v)
	late := int64(Us)
	if j.told { // the clocks of host and GPU may differ by some µs
		late = Jitter
	}
	targets := j.targets
	if j.kind != Staged {
		targets = slices.DeleteFunc(targets, func(u int32) bool { return b.End(u) > e+late })
	}
	if len(targets) == 0 || b.Nodes[v].Flags&(Blocks|IsJoin|IsArrival) != 0 || x.kids {
		return
	}
	last, typ := int64(-1<<62), b.typical.Return
	for _, u := range targets {
		if last = max(last, b.End(u)); j.kind == Staged {
			last, typ = b.Start[u], e-b.Start[u]
		}
	}
	ownEnd := e
	if last > s {
		ownEnd = min(last, s+usual)
		b.Counts.Blocked++
	}
	if b.Counts.Blocking++; j.kind == Staged {
		b.Counts.Staged++
	}
	b.Dur[v] = ownEnd - s
	b.Nodes[v].Flags |= Blocks
	join := b.add(e, e, Runtime, j.call, v, IsJoin)
	for _, u := range targets {
		b.link(u, join, typ, j.kind)
	}
	b.move(v, join)
}

// jobs returns the calls that wait for work, or could, with the work.
func (b *builder) jobs() (out []job) {
	t, spans := b.src.T, b.src.Spans
	kindOf := make(map[trace.Sym]string)
	isFree := Named(t, freeing().MatchString)
	isCopy := Named(t, func(n string) bool { return copying().MatchString(n) && !async().MatchString(n) })
	for _, call := range b.calling {
		c := &spans[call]
		if c.first == None {
			continue
		}
		what, ok := kindOf[c.Name]
		if !ok {
			if m := blocking().FindStringSubmatch(t.Name(c.Name)); m != nil {
				what = m[1]
			}
			kindOf[c.Name] = what
		}
		if what != "" {
			if j, ok := b.synchronization(call, what); ok {
				out = append(out, j)
			}
			continue
		}
		if c.Call != None && !b.Calls[c.Call].graph {
			v := b.Calls[c.Call].Works[0]
			pageable := strings.Contains(b.Name(v), "Pageable")
			switch {
			case b.Nodes[v].Class != Copy || !pageable && !isCopy(c.Name):
			case b.End(v) <= c.End:
				out = append(out, job{call: call, targets: []int32{v}, kind: Sync})
			case pageable && 2*(c.End-b.Start[v]) > b.Dur[v]: // it returns once the rest is in memory of the driver
				out = append(out, job{call: call, targets: []int32{v}, kind: Staged})
			}
			continue
		} else if c.Call == None && isFree(c.Name) {
			all := b.launchedBefore(c.Start)
			end := int64(-1)
			for _, v := range all {
				end = max(end, b.End(v))
			}
			if end > c.Start && end <= c.End {
				out = append(out, job{call: call, targets: b.lastEnded(all, c.End), kind: Free})
			}
		}
	}
	return out
}

// ends returns the works by their end.
func (b *builder) ends() []started {
	if b.ended == nil {
		b.ended = make([]started, len(b.src.Works))
		for i := range b.ended {
			v := b.first + int32(i)
			b.ended[i] = started{b.End(v), v}
		}
		runsort.Sort(b.ended, started.compare)
	}
	return b.ended
}

// launchedBefore returns the last work of each stream whose launch starts before t. If there are
// many streams, only the latest launches are looked at.
func (b *builder) launchedBefore(t int64) (out []int32) {
	if len(b.Streams) > mostTargets {
		seen := make(map[int32]bool)
		n := before(b.launched, t)
		for i := n - 1; i >= max(0, n-mostLaunches) && len(out) < 2*mostTargets; i-- {
			v := b.launched[i].v
			if s := b.streamOfWork(v); !seen[s] {
				seen[s] = true
				out = append(out, v)
			}
		}
		return out
	}
	for n := range b.Streams {
		if v := b.lastLaunched(int32(n), t); v != None {
			out = append(out, v)
		}
	}
	return out
}

const (
	mostTargets  = 32  // works that one call waits for at most; programs use fewer streams
	mostLaunches = 512 // launches that are looked at for them, if there are more streams
)

// lastEnded returns the works that ended last, if there are many, of those that had ended by the
// end of a call.
func (b *builder) lastEnded(all []int32, by int64) []int32 {
	if len(all) <= mostTargets {
		return all
	}
	all = slices.DeleteFunc(all, func(v int32) bool { return b.End(v) > by+Us })
	slices.SortStableFunc(all, func(x, y int32) int { return cmp.Compare(b.End(y), b.End(x)) })
	return slices.Clone(all[:min(len(all), mostTargets)])
}

// synchronization returns what a call of a name such as cudaStreamSynchronize waits for.
func (b *builder) synchronization(call int32, what string) (job, bool) {
	c := &b.src.Spans[call]
	r := b.syncs[c.corr]
	if c.corr == 0 {
		r = nil
	}
	if r != nil && r.WaitsOn == trace.WaitsOnNothing {
		return job{}, false
	}
	all := b.lastEnded(b.launchedBefore(c.Start), c.End)
	if what == "Device" || what == "Ctx" || what == "Context" {
		if r != nil {
			device := b.src.T.Tracks[r.Track].Device
			all = slices.DeleteFunc(all, func(v int32) bool { return b.keys[b.streamOfWork(v)][0] != device })
		}
		return job{call: call, targets: all, kind: Sync}, true
	}
	if r != nil && strings.HasPrefix(b.src.T.Name(r.Name), "Stream") {
		if n, ok := b.waitingStream(r); ok {
			all = slices.DeleteFunc(all, func(v int32) bool { return b.streamOfWork(v) != n })
			return job{call, all, Sync, true}, true
		}
	}
	if resolved(r) {
		j := job{call: call, kind: Sync, told: true}
		if v := b.sourceOf(r, c.Start); v != None {
			j.targets = []int32{v}
		}
		return j, true
	}
	pick := None
	list := b.byThread[c.Thread]
	if i := before(list, c.Start); i > 0 && what == "Stream" { // the stream that the thread used last
		pick = b.lastLaunched(b.streamOfWork(list[i-1].v), c.Start)
		if pick != None && b.End(pick) > c.End+Us {
			pick = None
		}
	}
	if pick == None { // the work that ended last within the call
		for _, v := range all {
			end := b.End(v)
			if end >= c.Start && end <= c.End && (pick == None || end > b.End(pick)) {
				pick = v
			}
		}
		ends := b.ends()
		k := before(ends, c.End+1) - 1
		if pick == None && what == "Event" && k >= 0 && ends[k].at >= c.Start && b.launchStart(ends[k].v) < c.Start {
			pick = ends[k].v
		}
	}
	return job{call: call, targets: []int32{pick}, kind: SyncGuess}, pick != None
}

// addQueues finds launch calls that blocked because the queue of their stream was full: the call
// returns when the work as many launches earlier as the queue has room for starts.
func (b *builder) addQueues() {
	for n, list := range b.byLaunch {
		if len(list) <= queueLong {
			continue
		}
		works := b.Streams[n]
		starts := make([]int64, len(works))
		for i, v := range works {
			starts[i] = b.Start[v]
		}
		slices.Sort(starts)
		depth, calls, took := make([]int64, len(list)), make([]*Span, len(list)), make([]int64, 0, len(list))
		deepest, running := int64(0), 0 // of those that are deep enough; works that have started by the end of a call
		for i, x := range list {
			l := b.LaunchOf(x.v)
			if l == nil {
				continue
			}
			c := &b.src.Spans[l.Span]
			calls[i] = c
			for running < len(starts) && starts[running] <= c.End {
				running++
			}
			for running > 0 && starts[running-1] > c.End {
				running--
			}
			if depth[i] = int64(i - running); depth[i] >= queueLong {
				deepest = max(deepest, depth[i])
			}
			took = append(took, c.End-c.Start)
		}
		if deepest == 0 {
			continue
		}
		usual := TypicalOf(took, 5*Us)
		long := func(c *Span) bool { return c.End-c.Start > max(4*usual, 20*Us) }
		var full []int64
		for i, c := range calls {
			if c != nil && long(c) && float64(depth[i]) >= max(queueLong, 0.97*float64(deepest)) {
				full = append(full, depth[i])
			}
		}
		if len(full) < 3 {
			continue
		}
		size := int(TypicalOf(full, 0))
		for i := len(calls) - 1; i > size; i-- { // of the works of a graph, the last needs room too
			c, u := calls[i], works[i-size-1]
			if c == nil || b.Nodes[c.first].Flags&(Blocks|IsJoin|IsArrival) != 0 || b.Start[u] > c.End {
				continue
			}
			v := c.first
			if long(c) && b.Start[u] > c.Start {
				b.Dur[v] = min(b.Dur[v], usual)
			}
			if _, ok := b.moved[v]; !ok {
				join := b.add(c.End, c.End, Runtime, b.Nodes[v].Owner, v, IsJoin)
				b.link(u, join, 0, Queue)
				b.move(v, join)
			}
		}
	}
}

// move notes that what follows v is to follow its join.
func (b *builder) move(v, join int32) {
	b.moved[v] = join
	b.Nodes[v].Flags |= isMoved
}

// addMoves lets what follows a call that blocks follow its join. Its work is launched by its own part.
func (b *builder) addMoves() {
	if len(b.moved) == 0 {
		return
	}
	isMoved := func(v int32) bool { return v != None && b.Nodes[v].Flags&isMoved != 0 }
	for v := range b.Nodes {
		n := &b.Nodes[v]
		if n.Flags&IsGPU == 0 && isMoved(n.Pred) && int32(v) != b.moved[n.Pred] {
			n.Pred = b.moved[n.Pred]
		}
		for e := n.First; e != None; e = b.Extra[e].Next {
			x := &b.Extra[e]
			switch {
			case !isMoved(x.Src):
			case x.Kind == Launch:
				x.Typ = max(0, b.Dur[x.Src]+b.typical.Launch)
				if e := b.Nodes[b.moved[x.Src]].First; e != None && b.Extra[e].Kind == Staged {
					x.Typ = max(x.Typ, b.typical.Staging)
				}
			case x.Kind == Handoff && int32(v) != b.moved[x.Src]:
				x.Src = b.moved[x.Src]
			}
		}
	}
}
