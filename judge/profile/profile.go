package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// An Evaluator applies the rules to profiles of functions.
type Evaluator struct {
	*tree.Context
	list *[]functions // the profiles; nil before their first use
}

// New returns an evaluator for a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{Context: c} }

// Rules returns the rules on profiles.
func (c *Evaluator) Rules() (out []tree.Row) {
	for id, measure := range map[string]func(*functions) (finding.Finding, bool){
		rule.FunctionTotal: c.functionTotal, rule.NestedCost: c.nestedCost,
	} {
		out = append(out, tree.Row{ID: id, Part: tree.BasisProfile, Under: []string{rule.Waiting},
			Measure: c.forHotFunction(measure)})
	}
	out = append(out, tree.Row{ID: rule.CheapCalls, Part: tree.BasisProfile, Measure: c.forEachProfile(c.cheapCalls)})
	return append(out,
		tree.Row{ID: rule.Waiting, Part: tree.BasisProfile, Measure: func() []tree.Reading {
			return slices.Concat(c.forEachProfile(c.waiting)(), tree.Found(c.againstCPU(c.functionProfiles())))
		}},
		tree.Row{ID: rule.FunctionSelf, Part: tree.BasisProfile, Under: []string{rule.FunctionTotal}, Lower: true,
			Measure: c.functionSelf},
		tree.Row{ID: rule.GrowingAverage, Part: tree.BasisProfile,
			Measure: func() []tree.Reading { return tree.Found(c.growingAverage(c.functionProfiles())) }})
}

// forEachProfile returns the measure function of a rule that judges each profile.
func (c *Evaluator) forEachProfile(f func(*functions) (finding.Finding, bool)) func() []tree.Reading {
	return func() (out []tree.Reading) {
		profiles := c.functionProfiles()
		for i := range profiles {
			out = append(out, tree.Found(f(&profiles[i]))...)
		}
		return out
	}
}

// forHotFunction returns the measure function of a rule about the hot function of each profile. If
// most of that function's time is waiting, its finding is placed below the one on waiting, which
// covers all waiting functions.
func (c *Evaluator) forHotFunction(measure func(*functions) (finding.Finding, bool)) func() []tree.Reading {
	return func() (out []tree.Reading) {
		profiles := c.functionProfiles()
		for i := range profiles {
			f := &profiles[i]
			best, _, hot := f.innermost(c.Limits[rule.FunctionTotal])
			for _, r := range tree.Found(measure(f)) {
				if ns := f.waitingIn(best); hot && len(profiles) == 1 && ns > best.total/2 {
					r.Explains = map[string]int64{rule.Waiting: ns}
					r.Below = []string{fmt.Sprintf("%s: at least %s of its time is waiting (%s of %s)", best,
						unit.Share(ns, best.total), f.amount(ns), f.amount(best.total))}
				}
				out = append(out, r)
			}
		}
		return out
	}
}

// waitingIn returns the least time that a function waits, or samples: its total without the self time of
// all functions that do not wait.
func (f *functions) waitingIn(r functionRow) int64 {
	if !f.complete() || !f.waits() {
		return 0
	}
	busy := int64(0)
	for _, other := range f.rows {
		if !other.wait {
			busy += max(0, other.self)
		}
	}
	return max(0, r.total-busy)
}

// Judge returns the result for a summary that has only profiles of functions, and false for others.
func (c *Evaluator) Judge(before []finding.Finding) (finding.Result, bool) {
	if !c.profilesOnly() {
		return finding.Result{}, false
	}
	profiles := c.functionProfiles()
	if len(profiles) == 0 {
		// A log that has only a header is reported by an issue, so before has a finding.
		empty := slices.ContainsFunc(c.Tables, func(t summary.Table) bool {
			return t.Of == summary.OfFunction &&
				len(t.Rows) == 0
		})
		v := finding.Verdict{Bound: finding.BoundUnknown, Sentence: "The profile has no functions", Rule: rule.CaptureQuality}
		v.Abstained = &finding.Abstention{Code: "no-functions", Reason: v.Sentence}
		return finding.Result{Verdict: v, Findings: before}, empty && len(before) > 0 && len(c.Tables) == 1
	}
	t := c.profileTree()
	judged := t.Findings(func(*tree.Node) bool { return true })
	slices.SortStableFunc(judged, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(c.Order[a.Rule], c.Order[b.Rule]),
			cmp.Compare(b.Value, a.Value))
	})
	return finding.Result{Verdict: profileVerdict(&profiles[0], judged), Findings: append(before, judged...),
		Tree: t.Nodes()}, true
}

// functionProfiles returns the profiles that are judged.
func (c *Evaluator) functionProfiles() []functions {
	if c.list == nil {
		list := c.profiles()
		c.list = &list
	}
	return *c.list
}

// profileTree returns the findings on functions. If the self time of a function is nearly its total
// time, one finding covers both.
func (c *Evaluator) profileTree() tree.Tree {
	t := tree.Tree{Own: c.Measure(tree.BasedOn(tree.BasisProfile))}
	for _, n := range t.Own {
		n.ReportedBy = &n.Finding
	}
	t.PlaceBelowCauses(c.Context)
	return t
}

// profileVerdict returns the verdict of the first finding above level Info; judged has the most
// severe ones first.
func profileVerdict(f *functions, judged []finding.Finding) finding.Verdict {
	bounds := map[string]finding.Bound{rule.Waiting: finding.BoundWaiting, rule.FunctionTotal: finding.BoundFunction,
		rule.FunctionSelf: finding.BoundFunction, rule.CheapCalls: finding.BoundCalls}
	for _, out := range judged {
		if bound, ok := bounds[out.Rule]; ok && out.Level > finding.Info {
			return finding.DecidedBy(bound, out)
		}
	}
	v := finding.Verdict{Bound: finding.BoundMixed, Sentence: "No hot function; the " + f.noun() + " is spread over many"}
	switch {
	case f.counted():
		v.Bound, v.Rule = finding.BoundUnknown, rule.CaptureQuality
		v.Sentence = "The profile counts " + f.noun() + ", which do not tell where the time goes; record the CPU clock: perf record -e cpu-clock -g"
		v.Abstained = &finding.Abstention{Code: "no-time", Reason: v.Sentence}
	case f.mostlyIdle():
		v.Sentence = strings.TrimPrefix(f.idle(), "; ")
		v.Sentence = strings.ToUpper(v.Sentence[:1]) + v.Sentence[1:]
	}
	top := functionRow{self: -1}
	for _, r := range f.rows {
		if r.self > top.self {
			top = r
		}
	}
	if top.self > 0 && f.own > 0 {
		v.Sentence += fmt.Sprintf(". Largest self %[3]s: %[1]s, %[2]s (%[4]s of %[5]s)", top, unit.Share(top.self, f.own),
			f.noun(), f.amount(top.self), f.amount(f.own))
	}
	return v
}

// measured compares num/den with the limits of a rule, and returns the limit that it reaches.
func (f *functions) measured(r rule.Rule, num, den int64) (finding.Finding, float64, bool) {
	if den <= 0 || num < 0 || f.counted() {
		return finding.Finding{}, 0, false
	}
	out, limit, ok := rule.Measured(r, num, den)
	if f.mostlyIdle() {
		out.Level = min(out.Level, finding.Info)
	}
	if !f.isTime() {
		out.NumeratorNS, out.DenominatorNS = 0, 0
	}
	return out, limit, ok
}

// innermost returns the function to which the time is attributed, and all others over the warn
// limit.
//
// If functions exceed the critical limit, it is the one with the least total, because the others
// call it, or a callee that exceeds the limit too. If none does, it is the one with the largest
// total, or a callee with nearly all of that. The program's own code is preferred to libraries,
// because only it can be changed.
func (f *functions) innermost(limits rule.Rule) (best functionRow, others []functionRow, ok bool) {
	for _, foreign := range []bool{false, true} {
		if best, ok = f.extreme(limits.Critical, foreign, -1); ok {
			best = f.descend(best, limits.Critical*float64(f.whole))
			break
		}
		if best, ok = f.extreme(limits.Warn, foreign, 1); ok {
			const nearly = 0.9
			best = f.descend(best, nearly*float64(best.total))
			break
		}
	}
	if !ok {
		return best, nil, false
	}
	for _, r := range f.rows {
		if r.name != best.name && float64(r.total) >= limits.Warn*float64(f.whole) {
			others = append(others, r)
		}
	}
	slices.SortStableFunc(others, func(a, b functionRow) int { return cmp.Compare(b.total, a.total) })
	return best, others, true
}

// extreme returns the function with the largest total (sign 1) or the smallest one (sign -1) of
// those whose share is at least limit.
func (f *functions) extreme(limit float64, foreign bool, sign int) (best functionRow, ok bool) {
	for _, r := range f.rows {
		if r.foreign != foreign || r.wait || r.total <= 0 || float64(r.total) < limit*float64(f.whole) {
			continue
		}
		if more := cmp.Compare(r.total, best.total) * sign; !ok || more > 0 || more == 0 && r.self > best.self {
			best, ok = r, true
		}
	}
	return best, ok
}

// descend follows calls from best while a callee takes at least least. Among functions with about
// the same total, the innermost one does the work.
func (f *functions) descend(best functionRow, least float64) functionRow {
	seen := map[string]bool{best.name: true}
	for {
		next := best
		for _, callee := range f.byCaller[best.name] {
			at, ok := f.byName[callee.name]
			if ok && !seen[callee.name] && f.rows[at].foreign == best.foreign && float64(callee.total) >= least {
				next = f.rows[at]
				break
			}
		}
		if next.name == best.name {
			return best
		}
		seen[next.name] = true
		best = next
	}
}

// spreads reports whether a function has no large callee and little self time: it leads to many
// functions, and is not itself where the time goes.
func (f *functions) spreads(best functionRow, limits rule.Rule) bool {
	if !f.complete() || float64(best.self) >= limits.Warn*float64(f.whole) {
		return false
	}
	for _, r := range f.rows {
		if r.total < best.total && float64(r.total) >= limits.Warn*float64(f.whole) {
			return false
		}
	}
	return true
}

// functionTotal judges the function with the largest total.
func (c *Evaluator) functionTotal(f *functions) (finding.Finding, bool) {
	limits := c.Limits[rule.FunctionTotal]
	best, others, ok := f.innermost(limits)
	if !ok {
		return finding.Finding{}, false
	}
	out, limit, ok := f.measured(limits, best.total, f.whole)
	if !ok {
		return finding.Finding{}, false
	}
	out.Title = fmt.Sprintf("Hot function: %s%s, %s", best, f.where, f.shareOfWhole(best.total)) + rule.Over(limit)
	out.Evidence = []string{best.String() + ": " + f.described(best)}
	if f.spreads(best, limits) {
		out.Level = finding.Info
		out.Evidence = append(out.Evidence, fmt.Sprintf("no callee reaches %s of the total, so its time is spread over many", unit.Percent(limits.Warn)))
	}
	if n := len(others); n > 0 {
		out.Evidence = append(out.Evidence, fmt.Sprintf("%s with at least %s of the %s (they call it, or it calls them):",
			label.Plural(int64(n), "more function"), unit.Percent(limits.Warn), f.noun()))
	}
	for _, r := range others[:min(4, len(others))] {
		out.Evidence = append(out.Evidence, fmt.Sprintf("%s: %s (%s)", r, unit.Share(r.total, f.whole), f.described(r)))
	}
	out.Evidence = append(out.Evidence, f.caveats()...)
	out.Where = f.places(best)
	out.Next = f.advice(best)
	out.Subject = f.subject(best)
	return out, true
}

// caveats returns what the numbers of a profile leave out.
func (f *functions) caveats() (out []string) {
	if !f.complete() {
		out = append(out, fmt.Sprintf("the self times sum to %s of %s, so callees are missing from the table; the hot function may be one of them", f.amount(f.own), f.amount(f.whole)))
	}
	if f.isTime() && f.Clock == "cpu" {
		out = append(out, "CPU clock: these times exclude waiting for network, locks and sleep")
	}
	return out
}

// alone reports whether nearly all time of a function is self time.
func (r functionRow) alone() bool {
	const nearly = 0.9
	return r.self > 0 && float64(r.self) >= nearly*float64(r.total)
}

// functionSelf judges the function with the largest self time of each profile. Incomplete profiles
// are left out, because their shares of self time are wrong. If nearly all of the total time is
// self time, the finding on the total explains it.
func (c *Evaluator) functionSelf() (list []tree.Reading) {
	profiles := c.functionProfiles()
	for i := range profiles {
		f := &profiles[i]
		top := functionRow{self: -1}
		for _, r := range f.rows {
			if r.self > top.self && !r.wait {
				top = r
			}
		}
		out, limit, ok := f.measured(c.Limits[rule.FunctionSelf], top.self, f.own)
		if !ok || !f.complete() {
			continue
		}
		out.Title = fmt.Sprintf("Hot function: %s%s, %s self %s (%s of %s)", top, f.where,
			unit.Share(top.self, f.own), f.noun(), f.amount(top.self), f.amount(f.own)) + rule.Over(limit)
		out.Evidence = []string{top.String() + ": " + f.described(top)}
		if top.line != "" {
			out.Evidence = append(out.Evidence, "its largest line, with the share of the function: "+top.line)
		}
		out.Where = f.places(top)
		out.Next = f.selfAdvice(top)
		out.Subject = f.subject(top)
		r := tree.Reading{Finding: out, Reached: true}
		if top.alone() {
			r.Explains = map[string]int64{rule.FunctionTotal: top.self}
		}
		list = append(list, r)
	}
	return list
}

// subject returns a function as the subject of a finding.
func (f *functions) subject(r functionRow) string { return r.name + f.where }

// cheapCalls judges how much self time is in short functions that are called often.
func (c *Evaluator) cheapCalls(f *functions) (finding.Finding, bool) {
	limits := c.Limits[rule.CheapCalls]
	if !f.isTime() || !f.complete() {
		return finding.Finding{}, false
	}
	var cheap []functionRow
	var self, calls int64
	for _, r := range f.rows {
		if r.count >= limits.MinEvents && r.mean >= 0 && r.mean < limits.Under && r.self > 0 && !r.wait {
			cheap = append(cheap, r)
			self, calls = self+r.self, calls+r.count
		}
	}
	out, limit, ok := f.measured(limits, self, f.own)
	if !ok {
		return finding.Finding{}, false
	}
	slices.SortStableFunc(cheap, func(a, b functionRow) int { return cmp.Compare(b.self, a.self) })
	out.Title = fmt.Sprintf("Call overhead%s: %s of the self time (%s) in %s", f.where,
		unit.Share(self, f.own), unit.DurationOf(self, f.own), label.Plural(int64(len(cheap)), "short function")) +
		rule.Over(limit)
	out.Evidence = []string{fmt.Sprintf("%s; each of these functions has at least %s and a mean under %s",
		label.Plural(calls, "call"),
		label.Plural(limits.MinEvents, "call"), unit.Duration(limits.Under))}
	out.Where = f.places(cheap...)
	for _, r := range cheap[:min(4, len(cheap))] {
		out.Evidence = append(out.Evidence, fmt.Sprintf("%s: %s of the self time (%s)", r, unit.Share(r.self, f.own),
			f.described(r)))
	}
	out.Next = []finding.Step{finding.Advise("cache-results").For(f.shows(cheap[0])...), finding.Advise("work-on-whole-arrays"),
		finding.Advise("check-by-sampling")}
	return out, true
}

// nestedCost reports that the hot function spends its time in callees, and which are the largest.
func (c *Evaluator) nestedCost(f *functions) (finding.Finding, bool) {
	limits := c.Limits[rule.FunctionTotal]
	best, _, ok := f.innermost(limits)
	if !ok || best.self < 0 || f.spreads(best, limits) {
		return finding.Finding{}, false
	}
	nested := best.total - best.self
	out, limit, ok := f.measured(c.Limits[rule.NestedCost], nested, best.total)
	if !ok {
		return finding.Finding{}, false
	}
	out.Title = fmt.Sprintf("%s%s spends %s of its %s in callees (%s of %s)", best, f.where,
		unit.Share(nested, best.total), f.noun(),
		f.amount(nested), f.amount(best.total)) + rule.Over(limit)
	callees := f.byCaller[best.name]
	for _, r := range callees[:min(4, len(callees))] {
		line := fmt.Sprintf("callee %s: %s of it (%s", r, unit.Share(r.total, best.total), f.amount(r.total))
		if r.count >= 0 {
			line += " in " + label.Plural(r.count, "call")
		}
		out.Evidence = append(out.Evidence, line+")")
	}
	if len(callees) == 0 {
		out.Evidence = []string{"the file lists no callees; yappi.start(builtins=True) records built-in functions"}
	}
	out.Where = f.places(best)
	out.Next = f.nestedAdvice(best)
	return out, true
}
