package summary

import (
	"cmp"
	"slices"

	"assay/internal/stat"
)

// RankSteps has the steps of one GPU.
type RankSteps struct {
	Count    int64 `json:"count"`
	TotalNS  int64 `json:"total_ns"`
	MedianNS int64 `json:"median_ns"`
	MaxNS    int64 `json:"max_ns"`
}

// A RankPhase is one phase of one GPU: see [Phase].
type RankPhase struct {
	Path   string `json:"path"`
	Count  int64  `json:"count"`
	GPUNS  int64  `json:"gpu_ns"` // window on the device, with nested phases
	HostNS int64  `json:"host_ns"`
}

// describe adds the window, steps, phases and categories of each GPU in s to its row of ranks. A GPU
// without such a row gets one.
func (j *jobs) describe(s, out *Summary) {
	if len(j.list) == 0 {
		return
	}
	out.Ranks = slices.Clone(out.Ranks)
	rows := map[GPU]int{}
	for i, r := range out.Ranks {
		rows[GPU{r.Input, r.Rank, r.Device}] = i
	}
	for i := range s.Devices {
		d := &s.Devices[i]
		job := j.byInput[d.Input]
		if job == nil {
			continue
		}
		key := GPU{d.Input, d.Rank, d.Device}
		if _, ok := rows[key]; !ok {
			rows[key] = len(out.Ranks)
			out.Ranks = append(out.Ranks, RankWait{Input: d.Input, Rank: d.Rank, Device: d.Device, Job: job.Inputs[0]})
		}
		r, budget, window := &out.Ranks[rows[key]], d.Activity.budget(), d.Activity.Window()
		r.WindowNS, r.Budget = &window, &budget
		r.Steps, r.Phases, r.CategoryNS = nil, nil, nil
	}
	row := func(input, rank int, device int64) *RankWait {
		i, ok := rows[GPU{input, rank, device}]
		if !ok || j.byInput[input] == nil {
			return nil
		}
		return &out.Ranks[i]
	}
	for i := range s.Kernels {
		k := &s.Kernels[i]
		if r := row(k.Input, k.Rank, k.Device); r != nil {
			if r.CategoryNS == nil {
				r.CategoryNS = map[string]int64{}
			}
			r.CategoryNS[k.Category] = Plus(r.CategoryNS[k.Category], k.TotalNS)
		}
	}
	for i := range s.Phases {
		p := &s.Phases[i]
		if r := row(p.Input, p.Rank, p.Device); r != nil && p.Path != "" {
			r.Phases = append(r.Phases, RankPhase{Path: p.Path, Count: p.Count, GPUNS: p.Total.Window(), HostNS: p.HostNS})
		}
	}
	for i := range out.Ranks {
		r := &out.Ranks[i]
		if j.byInput[r.Input] == nil {
			continue
		}
		slices.SortFunc(r.Phases, func(a, b RankPhase) int {
			return cmp.Or(cmp.Compare(b.GPUNS, a.GPUNS), cmp.Compare(b.HostNS, a.HostNS), cmp.Compare(a.Path, b.Path))
		})
		r.Phases = r.Phases[:min(maxPhases, len(r.Phases))]
	}
	stepsOf(s, row)
}

// stepsOf fills in the steps of the rows that the function row returns for a GPU.
func stepsOf(s *Summary, row func(input, rank int, device int64) *RankWait) {
	walls := map[*RankWait][]int64{}
	for i := range s.Steps {
		st := &s.Steps[i]
		if r := row(st.Input, st.Rank, st.Device); r != nil {
			walls[r] = append(walls[r], st.WallNS)
		}
	}
	for r, list := range walls {
		steps := RankSteps{Count: int64(len(list)), MedianNS: stat.Median(list), MaxNS: slices.Max(list)}
		for _, ns := range list {
			steps.TotalNS = Plus(steps.TotalNS, ns)
		}
		r.Steps = &steps
	}
}
