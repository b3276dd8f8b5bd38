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
	rule.ExposedComm: "--hide-comm", rule.ExposedCopies: hiddenCopies, rule.HostRoundTrips: hiddenCopies, rule.DataLoading: noLoader,
	rule.GPUIdle: "--host 0", rule.LaunchBound: "--host 0", rule.SyncCalls: "--remove sync~.", rule.SyncCopies: view.PinnedChange,
}

// suggested has what forecasts of the work of a rule's finding stand for, as [summary.Forecast] names it.
var suggested = map[string]string{
	rule.CopyKernels: summary.ByCopyKernels, rule.HostRoundTrips: summary.ByRoundTrips, rule.FewBlocks: summary.ByFewBlocks,
	rule.FewWarps: summary.ByFewWarps, rule.LateComm: summary.ByEarly,
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
		x := p.Forecast(removals[f.Rule])
		if by := suggested[f.Rule]; by != "" && p.By(by) != nil {
			x = p.By(by)
		}
		if x != nil && x.ForecastNS != nil {
			f.Gain(x.Gain(), x.MeasuredNS, "the step "+p.Name())
			f.GainGPUs, f.GainWithout = 0, ""
			f.GainBasis, f.GainChange, f.GainVerdict = finding.Modelled, x.Change, x.Verdict
			f.GainBound = x.Bound || x.By == summary.ByEarly // launched as early as the GPU could start it
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

// The changes that take a cause away entirely, as [summary.Forecast] names them, and that of a late rank.
const (
	noLoader     = "--scale class:dataloader=0"
	hiddenCopies = "--scale class:copy=0"
	notLate      = "--on-time"
)

// takesAway reports whether a change takes away what a verdict may be about.
func takesAway(change string) bool {
	return view.Pinned(change) || strings.HasPrefix(change, notLate) || slices.Contains([]string{noLoader, hiddenCopies, "--remove sync~."}, change)
}

// making has the remedies that make some changes only, by their ids, and parts of these changes.
var making = []struct{ steps, parts []string }{
	{[]string{"launch-less", "launch-less-by-graphs", "vllm-graphs", "sglang-graphs", "sglang-graphs-old", "sfllm-graphs", "skyrl-graphs"},
		[]string{"--graph", "--launch", "--host", "class:runtime", "class:host_", "class:python"}},
	{[]string{"load-data-ahead", "load-data-sooner", "read-ahead", "read-sooner", "prepare-data-outside-the-step"}, []string{"class:dataloader"}},
	{[]string{"remove-synchronization", "wait-less", "wait-less-often", "wait-for-an-event", "wait-on-the-gpu", "wait-where-it-is-used"},
		[]string{"--remove sync"}},
	{[]string{"copy-pinned", "copy-from-pinned", "copy-pinned-not-pageable", "pin-for-async", "pin-by-hand", "reuse-pinned", "keep-pinned",
		"copy-asynchronously", "copy-by-streams", "copy-without-waiting", "copy-and-go-on"}, []string{view.PinnedChange}},
	{[]string{"overlap-copies", "overlap-copies-by-streams", "overlap-offload"}, []string{hiddenCopies}},
	{forLateRank, []string{notLate, "class:comm", "--host"}},
}

// makes reports whether a remedy makes a change, and whether it is one that makes some changes only.
func makes(s *finding.Step, change string) (made, only bool) {
	for _, m := range making {
		if slices.Contains(m.steps, s.ID) {
			return slices.ContainsFunc(m.parts, func(p string) bool { return strings.Contains(change, p) }), true
		}
	}
	return change != hiddenCopies, false
}

// by has the remedies that make what measurements of the GPU work suggest.
var by = map[string][]string{
	summary.ByTF32:   {"allow-tf32"},
	summary.ByFusion: {"fuse-small-kernels", "compile-the-rest", "fuse-by-hand"},
	summary.ByEarly: {"fsdp-prefetch", "fsdp-forward-prefetch", "fsdp2-prefetch", "megatron-overlap", "deepspeed-overlap",
		"launch-communication-earlier", "send-sooner"},
}

// about has the rules whose remedies make a change, the most specific first, by the part of the change
// that names what becomes faster. If own is set, only remedies that make some changes only are meant.
var about = []struct {
	part  string
	rules []string
	own   bool
}{
	{"--graph", []string{rule.LaunchBound, rule.GPUIdle}, true},
	{notLate, []string{rule.StragglingRank, rule.CPUCollectives}, true},
	{"class:comm", []string{rule.StragglingRank, rule.SlowCollectives, rule.ExposedComm, rule.CPUCollectives}, false},
	{"class:copy", []string{rule.PageableCopies, rule.SyncCopies, rule.SmallCopies, rule.ExposedCopies}, false},
	{"class:dataloader", []string{rule.DataLoading, rule.GPUIdle, rule.DataShare}, true},
	{"class:compute", []string{rule.MemoryBandwidth, rule.TinyKernels, rule.DominantKernel, rule.ComputeBound}, false},
	{"class:runtime", []string{rule.SynchronousLaunches, rule.Allocating, rule.LaunchBound, rule.GPUIdle}, false},
	{"--launch", []string{rule.SynchronousLaunches, rule.LaunchBound, rule.TinyKernels}, false},
	{"--gap", []string{rule.KernelGaps, rule.TinyKernels}, false},
	{"--remove sync", []string{rule.SyncCalls, rule.SyncCopies, rule.GPUIdle}, true},
	{view.PinnedChange, []string{rule.PageableCopies, rule.SyncCopies, rule.ExposedCopies, rule.GPUIdle}, true},
	{"class:", []string{rule.CPUWork, rule.LaunchBound, rule.GPUIdle}, false}, // of the host
	{"--host", []string{rule.StragglingRank, rule.LaunchBound, rule.CPUWork, rule.GPUIdle}, false},
}

// stepFor returns the first remedy of a finding that makes a change, or -1.
func stepFor(f *finding.Finding, change string, own bool) int {
	return slices.IndexFunc(f.Next, func(s finding.Step) bool {
		made, only := makes(&s, change)
		return made && (only || !own)
	})
}

// RemedyOf returns what to do for a change: the first remedy that makes it, of a finding of the run whose rule is
// about what the change makes faster. It returns nil if there is none. What to do about a single kernel or
// operator depends on it, so a finding must name it.
func (r Result) RemedyOf(x *summary.Forecast) (*finding.Finding, *finding.Step) {
	if by[x.By] != nil {
		for i := range r.Findings {
			f := &r.Findings[i]
			if at := slices.IndexFunc(f.Next, func(s finding.Step) bool { return slices.Contains(by[x.By], s.ID) }); at >= 0 {
				return f, &f.Next[at]
			}
		}
		return nil, nil
	}
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
			at := stepFor(f, x.Change, false)
			if at >= 0 && slices.ContainsFunc(f.Where, func(p finding.Place) bool { return named(&p, name) }) {
				return f, &f.Next[at]
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
				if at := stepFor(f, x.Change, a.own); f.Rule == id && at >= 0 {
					return f, &f.Next[at]
				}
			}
		}
		return nil, nil
	}
	return nil, nil
}
