package view

import (
	"slices"

	"assay/summary"
)

// The shares of GPU time in common below which captures come from different programs or roles. Runs of one program
// have most kernels and operators in common, also on another GPU, whose kernels have other names. Ranks of one run
// may divide the operators among them, so less is enough for them.
const (
	likeRuns  = 0.25
	likeRanks = 0.05
)

// A Program has the captures of one run, or of ranks that have nothing in common with the others.
type Program struct {
	Inputs   []int // ascending
	Activity summary.Activity

	kernels, ops shares
	comm         bool // it communicates, or states that it is one of several ranks
}

// shares is GPU time in ns by name.
type shares struct {
	of  map[string]int64
	all int64
}

func (s *shares) add(name string, ns int64) {
	if s.of == nil {
		s.of = map[string]int64{}
	}
	s.of[name], s.all = summary.Plus(s.of[name], ns), summary.Plus(s.all, ns)
}

// inCommon returns the share of time that two programs spend under the same names, and whether both have names.
func (s *shares) inCommon(t *shares) (share float64, ok bool) {
	if s.all <= 0 || t.all <= 0 {
		return 0, false
	}
	for name, ns := range s.of {
		share += min(float64(ns)/float64(s.all), float64(t.of[name])/float64(t.all))
	}
	return share, true
}

// like reports whether two programs have at least a share of their GPU time in common. It is so if no names tell.
func (p *Program) like(q *Program, least float64) bool {
	kernels, named := p.kernels.inCommon(&q.kernels)
	ops, operators := p.ops.inCommon(&q.ops)
	return !named && !operators || named && kernels >= least || operators && ops >= least
}

// Programs returns the programs whose captures are in s, which are several if the captures are of several runs, or
// of ranks without communication that share no kernels. Stages of a server are one program. unlike reports that two
// of them have hardly a kernel or operator in common.
func Programs(s *summary.Summary) (list []Program, unlike bool) {
	if len(s.Inputs) < 2 || Stages(s) != nil {
		return nil, false
	}
	inputs := programsOf(s)
	g := Runs(Captures(s))
	if len(g.Runs) == 1 && g.From != ByNone {
		list = apartRanks(inputs, g.Runs[0].Inputs)
		return list, len(list) > 1
	}
	for _, r := range g.Runs {
		var run Program
		for _, i := range r.Inputs {
			run.join(&inputs[i])
		}
		if run.Activity.Window() > 0 {
			list = append(list, run)
		}
	}
	for i := 1; i < len(list); i++ {
		unlike = unlike || !list[0].like(&list[i], likeRuns)
	}
	return list, unlike
}

// programsOf returns each input by itself.
func programsOf(s *summary.Summary) []Program {
	out := make([]Program, len(s.Inputs))
	in := func(i int) *Program {
		if i < 0 || i >= len(out) {
			return &Program{}
		}
		return &out[i]
	}
	for i := range out {
		out[i].Inputs, out[i].comm = []int{i}, s.Inputs[i].WorldSize > 1
	}
	for _, d := range s.Devices {
		p := in(d.Input)
		p.Activity = p.Activity.Plus(d.Activity)
	}
	for _, k := range s.Kernels {
		if p := in(k.Input); k.Class == summary.ClassComm.String() {
			p.comm = true
		} else if !k.Pooled() {
			p.kernels.add(k.Name, k.TotalNS)
		}
	}
	for _, op := range s.Ops {
		in(op.Input).ops.add(op.Name, op.GPUSelfNS)
	}
	return out
}

// join adds the captures of q to p.
func (p *Program) join(q *Program) {
	p.Inputs, p.Activity, p.comm = append(p.Inputs, q.Inputs...), p.Activity.Plus(q.Activity), p.comm || q.comm
	for _, of := range []struct{ to, from *shares }{{&p.kernels, &q.kernels}, {&p.ops, &q.ops}} {
		for name, ns := range of.from.of {
			of.to.add(name, ns)
		}
	}
}

// apartRanks divides the captures of a run into those that are alike. It returns nil if all parts communicate, as
// the stages of a pipeline do.
func apartRanks(inputs []Program, run []int) (list []Program) {
	for _, i := range run {
		if inputs[i].Activity.Window() <= 0 {
			continue
		}
		n := slices.IndexFunc(list, func(p Program) bool { return p.like(&inputs[i], likeRanks) })
		if n < 0 {
			n = len(list)
			list = append(list, Program{})
		}
		list[n].join(&inputs[i])
	}
	if !slices.ContainsFunc(list, func(p Program) bool { return !p.comm }) {
		return nil
	}
	return list
}
