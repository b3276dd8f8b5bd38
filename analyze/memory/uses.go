package memory

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/torchprof/memory"
)

// This file finds out what the memory of one moment is for. The frames of a stack tell most of it. What they
// leave open is decided by lifetimes: a gradient of weights outlives the backward pass that made it, a gradient
// of an activation does not, and what is freed in the backward pass was kept for it by the forward pass. Blocks
// from before the history have no frames; where a backward pass shows how many gradients of each size there
// are, sizes tell weights from the optimizer's state. Everything else is not distinguished.

// How an owner was told.
const (
	byFrames    = "frames"
	byLifetime  = "lifetime"
	bySize      = "size"
	byAllocator = "allocator"
)

// notTold returns why nothing tells the owner of an allocation.
func notTold(id memory.StackID) string {
	if id == 0 {
		return summary.NoStack
	}
	return summary.OtherFrames
}

// useOfKind is the owner of memory whose frames alone decide.
var useOfKind = map[string]string{
	summary.KindParameters: summary.UseWeights, summary.KindOptimizer: summary.UseOptimizer,
	summary.KindActivations: summary.UseActivations, summary.KindRecomputed: summary.UseActivations,
	summary.KindKVCache: summary.UseKVCache, summary.KindComm: summary.UseComm, summary.KindData: summary.UseInputs,
	summary.KindWorkspace: summary.UseWorkspaces,
}

// A pass is a part of a training step, as the stacks of allocations tell it.
type pass uint8

const (
	noPass pass = iota // not told: the entry belongs to the pass around it
	forwardPass
	backwardPass
	optimizerPass
)

// uses tells the owners of allocations of one device.
type uses struct {
	r      *replay
	passes []pass  // of the allocation or free of each entry
	until  []int32 // the entry at which the pass of an allocation has ended; the number of entries if it has not
	stacks map[memory.StackID]*precedent
	// gradients is the most gradients of weights of each size that were live at once.
	gradients map[int64]int64
	weights   map[int64]int64 // weights of each size, by frames
	stackless bool            // frees and allocations of the backward pass have no stacks
	trains    bool            // a backward pass frees what a forward pass allocated
	finished  bool            // the history ends between two steps: nothing of a forward pass is live
	stepped   bool            // an optimizer ran, and allocated none of its state
}

// A precedent is what became of the allocations of one stack whose end is known.
type precedent struct{ outlived, within int64 }

func (r *replay) newUses() *uses {
	u := &uses{r: r, stacks: map[memory.StackID]*precedent{}, gradients: map[int64]int64{}, weights: map[int64]int64{}}
	if r.pair == nil {
		return u
	}
	u.findPasses()
	u.findEnds()
	u.learn()
	return u
}

func (u *uses) kind(id memory.StackID) string { return u.r.owners.list[u.r.owners.owner(id)].kind }

// findPasses sets the pass of each entry. The backward pass runs on a thread of its own, on which stacks of Python
// are empty: if entries without a stack free what forward passes allocated, and those below backward do not, they are
// of it.
func (u *uses) findPasses() {
	entries := u.r.d.Entries
	u.passes = make([]pass, len(entries))
	none, some := 0, 0
	for i := range entries {
		e := &entries[i]
		if e.Action != memory.Alloc && e.Action != memory.FreeCompleted {
			continue
		}
		switch u.kind(e.Stack) {
		case summary.KindActivations:
			u.passes[i] = forwardPass
		case summary.KindBackward, summary.KindRecomputed:
			u.passes[i] = backwardPass
		case summary.KindOptimizer:
			u.passes[i] = optimizerPass
		}
		if at := u.r.pair[i]; e.Action == memory.FreeCompleted && at != noPair && u.passes[at] == forwardPass {
			switch {
			case e.Stack == 0:
				none++
			case u.passes[i] == backwardPass:
				u.trains = true
				some++
			}
		}
	}
	if u.stackless = none > some; !u.stackless {
		return
	}
	u.trains = false // a backward pass without stacks allocates without them
	for i := range entries {
		if e := &entries[i]; e.Stack == 0 && (e.Action == memory.Alloc || e.Action == memory.FreeCompleted) {
			u.passes[i] = backwardPass
			u.trains = u.trains || e.Action == memory.Alloc
		}
	}
}

// findEnds sets where the pass of each allocation has ended: at the next allocation of another pass.
func (u *uses) findEnds() {
	n := int32(len(u.passes))
	u.until = make([]int32, n)
	var next [optimizerPass + 1]int32 // the next allocation of each pass
	for i := range next {
		next[i] = n
	}
	for i := n - 1; i >= 0; i-- {
		if u.r.d.Entries[i].Action != memory.Alloc {
			continue
		}
		u.until[i] = n
		for p := forwardPass; p <= optimizerPass; p++ {
			if p != u.passes[i] {
				u.until[i] = min(u.until[i], next[p])
			}
		}
		next[u.passes[i]] = i
	}
}

// outlives reports whether an allocation was live when the pass that made it had ended. It is unknown while neither
// has ended.
func (u *uses) outlives(i int32) (outlived, known bool) {
	end, n := u.end(i), int32(len(u.passes))
	return end > u.until[i] || end == n && u.finished, end < n || u.until[i] < n || u.finished
}

// end returns the entry that frees an allocation, or the number of entries.
func (u *uses) end(i int32) int32 {
	if p := u.r.pair[i]; p != noPair {
		return p
	}
	return int32(len(u.passes))
}

// learn collects the precedents of stacks, and the sizes of gradients and weights.
func (u *uses) learn() {
	live, states := map[int64]int64{}, false
	u.finished = u.endsBetween()
	for i := range u.r.d.Entries {
		e, at := &u.r.d.Entries[i], int32(i)
		if e.Action == memory.FreeCompleted {
			if p := u.r.pair[i]; p != noPair && u.madeGradient(p) {
				live[u.r.d.Entries[p].Size]--
			}
			continue
		}
		if e.Action != memory.Alloc {
			continue
		}
		if u.kind(e.Stack) == summary.KindParameters {
			u.weights[e.Size]++
		}
		outlived, known := u.outlives(at)
		if !known {
			continue
		}
		p := u.stacks[e.Stack]
		if p == nil {
			p = &precedent{}
			u.stacks[e.Stack] = p
		}
		if outlived {
			p.outlived++
		} else {
			p.within++
		}
		if u.passes[i] == optimizerPass {
			u.stepped = u.stepped || !outlived
			states = states || outlived
		}
		if u.madeGradient(at) {
			live[e.Size]++
			u.gradients[e.Size] = max(u.gradients[e.Size], live[e.Size])
		}
	}
	u.stepped = u.stepped && !states
}

// endsBetween reports whether the history ends behind a backward pass: hardly anything that forward passes allocated is
// live at its end.
func (u *uses) endsBetween() bool {
	now, most := int64(0), int64(0)
	for i := range u.r.d.Entries {
		switch e := &u.r.d.Entries[i]; e.Action {
		case memory.Alloc:
			if u.passes[i] == forwardPass {
				now += e.Size
				most = max(most, now)
			}
		case memory.FreeCompleted:
			if at := u.r.pair[i]; at != noPair && u.passes[at] == forwardPass {
				now -= u.r.d.Entries[at].Size
			}
		case memory.OutOfMemory:
			return false
		}
	}
	return u.trains && now < most/100
}

// madeGradient reports whether an allocation is a gradient of weights by its lifetime.
func (u *uses) madeGradient(i int32) bool {
	if u.passes[i] != backwardPass {
		return false
	}
	outlived, known := u.outlives(i)
	return known && outlived
}

// of returns the owner of a live allocation and what tells it.
func (u *uses) of(i int32) (owner, by string) {
	e := &u.r.d.Entries[i]
	kind := u.kind(e.Stack)
	outlived, known := u.outlives(i)
	switch {
	case kind == summary.KindWorkspace:
		return summary.UseWorkspaces, byFrames
	case u.passes[i] == backwardPass:
		return u.ofBackward(i, outlived, known, kind == summary.KindRecomputed)
	case kind == summary.KindOptimizer:
		if known && !outlived || u.always(e.Stack, false) {
			return summary.UseWorkspaces, byLifetime
		}
		return summary.UseOptimizer, byFrames
	case kind == summary.KindActivations && u.trains && u.keptPast(i):
		if isWorkspace(e.Size) {
			return summary.UseWorkspaces, bySize
		}
		return summary.UseKept, byLifetime
	case kind == summary.KindOther:
		if u.freedInBackward(i) {
			return summary.UseActivations, byLifetime
		}
	default:
		if owner := useOfKind[kind]; owner != "" {
			return owner, byFrames
		}
	}
	return summary.UseUnknown, notTold(e.Stack)
}

// always reports whether all allocations of a stack whose end is known did, or did not, outlive their pass.
func (u *uses) always(id memory.StackID, outlived bool) bool {
	p := u.stacks[id]
	if p == nil || id == 0 {
		return false
	}
	return outlived && p.within == 0 || !outlived && p.outlived == 0
}

// ofBackward tells gradients of weights from gradients of activations.
func (u *uses) ofBackward(i int32, outlived, known, recomputed bool) (owner, by string) {
	e := &u.r.d.Entries[i]
	_, gradient := u.gradients[e.Size]
	_, weight := u.weights[e.Size]
	switch {
	case known && outlived, !known && !recomputed && u.always(e.Stack, true):
		return summary.UseGradients, byLifetime
	case recomputed:
		return summary.UseActivations, byFrames
	case known, u.always(e.Stack, false):
		return summary.UseActivationGradients, byLifetime
	case gradient || weight:
		return summary.UseGradients, bySize
	case len(u.gradients)+len(u.weights) > 0:
		return summary.UseActivationGradients, bySize
	}
	return summary.UseUnknown, notTold(e.Stack)
}

// keptPast reports whether an allocation of a forward pass is live in the forward pass after the next backward pass:
// the next step does not need activations of this one.
func (u *uses) keptPast(i int32) bool {
	end := u.end(i)
	after := u.until[i] // the backward pass
	if after >= end || u.passes[after] != backwardPass {
		return false
	}
	for after < end && u.passes[after] == backwardPass {
		after = u.until[after]
	}
	for after < end && u.passes[after] == optimizerPass {
		after = u.until[after]
	}
	return after < end && after < int32(len(u.passes)) && u.passes[after] == forwardPass
}

// freedInBackward reports whether an allocation, or the earlier ones of its stack, are freed in a backward pass.
func (u *uses) freedInBackward(i int32) bool {
	end := u.end(i)
	return end < int32(len(u.passes)) && u.passes[end] == backwardPass && u.trains
}

// isWorkspace reports whether a size is that of the workspaces of cuBLAS, which PyTorch allocates once for each
// stream: 8.125 MiB, or 32 MiB since Hopper.
func isWorkspace(size int64) bool { return size == 8519680 || size == 32<<20 }

// ofOlder tells the owners of blocks from before the history, which have no frames: n blocks of one size. If they are
// a multiple of the gradients of that size, there is one of the weights for each gradient. Two more for each are the
// state of an optimizer of the kind of Adam. One more can be a momentum or a copy of the weights, such as a reference
// model, so it is not distinguished.
func (u *uses) ofOlder(size, n, times int64) (weights, optimizer int64) {
	g := u.gradients[size]
	switch {
	case g == 0 || n != g*times || u.weights[size] > 0:
		return 0, 0
	case times == 3 && u.stepped:
		return g, n - g
	}
	return g, 0
}

// times returns how many older blocks there are for each gradient, by bytes the most frequent whole number.
func (u *uses) times(older map[int64]int64) (most int64) {
	votes := map[int64]int64{}
	for size, n := range older {
		if g := u.gradients[size]; g > 0 && n%g == 0 {
			votes[n/g] = summary.Plus(votes[n/g], size*n)
		}
	}
	for k, bytes := range votes {
		if most == 0 || cmp.Or(cmp.Compare(bytes, votes[most]), cmp.Compare(most, k)) > 0 {
			most = k
		}
	}
	return most
}

// A useSum sums the memory of one owner.
type useSum struct{ count, bytes int64 }

type useKey struct{ owner, by string }

// sumsAt sums for each owner what is live after an entry.
func (u *uses) sumsAt(entry int32) map[useKey]*useSum {
	sums := map[useKey]*useSum{}
	add := func(owner, by string, count, bytes int64) {
		s := sums[useKey{owner, by}]
		if s == nil {
			s = &useSum{}
			sums[useKey{owner, by}] = s
		}
		s.count, s.bytes = s.count+count, summary.Plus(s.bytes, bytes)
	}
	older := map[int64]int64{}
	for _, b := range u.r.older {
		switch kind := u.kind(b.stack); {
		case b.freed <= entry:
		case b.stack == 0 && b.freed == int32(len(u.passes)):
			older[b.bytes]++
		case b.stack == 0 && u.passes[b.freed] == optimizerPass:
			add(summary.UseOptimizer, byLifetime, 1, b.bytes) // the optimizer replaces its state by new tensors
		case b.stack == 0:
			add(summary.UseUnknown, summary.BeforeHistory, 1, b.bytes)
		case useOfKind[kind] == "":
			add(summary.UseUnknown, summary.OtherFrames, 1, b.bytes)
		default:
			add(useOfKind[kind], byFrames, 1, b.bytes)
		}
	}
	times := u.times(older)
	for size, n := range older {
		w, o := u.ofOlder(size, n, times)
		if w > 0 {
			add(summary.UseWeights, bySize, w, w*size)
		}
		if o > 0 {
			add(summary.UseOptimizer, bySize, o, o*size)
		}
		if w+o < n {
			add(summary.UseUnknown, summary.BeforeHistory, n-w-o, (n-w-o)*size)
		}
	}
	for i := int32(0); i <= entry; i++ {
		e := &u.r.d.Entries[i]
		if e.Action == memory.Alloc && u.end(i) > entry {
			owner, by := u.of(i)
			add(owner, by, 1, e.Size)
		}
	}
	return sums
}

// rowsOf returns the rows of sums, and those of the memory that no tensor has.
func (u *uses) rowsOf(row *summary.Snapshot, sums map[useKey]*useSum, f free) (out []summary.MemoryUse) {
	put := func(owner, by string, count, bytes int64) {
		if bytes > 0 {
			out = append(out, summary.MemoryUse{Owner: owner, By: by, Rank: row.Rank, Device: row.Device, Count: count, Bytes: bytes})
		}
	}
	for k, s := range sums {
		put(k.owner, k.by, s.count, s.bytes)
	}
	put(summary.UseRounding, byAllocator, 0, f.rounding)
	put(summary.UseFragments, byAllocator, 0, f.split)
	put(summary.UseCached, byAllocator, 0, f.cached)
	put(summary.UseFree, byAllocator, 0, f.unclear)
	slices.SortFunc(out, func(a, b summary.MemoryUse) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.By, b.By))
	})
	return out
}
