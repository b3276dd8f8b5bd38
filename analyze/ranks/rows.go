package ranks

import (
	"cmp"
	"math"
	"slices"

	"assay/analyze/ranks/collective"
	"assay/summary"
)

// String returns the name in the JSON.
func (m matchedBy) String() string { return [...]string{"", "number", "order", "end"}[m] }

// AddTo adds the rows of the job to the summary of its inputs. If times of collectives are impossible, it adds an
// issue instead.
func (j *Job) AddTo(s *summary.Summary) {
	first := j.members[0].Input
	for _, m := range j.members {
		first = min(first, m.Input)
	}
	work := j.workOf(s)
	facts := make([]Facts, len(j.groups))
	for i, g := range j.groups {
		facts[i] = g.facts(j.members)
	}
	if j.noteLeavers(s, facts) {
		s.Sort()
		return
	}
	top := j.topologyOf(s, work, facts)
	for _, c := range j.rows(top) {
		c.Job = first
		s.Collectives = append(s.Collectives, c)
	}
	sums, late, roots := j.divide(top, facts), j.lateSteps(top, facts, s), j.roots(top, facts)
	others := make([]*summary.Comparison, len(j.members))
	if top.peers != nil {
		others = work.compare(top.peers)
	}
	for i, m := range j.members {
		w, c := j.waits[i], j.clocks[i]
		r := summary.RankWait{
			Input: m.Input, Rank: m.Rank, Device: m.Device, Job: first, Collectives: w.matched, Incomplete: w.incomplete,
			TransferNS: w.transfer, WaitNS: w.wait, CausedNS: w.caused, Last: w.last, SplitBytes: sums[i].split,
			Others: others[i], Late: late[i],
		}
		if roots != nil {
			r.RootNS = &roots[i]
		}
		if top.peers != nil {
			r.Peers = &j.members[top.peers[i]].Rank
		}
		if top.peers != nil && top.classes > 1 {
			r.PeerWaitNS, r.PeerCausedNS = &sums[i].peerWait, &sums[i].peerCaused
		}
		if top.stage != nil {
			r.Stage, r.StageWaitNS, r.StageMessages = &top.stage[i], &sums[i].stageWait, sums[i].messages
			r.StageWaits = sums[i].stages
		}
		if i == 0 || c.n > 0 {
			r.OffsetNS, r.ResidualNS = &c.offset, &c.residual
		}
		s.Ranks = append(s.Ranks, r)
	}
	top.row.Input, top.row.Job = first, first
	s.Topologies = append(s.Topologies, top.row)
	j.noteIncomplete(s)
	s.Sort()
}

// rows returns the rows of all groups. The sends of all pairs of a communicator share rows.
func (j *Job) rows(top *topology) []summary.Collective {
	type key struct {
		of, dtype string
		bytes     int64
	}
	index := map[key]int{}
	ranks := map[string]map[int]bool{} // by communicator: members that send or receive
	var out []summary.Collective
	for _, g := range j.groups {
		rows := g.rows(j.members)
		for i := range rows {
			rows[i].Parallel, rows[i].Nodes = top.comms[g.key].parallel, top.nodesOf(g)
		}
		if g.sends == noSends {
			out = append(out, rows...)
			continue
		}
		if ranks[g.key] == nil {
			ranks[g.key] = map[int]bool{}
		}
		for _, l := range g.lists {
			ranks[g.key][l.member] = true
		}
		for _, r := range rows {
			k := key{g.key, r.Dtype, 0}
			if r.Bytes != nil {
				k.bytes = *r.Bytes
			}
			i, ok := index[k]
			if !ok {
				index[k] = len(out)
				out = append(out, r)
				continue
			}
			have := &out[i]
			have.Count, have.Incomplete, have.Input = have.Count+r.Count, have.Incomplete+r.Incomplete, min(have.Input, r.Input)
			have.MatchedBy = cmp.Or(have.MatchedBy, r.MatchedBy)
		}
	}
	for k, i := range index {
		out[i].Ranks = len(ranks[k.of])
		out[i].Partial = out[i].Ranks < out[i].GroupSize
	}
	return out
}

// A sortOf identifies the collectives of one row.
type sortOf struct {
	op    collective.Op
	dtype string
	bytes int64
}

// rows returns the rows of a group: one for each kind, type and size.
func (g *group) rows(members []Member) []summary.Collective {
	if g.solved != nil {
		return slices.Clone(g.solved.Rows)
	}
	index := map[sortOf]int{}
	var out []summary.Collective
	row := func(w collective.What, uneven bool) *summary.Collective {
		key := sortOf{w.Op, w.Dtype, w.Bytes(g.ranksOf())}
		if uneven && w.Op == collective.AllToAll {
			key.bytes = 0 // sizes differ between ranks
		}
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
		r := row(in.what, in.uneven)
		if !g.complete(in) {
			r.Incomplete++
			continue
		}
		r.Count++
		if here := int(in.members); here < r.Ranks {
			r.Ranks, r.Partial = here, true
		}
		if r.TransferNS != nil {
			*r.TransferNS = summary.Plus(*r.TransferNS, in.shortest)
			*r.WaitNS = summary.Plus(*r.WaitNS, in.waiting())
		}
	}
	if g.matched == byNothing {
		for _, l := range g.lists {
			c := members[l.member].Columns
			for _, n := range l.runs {
				row(c.Whats[c.Runs[n].What], false).Incomplete++
			}
		}
	}
	g.addSplits(members, func(in *instance) *summary.Collective { return row(in.what, true) })
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
		Input: first, Op: key.op.String(), Group: g.name, GroupRanks: g.ranks, GroupSize: g.size, Ranks: len(g.lists),
		Partial: len(g.lists) < g.size,
		Dtype:   key.dtype, MatchedBy: g.matched.String(),
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

// bandwidth sets the bandwidths of a row if size and transfer time are known.
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
