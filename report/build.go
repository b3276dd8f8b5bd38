package report

import (
	"cmp"
	"slices"

	"assay/internal/label"
	"assay/judge"
	"assay/report/pictures"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// A builder makes the sections of one [Doc].
type builder struct {
	*summary.Summary
	result judge.Result

	devices []string                  // label of each GPU, in order
	total   summary.Activity          // of all devices
	kernels []view.Kernel             // by name, largest first
	work    int64                     // ns of all kernels
	place   map[view.DeviceKey]string // label of the GPU of a row
	charts  map[string]plot.Chart
}

// Build makes the report of a summary and its result. It changes neither. The Doc
// shares their memory.
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

// Overview makes a Doc without the sections and pictures of the whole report, which
// take longer to make. It has all that [Doc.Text] and [Doc.JSON] print.
func Overview(s *summary.Summary, r judge.Result) Doc { return newBuilder(s, r).screen() }

// screen makes a Doc with the sections of the one-screen summary.
func (b *builder) screen() Doc {
	d := Doc{Title: b.title(), summary: b.Summary, result: b.result}
	for most := screenFindings; ; most-- {
		d.Screen = b.screenSections(most)
		if most == 1 || len(b.Inputs) != 1 || d.screenLines() <= screenLines {
			return d
		}
	}
}

// screenSections returns the sections of the one-screen summary, with at most so many
// findings.
func (b *builder) screenSections(findings int) []Section {
	return present(slices.Concat(
		[]Section{b.screenVerdict(), b.screenCapture(), b.screenBudget(), b.screenFindings(findings), b.screenSteps(), b.screenPhases()},
		b.byImpact([]Section{b.screenIdle()}, []Section{b.screenKernels(), b.screenOperators()}),
		[]Section{b.screenCounters(), b.screenMemory()}, b.screenSnapshots(), []Section{b.screenTimelines(), b.screenSpans()}, b.screenTables())...)
}

// byImpact returns the sections on idle time first if the GPUs are mostly idle, and
// the sections on work first otherwise.
func (b *builder) byImpact(idle, work []Section) []Section {
	if b.mostlyIdle() {
		return append(idle, work...)
	}
	return append(work, idle...)
}

// inPlace sorts charts into their order in the sections and returns them.
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

// present returns the sections that have content.
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
	return what + ": " + label.Plural(int64(len(b.Inputs)), "input")
}

// bound returns the display words of the verdict.
func (b *builder) bound() string {
	v := b.result.Verdict
	switch {
	case v.Bound == judge.BoundHost && v.Rule == judge.RuleGPUIdle && b.idleForOthers():
		return words.WaitsForOthers(b.idleOwner())
	case (v.Bound == judge.BoundUnknown || v.Bound == "") && b.sumsOnly() && len(view.Tables(b.Summary)) > 0:
		return words.TotalsOnly
	}
	return words.Verdict(v.Bound)
}

// idleOwner returns the owner of most of the idle time.
func (b *builder) idleOwner() string {
	sums := view.SumOwners(b.Idle)
	if len(sums) == 0 {
		return ""
	}
	return slices.MaxFunc(sums, func(a, c view.Idle) int { return cmp.Compare(a.NS, c.NS) }).Owner
}

// idleForOthers reports whether the CPU causes less than half of the idle time. A GPU
// that waits for another stream or rank has its work already.
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

// decisive returns the finding that decides the verdict.
func (b *builder) decisive() (judge.Finding, bool) {
	for _, f := range b.result.Findings {
		if b.decides(f) {
			return f, true
		}
	}
	return judge.Finding{}, false
}

// decides reports whether f decides the verdict. A verdict without a rule may still
// repeat a finding.
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
	if text := b.verdictCause(); text != "" {
		s.Blocks = append(s.Blocks, Paragraph{Text: "Cause: " + sentence(text)})
	}
	first := "What to do first:"
	f, ok := b.decisive()
	if over := b.overLimits(); len(over) > 0 {
		f, ok = over[0], true
		first = "What to do first (finding " + f.Rule + "):"
	}
	if ok && len(f.Next) > 0 {
		// The findings below have all of them.
		var texts []string
		for _, step := range f.Next[:min(2, len(f.Next))] {
			texts = append(texts, step.Text())
		}
		s.Blocks = append(s.Blocks, Paragraph{Text: first}, points(texts))
	}
	return s
}

// overLimits returns the warnings and critical findings of a run whose verdict asks for
// no action.
func (b *builder) overLimits() (out []judge.Finding) {
	if bound := b.result.Verdict.Bound; bound != judge.BoundCompute && bound != judge.BoundMixed {
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
