package tree

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// A Context is what the rules of all subjects share: a summary, the limits, and the part of the
// windows that is judged.
type Context struct {
	*summary.Summary
	Rows   []Row // the rules of all subjects
	Limits map[string]rule.Rule
	Order  map[string]int   // precedence of rules, by id
	GPUs   int              // captures of one GPU count once
	Total  summary.Activity // summed over all devices
	Judged summary.Activity // Total without a long warm-up; the verdict is about this
	Left   string           // names what Judged leaves out; "" if nothing

	// Placed is true if the causes of idle time are known without the warm-up as well. Total is
	// without it then.
	Placed bool

	// Unrecorded is the ns of the windows in which the GPUs ran work that is missing from the
	// capture. Total and Judged are without it.
	Unrecorded int64
}

// NewContext returns the context of a summary. It has no rules yet, and all of the windows is
// judged.
func NewContext(s *summary.Summary, th rule.Thresholds) *Context {
	c := &Context{Summary: s, GPUs: view.GPUs(s), Limits: map[string]rule.Rule{}, Order: map[string]int{}}
	for i, r := range th.Rules() {
		c.Limits[r.ID], c.Order[r.ID] = r, i
	}
	for _, d := range s.Devices {
		c.Total = c.Total.Plus(d.Activity)
	}
	c.Judged = c.Total
	return c
}

// Findings returns the findings of the rules that accept selects, each by itself and not as part of
// a tree.
func (c *Context) Findings(accept func(Row) bool) (out []finding.Finding) {
	for _, n := range c.Measure(accept) {
		out = append(out, n.Finding)
	}
	return out
}

// Measure returns the readings of the rules that accept selects, in the order of precedence, which
// does not depend on the order of the rules.
func (c *Context) Measure(accept func(Row) bool) (out []*Node) {
	for _, r := range c.Rows {
		if r.Measure == nil || !accept(r) {
			continue
		}
		for _, m := range r.Measure() {
			out = append(out, &Node{Row: r, Reading: m})
		}
	}
	slices.SortStableFunc(out, c.precedes)
	return out
}

// MeasureAbout returns the readings of the rules about the verdict, in the order of precedence.
func (c *Context) MeasureAbout(v finding.Verdict) (out []*Node) {
	for _, r := range c.Rows {
		if r.Conclude == nil {
			continue
		}
		for _, m := range r.Conclude(v) {
			n := &Node{Row: r, Reading: m}
			n.ReportedBy = &n.Finding
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(b.Precedence, a.Precedence),
			c.precedes(a, b))
	})
	return out
}

// precedes orders the nodes of one parent: by the precedence of their rows, then by the order of
// their rules.
func (c *Context) precedes(a, b *Node) int {
	return cmp.Or(cmp.Compare(a.Precedence, b.Precedence), cmp.Compare(c.Order[a.ID], c.Order[b.ID]),
		cmp.Compare(a.Part, b.Part), cmp.Compare(a.Subject, b.Subject))
}

// Rooted returns the tree with an additional root for each finding that is not in it.
func (c *Context) Rooted(list []finding.Finding, tree []finding.Node) []finding.Node {
	type key struct{ rule, subject string }
	has := map[key]bool{}
	var note func([]finding.Node)
	note = func(list []finding.Node) {
		for _, n := range list {
			has[key{n.Rule, n.Subject}] = true
			note(n.Causes)
		}
	}
	note(tree)
	for _, f := range list {
		if !has[key{f.Rule, f.Subject}] {
			tree = append(tree, f.Node(c.basisOf(f.Rule)))
		}
	}
	return tree
}

// basisOf returns the basis for the findings of a rule that explains no part of the window.
func (c *Context) basisOf(id string) (basis string) {
	totals := c.Total.Window() == 0 && len(c.Tables) > 0
	for _, r := range c.Rows {
		switch {
		case r.ID != id || len(r.Under) > 0 || r.Part == BasisTotals && !totals:
		case r.Part == BasisLogs && basis != "": // logs can have findings of a rule for captures, whose basis is preferred
		case basis == "" || basis == BasisLogs || r.Part == BasisTotals:
			basis = r.Part
		}
	}
	return basis
}

// Device returns the name of a GPU, with its input if several inputs have its rank and number.
func (c *Context) Device(input, rank int, device int64) string {
	s := fmt.Sprintf("rank %d GPU %d", rank, device)
	ambiguous := slices.ContainsFunc(c.Devices, func(d summary.Device) bool {
		return d.Rank == rank && d.Device == device && d.Input != input
	})
	if ambiguous && input >= 0 && input < len(c.Inputs) {
		s += fmt.Sprintf(" in %q", c.Inputs[input].Path)
	}
	return s
}

// Choice returns " on " and the name of a GPU, or "" if there is only one.
func (c *Context) Choice(input, rank int, device int64) string {
	if len(c.Devices) < 2 {
		return ""
	}
	return " on " + c.Device(input, rank, device)
}

// OfWindow prints ns as a share of the windows for a title: "19.2% of the window (10.13 ms of 52.74
// ms)". With several GPUs the share is their mean.
func (c *Context) OfWindow(ns int64) string {
	share, window := unit.Share(ns, c.Total.Window()), c.Total.Window()
	if n := c.GPUs; n > 1 {
		return fmt.Sprintf("%s of %s (mean of %d GPUs)", share, c.WindowName(), n)
	}
	return fmt.Sprintf("%s of %s (%s)", share, c.WindowName(), unit.DurationOf(ns, window))
}

// PerGPU prints two sums over the GPUs as durations, as means if there are several GPUs: "8.960 ms
// of 52.70 ms, mean of 8 GPUs".
func (c *Context) PerGPU(num, den int64) string {
	n := int64(c.GPUs)
	if n < 2 {
		return unit.DurationOf(num, den)
	}
	return fmt.Sprintf("%s, mean of %d GPUs", unit.DurationOf(unit.Mean(num, n), unit.Mean(den, n)), n)
}

// JudgedName returns the name of the denominator for shares of the judged part of the windows.
func (c *Context) JudgedName() string { return c.WindowName() + c.LeftOut() }

// WindowName returns the name of the denominator for shares of the windows.
func (c *Context) WindowName() string {
	if c.Placed {
		return c.PlainName() + " without " + c.Left
	}
	return c.PlainName()
}

// PlainName returns the name of the denominator for shares of the windows with the warm-up.
func (c *Context) PlainName() string {
	switch many := c.GPUs > 1; {
	case many && c.Unrecorded > 0:
		return "recorded GPU time"
	case many:
		return "GPU time"
	case c.Unrecorded > 0:
		return "the recorded window"
	}
	return "the window"
}

// JudgedWhole returns the name for the sum of the judged parts of the windows.
func (c *Context) JudgedWhole() string { return c.WindowWhole() + c.LeftOut() }

// WindowWhole returns the name for the sum of the windows.
func (c *Context) WindowWhole() string {
	if n := c.GPUs; n > 1 {
		name := fmt.Sprintf("the GPU time of %d GPUs", n)
		if c.Placed {
			name += " without " + c.Left
		}
		return name
	}
	return c.WindowName()
}

// GainOfWindow sets the estimated savings of a finding, in ns, with the windows as the denominator.
func (c *Context) GainOfWindow(f *finding.Finding, ns int64) {
	f.Gain(ns, c.Total.Window(), c.WindowWhole())
	if f.GainGPUs = c.GPUs; c.Placed {
		f.GainWithout = c.Left
	}
	f.GainOfAll = c.AllOfWindows(f.GainWithout)
}

// AllOfWindows reports whether a denominator without the given phases is what every other one is: the
// windows of the GPUs. Then a sentence need not name it.
func (c *Context) AllOfWindows(without string) bool {
	return c.GPUs > 1 || without == "" && c.Unrecorded == 0
}

// GainOfJudged sets the estimated savings of a finding, in ns, with the judged part of the windows
// as the denominator.
func (c *Context) GainOfJudged(f *finding.Finding, ns int64) {
	f.Gain(ns, c.Judged.Window(), c.JudgedWhole())
	f.GainGPUs, f.GainWithout, f.GainOfAll = c.GPUs, c.Left, c.AllOfWindows(c.Left)
}

// LeftOut names what the judged part of the windows leaves out, for the end of a name.
func (c *Context) LeftOut() string {
	if c.Left == "" || c.Placed {
		return ""
	}
	return " without " + c.Left
}

// OfMemory returns the findings on memory. Each rule has at most one, on the worst GPU.
func (c *Context) OfMemory() []finding.Finding { return c.Findings(BasedOn(BasisMemory)) }
