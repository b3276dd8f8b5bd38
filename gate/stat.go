package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/perf/benchmath"

	"assay/gate/metric"
)

const (
	// MinRuns is the number of runs that each side needs for a rank test to find a difference, at
	// the level alpha.
	MinRuns = 5
	alpha   = 0.01

	// confidence is the confidence of the intervals of medians, which need six runs.
	confidence = 0.95
)

// A Sample has the values of a metric in all runs of a side.
type Sample struct {
	Center float64   // median
	Lo, Hi *float64  // its confidence interval; nil if there are too few runs
	Runs   []float64 // the value of each run

	Num, Den int64   // numerator and denominator of a single run; 0 if the metric has none
	Note     string  // note on one of the values, or ""
	Missing  float64 // largest Missing of the values: see [metric.Value]
	Most     float64 // median of the upper bounds of the values
	Traced   bool    // see [metric.Value]
	Bounded  bool    // see [metric.Value]
	Below    float64 // median of the bounds that the values do not reach, or 0: see [metric.Value]
}

func newSample(values []metric.Value) *Sample {
	s := &Sample{}
	var most, below []float64
	for _, v := range values {
		below = append(below, v.Below)
		most = append(most, max(v.V, v.Most))
		s.Runs = append(s.Runs, v.V)
		s.Note = cmp.Or(s.Note, v.Note)
		s.Traced, s.Bounded = s.Traced || v.Traced, s.Bounded || v.Bounded
		s.Missing = max(s.Missing, v.Missing)
	}
	slices.Sort(below)
	s.Below = below[len(below)/2]
	if len(values) == 1 {
		s.Num, s.Den = values[0].Num, values[0].Den
	}
	sum := benchmath.AssumeNothing.Summary(s.bench(), confidence)
	s.Center = sum.Center
	s.Most = benchmath.AssumeNothing.Summary(benchmath.NewSample(most, &benchmath.Thresholds{CompareAlpha: alpha}),
		confidence).Center
	if !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) {
		s.Lo, s.Hi = &sum.Lo, &sum.Hi
	}
	return s
}

// bench returns a copy for package benchmath, which sorts its argument.
func (s *Sample) bench() *benchmath.Sample {
	return benchmath.NewSample(slices.Clone(s.Runs), &benchmath.Thresholds{CompareAlpha: alpha})
}

// text prints the sample: "17.2% (9.046 ms of 52.74 ms)", or "51.2 ms (median of 6 runs, 50.1 ms to
// 53.3 ms)".
func (s *Sample) text(m *metric.Metric) string {
	if len(s.Runs) <= 1 {
		return m.Text(metric.Value{V: s.Center, Num: s.Num, Den: s.Den, Note: s.Note, Missing: s.Missing,
			Most: s.Most, Bounded: s.Bounded})
	}
	u := m.Unit
	text := fmt.Sprintf("%s (median of %d runs, %s to %s)", u.Text(s.Center), len(s.Runs), u.Text(slices.Min(s.Runs)),
		u.Text(slices.Max(s.Runs)))
	if s.Missing > 0 {
		text = "at least " + text
	}
	if s.Note != "" {
		text += ", " + s.Note
	}
	return text
}

// absolute compares the value with the limits that need no baseline. It names every limit that the
// value violates. If the interval of the median contains a limit, violating it counts only if no
// other limit is clearly violated.
func (o *Outcome) absolute(l *Limits) answer {
	v := o.Now.Center
	var sure, open []string // the limits that are violated for certain, and those that may be
	var text string         // the value, so that it differs from the limit
	for _, limit := range []struct {
		at          *metric.Bound
		breaks      bool
		side, equal string // words for a value beyond the limit, and for one equal to it
	}{
		{l.Max, l.Max != nil && (v > l.Max.At || l.Over && v == l.Max.At), "over the limit of", "not under the limit of"},
		{l.Min, l.Min != nil && (v < l.Min.At || l.Under && v == l.Min.At), "under the limit of", "not over the limit of"},
		{l.Equal, l.Equal != nil && v != l.Equal.At, "not", ""},
	} {
		if !limit.breaks {
			continue
		}
		side := limit.side
		if v == limit.at.At {
			side = limit.equal
		}
		violated := side + " " + limit.at.Text
		if o.straddles(limit.at.At) {
			open = append(open, violated)
		} else {
			sure = append(sure, violated)
		}
		if t := o.value(limit.at); len(t) > len(text) {
			text = t
		}
	}
	switch {
	case sure != nil:
		return answer{result: Fail, why: "is " + text + ", " + strings.Join(sure, " and ")}
	case open != nil:
		u, holds := o.Gate.Metric.Unit, "holds the limit"
		if len(open) > 1 {
			holds += "s"
		}
		return answer{result: Inconclusive, why: fmt.Sprintf("is %s, %s; but the confidence interval of the median, %s to %s, %s",
			text, strings.Join(open, " and "), u.Text(*o.Now.Lo), u.Text(*o.Now.Hi), holds)}
	}
	return answer{result: Pass, why: "is " + o.Now.text(o.Gate.Metric)}
}

// lowerBound returns the answer for a value that is only a lower bound. It checks both ends of the
// range: a becomes inconclusive if the range contains a limit and the whole range violates none.
func (o *Outcome) lowerBound(l *Limits, a answer) answer {
	low, high := o.Now.Center, o.Now.Most
	if o.Now.Missing == 0 && !o.Now.Bounded {
		return a
	}
	u := o.Gate.Metric.Unit
	var sure, open []string
	for _, limit := range []struct {
		at    *metric.Bound
		fails bool // the whole range is on the wrong side
		open  bool
		side  string
		end   string // the end of the range that is nearest to the limit
	}{
		{l.Max, l.Max != nil && (low > l.Max.At || l.Over && low == l.Max.At), l.Max != nil &&
			(high > l.Max.At || l.Over && high == l.Max.At), "over", "at least " + u.Text(low)},
		{l.Min, l.Min != nil && (high < l.Min.At || l.Under && high == l.Min.At), l.Min != nil &&
			(low < l.Min.At || l.Under && low == l.Min.At), "under", "at most " + u.Text(high)},
		{l.Equal, l.Equal != nil && (high < l.Equal.At || low > l.Equal.At), l.Equal != nil, "not at",
			"at most " + u.Text(high)},
	} {
		switch {
		case limit.fails:
			sure = append(sure, fmt.Sprintf("%s, %s the limit of %s", limit.end, limit.side, limit.at.Text))
		case limit.open:
			open = append(open, limit.at.Text)
		}
	}
	switch {
	case sure != nil && a.result != Fail: // the interval of medians contains the limit
		return a
	case sure != nil:
		return answer{result: Fail, why: fmt.Sprintf("is %s. %s", strings.Join(sure, ", and "), o.Now.Note)}
	case open != nil:
		limits := "limit "
		if len(open) > 1 {
			limits = "limits "
		}
		return answer{result: Inconclusive, capture: true,
			why: fmt.Sprintf("is %s; %s%s. %s", u.Range(low, high), limits, strings.Join(open, " and "), o.Now.Note)}
	}
	return a
}

// between makes a inconclusive if a limit is between the largest measured value and the next one, which the
// value does not reach: nothing was measured there.
func (o *Outcome) between(l *Limits, a answer) answer {
	low, below := o.Now.Center, o.Now.Below
	if below == 0 {
		return a
	}
	var open []string
	for _, limit := range []*metric.Bound{l.Max, l.Min, l.Equal} {
		if limit != nil && low < limit.At && limit.At < below {
			open = append(open, limit.Text)
		}
	}
	if open == nil || a.result == Fail && l.Max != nil && low > l.Max.At {
		return a
	}
	u, text := o.Gate.Metric.Unit, "at least "+o.Gate.Metric.Unit.Text(low)
	if !math.IsInf(below, 1) {
		text += " and below " + u.Text(below)
	}
	return answer{result: Inconclusive, capture: true, why: fmt.Sprintf("is %s, %s; the limit is %s", text,
		o.Now.Note, strings.Join(open, " and "))}
}

// overlapping makes a inconclusive if the values of both sides may be equal, because each is between two that
// were measured.
func (o *Outcome) overlapping(a answer) answer {
	now, base := o.Now, o.Base
	if a.result != Fail || now.Below == 0 || base.Below == 0 || now.Below <= base.Center || base.Below <= now.Center {
		return a
	}
	return answer{result: Inconclusive, why: o.change() + "; but the sides were measured at different loads, and both may be equal", capture: true}
}

// coverage is the largest difference between the shares of unknown time at which two lower bounds
// can be compared.
const coverage = 0.01

// lowerBounds makes a inconclusive if the values of both sides are lower bounds that leave out
// different shares of the time.
func (o *Outcome) lowerBounds(a answer) answer {
	if o.Now.Bounded || o.Base.Bounded {
		return answer{result: Inconclusive, why: "not comparable: only bounds are known, by the buckets of histograms", capture: true}
	}
	now, base := o.Now.Missing, o.Base.Missing
	if math.Abs(now-base) <= coverage {
		return a
	}
	return answer{result: Inconclusive, why: fmt.Sprintf("not comparable: the baseline leaves %s of GPU time out, the new runs %s; %s", metric.Share.Text(base), metric.Share.Text(now), o.change()), capture: true}
}

// straddles reports whether the confidence interval of the runs contains the limit.
func (o *Outcome) straddles(limit float64) bool {
	s := o.Now
	return !o.Gate.Metric.Steady && s.Lo != nil && *s.Lo <= limit && limit <= *s.Hi
}

// value prints the value with enough digits to differ from the limit, if it does differ.
func (o *Outcome) value(limit *metric.Bound) string {
	u, v := o.Gate.Metric.Unit, o.Now.Center
	text := o.Now.text(o.Gate.Metric)
	short := u.Text(v)
	if v == limit.At || u == metric.Count || short != u.Text(limit.At) &&
		(u != metric.Share || !strings.HasPrefix(text, metric.Percent(limit.At))) {
		return text
	}
	return strings.Replace(text, short, u.Exact(v), 1)
}

// relative compares the change from the baseline with limits. P is the result of the rank test, or
// nil if there are too few runs.
func (o *Outcome) relative(l *Limits) (a answer, p *float64) {
	g, now, base := o.Gate, o.Now, o.Base
	tested := !g.Metric.Steady && min(len(now.Runs), len(base.Runs)) >= MinRuns
	if tested {
		res := benchmath.AssumeNothing.Compare(base.bench(), now.bench())
		p = &res.P
	}
	floored := "" // why a change over its limit does not count
	for _, limit := range []struct {
		*metric.Change
		by    float64 // how much worse the value is
		noise float64 // largest change of this kind between single runs
	}{
		{l.MaxIncrease, now.Center - base.Center, o.noise()},
		{l.MaxDecrease, base.Center - now.Center, o.noiseDown()},
	} {
		if limit.Change == nil || !exceeds(limit.by, limit.Change, base.Center) {
			continue
		}
		why := fmt.Sprintf("%s, over the limit of %s", o.change(), limit.Change.Text)
		switch {
		case l.MinAbs != nil && limit.by < l.MinAbs.At:
			floored = fmt.Sprintf("%s, but under the floor of %s", why, l.MinAbs.Text)
			continue
		case tested && *p >= alpha:
			return answer{result: Inconclusive, why: why + fmt.Sprintf("; but runs of both sides mix (p = %.2g, want under %g)", *p, alpha)}, p
		case !tested && limit.by <= limit.noise*(1+rounding):
			return answer{result: Inconclusive, why: why + "; but " + o.fewRuns(limit.noise)}, p
		}
		return answer{result: Fail, why: why}, p
	}
	return answer{result: Pass, why: cmp.Or(floored, o.change()), floored: floored != ""}, p
}

// exceeds reports whether a change is over its limit.
func exceeds(by float64, limit *metric.Change, base float64) bool {
	if limit.Points {
		return by > limit.By*(1+rounding)
	}
	return by > limit.By*math.Abs(base)*(1+rounding)
}

// exceeds reports whether a drift is over the limits of a change.
func (d Drift) exceeds(l *Limits) bool {
	by := d.To - d.From
	return l.MaxIncrease != nil && exceeds(by, l.MaxIncrease, d.From) || l.MaxDecrease != nil && exceeds(-by, l.MaxDecrease, d.From)
}

// rounding is a tolerance for differences of float64, so that a change equal to its limit is not
// over it.
const rounding = 1e-12

// fewestForNoise is the number of runs of a baseline from which they show by how much single runs
// differ.
const fewestForNoise = 10

// noise returns by how much a value may rise by chance from one run to the next, in the metric's
// unit.
func (o *Outcome) noise() float64 {
	usual := o.Gate.Noise
	if o.Gate.Metric.Unit != metric.Share {
		usual *= math.Abs(o.Base.Center)
	}
	return min(usual, o.measuredNoise())
}

// noiseDown returns by how much a value may fall by chance. A rate falls by 1 - 1/1.2 if the time
// for the same work rises by 20 %.
func (o *Outcome) noiseDown() float64 {
	usual := o.Gate.Noise
	if o.Gate.Metric.Unit != metric.Share {
		usual *= math.Abs(o.Base.Center) / (1 + o.Gate.Noise)
	}
	return min(usual, o.measuredNoise())
}

// measuredNoise returns twice the largest distance of a run of the baseline from their median, if
// the runs are enough to show the noise. Of normal noise, another run is farther away in one
// direction with a probability of 0.4% if there are 10 runs, and of 0.05% if there are 20.
func (o *Outcome) measuredNoise() (noise float64) {
	if len(o.Base.Runs) < fewestForNoise {
		return math.Inf(1)
	}
	for _, v := range o.Base.Runs {
		noise = max(noise, 2*math.Abs(v-o.Base.Center))
	}
	return noise
}

// fewRuns explains why a change may be noise.
func (o *Outcome) fewRuns(noise float64) string {
	single := "single runs"
	if n, m := len(o.Base.Runs), len(o.Now.Runs); n > 1 || m > 1 {
		single = fmt.Sprintf("few runs (%d and %d)", n, m)
	}
	by := metric.Points(noise)
	switch {
	case o.Gate.Metric.Unit == metric.Share:
	case o.Base.Center == 0:
		by = o.Gate.Metric.Unit.Text(noise)
	default:
		by = strconv.FormatFloat(math.Round(1000*noise/math.Abs(o.Base.Center))/10, 'f', -1, 64) + "%"
	}
	return fmt.Sprintf("%s of one program differ by up to %s: give %d runs of each side, or set single_run_noise",
		single, by, MinRuns)
}

// change describes how the value differs from the baseline: "rose by 12.4%, from 51.2 ms to 57.6
// ms".
func (o *Outcome) change() string {
	u, a, b := o.Gate.Metric.Unit, o.Base.Center, o.Now.Center
	if a == b {
		return "is unchanged at " + u.Text(b)
	}
	word := "rose"
	if b < a {
		word = "fell"
	}
	return fmt.Sprintf("%s by %s, from %s to %s", word, o.delta(), u.Text(a), u.Text(b))
}

// Change prints by how much the value differs from the baseline: "+12.4%", for shares "+1.2
// points", or "" if one of the values is missing.
func (o *Outcome) Change() string {
	switch {
	case o.Now == nil || o.Base == nil:
		return ""
	case o.Now.Center == o.Base.Center:
		return "0"
	case o.Now.Center < o.Base.Center:
		return "−" + o.delta()
	}
	return "+" + o.delta()
}

// delta prints the size of the change: in points for shares, otherwise as a share of the baseline.
func (o *Outcome) delta() string {
	d := math.Abs(o.Now.Center - o.Base.Center)
	switch {
	case o.Gate.Metric.Unit == metric.Share:
		return metric.Points(d)
	case o.Base.Center == 0:
		return o.Gate.Metric.Unit.Text(d)
	}
	return strconv.FormatFloat(100*d/math.Abs(o.Base.Center), 'f', 1, 64) + "%"
}
