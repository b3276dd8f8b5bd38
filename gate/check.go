package gate

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/gate/metric"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view/comparability"
)

// A Result is the result of a gate.
type Result uint8

// The results, from best to worst.
const (
	Pass         Result = iota
	Skipped             // neither side has the metric, and the gate allows that
	Warn                // over a limit of level warn
	Inconclusive        // the runs or captures do not suffice to decide
	Error               // the metric could not be measured
	Fail                // over its limit
)

var resultNames = [...]string{"pass", "skipped", "warn", "inconclusive", "error", "fail"}

// String returns "pass", "skipped", "warn", "inconclusive", "error" or "fail".
func (r Result) String() string {
	if int(r) >= len(resultNames) {
		return fmt.Sprintf("result(%d)", r)
	}
	return resultNames[r]
}

// MarshalText writes the name of the result.
func (r Result) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// An Outcome is the result of one gate and its reason.
type Outcome struct {
	Gate   *Gate
	Result Result
	// Why states the reason in one sentence, with the numbers.
	Why string
	// Short is Why without a reason that the report prints once for all gates, or "".
	Short string
	// Capture is true if the result is inconclusive because of the quality of a capture, or because
	// captures cannot be compared, and not because of noise.
	Capture bool
	// Floored is true if the gate passes although a change is over its limit, because the change is
	// below min_abs.
	Floored bool

	Now, Base *Sample // nil if not measured
	P         *float64
}

// A Report has the outcomes of all gates.
type Report struct {
	Result    Result // the worst result of all gates
	Outcomes  []Outcome
	Now, Base []Run // Base is empty if there is no baseline

	// Reasons say why the sides may not be comparable. A comparison of the same runs has the same
	// reasons.
	Reasons []comparability.Reason

	// Apart is the reason why the sides cannot be compared, if several outcomes omit it from their
	// Short so that it is printed once.
	Apart string
}

// Options for [Check]. Fields may be added.
type Options struct {
	// Thresholds set how much work a capture must have.
	Thresholds rule.Thresholds
	// Expired is the reason why the baseline can no longer be compared with the runs, or "".
	Expired string
	// Drifts are the metrics of gates, by their text, that move steadily over the history. The baseline is its
	// newest part.
	Drifts map[string]Drift
}

// A Drift is where a metric began and where it is.
type Drift struct {
	From, To float64
	Text     string
}

// ErrNoRun is the error of Check for a side without runs.
var ErrNoRun = errors.New("no run to check")

// Check evaluates the gates on the runs, against the baseline if a gate needs one. A gate that
// could not be evaluated never passes.
func Check(gates []Gate, now, base []Run, opt Options) (*Report, error) {
	if len(now) == 0 {
		return nil, ErrNoRun
	}
	c := check{now: side{runs: now}, base: side{runs: base}, drifts: opt.Drifts}
	var reasons []comparability.Reason
	c.now.judge(opt.Thresholds)
	if len(base) > 0 {
		c.base.judge(opt.Thresholds)
		reasons = comparability.Reasons(c.base.parts(), c.now.parts())
		c.refusal, c.steps, c.defined = incomparable(reasons)
		c.expired = opt.Expired != ""
		c.refusal = cmp.Or(opt.Expired, c.refusal)
	}
	rep := &Report{Now: now, Base: base, Reasons: reasons}
	for i := range gates {
		rep.Outcomes = append(rep.Outcomes, c.gate(&gates[i]))
	}
	rep.shareReason(&c)
	rep.Result = Skipped
	for _, o := range rep.Outcomes {
		if rep.Result == Skipped || o.Result > rep.Result && o.Result != Skipped {
			rep.Result = o.Result
		}
	}
	return rep, nil
}

// shareReason moves the reason why the sides cannot be compared to the report if several gates have
// it, so that it is printed once. An expired baseline is reported with the baseline.
func (r *Report) shareReason(c *check) {
	n := 0
	for i := range r.Outcomes {
		if r.Outcomes[i].Short != "" {
			n++
		}
	}
	switch {
	case c.expired:
	case n > 1:
		r.Apart = c.refusal
	case n == 1:
		for i := range r.Outcomes {
			r.Outcomes[i].Short = ""
		}
	}
}

// A check has the data that all gates share.
type check struct {
	now, base side
	refusal   string // why the sides cannot be compared, or ""
	expired   bool   // the reason is that the baseline has expired
	steps     string // why their sums cannot be compared, or ""
	defined   string // why their steps cannot be compared, or ""
	drifts    map[string]Drift
}

// A side has the runs of one side and the quality of their captures.
type side struct {
	runs     []Run
	captures []capture
}

func (s *side) judge(th rule.Thresholds) {
	for _, r := range s.runs {
		s.captures = append(s.captures, captureOf(r.Summary, th))
	}
}

// sample measures the metric of a gate in every run.
func (s *side) sample(g *Gate) (*Sample, error) {
	var values []metric.Value
	runs := s.runs
	if g.Metric.Across {
		runs = s.together()
	}
	for i, r := range runs {
		v, err := metric.Value{}, r.cut
		if err == nil {
			v, err = g.Metric.Measure(r.Summary, g.Selector)
		}
		if err != nil {
			if len(runs) > 1 {
				err = fmt.Errorf("run %d (%s): %w", i+1, r.Name(), err)
			}
			return nil, err
		}
		values = append(values, v)
	}
	return newSample(values), nil
}

// together returns the logs and benchmarks of all runs as those of one. The runs keep their rows.
func (s *side) together() []Run {
	if len(s.runs) == 1 {
		return s.runs
	}
	all := &summary.Summary{Schema: summary.Schema}
	for _, r := range s.runs {
		first := len(all.Inputs)
		all.Inputs = append(all.Inputs, r.Summary.Inputs...)
		for _, row := range r.Summary.Series {
			row.Input += first
			all.Series = append(all.Series, row)
		}
		for _, b := range r.Summary.Benchmarks {
			b.Input += first
			all.Benchmarks = append(all.Benchmarks, b)
		}
	}
	return []Run{{Summary: all}}
}

// doubt returns the reason why the captures do not support the metric of a gate, or "". Lost reports whether
// the missing data could only raise the metric.
func (s *side) doubt(g *Gate, traced bool) (why string, lost bool) {
	m := g.Metric
	lost = m.Rises
	for _, c := range s.captures {
		if c.peak != "" && m.Efficiency {
			why, lost = cmp.Or(why, c.peak), false
		}
		if c.doubt != "" {
			why = cmp.Or(why, c.doubt)
			lost = lost && c.lost
		}
		if c.empty != "" && (!m.Host || traced) {
			why = cmp.Or(why, c.empty)
		}
	}
	if why != "" || g.Selector.Value("owner") == "" && g.Selector.Value("state") == "" {
		return why, lost
	}
	for _, c := range s.captures {
		why = cmp.Or(why, c.cause)
	}
	return why, g.Selector.Value("owner") != summary.OwnerUnknown
}

// gate evaluates one gate.
func (c *check) gate(g *Gate) Outcome {
	o := Outcome{Gate: g}
	now, err := c.now.sample(g)
	var baseErr error
	if len(c.base.runs) > 0 {
		o.Base, baseErr = c.base.sample(g)
	}
	o.Now = now
	several := (*metric.Ambiguity)(nil)
	switch {
	case err != nil && !errors.As(err, &several) && g.IfMeasured && (len(c.base.runs) == 0 || baseErr != nil):
		return o.is(Skipped, "not measured: %s", err)
	case err != nil:
		return o.is(Error, "cannot be measured: %s", err)
	case g.NeedsBaseline() && len(c.base.runs) == 0:
		return o.is(Error, "cannot be compared: there is no baseline; give one with --baseline, or a limit with max or min")
	case g.NeedsBaseline() && baseErr != nil:
		return o.is(Error, "cannot be measured in the baseline: %s", baseErr)
	}
	fail := c.limits(&o, &g.Fail, true)
	warn := c.limits(&o, &g.Warn, false)
	if fail.result == Pass && warn.result == Fail {
		warn.result = Warn
		fail = warn
	}
	if fail.result == Fail && g.WarnOnly {
		fail.result = Warn
	}
	if d, ok := c.drifts[g.Text]; ok && fail.result == Pass && d.exceeds(&g.Fail) {
		fail = answer{result: Warn, why: fail.why + "; but " + d.Text}
	}
	o.Result, o.Why, o.Short, o.Capture, o.Floored = fail.result, fail.why, fail.short, fail.capture, fail.floored
	return o
}

func (o Outcome) is(r Result, format string, args ...any) Outcome {
	o.Result, o.Why = r, fmt.Sprintf(format, args...)
	return o
}

// An answer is the result of limits, with its reason.
type answer struct {
	result  Result
	why     string
	short   string // see Outcome
	capture bool
	floored bool
}

// worse returns the worse of two answers, with both reasons if both are failures.
func (a answer) worse(b answer) answer {
	if a.result == Fail && b.result == Fail {
		a.why += "; " + b.why
		return a
	}
	if b.result > a.result || a.why == "" {
		return b
	}
	return a
}

// limits evaluates a gate against its limits of one level.
func (c *check) limits(o *Outcome, l *Limits, deciding bool) answer {
	var all answer
	if l.absolute() {
		all = all.worse(c.doubted(o, o.between(l, o.lowerBound(l, o.absolute(l))), false))
	}
	if l.relative() && o.Base != nil {
		a, p := o.relative(l)
		if deciding || o.P == nil {
			o.P = p
		}
		all = all.worse(c.doubted(o, o.overlapping(o.lowerBounds(a)), true))
	}
	return all
}

// doubted makes a inconclusive if the captures do not support it. A failure remains if the missing
// data could only make it worse.
func (c *check) doubted(o *Outcome, a answer, compared bool) answer {
	m := o.Gate.Metric
	why, lost := c.now.doubt(o.Gate, o.Now.Traced)
	if why == "" && compared {
		if why, _ = c.base.doubt(o.Gate, o.Base.Traced); why != "" {
			why, lost = "the baseline: "+why, false
		}
	} else if compared {
		baseWhy, _ := c.base.doubt(o.Gate, o.Base.Traced)
		lost = lost && baseWhy == ""
	}
	if why != "" {
		if a.result == Fail && lost && o.rose(a) {
			a.why += "; the capture is incomplete, so there is more of it"
			return a
		}
		return answer{result: Inconclusive, why: fmt.Sprintf("the capture does not allow a decision: %s; it shows %s", why,
			o.Now.text(m)), capture: true}
	}
	if !compared {
		return a
	}
	if o.Now.Traced != o.Base.Traced {
		return answer{result: Inconclusive, why: "not comparable: one side is a trace and the other is not; " + o.change(), capture: true}
	}
	if why = c.refusal; why == "" && m.Sums {
		why = c.steps
		if why != "" {
			why += perStep(m)
		}
	}
	if why == "" && (strings.HasPrefix(m.Name, "step") || o.Gate.Selector.Value("steps") != "") {
		why = c.defined
	}
	if why != "" {
		out := answer{result: Inconclusive, why: "not comparable: " + why + "; " + o.change(), capture: true}
		if why == c.refusal {
			out.short = "not comparable; " + o.change()
		}
		return out
	}
	return a
}

// perStep names the metric that compares captures of different lengths.
func perStep(m *metric.Metric) string {
	if _, err := metric.Of(m.Name + "_per_step"); err == nil {
		return ", use " + m.Name + "_per_step"
	}
	return ""
}

// rose reports whether a gate failed because the value is too high.
func (o *Outcome) rose(a answer) bool {
	max := o.Gate.Fail.Max
	return a.result == Fail && max != nil && o.Now.Center > max.At
}

// Name returns the name of a run: the path of its first input.
func (r Run) Name() string {
	if len(r.Summary.Inputs) == 0 {
		return "no input"
	}
	name := r.Summary.Inputs[0].Path
	if n := len(r.Summary.Inputs); n > 1 {
		name = fmt.Sprintf("%s and %d more", name, n-1)
	}
	return name
}

// Inputs returns the files of runs, in their order.
func Inputs(runs []Run) []summary.Input {
	var out []summary.Input
	for _, r := range runs {
		out = append(out, r.Summary.Inputs...)
	}
	return out
}

// Count returns the number of gates with a result.
func (r *Report) Count(want Result) int {
	n := 0
	for _, o := range r.Outcomes {
		if o.Result == want {
			n++
		}
	}
	return n
}

// ByImpact returns the outcomes, worst first. Outcomes with the same result are sorted by the size
// of the change, largest first.
func (r *Report) ByImpact() []Outcome {
	out := slices.Clone(r.Outcomes)
	slices.SortStableFunc(out, func(a, b Outcome) int {
		return cmp.Or(cmp.Compare(weight(b.Result), weight(a.Result)), cmp.Compare(b.impact(), a.impact()))
	})
	return out
}

// weight orders results for readers: skipped gates come last.
func weight(r Result) int {
	if r == Skipped {
		return -1
	}
	return int(r)
}

// impact returns the size of the change, as a share of the baseline.
func (o *Outcome) impact() float64 {
	if o.Now == nil || o.Base == nil || o.Base.Center == 0 {
		return 0
	}
	return math.Abs(o.Now.Center/o.Base.Center - 1)
}
