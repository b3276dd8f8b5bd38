package rule

import (
	"assay/internal/unit"
	"assay/judge/finding"
)

// Measured returns a finding with the value num/den, the limit that it reaches, and whether it
// reaches any.
func Measured(r Rule, num, den int64) (f finding.Finding, limit float64, ok bool) {
	value := float64(num) / float64(den)
	level, limit, ok := r.Level(value)
	return finding.Finding{
		Rule: r.ID, Level: level,
		Value: value, NumeratorNS: num, DenominatorNS: den,
		Warn: r.Warn, Critical: r.Critical,
	}, limit, ok
}

// OverTarget is Measured for a time that has a target, the limit under. A time that equals it, or is printed like it, is
// not over it.
func OverTarget(r Rule, ns int64) (f finding.Finding, ok bool) {
	if r.Under <= 0 || ns <= r.Under || unit.Duration(ns) == unit.Duration(r.Under) {
		return f, false
	}
	f, _, ok = Measured(r, ns, r.Under)
	return f, ok
}

// Over returns the end of a title that names the limit: "; limit 10%".
func Over(limit float64) string { return "; limit " + unit.Percent(limit) }

// criticalSteps is the least number of steps for a critical finding, because one of five can be
// chance.
const criticalSteps = 20

// Tempered returns a level and its limit. If there are too few steps, critical becomes a warning.
func (r Rule) Tempered(level finding.Level, limit float64, steps int64) (finding.Level, float64) {
	if level == finding.Critical && steps < criticalSteps && r.Warn > 0 {
		return finding.Warn, r.Warn
	}
	return level, limit
}
