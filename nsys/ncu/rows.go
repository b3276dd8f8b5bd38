package ncu

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
)

// cells handles the cells of a row.
func (r *reader) cells(row []string) {
	r.rows++
	if r.table.page == raw && r.unitRow(row) {
		r.rows--
		return
	}
	if !r.findLaunch(row) {
		return
	}
	if r.table.page == raw {
		for i, at := range r.table.wide {
			if at < len(row) {
				r.metric("", r.table.names[i], r.unitAt(i), row[at])
			}
		}
		return
	}
	l := r.table
	section := l.cell(row, aSection)
	if name := l.cell(row, aMetric); name != "" {
		r.metric(section, name, l.cell(row, aUnit), l.cell(row, aValue))
	}
	if name := l.cell(row, aRule); name != "" {
		r.rule(row, name)
	}
}

// unitRow reports whether a row is the row of units, which follows the header
// and has no launch, and stores it.
func (r *reader) unitRow(row []string) bool {
	l := r.table
	if l.units != nil || r.launch >= 0 || l.cell(row, anID) != "" || l.cell(row, aKernel) != "" {
		return false
	}
	for _, at := range l.wide {
		unit := ""
		if at < len(row) {
			unit = strings.Clone(row[at])
		}
		l.units = append(l.units, unit)
	}
	return true
}

func (r *reader) unitAt(i int) string {
	if i < len(r.table.units) {
		return r.table.units[i]
	}
	return ""
}

// findLaunch finds the launch of a row, and begins it if it is new. It returns
// false if there is no memory for it.
func (r *reader) findLaunch(row []string) bool {
	l := r.table
	if r.launch >= 0 && r.isSame(row) {
		return true
	}
	kernel := l.cell(row, aKernel)
	if kernel == "" && l.page == totals {
		kernel = allKernels
	}
	n, ok := r.b.Launch(Launch{
		Kernel: kernel, Process: l.cell(row, aProcess), Capability: l.cell(row, aCapability),
		PID: whole(l.cell(row, aPID)), Device: whole(l.cell(row, aDevice)),
		Context: whole(l.cell(row, aContext)), Stream: whole(l.cell(row, aStream)),
		Grid: dim(l.cell(row, aGrid)), Block: dim(l.cell(row, aBlock)),
		Count: whole(l.cell(row, invocations)),
	}, r.pos())
	if !ok {
		r.full = true
		return false
	}
	r.launch = n
	r.last = r.last[:0]
	for _, at := range l.same {
		r.last = append(r.last, strings.Clone(cellAt(row, at)))
	}
	return true
}

// allKernels replaces a kernel's name in summaries by device.
const allKernels = "(all kernels)"

// isSame reports whether a row belongs to the same launch as the row before it.
// In a raw page each row is a separate launch.
func (r *reader) isSame(row []string) bool {
	if r.table.page == raw || len(r.last) != len(r.table.same) {
		return false
	}
	for i, at := range r.table.same {
		if r.last[i] != cellAt(row, at) {
			return false
		}
	}
	return true
}

func cellAt(row []string, at int) string {
	if at < len(row) {
		return row[at]
	}
	return ""
}

// dim parses "(1024, 1, 1)". Any other text gives an unknown Dim.
func dim(text string) (d Dim) {
	text = strings.Trim(text, "() ")
	if text == "" {
		return d
	}
	parts := strings.FieldsFunc(text, func(c rune) bool { return c == ',' || c == 'x' || c == ';' })
	if len(parts) > len(d) {
		return d
	}
	d = Dim{1, 1, 1}
	for i, p := range parts {
		if d[i] = whole(p); d[i] <= 0 {
			return Dim{}
		}
	}
	return d
}

// A printed is the text that ncu prints for a metric, without its value.
type printed struct{ section, name, unit string }

// A resolved is the meaning of a printed.
type resolved struct {
	key   Key
	times float64
}

// metric adds one metric to the launch.
func (r *reader) metric(section, name, unit, text string) {
	if isMissing(text) {
		return // not measured, so the metric is absent
	}
	res := r.resolve(printed{section, name, unit})
	n, ok := r.numbers.number(text, res.key.Unit == "%")
	switch {
	case !ok && res.key.Quantity != None:
		r.note("value-malformed", diag.DataLoss, "values that are not numbers, although numbers are expected, were left out")
		return
	case !ok:
		r.b.Add(r.launch, res.key, 0, text, r.pos())
		return
	case math.IsInf(n.value*res.times, 0) || n.value < 0 && res.key.Quantity != None:
		r.note("value-malformed", diag.DataLoss, "values that are negative or implausibly large were left out")
		return
	}
	before := r.b.Metrics(r.launch)
	r.b.Add(r.launch, res.key, n.value*res.times, "", r.pos())
	if n.doubt != 0 && r.b.Metrics(r.launch) > before && len(r.doubts) < maxDoubts {
		r.doubts = append(r.doubts, doubt{r.launch, before, n.doubt})
	}
}

// isMissing reports whether a text means that ncu has no value.
func isMissing(text string) bool {
	switch strings.ToLower(strings.TrimSpace(strings.TrimPrefix(text, "(!)"))) {
	case "", "n/a", "nan", "-nan", "inf", "-inf", "none", "null":
		return true
	}
	return false
}

// resolve returns the meaning of a metric.
func (r *reader) resolve(p printed) resolved {
	if res, ok := r.resolved[p]; ok {
		return res
	}
	base, size := baseUnit(p.unit)
	m, odd := meaningOf(p.name, base)
	if odd {
		r.note("unit-unknown", diag.DataLoss, fmt.Sprintf("metrics whose unit does not match their name, or is missing, are not measured (the first is %q in %q); print with --print-units base", clip(p.name), clip(p.unit)))
	}
	if base == "" && m.unit == "%" {
		base = m.unit // the unit follows from the name
	}
	res := resolved{Key{Section: p.section, Name: p.name, Part: m.part, Unit: base, Quantity: m.quantity}, size}
	if m.times != 0 {
		res.times *= m.times
	}
	if len(r.resolved) >= maxResolved {
		clear(r.resolved)
	}
	p = printed{strings.Clone(p.section), strings.Clone(p.name), strings.Clone(p.unit)}
	res.key.Section, res.key.Name, res.key.Unit = p.section, p.name, strings.Clone(base)
	r.resolved[p] = res
	return res
}

// rule adds one rule to the launch.
func (r *reader) rule(row []string, name string) {
	l := r.table
	kind := strings.ToUpper(l.cell(row, aRuleType))
	if !slices.Contains([]string{"OPT", "INF", "WRN", "ERR"}, kind) {
		kind = ""
	}
	rule := Rule{
		Name: name, Type: kind, Text: strings.TrimSpace(l.cell(row, aRuleText)),
		SpeedupKind: strings.ToLower(l.cell(row, aSpeedupKind)),
	}
	if rule.SpeedupKind != "global" && rule.SpeedupKind != "local" {
		rule.SpeedupKind = ""
	}
	if n, ok := r.numbers.number(l.cell(row, aSpeedup), true); ok && n.value > 0 && rule.SpeedupKind != "" {
		rule.Speedup = min(n.value, 100)
	}
	r.b.AddRule(r.launch, rule, r.pos())
}

// finalize corrects the values of ambiguous numbers, once the other numbers have
// shown the notation. If none has shown it, a point is the decimal separator,
// as ncu prints it in its default locale.
func (r *reader) finalize() {
	if r.numbers.fraction == 0 && len(r.doubts) > 0 {
		r.note("number-format-assumed", diag.Info, "numbers such as 1,234 are ambiguous, and no number of the input shows the decimal separator; a point was assumed")
	}
	if r.numbers.fraction != ',' {
		return
	}
	for _, d := range r.doubts {
		factor := 1000.0
		if d.sep == ',' {
			factor = 0.001
		}
		r.b.Scale(d.launch, d.metric, factor)
	}
}
