package view

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A PipelineStage has the sums over the GPUs of one stage of a pipeline, in ns.
type PipelineStage struct {
	Number int
	Ranks  []int // ascending
	GPUs   int64
	Window int64
	// Compute is the time during which compute kernels run. Wait is the waiting in sends, receives and
	// collectives between stages, at most the exposed communication.
	Compute, Wait int64
	// Uneven is the part of Wait that is explained by the stage with the most compute time per GPU: the
	// time by which this stage computes less. The rest is the bubble of the pipeline. It is 0 if stages are
	// missing.
	Uneven int64
	// For has the part of Wait in sends and receives by the other stage, by its number. It is not limited to
	// the exposed communication.
	For []summary.StageWait
}

// Mostly returns the stage for which the stage waits longest in sends and receives, and whether it is more
// than half of this waiting.
func (s *PipelineStage) Mostly() (w summary.StageWait, all int64, ok bool) {
	for _, f := range s.For {
		all = summary.Plus(all, f.NS)
		if f.NS > w.NS {
			w = f
		}
	}
	return w, all, w.NS > all/2
}

// addStageWaits returns the sums by stage, in the order of stages. It changes neither list.
func addStageWaits(a, b []summary.StageWait) []summary.StageWait {
	out := slices.Clone(a)
	for _, w := range b {
		at, ok := slices.BinarySearchFunc(out, w.Stage, func(w summary.StageWait, n int) int { return cmp.Compare(w.Stage, n) })
		if !ok {
			out = slices.Insert(out, at, summary.StageWait{Stage: w.Stage})
		}
		out[at].Messages, out[at].NS = summary.Plus(out[at].Messages, w.Messages), summary.Plus(out[at].NS, w.NS)
	}
	return out
}

// A Pipeline has the given stages of a job, in order.
type Pipeline struct {
	Job      int
	Stages   []PipelineStage
	Of       int    // number of stages of the job; some may not be given
	Messages *int64 // number of messages from one stage to the next in a step; nil if not known
}

// Whole reports whether every stage was given. Otherwise the slowest stage may be missing.
func (p *Pipeline) Whole() bool { return len(p.Stages) == p.Of }

// Windows returns the sum of the windows of all GPUs in ns.
func (p *Pipeline) Windows() (ns int64) {
	for _, s := range p.Stages {
		ns += s.Window
	}
	return ns
}

// Bubble returns the waiting of all GPUs in ns that is not explained by a stage with more compute time; see
// Uneven.
func (p *Pipeline) Bubble() (ns int64) {
	for _, s := range p.Stages {
		ns += s.Wait - s.Uneven
	}
	return ns
}

// Uneven returns the waiting of all GPUs in ns for the stage with the most compute time.
func (p *Pipeline) Uneven() (ns int64) {
	for _, s := range p.Stages {
		ns += s.Uneven
	}
	return ns
}

// Longest returns the stage with the most compute time per GPU, the first of several.
func (p *Pipeline) Longest() PipelineStage {
	return slices.MaxFunc(p.Stages, func(a, b PipelineStage) int { return cmp.Compare(a.Compute/a.GPUs, b.Compute/b.GPUs) })
}

// Pipelines returns the pipelines of the jobs in s that have two or more stages, at least one of them
// given.
func Pipelines(s *summary.Summary) (out []Pipeline) {
	if len(s.Topologies) == 0 {
		return nil
	}
	devices := map[summary.GPU]*summary.Device{}
	for i := range s.Devices {
		d := &s.Devices[i]
		devices[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = d
	}
	for _, t := range s.Topologies {
		if t.Stages < 2 {
			continue
		}
		p := Pipeline{Job: t.Job, Of: t.Stages, Messages: t.Messages}
		for i := range s.Ranks {
			r := &s.Ranks[i]
			d := devices[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}]
			if r.Job == t.Job && r.Stage != nil && r.StageWaitNS != nil && d != nil {
				p.add(r, d)
			}
		}
		if len(p.Stages) == 0 {
			continue
		}
		if p.Whole() {
			longest := p.Longest()
			for i := range p.Stages {
				st := &p.Stages[i]
				st.Uneven = max(0, min(st.Wait, (longest.Compute/longest.GPUs-st.Compute/st.GPUs)*st.GPUs))
			}
		}
		out = append(out, p)
	}
	return out
}

// add adds a GPU to its stage.
func (p *Pipeline) add(r *summary.RankWait, d *summary.Device) {
	at, ok := slices.BinarySearchFunc(p.Stages, *r.Stage, func(s PipelineStage, n int) int { return cmp.Compare(s.Number, n) })
	if !ok {
		p.Stages = slices.Insert(p.Stages, at, PipelineStage{Number: *r.Stage})
	}
	s := &p.Stages[at]
	if i, ok := slices.BinarySearch(s.Ranks, r.Rank); !ok {
		s.Ranks = slices.Insert(s.Ranks, i, r.Rank)
	}
	s.GPUs++
	s.Window = summary.Plus(s.Window, d.WindowNS)
	s.Compute = summary.Plus(s.Compute, d.Activity.Compute())
	s.For = addStageWaits(s.For, r.StageWaits)
	s.Wait = summary.Plus(s.Wait, min(*r.StageWaitNS, d.Activity.ExposedComm()))
}
