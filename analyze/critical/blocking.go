package critical

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
	kind    kind // staged: the call returns while its only target, a copy, runs
	told    bool // the work is what a record names
}

// addBlocking divides calls that wait for work into an own part and a join at their end.
func (b *builder) addBlocking() {
	jobs := b.jobs()
	own := make(map[trace.Sym][]int64)
	var returns []int64
	for _, j := range jobs {
		x, last := &b.src.spans[j.call], int64(-1)
		for _, u := range j.targets {
			last = max(last, b.end(u))
		}
		switch {
		case len(j.targets) == 0 || j.kind == staged:
		case last < x.start:
			own[x.name] = append(own[x.name], x.end-x.start)
		case last <= x.end:
			returns = append(returns, x.end-last)
		}
	}
	b.typical.Return = min(typicalOf(returns, defaultReturn), returnMost)
	b.stagingDelay(jobs)
	for _, j := range jobs {
		b.block(j, typicalOf(own[b.src.spans[j.call].name], us))
	}
}

// stagingDelay finds how long the calls of copies from pageable memory take until the copy begins, if its stream
// is idle: the first part goes to memory of the driver.
func (b *builder) stagingDelay(jobs []job) {
	var delays []int64
	for _, j := range jobs {
		if j.kind != staged {
			continue
		}
		v, call := j.targets[0], &b.src.spans[j.call]
		if before := b.nodes[v].pred; before == none || b.end(before) < call.start {
			delays = append(delays, b.start[v]-call.start)
		}
	}
	b.typical.Staging = typicalOf(delays, 0)
}

// block divides one call. usual is what calls of its name take that need not wait.
func (b *builder) block(j job, usual int64) {
	x := &b.src.spans[j.call]
	v := x.first
	s, e := b.start[v], b.end(v)
	late := int64(us)
	if j.told { // the clocks of host and GPU may differ by some µs
		late = jitter
	}
	targets := j.targets
	if j.kind != staged {
		targets = slices.DeleteFunc(targets, func(u int32) bool { return b.end(u) > e+late })
	}
	if len(targets) == 0 || b.nodes[v].flags&(blocks|isJoin|isArrival) != 0 || x.kids {
		return
	}
	last, typ := int64(-1<<62), b.typical.Return
	for _, u := range targets {
		if last = max(last, b.end(u)); j.kind == staged {
			last, typ = b.start[u], e-b.start[u]
		}
	}
	ownEnd := e
	if last > s {
		ownEnd = min(last, s+usual)
		b.Counts.Blocked++
	}
	if b.Counts.Blocking++; j.kind == staged {
		b.Counts.Staged++
	}
	b.dur[v] = ownEnd - s
	b.nodes[v].flags |= blocks
	join := b.add(e, e, Runtime, j.call, v, isJoin)
	for _, u := range targets {
		b.link(u, join, typ, j.kind)
	}
	b.move(v, join)
}

// jobs returns the calls that wait for work, or could, with the work.
func (b *builder) jobs() (out []job) {
	t, spans := b.src.t, b.src.spans
	kindOf := make(map[trace.Sym]string)
	isFree := named(t, freeing().MatchString)
	isCopy := named(t, func(n string) bool { return copying().MatchString(n) && !async().MatchString(n) })
	for _, call := range b.calling {
		c := &spans[call]
		if c.first == none {
			continue
		}
		what, ok := kindOf[c.name]
		if !ok {
			if m := blocking().FindStringSubmatch(t.Name(c.name)); m != nil {
				what = m[1]
			}
			kindOf[c.name] = what
		}
		if what != "" {
			if j, ok := b.synchronization(call, what); ok {
				out = append(out, j)
			}
			continue
		}
		if c.call != none && !b.calls[c.call].graph {
			v := b.calls[c.call].works[0]
			pageable := strings.Contains(b.name(v), "Pageable")
			switch {
			case b.nodes[v].class != Copy || !pageable && !isCopy(c.name):
			case b.end(v) <= c.end:
				out = append(out, job{call: call, targets: []int32{v}, kind: sync})
			case pageable && 2*(c.end-b.start[v]) > b.dur[v]: // it returns once the rest is in memory of the driver
				out = append(out, job{call: call, targets: []int32{v}, kind: staged})
			}
			continue
		} else if c.call == none && isFree(c.name) {
			all := b.launchedBefore(c.start)
			end := int64(-1)
			for _, v := range all {
				end = max(end, b.end(v))
			}
			if end > c.start && end <= c.end {
				out = append(out, job{call: call, targets: b.lastEnded(all, c.end), kind: free})
			}
		}
	}
	return out
}

// ends returns the works by their end.
func (b *builder) ends() []started {
	if b.ended == nil {
		b.ended = make([]started, len(b.src.works))
		for i := range b.ended {
			v := b.first + int32(i)
			b.ended[i] = started{b.end(v), v}
		}
		runsort.Sort(b.ended, started.compare)
	}
	return b.ended
}

// launchedBefore returns the last work of each stream whose launch starts before t. If there are
// many streams, only the latest launches are looked at.
func (b *builder) launchedBefore(t int64) (out []int32) {
	if len(b.streams) > mostTargets {
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
	for n := range b.streams {
		if v := b.lastLaunched(int32(n), t); v != none {
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
	all = slices.DeleteFunc(all, func(v int32) bool { return b.end(v) > by+us })
	slices.SortStableFunc(all, func(x, y int32) int { return cmp.Compare(b.end(y), b.end(x)) })
	return slices.Clone(all[:min(len(all), mostTargets)])
}

// synchronization returns what a call of a name such as cudaStreamSynchronize waits for.
func (b *builder) synchronization(call int32, what string) (job, bool) {
	c := &b.src.spans[call]
	r := b.syncs[c.corr]
	if c.corr == 0 {
		r = nil
	}
	if r != nil && r.WaitsOn == trace.WaitsOnNothing {
		return job{}, false
	}
	all := b.lastEnded(b.launchedBefore(c.start), c.end)
	if what == "Device" || what == "Ctx" || what == "Context" {
		if r != nil {
			device := b.src.t.Tracks[r.Track].Device
			all = slices.DeleteFunc(all, func(v int32) bool { return b.keys[b.streamOfWork(v)][0] != device })
		}
		return job{call: call, targets: all, kind: sync}, true
	}
	if r != nil && strings.HasPrefix(b.src.t.Name(r.Name), "Stream") {
		if n, ok := b.waitingStream(r); ok {
			all = slices.DeleteFunc(all, func(v int32) bool { return b.streamOfWork(v) != n })
			return job{call, all, sync, true}, true
		}
	}
	if resolved(r) {
		j := job{call: call, kind: sync, told: true}
		if v := b.sourceOf(r, c.start); v != none {
			j.targets = []int32{v}
		}
		return j, true
	}
	pick := none
	list := b.byThread[c.thread]
	if i := before(list, c.start); i > 0 && what == "Stream" { // the stream that the thread used last
		pick = b.lastLaunched(b.streamOfWork(list[i-1].v), c.start)
		if pick != none && b.end(pick) > c.end+us {
			pick = none
		}
	}
	if pick == none { // the work that ended last within the call
		for _, v := range all {
			end := b.end(v)
			if end >= c.start && end <= c.end && (pick == none || end > b.end(pick)) {
				pick = v
			}
		}
		ends := b.ends()
		k := before(ends, c.end+1) - 1
		if pick == none && what == "Event" && k >= 0 && ends[k].at >= c.start && b.launchStart(ends[k].v) < c.start {
			pick = ends[k].v
		}
	}
	return job{call: call, targets: []int32{pick}, kind: syncGuess}, pick != none
}

// addQueues finds launch calls that blocked because the queue of their stream was full: the call
// returns when the work as many launches earlier as the queue has room for starts.
func (b *builder) addQueues() {
	for n, list := range b.byLaunch {
		if len(list) <= queueLong {
			continue
		}
		works := b.streams[n]
		starts := make([]int64, len(works))
		for i, v := range works {
			starts[i] = b.start[v]
		}
		slices.Sort(starts)
		depth, calls, took := make([]int64, len(list)), make([]*span, len(list)), make([]int64, 0, len(list))
		deepest, running := int64(0), 0 // of those that are deep enough; works that have started by the end of a call
		for i, x := range list {
			l := b.launchOf(x.v)
			if l == nil {
				continue
			}
			c := &b.src.spans[l.span]
			calls[i] = c
			for running < len(starts) && starts[running] <= c.end {
				running++
			}
			for running > 0 && starts[running-1] > c.end {
				running--
			}
			if depth[i] = int64(i - running); depth[i] >= queueLong {
				deepest = max(deepest, depth[i])
			}
			took = append(took, c.end-c.start)
		}
		if deepest == 0 {
			continue
		}
		usual := typicalOf(took, 5*us)
		long := func(c *span) bool { return c.end-c.start > max(4*usual, 20*us) }
		var full []int64
		for i, c := range calls {
			if c != nil && long(c) && float64(depth[i]) >= max(queueLong, 0.97*float64(deepest)) {
				full = append(full, depth[i])
			}
		}
		if len(full) < 3 {
			continue
		}
		size := int(typicalOf(full, 0))
		for i := len(calls) - 1; i > size; i-- { // of the works of a graph, the last needs room too
			c, u := calls[i], works[i-size-1]
			if c == nil || b.nodes[c.first].flags&(blocks|isJoin|isArrival) != 0 || b.start[u] > c.end {
				continue
			}
			v := c.first
			if long(c) && b.start[u] > c.start {
				b.dur[v] = min(b.dur[v], usual)
			}
			if _, ok := b.moved[v]; !ok {
				join := b.add(c.end, c.end, Runtime, b.nodes[v].owner, v, isJoin)
				b.link(u, join, 0, queue)
				b.move(v, join)
			}
		}
	}
}

// move notes that what follows v is to follow its join.
func (b *builder) move(v, join int32) {
	b.moved[v] = join
	b.nodes[v].flags |= isMoved
}

// addMoves lets what follows a call that blocks follow its join. Its work is launched by its own part.
func (b *builder) addMoves() {
	if len(b.moved) == 0 {
		return
	}
	isMoved := func(v int32) bool { return v != none && b.nodes[v].flags&isMoved != 0 }
	for v := range b.nodes {
		n := &b.nodes[v]
		if n.flags&isGPU == 0 && isMoved(n.pred) && int32(v) != b.moved[n.pred] {
			n.pred = b.moved[n.pred]
		}
		for e := n.first; e != none; e = b.extra[e].next {
			x := &b.extra[e]
			switch {
			case !isMoved(x.src):
			case x.kind == launch:
				x.typ = max(0, b.dur[x.src]+b.typical.Launch)
				if e := b.nodes[b.moved[x.src]].first; e != none && b.extra[e].kind == staged {
					x.typ = max(x.typ, b.typical.Staging)
				}
			case x.kind == handoff && int32(v) != b.moved[x.src]:
				x.src = b.moved[x.src]
			}
		}
	}
}
