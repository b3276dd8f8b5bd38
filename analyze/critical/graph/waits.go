package graph

import (
	"cmp"
	"slices"

	"assay/internal/lazyregexp"
	"assay/trace"
)

var (
	waiting   = lazyregexp.New(`^(cuda|hip|cu)StreamWaitEvent`)
	recording = lazyregexp.New(`^(cuda|hip|cu)EventRecord`)
)

// findWaits reads the records of synchronization, and returns the works that may have waited for
// an event.
func (b *builder) findWaits() map[int32]bool {
	b.syncs = make(map[trace.ID]*trace.SyncRecord)
	for x := range b.src.T.Syncs.All() {
		b.syncs[x.Correlation] = x
	}
	waited := make(map[int32]bool)
	for _, w := range b.waits {
		x := &b.src.Spans[w]
		list := b.byThread[x.Thread]
		if i := before(list, x.Start); i < len(list) {
			waited[list[i].v] = true
		}
		if r := b.syncs[x.corr]; resolved(r) {
			if n, ok := b.waitingStream(r); ok {
				if i := before(b.byLaunch[n], x.Start); i < len(b.byLaunch[n]) {
					waited[b.byLaunch[n][i].v] = true
				}
			}
		}
	}
	return waited
}

// resolved reports whether a record tells the stream that is waited for. Without the record of
// the event, the time of the call stands for it.
func resolved(r *trace.SyncRecord) bool { return r != nil && r.WaitsOn >= 0 }

// waitingStream returns the stream that waits.
func (b *builder) waitingStream(r *trace.SyncRecord) (int32, bool) {
	track := &b.src.T.Tracks[r.Track]
	n, ok := b.streamOf[[2]int64{track.Device, track.Stream}]
	return n, ok
}

// source returns the last work that was launched before the event that a record waits for, or
// none. at stands for the time of the event if its record is missing.
func (b *builder) sourceOf(r *trace.SyncRecord, at int64) int32 {
	n, ok := b.streamOf[[2]int64{b.src.T.Tracks[r.Track].Device, r.WaitsOn}]
	if !ok {
		return None
	}
	if rec, ok := b.records[r.Record]; ok && r.Record != 0 {
		at = b.src.Spans[rec].Start
	}
	return b.lastLaunched(n, at)
}

// addWaits links works to those that they waited for on other streams.
func (b *builder) addWaits() {
	unknown := make(map[int32][]int32)
	var threads []int32
	for _, w := range b.waits {
		x := &b.src.Spans[w]
		r := b.syncs[x.corr]
		if resolved(r) {
			n, ok := b.waitingStream(r)
			if !ok {
				continue
			}
			i, src := before(b.byLaunch[n], x.Start), b.sourceOf(r, x.Start)
			if i < len(b.byLaunch[n]) && src != None {
				b.link(src, b.byLaunch[n][i].v, b.typical.Gap, Event)
				b.Counts.Events++
			}
		} else if r != nil && r.WaitsOn == trace.WaitsOnNothing {
			continue
		} else if len(b.syncs) == 0 || r != nil { // where waits are recorded, one without a record is a no-op
			if unknown[x.Thread] == nil {
				threads = append(threads, x.Thread)
			}
			unknown[x.Thread] = append(unknown[x.Thread], w)
		}
	}
	slices.Sort(threads)
	for _, th := range threads {
		b.inferWaits(th, unknown[th])
	}
	busy := 0
	for _, vs := range b.Streams {
		if len(vs) > 2 {
			busy++
		}
	}
	b.Counts.UnorderedStreams = busy > 1 && len(b.waits) == 0 && b.Counts.Events+b.Counts.Inferred == 0
}

// inferWaits pairs the waits of a thread that have no record with the thread's event records.
func (b *builder) inferWaits(th int32, waits []int32) {
	spans, list := b.src.Spans, b.byThread[th]
	type call struct {
		x    *Span
		wait bool
	}
	var calls []call
	for _, w := range waits {
		calls = append(calls, call{&spans[w], true})
	}
	isRecord := Named(b.src.T, recording().MatchString)
	for i := b.threads[th].from; i < b.threads[th].to; i++ {
		if x := &spans[i]; isRecord(x.Name) && b.records[x.corr] == i {
			calls = append(calls, call{x, false})
		}
	}
	slices.SortStableFunc(calls, func(x, y call) int {
		if c := cmp.Compare(x.x.Start, y.x.Start); c != 0 || x.wait == y.wait {
			return c
		} else if y.wait {
			return -1
		}
		return 1
	})
	type side struct{ stream, step int32 }
	type pairing struct {
		side
		dst int32
	}
	type pair struct{ src, dst int32 }
	records, alone := make(map[side][]int32), make(map[pairing][]pair)
	var keys []pairing
	pending, parent, last := None, None, -1
	for _, c := range calls {
		i := before(list, c.x.Start) // the thread's next launch
		step := int32(b.stepsBefore(c.x.Start))
		if i != last {
			pending, last = None, i
		}
		if !c.wait {
			if i > 0 { // an event is taken to be recorded on the stream used last
				pending, parent = list[i-1].v, c.x.Parent
				key := side{b.streamOfWork(pending), step}
				records[key] = append(records[key], pending)
			}
			continue
		}
		if i == len(list) {
			continue
		}
		dst := list[i].v
		if pending != None && parent == c.x.Parent && b.streamOfWork(pending) != b.streamOfWork(dst) {
			key := side{b.streamOfWork(pending), step}
			if r := records[key]; len(r) > 0 && r[len(r)-1] == pending {
				records[key] = r[:len(r)-1] // recorded and waited for at once
			}
			b.infer(pending, dst)
			continue
		}
		k := i - 1
		for k >= 0 && b.streamOfWork(list[k].v) == b.streamOfWork(dst) {
			k--
		}
		if k >= 0 {
			key := pairing{side{b.streamOfWork(list[k].v), step}, b.streamOfWork(dst)}
			if alone[key] == nil {
				keys = append(keys, key)
			}
			alone[key] = append(alone[key], pair{list[k].v, dst})
		}
	}
	for _, key := range keys { // about as many records as waits: in order; else the latest work
		ws, rs := alone[key], records[key.side]
		inOrder := len(ws) <= len(rs) && float64(len(rs)) <= 1.2*float64(len(ws))+1
		for i, w := range ws {
			src := w.src
			if inOrder {
				src = rs[i]
			}
			b.infer(src, w.dst)
		}
	}
}

// farBack is how many works are tried at most as the source of an inferred edge.
const farBack = 4096

// infer links dst to src, or to the latest work before src on its stream that ended in time.
func (b *builder) infer(src, dst int32) {
	list := b.byLaunch[b.streamOfWork(src)]
	k, _ := slices.BinarySearchFunc(list, started{b.launchStart(src), src}, started.compare)
	for lowest := k - farBack; k >= 0 && b.End(list[k].v) > b.Start[dst]; k-- {
		if k == lowest {
			return
		}
	}
	if k >= 0 && list[k].v != b.Nodes[dst].Pred {
		b.link(list[k].v, dst, b.typical.Gap, EventGuess)
		b.Counts.Inferred++
	}
}

// addLate links works that start late for no known reason to work on another stream that ended
// just before.
func (b *builder) addLate() {
	if len(b.Streams) < 2 {
		return
	}
	last := int32(len(b.Nodes))
	for v := b.first; v < last; v++ {
		n := &b.Nodes[v]
		graph := n.Flags&IsGraph != 0
		limit := int64(Jitter)
		if graph {
			limit = tight
		}
		if !graph && len(b.waits) == 0 || b.unexplained(v) <= limit {
			continue
		}
		ends := b.ends()
		i := before(ends, b.Start[v]+1) - 1
		for lowest := max(0, i-farBack); i >= lowest && ends[i].at >= b.Start[v]-tight; i-- {
			u := ends[i].v
			from, to := b.streamOfWork(u), b.streamOfWork(v)
			if u == v || from == to || b.keys[from][0] != b.keys[to][0] || b.launchStart(u) > b.launchStart(v) {
				continue
			}
			if graph && b.LaunchOf(u) == b.LaunchOf(v) || !graph {
				b.link(u, v, b.typical.Gap, EventGuess)
				b.Counts.Inferred++
				break
			}
		}
	}
}

// unexplained returns by how much a work starts later than its edges explain.
func (b *builder) unexplained(v int32) int64 {
	n := &b.Nodes[v]
	if n.Pred == None && n.First == None {
		return 0
	}
	at := int64(-1 << 62)
	if n.Pred != None {
		at = b.End(n.Pred) + b.Typ(v)
	}
	for e := n.First; e != None; e = b.Extra[e].Next {
		x := &b.Extra[e]
		at = max(at, b.From(x.Src, x.Kind)+x.Typ)
	}
	return b.Start[v] - at
}
