package judge

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// judgeProfiles judges profiles of functions where there is nothing else. It
// returns false if there are none.
func (c *evaluator) judgeProfiles(before []Finding) (Result, bool) {
	if !c.profilesOnly() {
		return Result{}, false
	}
	profiles := c.functionProfiles()
	if len(profiles) == 0 {
		// A log that has a header only says so among the issues.
		empty := slices.ContainsFunc(c.Tables, func(t summary.Table) bool { return t.Of == summary.OfFunction && len(t.Rows) == 0 })
		v := Verdict{Bound: BoundUnknown, Sentence: "The profile has no functions", Rule: RuleCaptureQuality}
		v.Abstained = &Abstention{Code: "no-functions", Reason: v.Sentence}
		return Result{Verdict: v, Findings: before}, empty && len(before) > 0 && len(c.Tables) == 1
	}
	t := c.profileTree()
	judged := t.findings(func(*node) bool { return true })
	slices.SortStableFunc(judged, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Level, a.Level), cmp.Compare(c.order[a.Rule], c.order[b.Rule]), cmp.Compare(b.Value, a.Value))
	})
	return Result{Verdict: profileVerdict(&profiles[0], judged), Findings: append(before, judged...), Tree: t.nodes()}, true
}

// functionProfiles returns the profiles that are judged.
func (c *evaluator) functionProfiles() []functions {
	if c.functions == nil {
		list := c.profiles()
		c.functions = &list
	}
	return *c.functions
}

// profileTree returns the findings on functions. A function whose self time is nearly its
// total time has one finding.
func (c *evaluator) profileTree() tree {
	t := tree{own: c.measure(basedOn(basisProfile))}
	for _, n := range t.own {
		n.told = &n.Finding
	}
	t.hangBelowCauses(c)
	return t
}

// profileVerdict returns the verdict of the first finding over its critical limit, else
// of the first over its warn limit.
func profileVerdict(f *functions, judged []Finding) Verdict {
	bounds := map[string]Bound{RuleWaiting: BoundWaiting, RuleFunctionTotal: BoundFunction, RuleFunctionSelf: BoundFunction, RuleCheapCalls: BoundCalls}
	for _, finding := range judged {
		if bound, ok := bounds[finding.Rule]; ok && finding.Level > Info {
			return decidedBy(bound, finding)
		}
	}
	v := Verdict{Bound: BoundMixed, Sentence: "No hot function; the " + f.noun() + " is spread over many"}
	top := functionRow{self: -1}
	for _, r := range f.rows {
		if r.self > top.self {
			top = r
		}
	}
	if top.self > 0 && f.own > 0 {
		v.Sentence += fmt.Sprintf(". Largest self %[3]s: %[1]s, %[2]s (%[4]s of %[5]s)", top, unit.Share(top.self, f.own), f.noun(), f.amount(top.self), f.amount(f.own))
	}
	return v
}

// measured returns the finding of a share, its limit, and whether it reaches any.
func (f *functions) measured(r Rule, num, den int64) (Finding, float64, bool) {
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
// critical limit it is the one with the least, because the others call it, or a callee
// that exceeds the limit too. If none does, it is the one with the most, or a callee
// with nearly all of that. The program's own code comes before libraries, because
// only it can be changed.
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

// functionTotal judges the function with the largest total.
func (c *evaluator) functionTotal(f *functions) (Finding, bool) {
	rule := c.rules[RuleFunctionTotal]
	best, others, ok := f.innermost(rule)
	if !ok {
		return Finding{}, false
	}
	finding, limit, ok := f.measured(rule, best.total, f.whole)
	if !ok {
		return Finding{}, false
	}
	finding.Title = fmt.Sprintf("Hot function: %s%s, %s", best, f.where, f.of(best.total)) + over(limit)
	finding.Evidence = []string{best.String() + ": " + f.described(best)}
	if f.spreads(best, rule) {
		finding.Level = Info
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("no callee reaches %s of the total, so its time is spread over many", unit.Percent(rule.Warn)))
	}
	if n := len(others); n > 0 {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s with at least %s of the %s (they call it, or it calls them):", label.Plural(int64(n), "more function"), unit.Percent(rule.Warn), f.noun()))
	}
	for _, r := range others[:min(4, len(others))] {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s: %s (%s)", r, unit.Share(r.total, f.whole), f.described(r)))
	}
	finding.Evidence = append(finding.Evidence, f.caveats()...)
	finding.Where = f.places(best)
	finding.Next = f.advice(best)
	finding.Subject = f.subject(best)
	return finding, true
}

// caveats says what the numbers of a profile leave out.
func (f *functions) caveats() (out []string) {
	if !f.complete() {
		out = append(out, fmt.Sprintf("the self times sum to %s of %s, so callees are missing from the table; the hot function may be one of them", f.amount(f.own), f.amount(f.whole)))
	}
	if f.isTime() && f.Clock == "cpu" {
		out = append(out, "CPU clock: these times exclude waiting for network, locks and sleep")
	}
	return out
}

// alone reports whether a function calls next to nothing.
func (r functionRow) alone() bool {
	const nearly = 0.9
	return r.self > 0 && float64(r.self) >= nearly*float64(r.total)
}

// functionSelf judges the functions with the largest self time, one of each profile. If
// rows are missing, shares of self time are wrong. If a function calls next to nothing,
// its total time is the same.
func (c *evaluator) functionSelf() (out []reading) {
	profiles := c.functionProfiles()
	for i := range profiles {
		f := &profiles[i]
		top := functionRow{self: -1}
		for _, r := range f.rows {
			if r.self > top.self && !r.wait {
				top = r
			}
		}
		finding, limit, ok := f.measured(c.rules[RuleFunctionSelf], top.self, f.own)
		if !ok || !f.complete() {
			continue
		}
		finding.Title = fmt.Sprintf("Hot function: %s%s, %s self %s (%s of %s)", top, f.where,
			unit.Share(top.self, f.own), f.noun(), f.amount(top.self), f.amount(f.own)) + over(limit)
		finding.Evidence = []string{top.String() + ": " + f.described(top)}
		finding.Where = f.places(top)
		finding.Next = f.selfAdvice(top)
		finding.Subject = f.subject(top)
		r := reading{Finding: finding, reached: true}
		if top.alone() {
			r.explains = map[string]int64{RuleFunctionTotal: top.self}
		}
		out = append(out, r)
	}
	return out
}

// subject returns a function of a profile as the subject of a finding.
func (f *functions) subject(r functionRow) string { return r.name + f.where }

// cheapCalls judges how much self time is in short functions that are called often.
func (c *evaluator) cheapCalls(f *functions) (Finding, bool) {
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
	finding, limit, ok := f.measured(rule, self, f.own)
	if !ok {
		return Finding{}, false
	}
	slices.SortStableFunc(cheap, func(a, b functionRow) int { return cmp.Compare(b.self, a.self) })
	finding.Title = fmt.Sprintf("Call overhead%s: %s of the self time (%s) in %s", f.where,
		unit.Share(self, f.own), fraction(self, f.own), label.Plural(int64(len(cheap)), "short function")) + over(limit)
	finding.Evidence = []string{fmt.Sprintf("%s; each of these functions has at least %s and a mean under %s", label.Plural(calls, "call"),
		label.Plural(rule.MinEvents, "call"), unit.Duration(rule.Under))}
	finding.Where = f.places(cheap...)
	for _, r := range cheap[:min(4, len(cheap))] {
		finding.Evidence = append(finding.Evidence, fmt.Sprintf("%s: %s of the self time (%s)", r, unit.Share(r.self, f.own), f.described(r)))
	}
	finding.Next = []Step{advise("cache-results"), advise("work-on-whole-arrays"), advise("check-by-sampling")}
	return finding, true
}

// nestedCost reports that the hot function spends its time in callees, with the largest
// of them.
func (c *evaluator) nestedCost(f *functions) (Finding, bool) {
	rule := c.rules[RuleFunctionTotal]
	best, _, ok := f.innermost(rule)
	if !ok || best.self < 0 || f.spreads(best, rule) {
		return Finding{}, false
	}
	nested := best.total - best.self
	finding, limit, ok := f.measured(c.rules[RuleNestedCost], nested, best.total)
	if !ok {
		return Finding{}, false
	}
	finding.Title = fmt.Sprintf("%s%s spends %s of its %s in callees (%s of %s)", best, f.where, unit.Share(nested, best.total), f.noun(),
		f.amount(nested), f.amount(best.total)) + over(limit)
	callees := f.byCaller[best.name]
	for _, r := range callees[:min(4, len(callees))] {
		line := fmt.Sprintf("callee %s: %s of it (%s", r, unit.Share(r.total, best.total), f.amount(r.total))
		if r.count >= 0 {
			line += " in " + label.Plural(r.count, "call")
		}
		finding.Evidence = append(finding.Evidence, line+")")
	}
	if len(callees) == 0 {
		finding.Evidence = []string{"the file lists no callees; yappi.start(builtins=True) records built-in functions"}
	}
	finding.Where = f.places(best)
	finding.Next = f.nestedAdvice(best)
	return finding, true
}
