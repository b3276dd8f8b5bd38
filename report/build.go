package report

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/judge"
	"assay/report/pictures"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// A builder makes the sections of one Doc.
type builder struct {
	*summary.Summary
	result judge.Result

	devices []string                  // label of each device, in order
	total   summary.Activity          // of all devices
	kernels []view.Kernel             // by name, largest first
	work    int64                     // ns of all kernels
	place   map[view.DeviceKey]string // label of the device of a row
	charts  map[string]plot.Chart
}

// Build makes the report of a summary and its judgment. It changes neither and
// the Doc shares their memory.
func Build(s *summary.Summary, r judge.Result) Doc {
	b := newBuilder(s, r)
	charts := pictures.Of(s, r)
	for _, c := range charts {
		b.charts[c.File()] = c
	}
	d := b.screen()
	d.Sections = present(slices.Concat(
		[]Section{b.verdict(), b.capture(), b.budget(), b.findings(), b.steps(), b.phases()},
		b.byImpact(
			[]Section{b.idleOwners(), b.gaps(), b.launches(), b.calls(), b.graphs()},
			[]Section{b.kernelTable(), b.categories(), b.unclassified(), b.operators(), b.modules(), b.lines(), b.annotations(), b.passes()}),
		[]Section{b.countedKernels(), b.profilerAdvice(), b.copies(), b.streams(), b.memory()}, b.snapshots(), b.timelines(),
		[]Section{b.distributions(), b.spans()}, b.tables())...)
	d.charts = inPlace(charts, d.Sections)
	return d
}

// Overview is [Build] without the sections and pictures of the whole report, which
// take longer: what [Doc.Text] and [Doc.JSON] print is all there.
func Overview(s *summary.Summary, r judge.Result) Doc { return newBuilder(s, r).screen() }

// screen makes a Doc with the sections of the one-screen summary.
func (b *builder) screen() Doc {
	d := Doc{Title: b.title(), summary: b.Summary, result: b.result}
	d.Screen = present(slices.Concat(
		[]Section{b.screenVerdict(), b.screenCapture(), b.screenBudget(), b.screenFindings(), b.screenSteps(), b.screenPhases()},
		b.byImpact([]Section{b.screenIdle()}, []Section{b.screenKernels(), b.screenOperators()}),
		[]Section{b.screenCounters(), b.screenMemory()}, b.screenSnapshots(), []Section{b.screenTimelines(), b.screenSpans()}, b.screenTables())...)
	return d
}

// byImpact puts what tells of idle time first if that is the larger part of
// the windows, and what tells of work if not.
func (b *builder) byImpact(idle, work []Section) []Section {
	if b.mostlyIdle() {
		return append(idle, work...)
	}
	return append(work, idle...)
}

// inPlace returns the charts in the order in which the sections have them.
func inPlace(charts []plot.Chart, sections []Section) []plot.Chart {
	at := map[string]int{}
	for _, s := range sections {
		for _, block := range s.Blocks {
			if p, ok := block.(Picture); ok {
				at[p.Chart.Name] = len(at)
			}
		}
	}
	slices.SortStableFunc(charts, func(a, b plot.Chart) int { return cmp.Compare(at[a.Name], at[b.Name]) })
	return charts
}

func newBuilder(s *summary.Summary, r judge.Result) *builder {
	b := &builder{Summary: s, result: r, charts: map[string]plot.Chart{}, place: map[view.DeviceKey]string{}}
	b.devices = view.DeviceLabels(s)
	for i, d := range s.Devices {
		b.total = b.total.Plus(d.Activity)
		b.place[view.DeviceKey{Input: d.Input, Rank: d.Rank, Device: d.Device}] = b.devices[i]
	}
	b.kernels = view.Kernels(s)
	for _, k := range b.kernels {
		b.work = summary.Plus(b.work, k.Total)
	}
	return b
}

// present drops the sections that have nothing to show.
func present(sections ...Section) []Section {
	return slices.DeleteFunc(sections, func(s Section) bool { return len(s.Blocks) == 0 && s.Lead == "" })
}

func (b *builder) title() string {
	what := "GPU time report"
	switch {
	case b.profilesOnly():
		what = "Profile"
	case b.ofMemory():
		what = "GPU memory report"
	}
	switch len(b.Inputs) {
	case 0:
		return what
	case 1:
		return what + ": " + label.Base(b.Inputs[0].Path)
	}
	return what + ": " + plural(int64(len(b.Inputs)), "input")
}

// bound says in a few words what the verdict is.
func (b *builder) bound() string {
	switch b.result.Verdict.Bound {
	case "host":
		if b.result.Verdict.Rule == judge.RuleGPUIdle && b.idleForOthers() {
			return "GPU idle"
		}
		return "host-bound"
	case "communication":
		return "communication-bound"
	case "copies":
		return "copy-bound"
	case "compute":
		return "compute-bound"
	case "latency":
		return "latency-bound"
	case "memory":
		return "memory-bound"
	case "balanced":
		return "compute and memory alike"
	case "near-limit":
		return "near the limit"
	case "mixed":
		return "nothing stands out"
	case "function":
		return "hot function"
	case "waiting":
		return "waiting"
	case "calls":
		return "too many small calls"
	case "unknown", "":
		if b.sumsOnly() && len(view.Tables(b.Summary)) > 0 {
			return "sums only, no timeline"
		}
		return "cannot tell"
	}
	if text := memoryBound(b.result.Verdict.Bound); text != "" {
		return text
	}
	return clip(clean(b.result.Verdict.Bound), 40)
}

// idleForOthers reports whether the host owns less than half of the idle time whose
// owner is known: a device that waits for another stream or a peer has its work.
func (b *builder) idleForOthers() bool {
	hosts, all := int64(0), int64(0)
	for _, r := range b.Idle {
		all = summary.Plus(all, r.NS)
		switch r.Owner {
		case summary.OwnerHost, summary.OwnerLaunch, summary.OwnerBetween:
			hosts = summary.Plus(hosts, r.NS)
		}
	}
	return hosts < all-hosts
}

// decisive returns the finding that the verdict repeats.
func (b *builder) decisive() (judge.Finding, bool) {
	for _, f := range b.result.Findings {
		if b.decides(f) {
			return f, true
		}
	}
	return judge.Finding{}, false
}

// decides reports whether f is what the verdict says. A verdict that names no
// rule may still repeat a finding.
func (b *builder) decides(f judge.Finding) bool {
	if v := b.result.Verdict; v.Rule != "" {
		return f.Rule == v.Rule
	}
	return f.Title == b.result.Verdict.Sentence
}

func (b *builder) verdict() Section {
	s := Section{Title: "Verdict: " + b.bound()}
	if text := b.verdictSentence(sentence); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: text, Strong: true})
	}
	first := "What to do first:"
	f, ok := b.decisive()
	if over := b.overLimits(); len(over) > 0 {
		f, ok = over[0], true
		first = "What to do first is about " + f.Rule + ", for that is over its limit:"
	}
	if ok && len(f.Next) > 0 {
		// All of them are below, with the finding.
		var texts []string
		for _, step := range f.Next[:min(2, len(f.Next))] {
			texts = append(texts, step.Text())
		}
		s.Blocks = append(s.Blocks, Paragraph{Text: first}, points(texts))
	}
	return s
}

// overLimits returns the findings that ask for more than the verdict does, where
// that is that all is well.
func (b *builder) overLimits() (out []judge.Finding) {
	if bound := b.result.Verdict.Bound; bound != "compute" && bound != "mixed" {
		return nil
	}
	for _, f := range b.result.Findings {
		switch {
		case f.Rule == judge.RuleCaptureQuality || f.Level == judge.Info:
		case b.decides(f):
			return nil
		default:
			out = append(out, f)
		}
	}
	return out
}
