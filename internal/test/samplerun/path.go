package samplerun

import "assay/summary"

// attributedPath adds the critical path of one step of a rank, and forecasts for the rank with the
// longest step.
func attributedPath(s *summary.Summary, r, n int64) {
	const step = "ProfilerStep#2"
	p := summary.CriticalPath{
		Input: int(r), Rank: int(r), Step: step, StartNS: attributedStart, WindowNS: (100 + r) * MS,
		Classes:    summary.PathClasses{HostOp: 60 * MS, Compute: (30 + r) * MS, Comm: 10 * MS},
		InferredNS: MS, ExactNS: (100 + r) * MS, ExplainedNS: 99 * MS, Verdict: "warn", Reasons: []string{"several streams have work and the trace has no event between them"},
		Operators: []summary.PathPart{{Name: "aten::mm", NS: 60 * MS}, {Name: "aten::add_", NS: 20 * MS}},
		Kernels:   []summary.PathPart{{Name: "flash_fwd_kernel", NS: 30 * MS}},
		Modules:   []summary.PathPart{{Name: "GPT_0/Block_1", NS: 25 * MS}},
		Phases:    []summary.PathPart{{Name: "forward", NS: 40 * MS}},
	}
	if n > 1 {
		p.Ranks = []summary.PathPart{{Name: "0", NS: (90 + r) * MS}, {Name: "1", NS: 10 * MS}}
	}
	s.CriticalPaths = append(s.CriticalPaths, p)
	if r < n-1 {
		return
	}
	forecast := func(change string, gain int64, then summary.PathClasses) {
		f := summary.Forecast{Input: int(r), Rank: int(r), Step: step, Change: change, MeasuredNS: p.WindowNS, Verdict: "warn", Reasons: p.Reasons,
			Assumptions: []string{"the order of work on each stream and of each thread stays"}}
		if ns := p.WindowNS - gain; gain < 0 {
			f.Verdict, f.Reasons = summary.Withheld, []string{"communication of one rank includes waiting for other ranks; give the traces of all"}
		} else {
			f.ForecastNS, f.Classes = &ns, &then
		}
		s.Forecasts = append(s.Forecasts, f)
	}
	forecast("--host 2x", 30*MS, summary.PathClasses{HostOp: 30 * MS, Compute: (30 + r) * MS, Comm: 10 * MS})
	forecast("--scale class:compute=0.5", (30+r)*MS/2, summary.PathClasses{HostOp: 60 * MS, Compute: (30 + r) * MS / 2, Comm: 10 * MS})
	forecast("--scale class:comm=0.5", -1, summary.PathClasses{})
	forecast("--scale op~^aten::mm$=0.5", 20*MS, summary.PathClasses{HostOp: 40 * MS, Compute: (30 + r) * MS, Comm: 10 * MS})
}
