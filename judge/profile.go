package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// judgeProfiles judges profiles of functions where there is nothing else. It
// returns false if there are none.
func (c *court) judgeProfiles(found []Finding, order map[string]int) (Result, bool) {
	if !c.profilesOnly() {
		return Result{}, false
	}
	profiles := c.profiles()
	if len(profiles) == 0 {
		// A log that has a header only says so among the issues.
		empty := slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return t.Of == summary.OfFunction && len(t.Rows) == 0 })
		v := Verdict{Bound: "unknown", Sentence: "the profile has no function in it, so nothing can be judged", Rule: RuleCaptureQuality}
		v.Abstained = &Abstention{Code: "no-functions", Reason: v.Sentence}
		return Result{Verdict: v, Findings: found}, empty && len(found) > 0 && len(c.Tables) == 1
	}
	var judged []Finding
	for i := range profiles {
		f := &profiles[i]
		rules := []func(*functions) (Finding, bool){c.waiting, c.functionTotal, c.functionSelf, c.cheapCalls, c.nestedCost}
		for _, rule := range rules {
			if finding, ok := rule(f); ok {
				judged = append(judged, finding)
			}
		}
	}
	if f, ok := c.againstCPU(profiles); ok {
		judged = append(judged, f)
	}
	if f, ok := c.growingAverage(profiles); ok {
		judged = append(judged, f)
	}
	slices.SortStableFunc(judged, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(order[a.Rule], order[b.Rule]), cmp.Compare(b.Value, a.Value))
	})
	return Result{Verdict: profileVerdict(&profiles[0], judged), Findings: append(found, judged...)}, true
}

// profileVerdict picks what stands out most: the first finding over its critical
// limit, else the first over its warn limit.
func profileVerdict(f *functions, judged []Finding) Verdict {
	bounds := map[string]string{RuleWaiting: "waiting", RuleFunctionTotal: "function", RuleFunctionSelf: "function", RuleCheapCalls: "calls"}
	for _, finding := range judged {
		if bound, ok := bounds[finding.Rule]; ok && finding.Level > Info {
			return decidedBy(bound, finding)
		}
	}
	v := Verdict{Bound: "mixed", Sentence: "no function stands out: the " + f.noun() + " spreads over many"}
	top := functionRow{self: -1}
	for _, r := range f.rows {
		if r.self > top.self {
			top = r
		}
	}
	if top.self > 0 && f.own > 0 {
		v.Sentence += fmt.Sprintf("; the most by itself has %s with %s of the self %s (%s of %s)", top, unit.Share(top.self, f.own), f.noun(), f.amount(top.self), f.amount(f.own))
	}
	return v
}

// held returns the finding of a share, its limit, and whether it reaches any.
func (f *functions) held(r Rule, num, den int64) (Finding, float64, bool) {
	if den <= 0 || num < 0 {
		return Finding{}, 0, false
	}
	finding, limit, ok := measured(r, num, den)
	if !f.isTime() {
		finding.NumeratorNS, finding.DenominatorNS = 0, 0
	}
	return finding, limit, ok
}

// innermost returns the function that the total is put down to. Of those over the
// critical limit it is the one with the least, for the others called it, or what
// that calls if it is over the limit too. If none is, it is the one with the
// most, or what has nearly all of that. The program's own code comes before
// libraries, for that is what can be changed.
func (f *functions) innermost(rule Rule) (best functionRow, others []functionRow, ok bool) {
	for _, foreign := range []bool{false, true} {
		if best, ok = f.extreme(rule.Critical, foreign, -1); ok {
			best = f.descend(best, rule.Critical*float64(f.whole))
			break
		}
		if best, ok = f.extreme(rule.Warn, foreign, 1); ok {
			const nearly = 0.9
			best = f.descend(best, nearly*float64(best.total))
			break
		}
	}
	if !ok {
		return best, nil, false
	}
	for _, r := range f.rows {
		if r.name != best.name && float64(r.total) >= rule.Warn*float64(f.whole) {
			others = append(others, r)
		}
	}
	slices.SortStableFunc(others, func(a, b functionRow) int { return cmp.Compare(b.total, a.total) })
	return best, others, true
}

// extreme returns, of the functions whose total is at or over a share, the one
// with the largest total if sign is 1, the smallest if it is -1.
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

// descend follows calls as long as one of a function's calls takes at least so
// much: of functions with equal totals the innermost is meant.
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

// spreads reports whether what a function called is small everywhere: then it is
// on the way to many things and not where the time goes.
func (f *functions) spreads(best functionRow, rule Rule) bool {
	if !f.complete() || float64(best.self) >= rule.Warn*float64(f.whole) {
		return false
	}
	for _, r := range f.rows {
		if r.total < best.total && float64(r.total) >= rule.Warn*float64(f.whole) {
			return false
		}
	}
	return true
}

// functionTotal asks which function takes most with all it calls.
func (c *court) functionTotal(f *functions) (Finding, bool) {
	rule := c.rules[RuleFunctionTotal]
	best, others, ok := f.innermost(rule)
	if !ok {
		return Finding{}, false
	}
	finding, limit, ok := f.held(rule, best.total, f.whole)
	if !ok {
		return Finding{}, false
	}
	how := "with all it calls"
	if best.alone() {
		how = "nearly all by itself"
	}
	if best.self == best.total {
		how = "by itself"
	}
	finding.Title = fmt.Sprintf("function %s%s has %s %s, %s", best, f.where, f.of(best.total), how, reaches(finding, limit))
	if f.spreads(best, rule) {
		finding.Level = Info
		finding.Title += fmt.Sprintf("; nothing that it calls has %s, so it spreads", unit.Percent(rule.Warn))
	}
	finding.Evidence = []string{best.String() + ": " + f.described(best)}
	if n := len(others); n > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s at or over %s of the %s of the profile, which may call it or be called by it:", plural(int64(n), "more function"), unit.Percent(rule.Warn), f.noun()))
	}
	for _, r := range others[:min(4, len(others))] {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s: %s (%s)", r, unit.Share(r.total, f.whole), f.described(r)))
	}
	finding.Evidence = append(finding.Evidence, f.caveats()...)
	finding.Where = f.places(best)
	finding.Next = f.advice(best)
	return finding, true
}

// caveats says what the numbers of a profile leave out.
func (f *functions) caveats() (out []string) {
	if !f.complete() {
		out = append(out, fmt.Sprintf("the rows have %s by themselves of %s: the functions that were called are not all in the table, so what is named may be no more than the last that is", f.amount(f.own), f.amount(f.whole)))
	}
	if f.isTime() && f.Clock == "cpu" {
		out = append(out, "the clock is that of the CPU: what was waited for (network, locks, sleep) is not in these times")
	}
	return out
}

// alone reports whether a function calls next to nothing.
func (r functionRow) alone() bool {
	const nearly = 0.9
	return r.self > 0 && float64(r.self) >= nearly*float64(r.total)
}

// functionSelf asks which function takes most by itself. Where rows are missing
// shares of self times say nothing, so it is not asked; nor if it would say again
// what [court.functionTotal] has said.
func (c *court) functionSelf(f *functions) (Finding, bool) {
	top := functionRow{self: -1}
	for _, r := range f.rows {
		if r.self > top.self && !r.wait {
			top = r
		}
	}
	if !f.complete() {
		return Finding{}, false
	}
	finding, limit, ok := f.held(c.rules[RuleFunctionSelf], top.self, f.own)
	if !ok {
		return Finding{}, false
	}
	if total, said := c.functionTotal(f); said && top.alone() && total.Level >= finding.Level {
		if best, _, _ := f.innermost(c.rules[RuleFunctionTotal]); best.name == top.name {
			return Finding{}, false
		}
	}
	finding.Title = fmt.Sprintf("function %s%s has %s of the self %s by itself (%s of %s), %s", top, f.where,
		unit.Share(top.self, f.own), f.noun(), f.amount(top.self), f.amount(f.own), reaches(finding, limit))
	finding.Evidence = []string{top.String() + ": " + f.described(top)}
	finding.Where = f.places(top)
	finding.Next = f.selfAdvice(top)
	return finding, true
}

// cheapCalls asks how much goes to functions that do little and are called
// often.
func (c *court) cheapCalls(f *functions) (Finding, bool) {
	rule := c.rules[RuleCheapCalls]
	if !f.isTime() || !f.complete() {
		return Finding{}, false
	}
	var cheap []functionRow
	var self, calls int64
	for _, r := range f.rows {
		if r.count >= rule.MinEvents && r.mean >= 0 && r.mean < rule.Under && r.self > 0 && !r.wait {
			cheap = append(cheap, r)
			self, calls = self+r.self, calls+r.count
		}
	}
	finding, limit, ok := f.held(rule, self, f.own)
	if !ok {
		return Finding{}, false
	}
	slices.SortStableFunc(cheap, func(a, b functionRow) int { return cmp.Compare(b.self, a.self) })
	finding.Title = fmt.Sprintf("%s%s with at least %s each of under %s on average %s %s of the self time (%s of %s, %s), %s",
		plural(int64(len(cheap)), "function"), f.where, plural(rule.MinEvents, "call"), unit.Duration(rule.Under), has(len(cheap)),
		unit.Share(self, f.own), unit.Duration(self), unit.Duration(f.own), plural(calls, "call"), reaches(finding, limit))
	finding.Where = f.places(cheap...)
	for _, r := range cheap[:min(4, len(cheap))] {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s: %s of the self time (%s)", r, unit.Share(r.self, f.own), f.described(r)))
	}
	finding.Next = []Step{advise("cache-results"), advise("work-on-whole-arrays"), advise("check-by-sampling")}
	return finding, true
}

// has agrees with a number.
func has(n int) string {
	if n == 1 {
		return "has"
	}
	return "have"
}

// nestedCost says where to drill down from the function that the total is put
// down to.
func (c *court) nestedCost(f *functions) (Finding, bool) {
	rule := c.rules[RuleFunctionTotal]
	best, _, ok := f.innermost(rule)
	if !ok || best.self < 0 || f.spreads(best, rule) {
		return Finding{}, false
	}
	nested := best.total - best.self
	finding, limit, ok := f.held(c.rules[RuleNestedCost], nested, best.total)
	if !ok {
		return Finding{}, false
	}
	finding.Title = fmt.Sprintf("%s of what function %s%s takes is in what it calls (%s of %s), %s", unit.Share(nested, best.total), best, f.where,
		f.amount(nested), f.amount(best.total), reaches(finding, limit))
	callees := f.byCaller[best.name]
	for _, r := range callees[:min(4, len(callees))] {
		line := fmt.Sprintf("calls %s: %s of it (%s", r, unit.Share(r.total, best.total), f.amount(r.total))
		if r.count >= 0 {
			line += " in " + plural(r.count, "call")
		}
		finding.Evidence = append(finding.Evidence, line+")")
	}
	if len(callees) == 0 {
		finding.Evidence = []string{"the file does not say what it called: built-in functions are recorded only if the profiler is told to (yappi.start(builtins=True))"}
	}
	finding.Where = f.places(best)
	finding.Next = f.nestedAdvice(best)
	return finding, true
}
