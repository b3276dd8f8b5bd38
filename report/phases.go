package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/judge"
	"assay/summary"
	"assay/unit"
)

// The limits of phases: what tables, the screen and the picture show.
const (
	maxPhaseRows    = 40
	screenPhaseRows = 6
	mostPhaseBars   = 16
)

// A phaseSum is one phase over all devices.
type phaseSum struct {
	path     string
	example  string
	count    int64 // on the host of the input where it ran most
	host     int64 // the longest of all inputs, for several ranks do the same at a time
	median   int64
	max      int64
	own      summary.Activity
	total    summary.Activity
	launched int64
}

// sumPhases adds phases up over devices: an outer one before those within it, of
// one level those with the most time first, and what is in none last.
func sumPhases(s *summary.Summary) []phaseSum {
	index := map[string]int{}
	var out []phaseSum
	for _, p := range s.Phases {
		i, ok := index[p.Path]
		if !ok {
			i = len(out)
			index[p.Path] = i
			out = append(out, phaseSum{path: p.Path, example: p.Example})
		}
		sum := &out[i]
		sum.count, sum.host = max(sum.count, p.Count), max(sum.host, p.HostNS)
		sum.median, sum.max = max(sum.median, p.MedianNS), max(sum.max, p.MaxNS)
		sum.own, sum.total = sum.own.Plus(p.Activity), sum.total.Plus(p.Total)
		sum.launched = summary.Plus(sum.launched, p.Launched)
	}
	totals := map[string]int64{}
	for _, p := range out {
		totals[p.path] = p.total.Window()
	}
	slices.SortStableFunc(out, func(a, b phaseSum) int { return byNesting(a.path, b.path, totals) })
	return out
}

// byNesting orders paths as the lines of a tree.
func byNesting(a, b string, totals map[string]int64) int {
	switch {
	case a == b:
		return 0
	case a == "":
		return 1
	case b == "":
		return -1
	}
	partsA, partsB := strings.Split(a, "/"), strings.Split(b, "/")
	for i := range min(len(partsA), len(partsB)) {
		if partsA[i] != partsB[i] {
			upA, upB := strings.Join(partsA[:i+1], "/"), strings.Join(partsB[:i+1], "/")
			return cmp.Or(cmp.Compare(totals[upB], totals[upA]), strings.Compare(upA, upB))
		}
	}
	return cmp.Compare(len(partsA), len(partsB))
}

// label names a phase, set in by how deep it is.
func (p phaseSum) label() string {
	if p.path == "" {
		return "in no phase"
	}
	depth := strings.Count(p.path, "/")
	return strings.Repeat("· ", depth) + clip(clean(p.path[strings.LastIndexByte(p.path, '/')+1:]), 30)
}

// phaseBound says what bounds a phase.
func (b *builder) phaseBound(p phaseSum) string {
	for _, v := range b.result.Phases {
		if v.Path == p.path {
			return boundOf(v.Bound)
		}
	}
	return ""
}

// boundOf says in a word or two what bounds a phase or step.
func boundOf(bound string) string {
	switch bound {
	case "communication":
		return "comm"
	case "":
		return ""
	}
	return clip(clean(bound), 20)
}

// phases says what the devices did in each phase.
func (b *builder) phases() Section {
	sums := sumPhases(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	var hosts, medians, longest []int64
	for _, p := range sums {
		hosts, medians, longest = append(hosts, p.host), append(medians, p.median), append(longest, p.max)
	}
	host, middle, most := scaleOf(hosts...), scaleOf(medians...), scaleOf(longest...)
	var rows []budgetRow
	whole := int64(0)
	for _, p := range sums {
		whole = summary.Plus(whole, p.own.Window())
	}
	for _, p := range sums {
		label := []string{p.label(), clip(clean(p.example), 40), unit.Count(p.count), host.text(p.host), middle.text(p.median), most.text(p.max), unit.Share(p.total.Window(), whole)}
		if p.path == "" {
			label[2], label[3], label[4], label[5] = "", "", "", ""
		}
		rows = append(rows, budgetRow{label, p.total, []string{unit.Count(p.launched), b.phaseBound(p)}})
	}
	t := budgetTable([]Column{{"phase", Text}, {"as in", Name}, {"runs", Number}, {host.head("host"), Number}, {middle.head("median run"), Number},
		{most.head("longest run"), Number}, {"of the windows", Number}}, rows, "devices", Column{"launched", Number}, Column{"bound", Text})
	for i, p := range sums {
		t.Rows[i].Weight = p.own.Window()
	}
	t.Title = "phases"
	t.More = Rest{Total: whole, Of: "the windows"}
	t.Note = "While anything runs on a device the time belongs to the phase that launched it, compute before communication before copies; while nothing runs it " +
		"belongs to the phase that the host was in when the device was done with all before. So the outermost phases and the row of what is in none sum to the windows. " +
		"A phase has what is within it, which follows set in. The host's times are of one thread, that whose phases cover the most time; the bound is by the limits of the verdict."
	return Section{Title: "Phases", Blocks: append([]Block{Paragraph{Text: phaseSentence(sums, whole)}, t.cut(maxPhaseRows).withoutEmpty()}, b.pictures("phases.png")...)}
}

// phaseSentence names the phases with the most time.
func phaseSentence(sums []phaseSum, whole int64) string {
	var words []string
	rest := int64(0)
	for _, p := range sums {
		switch {
		case p.path == "":
			rest = p.own.Window()
		case !strings.Contains(p.path, "/") && len(words) < 4:
			words = append(words, fmt.Sprintf("%s has %s, and the devices are in use for %s of that", p.label(), unit.Share(p.total.Window(), whole), unit.Share(p.total.Busy(), p.total.Window())))
		}
	}
	return fmt.Sprintf("Of %s of the windows: %s. %s is in no phase.", unit.Duration(whole), strings.Join(words, "; "), unit.Share(rest, whole))
}

// phaseChart draws the outermost phases and those within them as bars of the
// length that they have.
func phaseChart(s *summary.Summary) (Chart, bool) {
	sums := sumPhases(s)
	var total summary.Activity
	shown := 0
	for _, p := range sums {
		total = total.Plus(p.own)
		if p.path != "" && p.total.Window() > 0 {
			shown++
		}
	}
	if shown < 2 {
		return Chart{}, false
	}
	c := Chart{Title: "Where the time of each phase went", Legend: budgetLegend(total),
		Subtitle: "time of the devices in each phase; what is within a phase is part of it and follows set in"}
	if len(s.Devices) > 1 {
		c.Subtitle += fmt.Sprintf("; %s added up", plural(int64(len(s.Devices)), "device"))
	}
	bars := Bars{Compare: true}
	left := int64(0)
	for _, p := range sums {
		if p.total.Window() == 0 {
			continue
		}
		if len(bars.Rows) == mostPhaseBars {
			left++
			continue
		}
		bars.Rows = append(bars.Rows, BarRow{Label: p.label(), Parts: budgetParts(p.total),
			Note: ", " + unit.Share(p.total.Window(), total.Window())})
	}
	if left > 0 {
		c.Caption = plural(left, "more phase") + "."
	}
	c.Body = bars
	c.Alt = fmt.Sprintf("Bars of the time budgets of %s", plural(int64(len(bars.Rows)), "phase"))
	return c, true
}

// screenSteps says how long steps are, where there is more to tell of them than
// that: kinds, some that stand out, or phases.
func (b *builder) screenSteps() Section {
	plain := len(b.Phases) == 0 && !slices.ContainsFunc(b.result.Groups, func(g judge.StepGroup) bool {
		return g.Kind != "" || g.Slow+g.WarmUp+g.Edge > 0
	})
	if len(b.result.Groups) == 0 || plain {
		return Section{}
	}
	var list List
	for i, g := range b.result.Groups {
		if i == 3 {
			break
		}
		text := fmt.Sprintf("%s: median %s, spread %s, max %s", plural(g.Steps, strings.TrimSpace(clip(clean(g.Kind), 30)+" step")),
			unit.Duration(g.MedianNS), unit.Duration(g.SpreadNS), unit.Duration(g.MaxNS))
		if g.Bound != "" {
			text += ", " + stepBound(g.Bound)
		}
		list = append(list, Item{Text: text + leftOut(g)})
	}
	lead := "of each device"
	if by := b.markers(); by != "" {
		lead += ", marked by " + by
	}
	return Section{Title: "Steps", Lead: lead, Blocks: []Block{list}}
}

// stepBound says what bounds the median step, in the words of the verdict.
func stepBound(bound string) string {
	switch bound {
	case "mixed":
		return "bound by nothing that stands out"
	case "copies":
		return "copy-bound"
	}
	return clip(clean(bound), 20) + "-bound"
}

// screenPhases says what phases had of the windows.
func (b *builder) screenPhases() Section {
	sums := sumPhases(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	whole := int64(0)
	for _, p := range sums {
		whole = summary.Plus(whole, p.own.Window())
	}
	t := Table{Title: "phases", Columns: []Column{{"phase", Text}, {"share", Number}, {"time", Number}, {"█ compute", Number}, {"▓ comm", Number}, {"░ copies", Number}, {"· idle", Number}, {"bound", Text}}}
	for _, p := range sums {
		a := p.total
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		if a.Window() == 0 {
			continue
		}
		t.Rows = append(t.Rows, Row{Weight: p.own.Window(), Cells: []string{p.label(), unit.Share(a.Window(), whole), fourDigits(a.Window()), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), b.phaseBound(p)}})
	}
	t.More = Rest{Total: whole, Of: "the windows"}
	return Section{Title: "Phases", Lead: "share of the windows; of comm and copies the exposed part", Blocks: []Block{t.cut(screenPhaseRows).withoutEmpty()}}
}
