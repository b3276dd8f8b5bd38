package judge

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// removals has the change that takes the cause of a rule away, as [summary.Forecast] names it.
var removals = map[string]string{
	rule.ExposedComm: "--hide-comm", rule.ExposedCopies: "--scale class:copy=0", rule.DataLoading: "--scale class:dataloader=0",
	rule.GPUIdle: "--host 0", rule.LaunchBound: "--host 0", rule.SyncCalls: "--remove sync~.", rule.SyncCopies: "--pinned",
}

// model replaces upper bounds of savings by forecasts, where one is valid: it is not withheld, and the
// run has one typical step. Idle time is the time of the CPU only if the CPU limits the run.
func model(s *summary.Summary, r *Result) {
	p := view.FollowedOf(s)
	if p == nil || r.Unusable() != nil {
		return
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.GainNS == nil || f.Subject != "" || f.Rule == rule.GPUIdle && r.Verdict.Bound != finding.BoundHost {
			continue
		}
		if x := p.Forecast(removals[f.Rule]); x != nil && x.ForecastNS != nil {
			f.Gain(x.Gain(), x.MeasuredNS, "the step "+p.Name())
			f.GainGPUs, f.GainWithout = 0, ""
			f.GainBasis, f.GainChange, f.GainVerdict = finding.Modelled, x.Change, x.Verdict
		}
	}
	byModel(r.Findings, r.Verdict.Rule)
	noteShared(r.Findings)
}

// noteShared notes findings whose savings are those of a finding before: of the same change, or of one that
// gives the same within a thousandth.
func noteShared(list []finding.Finding) {
	for i := range list {
		f := &list[i]
		for k := range i {
			o := &list[k]
			if f.GainBasis == finding.Modelled && o.GainBasis == finding.Modelled && o.GainSharedWith == "" && *f.GainNS > 0 &&
				(f.GainChange == o.GainChange || math.Abs(float64(*f.GainNS-*o.GainNS)) < float64(f.GainOfNS)/1000) {
				f.GainSharedWith = o.Rule
				break
			}
		}
	}
}

// byModel sorts the findings with modelled savings by these, within the places that those of one level
// have. The finding that decides the verdict stays where it is.
func byModel(list []finding.Finding, decides string) {
	for from := 0; from < len(list); {
		to := from
		var at []int
		for ; to < len(list) && list[to].Level == list[from].Level; to++ {
			if list[to].GainBasis == finding.Modelled && list[to].Rule != decides {
				at = append(at, to)
			}
		}
		sorted := make([]finding.Finding, len(at))
		for k, i := range at {
			sorted[k] = list[i]
		}
		slices.SortStableFunc(sorted, func(a, b finding.Finding) int { return cmp.Compare(*b.GainNS, *a.GainNS) })
		for k, i := range at {
			list[i] = sorted[k]
		}
		from = to
	}
}

// toGraphs are the remedies that launch the work of a step by CUDA graphs.
var toGraphs = []string{"launch-less", "launch-less-by-graphs", "vllm-graphs", "sglang-graphs", "sglang-graphs-old", "sfllm-graphs", "skyrl-graphs"}

// about has the rules whose remedies make a change, the most specific first, by the part of the change
// that names what becomes faster.
var about = []struct {
	part  string
	rules []string
	steps []string // of the rules; nil for all
}{
	{"--graph", []string{rule.LaunchBound, rule.GPUIdle}, toGraphs},
	{"class:comm", []string{rule.StragglingRank, rule.SlowCollectives, rule.ExposedComm}, nil},
	{"class:copy", []string{rule.PageableCopies, rule.SyncCopies, rule.SmallCopies, rule.ExposedCopies}, nil},
	{"class:dataloader", []string{rule.DataLoading}, nil},
	{"class:compute", []string{rule.MemoryBandwidth, rule.TinyKernels, rule.DominantKernel, rule.ComputeBound}, nil},
	{"class:runtime", []string{rule.SynchronousLaunches, rule.Allocating, rule.LaunchBound, rule.GPUIdle}, nil},
	{"--launch", []string{rule.SynchronousLaunches, rule.LaunchBound, rule.TinyKernels}, nil},
	{"--gap", []string{rule.KernelGaps, rule.TinyKernels}, nil},
	{"--remove sync", []string{rule.SyncCalls, rule.SyncCopies}, nil},
	{"--pinned", []string{rule.PageableCopies, rule.SyncCopies, rule.ExposedCopies}, nil},
	{"class:", []string{rule.CPUWork, rule.LaunchBound, rule.GPUIdle}, nil}, // of the host
	{"--host", []string{rule.StragglingRank, rule.LaunchBound, rule.CPUWork, rule.GPUIdle}, nil},
}

// RemedyOf returns what to do for a change: the first remedy of a finding of the run whose rule is about
// what the change makes faster. It returns nil if there is none. What to do about a single kernel or
// operator depends on it, so a finding must name it.
func (r Result) RemedyOf(x *summary.Forecast) (*finding.Finding, *finding.Step) {
	for prefix, named := range map[string]func(p *finding.Place, name string) bool{
		"--scale kernel~": func(p *finding.Place, name string) bool { return p.Kernel == name || p.Copy == name },
		"--scale op~":     func(p *finding.Place, name string) bool { return p.Row == name || p.Op == name && p.Kernel == "" },
	} {
		name, ok := strings.CutPrefix(x.Change, prefix)
		if !ok {
			continue
		}
		name = view.ChangedName(name)
		for i := range r.Findings {
			f := &r.Findings[i]
			if len(f.Next) > 0 && slices.ContainsFunc(f.Where, func(p finding.Place) bool { return named(&p, name) }) {
				return f, &f.Next[0]
			}
		}
		return nil, nil
	}
	for _, a := range about {
		if !strings.Contains(x.Change, a.part) {
			continue
		}
		for _, id := range a.rules {
			for i := range r.Findings {
				f := &r.Findings[i]
				at := slices.IndexFunc(f.Next, func(s finding.Step) bool { return a.steps == nil || slices.Contains(a.steps, s.ID) })
				if f.Rule == id && at >= 0 {
					return f, &f.Next[at]
				}
			}
		}
		return nil, nil
	}
	return nil, nil
}
