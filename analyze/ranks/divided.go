package ranks

import (
	"cmp"
	"slices"

	"assay/analyze/ranks/collective"
	"assay/summary"
)

// A divided has the sums of one member, in ns, that depend on which members do the same work.
type divided struct {
	peerWait, peerCaused int64 // in collectives of ranks that do the same work
	stageWait, messages  int64 // in sends and receives, and in collectives of several stages
	stages               []summary.StageWait
	split                int64 // bytes received or returned in all-to-alls of uneven sizes
}

// divide returns the sums of each member, from the facts of the groups.
func (j *Job) divide(t *topology, facts []Facts) []divided {
	out := make([]divided, len(j.members))
	for n, g := range j.groups {
		if g.matched == byNothing {
			continue
		}
		between, peers := t.staged(g), t.ofPeers(g)
		for i, l := range g.lists {
			d, f := &out[l.member], &facts[n].Lists[i]
			if between {
				d.stageWait = summary.Plus(d.stageWait, summary.Plus(f.PassWait, f.Wait))
				d.messages += f.Passed
				if g.sends != noSends && len(g.lists) == 2 {
					d.waits(t.stage[g.lists[1-i].member], f)
				}
			}
			if peers {
				d.peerWait, d.peerCaused = summary.Plus(d.peerWait, f.Wait), summary.Plus(d.peerCaused, f.Caused)
			}
			d.split = summary.Plus(d.split, f.Split)
		}
	}
	return out
}

// waits adds the waiting in messages to or from another stage.
func (d *divided) waits(stage int, f *ListFacts) {
	at, ok := slices.BinarySearchFunc(d.stages, stage, func(w summary.StageWait, n int) int { return cmp.Compare(w.Stage, n) })
	if !ok {
		d.stages = slices.Insert(d.stages, at, summary.StageWait{Stage: stage})
	}
	w := &d.stages[at]
	w.Messages, w.NS = w.Messages+f.Passed, summary.Plus(w.NS, f.PassWait)
}

// A split has the bytes of an uneven all-to-all for each list of its group: what ranks receive, or
// what they return.
type split struct {
	instance int
	bytes    []int64
	back     bool
}

// splitsOf returns the splits of the complete, uneven all-to-alls of a group with a known type. Of
// input and output, the side that differs more counts.
func (g *group) splitsOf(members []Member) (out []split) {
	index := map[int32]int{} // by instance
	for i := range g.instances {
		if in := &g.instances[i]; in.uneven && in.what.Op == collective.AllToAll && g.everyone(in) &&
			collective.DtypeBytes(in.what.Dtype) > 0 {
			index[int32(i)] = len(out)
			out = append(out, split{instance: i, bytes: make([]int64, len(g.lists))})
		}
	}
	if len(out) == 0 {
		return nil
	}
	in, back := make([][]int64, len(out)), make([][]int64, len(out))
	for i := range out {
		in[i], back[i] = make([]int64, len(g.lists)), make([]int64, len(g.lists))
	}
	for i, l := range g.lists {
		c := members[l.member].Columns
		for at, id := range l.of {
			if n, ok := index[id]; ok {
				what := c.Whats[c.Runs[l.runs[at]].What]
				size := collective.DtypeBytes(what.Dtype)
				in[n][i], back[n][i] = sized(what.Out, size), sized(what.In, size)
			}
		}
	}
	for n := range out {
		out[n].bytes = in[n]
		if most(back[n])*sum(in[n]) > most(in[n])*sum(back[n]) {
			out[n].bytes, out[n].back = back[n], true
		}
	}
	return out
}

// sized returns the bytes of elements, at most 2^40, whose products fit a float and an int64.
func sized(elements, size int64) int64 { return min(max(0, elements), 1<<40/size) * size }

func most(list []int64) float64 { return float64(slices.Max(list)) }

func sum(list []int64) float64 {
	total := 0.0
	for _, n := range list {
		total += float64(n)
	}
	return total
}

// addSplits adds the splits of a group to the row of its all-to-alls.
func (g *group) addSplits(members []Member, row func(*instance) *summary.Collective) {
	for _, sp := range g.splitsOf(members) {
		in := &g.instances[sp.instance]
		r := row(in)
		if r.Splits == nil {
			r.Splits = &summary.Splits{}
		}
		s := r.Splits
		total := int64(0)
		for _, n := range sp.bytes {
			total = summary.Plus(total, n)
		}
		largest := slices.Max(sp.bytes)
		s.Count++
		s.MaxBytes, s.MeanBytes = summary.Plus(s.MaxBytes, largest), summary.Plus(s.MeanBytes, total/int64(len(sp.bytes)))
		at := slices.IndexFunc(g.lists, func(l list) bool { return l.member == int(in.last) })
		if sp.back && at >= 0 && sp.bytes[at] == largest {
			s.WaitNS = summary.Plus(s.WaitNS, in.waiting())
		}
	}
}

// lateSteps returns, for each member, the steps in which it caused most of the waiting, or nil if
// there are none.
func (j *Job) lateSteps(t *topology, facts []Facts, s *summary.Summary) []*summary.LateSteps {
	out := make([]*summary.LateSteps, len(j.members))
	steps := j.stepsOf(s)
	type key struct {
		step   int64
		member int
	}
	caused, total := map[key]int64{}, map[int64]int64{}
	for i, g := range j.groups {
		if g.matched == byNothing || t.classes > 1 && !t.ofPeers(g) {
			continue
		}
		for _, l := range facts[i].Late {
			m := g.lists[l.List].member
			if n, ok := stepAt(steps[m], l.Start); ok {
				caused[key{n, m}] += l.Wait
				total[n] += l.Wait
			}
		}
	}
	for m := range j.members {
		var l summary.LateSteps
		for _, st := range steps[m] {
			l.Of++
			if c := caused[key{st.number, m}]; c > 0 && 2*c > total[st.number] {
				if l.Count == 0 {
					l.First = st.number
				}
				l.Count++
				l.Last = st.number
			}
			if l.Count > 0 {
				l.FromFirst++
			}
		}
		if l.Count > 0 {
			out[m] = &l
		}
	}
	return out
}

// A stepTime is the time of one step, on the clock of the collectives.
type stepTime struct{ start, end, number int64 }

// stepsOf returns the steps of each member by their starts.
func (j *Job) stepsOf(s *summary.Summary) [][]stepTime {
	at := map[summary.GPU]int{}
	for i, m := range j.members {
		at[m.gpu()] = i
	}
	out := make([][]stepTime, len(j.members))
	for i := range s.Steps {
		st := &s.Steps[i]
		m, ok := at[summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}]
		if !ok {
			continue
		}
		base := int64(0)
		if b := s.Inputs[st.Input].BaseTimeNS; b != nil {
			base = *b
		}
		start := summary.Plus(base, st.StartNS)
		out[m] = append(out[m], stepTime{start, summary.Plus(start, st.WallNS), st.Number})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b stepTime) int { return int(min(1, max(-1, a.start-b.start))) })
	}
	return out
}

// stepAt returns the number of the step that contains the time ns, and whether there is one.
func stepAt(list []stepTime, ns int64) (int64, bool) {
	i, _ := slices.BinarySearchFunc(list, ns, func(s stepTime, ns int64) int {
		if s.start <= ns {
			return -1
		}
		return 1
	})
	if i == 0 || ns >= list[i-1].end {
		return 0, false
	}
	return list[i-1].number, true
}
