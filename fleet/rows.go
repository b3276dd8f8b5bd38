package fleet

import (
	"math"

	"assay/collective"
	"assay/summary"
)

// names of matchedBy in the JSON.
func (m matchedBy) String() string { return [...]string{"", "number", "order", "end"}[m] }

// AddTo adds the rows of the job to the summary of its inputs.
func (j *Job) AddTo(s *summary.Summary) {
	for _, g := range j.groups {
		s.Collectives = append(s.Collectives, g.rows(j.members)...)
	}
	for i, m := range j.members {
		w, c := j.waits[i], j.clocks[i]
		r := summary.RankWait{
			Input: m.Input, Rank: m.Rank, Device: m.Device, Collectives: w.matched, Incomplete: w.incomplete,
			TransferNS: w.transfer, WaitNS: w.wait, CausedNS: w.caused, Last: w.last,
		}
		if i == 0 || c.n > 0 {
			r.OffsetNS, r.ResidualNS = &c.offset, &c.residual
		}
		s.Ranks = append(s.Ranks, r)
	}
	j.noteIncomplete(s)
	s.Sort()
}

// A sortOf identifies the collectives that share a row.
type sortOf struct {
	op    collective.Op
	dtype string
	bytes int64
}

// rows returns the collectives of a group, one row for each kind, type and size.
func (g *group) rows(members []Member) []summary.Collective {
	index := map[sortOf]int{}
	var out []summary.Collective
	row := func(w collective.What) *summary.Collective {
		key := sortOf{w.Op, w.Dtype, w.Bytes(g.ranksOf())}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, g.newRow(key, members))
		}
		return &out[i]
	}
	for i := range g.instances {
		in := &g.instances[i]
		if in.members == 0 {
			continue
		}
		r := row(in.what)
		if !g.complete(in) {
			r.Incomplete++
			continue
		}
		r.Count++
		if r.TransferNS != nil {
			*r.TransferNS = summary.Plus(*r.TransferNS, in.shortest)
			*r.WaitNS = summary.Plus(*r.WaitNS, in.total-in.shortest*int64(in.members))
		}
	}
	if g.matched == byNothing {
		for _, l := range g.lists {
			c := members[l.member].Columns
			for _, n := range l.runs {
				row(c.Whats[c.Runs[n].What]).Incomplete++
			}
		}
	}
	for key, i := range index {
		g.bandwidth(&out[i], key.op)
	}
	return out
}

func (g *group) newRow(key sortOf, members []Member) summary.Collective {
	first := math.MaxInt
	for _, l := range g.lists {
		first = min(first, members[l.member].Input)
	}
	r := summary.Collective{
		Input: first, Op: key.op.String(), Group: g.name, GroupRanks: g.ranks, GroupSize: g.size, Ranks: len(g.lists), Partial: len(g.lists) < g.size,
		Dtype: key.dtype, MatchedBy: g.matched.String(),
	}
	if g.local {
		r.Group = "" // it means nothing on another rank
	}
	if key.bytes > 0 {
		r.Bytes = &key.bytes
	}
	if key.op.Synchronizes() && g.matched != byNothing {
		r.TransferNS, r.WaitNS = new(int64), new(int64)
	}
	return r
}

// bandwidth fills the bandwidths of a row, where size and transfer are known.
func (g *group) bandwidth(r *summary.Collective, op collective.Op) {
	if r.Bytes == nil || r.TransferNS == nil || *r.TransferNS <= 0 || r.Partial || r.Count == 0 {
		return
	}
	alg := float64(r.Count) * float64(*r.Bytes) / float64(*r.TransferNS)
	r.AlgBWGBps = &alg
	if f := op.BusFactor(g.ranksOf()); f > 0 {
		bus := alg * f
		r.BusBWGBps = &bus
	}
}
