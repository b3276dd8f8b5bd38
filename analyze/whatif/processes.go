package whatif

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"assay/analyze/classify"
	"assay/trace"
)

// A process is what a trace has of one that launches GPU work.
type process struct {
	pid     string
	devices map[int64]bool
	comm    int // kernels of communication
	calls   int
}

// choose marks the inputs that are not answered for. The processes of a single capture may be ranks.
func (q *Question) choose(inputs []Input) ([]Input, error) {
	if len(inputs) == 1 {
		inputs = Processes(inputs[0], *q)
	}
	chosen := false
	for i := range inputs {
		inputs[i].Context = q.Ranks != nil && !slices.Contains(q.Ranks, inputs[i].Rank)
		chosen = chosen || !inputs[i].Context
	}
	if !chosen {
		return nil, errors.New("no input has a rank that --rank asks for")
	}
	return inputs, nil
}

// Processes returns the ranks of a job that one capture recorded, by the numbers of their GPUs: its processes, if each has
// calls, GPUs of its own and as many kernels of communication as the others. Else it returns the capture as it is.
func Processes(in Input, q Question) []Input {
	t, rules := in.Trace, cmp.Or(q.Rules, classify.Default())
	by := make(map[string]*process)
	isComm := make(map[trace.Sym]bool)
	for a := range t.Activities.All() {
		track := &t.Tracks[a.Track]
		p := by[track.PID]
		if p == nil {
			p = &process{pid: track.PID, devices: make(map[int64]bool)}
			by[track.PID] = p
		}
		p.devices[track.Device] = true
		if _, ok := isComm[a.Name]; !ok {
			isComm[a.Name] = rules.Kernel(t.Name(a.Name)).Class == classify.Comm
		}
		if a.Kind == trace.Kernel && isComm[a.Name] {
			p.comm++
		}
	}
	if len(by) < 2 {
		return []Input{in}
	}
	for c := range t.Calls.All() {
		if p := by[t.Tracks[c.Track].PID]; p != nil {
			p.calls++
		}
	}
	first := func(p *process) int64 { return slices.Min(slices.Collect(maps.Keys(p.devices))) }
	list := slices.SortedFunc(maps.Values(by), func(a, b *process) int { return cmp.Compare(first(a), first(b)) })
	used := make(map[int64]bool)
	var out []Input
	for i, p := range list {
		if p.calls == 0 || p.comm == 0 || p.comm != list[0].comm {
			return []Input{in}
		}
		for d := range p.devices {
			if used[d] {
				return []Input{in}
			}
			used[d] = true
		}
		rank := in
		rank.Trace, rank.Rank, rank.Devices = t.OfProcess(p.pid), i, p.devices
		out = append(out, rank)
	}
	return out
}
