package layers

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/internal/stat"
	"assay/summary"
	"assay/trace"
)

// A measurer makes the rows of one device.
type measurer struct {
	Measured
	device   *gpu.Device
	rank     int
	names    []string // of steps
	sequence *sequence
	natures  func(trace.Sym) nature
	omitted  int64 // steps without rows
	mixed    bool  // kernels of two passes, or of two micro-batches, alternate
	streams  []int // where the kernels of each stream begin in the list
	*finder
}

// A timed layer has the time of everything that ran in it.
type timed struct {
	member
	place int32 // among the layers of its pass
	turn  int32 // of a window without steps: number of the run through the model
	start int64
	end   int64
	parts times
	busy  int64
}

// A rowKey says which layers are one row.
type rowKey struct {
	step int32 // or turn, since a trace has one or the other
	pass string
	kind string
	run  int32 // through the model, in the step and pass
}

func (r *measurer) rows(list []layer) []summary.Layer {
	members := r.groupsOf(list)
	r.name(members)
	r.passes(members)
	layers := r.turns(r.measure(members))
	runs := runsOf(layers)
	places := make(map[rowKey]*int32)
	byRow := make(map[rowKey]int)
	var keys []rowKey
	var lists [][]*timed // by key
	var next *int32      // place of the next layer of the pass
	for i := range layers {
		l := &layers[i]
		key := rowKey{l.step + l.turn, l.pass, l.group.kind, runs[i]}
		pass := rowKey{step: key.step, pass: key.pass, run: key.run}
		if i == 0 || !layers[i-1].isIn(pass, runs[i-1]) {
			if next = places[pass]; next == nil {
				next = new(int32)
				places[pass] = next
			}
		}
		l.place = *next
		*next++
		at, ok := len(keys)-1, i > 0 && keys[len(keys)-1] == key
		if !ok {
			at, ok = byRow[key]
		}
		if !ok {
			at = len(keys)
			byRow[key], keys, lists = at, append(keys, key), append(lists, nil)
		}
		lists[at] = append(lists[at], l)
	}
	pictured := make(map[rowKey]int) // by kind and pass: number of the rows that may have the picture
	for _, k := range keys {
		pictured[rowKey{pass: k.pass, kind: k.kind}]++
	}
	seen := make(map[rowKey]int)
	var out []summary.Layer
	heads := r.heads(layers, runs)
	for i, k := range keys {
		of := rowKey{pass: k.pass, kind: k.kind}
		out = append(out, r.row(k, lists[i], seen[of] == pictured[of]/2))
		r.addFloor(&out[i], middleOf(lists[i]), heads[k])
		seen[of]++
	}
	return out
}

// isIn reports whether the layer is of a pass.
func (l *timed) isIn(pass rowKey, run int32) bool {
	return l.step+l.turn == pass.step && l.pass == pass.pass && run == pass.run
}

// turns numbers the runs through the model where no steps are marked, and returns the layers of evenly spread ones: each run takes the
// place of a step. A run begins where layers of the kind that was first follow no other layer.
func (r *measurer) turns(list []timed) []timed {
	if len(r.names) != 1 || r.names[0] != "" || len(list) == 0 {
		return list
	}
	turn := int32(-1)
	for i := range list {
		l := &list[i]
		if i == 0 || !l.follows && l.group == list[0].group && l.pass == list[0].pass {
			turn++
		}
		l.turn = turn
	}
	n := int(turn) + 1
	if n <= maxSteps {
		return list
	}
	r.omitted += int64(n - maxSteps)
	out := list[:0]
	for _, l := range list {
		// of each maxSteps-th part of all turns, the first one
		if at := int(l.turn) * maxSteps / n; (at*n+maxSteps-1)/maxSteps == int(l.turn) {
			out = append(out, l)
		}
	}
	return out
}

// row returns the row of layers of one kind, with the kernels of a typical one if wanted.
func (r *measurer) row(k rowKey, list []*timed, typical bool) summary.Layer {
	row := summary.Layer{Rank: r.rank, Device: r.device.Ordinal, Step: r.names[list[0].step], Kind: k.kind, Pass: k.pass,
		Count: int64(len(list)), StartNS: list[0].start, EndNS: list[0].end, Odd: []summary.OddLayer{}}
	var sum times
	likeness := 0.0
	for _, l := range list {
		row.StartNS, row.EndNS = min(row.StartNS, l.start), max(row.EndNS, l.end)
		row.Index = append(row.Index, l.place)
		row.LengthNS = append(row.LengthNS, l.end-l.start)
		sum.add(&l.parts)
		likeness += l.similarity
	}
	row.Parts, row.Confidence = sum.row(), likeness/float64(len(list))
	row.MedianNS = stat.Median(row.LengthNS)
	middle := middleOf(list)
	row.TypicalParts = middle.parts.row()
	for _, l := range list {
		if isOdd(l, row.MedianNS, row.LengthNS) {
			odd := summary.OddLayer{Index: l.place, NS: l.end - l.start, Part: differs(l, middle)}
			if odd.Part != "" {
				odd.Kernel = differing(r.picture(l), r.picture(middle), odd.Part)
			}
			row.Odd = append(row.Odd, odd)
		}
	}
	if typical {
		row.Typical = r.picture(middle)
	}
	if r.Each != nil {
		r.Each(&row, func(i int) []summary.LayerKernel { return r.picture(list[i]) })
	}
	return row
}

// middleOf returns the layer whose length is nearest to the median, the first of several.
func middleOf(list []*timed) *timed {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b *timed) int { return cmp.Compare(a.end-a.start, b.end-b.start) })
	return sorted[(len(sorted)-1)/2]
}

// isOdd reports whether a layer takes a quarter more or less than the median, and this is more than layers usually differ.
func isOdd(l *timed, median int64, lengths []int64) bool {
	diff := abs(l.end - l.start - median)
	if len(lengths) < 4 || 4*diff < median {
		return false
	}
	deviations := make([]int64, len(lengths))
	for i, ns := range lengths {
		deviations[i] = abs(ns - median)
	}
	return diff > 4*stat.Median(deviations)
}

func abs(n int64) int64 { return max(n, -n) }

// differs returns the name of the part that makes a layer longer or shorter than the median layer; "" if it is time in
// which nothing ran.
func differs(l, middle *timed) string {
	best, most := "", abs(l.end-l.start-l.busy-(middle.end-middle.start-middle.busy))
	for p := range numParts {
		if d := abs(l.parts[p] - middle.parts[p]); d > most {
			best, most = partNames[p], d
		}
	}
	return best
}

// differing returns the name of the kernels of a part whose time differs most between two layers, the first of several.
func differing(a, b []summary.LayerKernel, part string) (name string) {
	diff := make(map[string]int64)
	for _, k := range a {
		if k.Part == part {
			diff[k.Name] += k.NS
		}
	}
	for _, k := range b {
		if k.Part == part {
			diff[k.Name] -= k.NS
		}
	}
	for k, d := range diff {
		if most := abs(diff[name]); abs(d) > most || abs(d) == most && (name == "" || k < name) {
			name = k
		}
	}
	return name
}

// passes says which pass layers are of: what attribution knows, or else what names tell.
func (r *measurer) passes(list []member) {
	back := slices.ContainsFunc(list, func(m member) bool { return m.group.back })
	// Attention of the forward pass that the backward pass of the same layer follows is computed again for it, if there is another
	// forward pass in the step.
	again := make([]bool, len(list))
	plainly := make(map[int32]bool) // by step: has layers of a forward pass
	for i := range list {
		m := &list[i]
		again[i] = !m.group.back && m.next && i+1 < len(list) && list[i+1].group.back && (i == 0 || !list[i-1].next || list[i-1].group.back)
		plainly[m.step] = plainly[m.step] || !again[i] && !m.group.back
	}
	for i := range list {
		m := &list[i]
		pass := r.Pass(int(r.device.Work[r.list[m.core.from].work].Number))
		switch {
		case again[i] && plainly[m.step]:
			m.pass = "recompute"
		case pass == "forward" || pass == "recompute":
			m.pass = pass
		case m.group.back || pass == "backward" && !back:
			m.pass = "backward"
		case pass == "backward":
			m.pass = "recompute" // attention of the forward pass, inside of the backward pass
		default:
			m.pass = "forward"
		}
	}
}

// measure adds up what ran in layers. Work of other streams, and work outside the order of kernels, belongs to the
// layer in which it started. The last layer of a model ends like the others: with the communication that follows it.
func (r *measurer) measure(list []member) []timed {
	out := make([]timed, len(list))
	owner := make([]int32, len(r.device.Work)) // by work: not 0 if it is in a layer
	for i, m := range list {
		out[i].member = m
		first, last := r.list[m.from].work, r.list[m.to-1].work
		out[i].start, out[i].end = r.device.Work[first].Start, r.device.Work[last].End()
		for k, p := range r.partsOf(m.layer) {
			w := r.list[m.from+k].work
			owner[w] = int32(i) + 1
			out[i].parts[p] = summary.Plus(out[i].parts[p], r.device.Work[w].Dur)
			out[i].busy += r.device.Work[w].Dur
		}
	}
	trailing := r.trailing(list)
	for i := range list {
		r.addOthers(&out[i], owner, r.until(list, i), trailing[list[i].group])
	}
	return out
}

// until returns the index of the first work that does not belong to layer i any more.
func (r *measurer) until(list []member, i int) int32 {
	if at := list[i].to; at < len(r.list) && r.list[at].work > r.list[at-1].work {
		return r.list[at].work
	}
	return int32(len(r.device.Work)) // nothing follows on its stream
}

// trailing returns how many communication kernels layers of each group usually have behind their last kernel.
func (r *measurer) trailing(list []member) map[*group]int {
	votes := make(map[*group]map[int]int)
	for i, m := range list {
		if !m.next {
			continue
		}
		n := 0
		for w := r.list[m.to-1].work + 1; w < r.until(list, i); w++ {
			if r.moves(w) && r.isOf(w, m.layer) {
				n++
			}
		}
		if votes[m.group] == nil {
			votes[m.group] = make(map[int]int)
		}
		votes[m.group][n]++
	}
	out := make(map[*group]int)
	for g, v := range votes {
		most := 0
		for n, count := range v {
			if count > most || count == most && n < out[g] {
				out[g], most = n, count
			}
		}
	}
	return out
}

func (r *measurer) moves(w int32) bool {
	a := r.Timeline.Activity(r.device.Work[w])
	return a.Kind == trace.Kernel && r.natures(a.Name).role == moves
}

// addOthers adds the work to a layer that is no element of the sequence.
func (r *measurer) addOthers(l *timed, owner []int32, until int32, trailing int) {
	last := r.list[l.to-1].work
	var parts []part // of its kernels, if any other kernel needs them
	for w := r.list[l.from].work; w < until; w++ {
		work := r.device.Work[w]
		if w > last && work.Start >= l.end && trailing == 0 && !l.next {
			break
		}
		a := r.Timeline.Activity(work)
		if owner[w] != 0 || a.Kind != trace.Kernel || r.sequence.steps[w] != l.step {
			continue
		}
		n := r.natures(a.Name)
		if n.role == moves && !r.isOf(w, l.layer) {
			continue
		}
		if n.isOrdered() && slices.Contains(r.sequence.streams, r.Timeline.Stream(work)) {
			continue // it is of another model
		}
		behind := w > last && work.Start >= r.device.Work[last].End()
		switch {
		case n.role == moves && behind && !l.next:
			if trailing == 0 {
				continue
			}
			trailing--
		case behind && n.role != moves:
			continue // of the next layer, or of none
		}
		p := otherPart
		switch {
		case n.role == moves:
			p = communicationPart
		case n.role != skipped:
			if parts == nil {
				parts = r.partsOf(l.layer)
			}
			p = r.besides(l, parts, w)
		}
		l.parts[p] = summary.Plus(l.parts[p], work.Dur)
		l.busy += work.Dur
		// Nothing waits for communication that goes on when the next kernel runs, as of gradients during the backward pass.
		waited := n.role != moves || int(until) == len(r.device.Work) || work.End() <= r.device.Work[until].Start
		if owner[w] = -1; n.role != skipped && waited {
			l.end = max(l.end, work.End())
		}
	}
}

// besides returns the part of a kernel that another stream runs: that of the kernel before it on the base stream or, behind a norm, of the
// kernel after this.
func (r *measurer) besides(l *timed, parts []part, w int32) part {
	a := r.Timeline.Activity(r.device.Work[w])
	switch r.natures(a.Name).role {
	case norm:
		return normPart
	case experts:
		return moePart
	case attends, scans:
		return attentionPart
	}
	p, behind := otherPart, true // behind a norm
	for i, k := range r.kernelsOf(l.layer) {
		if k.work > w && !behind {
			break
		}
		if parts[i] != normPart {
			p, behind = parts[i], false
		} else if k.work < w && r.device.Work[k.work].End() <= r.device.Work[w].Start {
			behind = true
		}
	}
	return p
}

// MostKernels is how many kernels of a layer are listed.
const MostKernels = 400

// picture returns the kernels of a layer.
func (r *measurer) picture(l *timed) (out []summary.LayerKernel) {
	r.each(l, func(w int32, p part) bool {
		work := r.device.Work[w]
		out = append(out, summary.LayerKernel{AtNS: work.Start - l.start, NS: work.Dur, Stream: r.Timeline.Stream(work),
			Part: partNames[p], Name: r.Timeline.Trace.Name(r.Timeline.Activity(work).Name)})
		return len(out) < MostKernels
	})
	return out
}

// each calls a function with the work of a layer and its part, until it returns false.
func (r *measurer) each(l *timed, next func(w int32, p part) bool) {
	parts := r.partsOf(l.layer)
	at := make(map[int32]part)
	for i, k := range r.kernelsOf(l.layer) {
		at[k.work] = parts[i]
	}
	for w := r.list[l.from].work; int(w) < len(r.device.Work); w++ {
		work := r.device.Work[w]
		if work.Start >= l.end {
			break
		}
		a := r.Timeline.Activity(work)
		p, ok := at[w]
		if !ok && a.Kind == trace.Kernel && r.natures(a.Name).isOrdered() && slices.Contains(r.sequence.streams, r.Timeline.Stream(work)) {
			continue // of another model
		}
		if !ok && a.Kind == trace.Kernel && r.natures(a.Name).role == moves && !r.isOf(w, l.layer) {
			continue
		}
		if !ok && a.Kind == trace.Kernel {
			switch n := r.natures(a.Name); {
			case n.role == moves:
				p = communicationPart
			case n.role != skipped && !slices.Contains(r.sequence.streams, r.Timeline.Stream(work)):
				p = r.besides(l, parts, w)
			}
		}
		if !next(w, p) {
			break
		}
	}
}
