package logs

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
)

// mostLoggedPhases is how many phases have a colour; the others are other time.
const mostLoggedPhases = 7

// leastLoggedShare is the minimum share of the time of all phases for a phase to have a colour.
const leastLoggedShare = 0.005

// loggedColors returns the colours of phases, a different one for each.
func loggedColors(stacks []phaseStack) (out []plot.Color) {
	known := map[string]plot.Color{
		"generation": plot.ColorWork, "training": plot.ColorCompute, "log-probs": plot.ColorMemset, "weight-sync": plot.ColorComm,
		"data": plot.ColorCopy, "evaluation": plot.ColorLaunch, "checkpoint": plot.ColorBetween, "sleep-wake": plot.ColorDependency, "reward": plot.ColorTime,
	}
	others := []plot.Color{plot.ColorComm, plot.ColorCompute, plot.ColorWait, plot.ColorWork, plot.ColorTime, plot.ColorCopy, plot.ColorMemset, plot.ColorDependency,
		plot.ColorLaunch, plot.ColorBetween, plot.ColorOpaque, plot.ColorUnknown}
	for _, p := range stacks {
		others = slices.DeleteFunc(others, func(c plot.Color) bool { return c == known[p.name] })
	}
	for _, p := range stacks {
		color, ok := known[p.name]
		if !ok {
			color, others = others[0], others[1:]
		}
		out = append(out, color)
	}
	return out
}

// A phaseStack is the time of one phase by bar.
type phaseStack struct {
	name   string
	sum    float64
	n      int64   // number of steps that have it
	timers int     // number of timers that were added up
	median float64 // median over the steps that have it, of one timer
	bars   []float64
	rare   bool // fewer than half of the steps have it
	placed bool // the log states which steps have it
}

// middle returns the median over the steps that have the phase.
func (p *phaseStack) middle() float64 {
	if p.timers == 1 {
		return p.median
	}
	known := slices.DeleteFunc(slices.Clone(p.bars), func(v float64) bool { return v <= 0 })
	return stat.MedianInPlace(known)
}

// Phases shows the phases of each step of a log. Timers nested in other timers are part of these.
func Phases(s *summary.Summary) (plot.Chart, bool) {
	steps := longestLogged(s)
	if steps == nil {
		return plot.Chart{}, false
	}
	stacks, lost := phaseStacks(s, steps)
	if len(stacks) < 2 {
		return plot.Chart{}, false
	}
	c := plot.Chart{Title: "Phases of each step", Subtitle: "logged by " + label.Clip(label.Clean(steps.Producer), 40) + "; legend: median of the steps that have the phase"}
	colors := loggedColors(stacks)
	columns := plot.Columns{Ticks: barTicks(steps.Strip), Axis: axisOf(steps.Strip)}
	rest := false
	for i, x := range steps.Strip.X {
		bar := plot.ColumnBar{Label: fmt.Sprintf("%s %d", axisOf(steps.Strip), x), Of: 1}
		left := steps.Strip.Values[i]
		for k, p := range stacks {
			if !p.rare || steps.Strip.High == nil {
				left -= p.bars[i]
			}
			bar.Parts = append(bar.Parts, plot.Part{Color: colors[k], NS: int64(p.bars[i])})
		}
		if left > steps.Strip.Values[i]/200 {
			bar.Parts = append(bar.Parts, plot.Part{Color: plot.ColorIdle, NS: int64(left)})
			rest = true
		}
		columns.Bars = append(columns.Bars, bar)
	}
	for k, p := range stacks {
		text := label.Clip(label.Clean(words.Phase(p.name)), 30) + " " + unit.Duration(int64(p.middle()))
		if p.n < steps.N {
			text += fmt.Sprintf(" (%s of %s steps)", unit.Count(p.n), unit.Count(steps.N))
		}
		c.Legend = append(c.Legend, plot.Swatch{Color: colors[k], Text: text})
	}
	if rest {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorIdle, Text: "other time"})
	}
	c.Caption = joinSentences(groupedCaption(steps, stacks), lostCaption(lost))
	c.Body = columns
	c.Alt = fmt.Sprintf("Times of %s in %s", label.Plural(int64(len(stacks)), "phase"), label.Plural(steps.N, "step"))
	return c, true
}

// groupedCaption states what a bar of several steps shows.
func groupedCaption(steps *summary.Series, stacks []phaseStack) string {
	if steps.Strip.High == nil {
		return ""
	}
	text := fmt.Sprintf("Each bar has the medians of about %d steps.", (steps.N+int64(len(steps.Strip.X))/2)/int64(len(steps.Strip.X)))
	if slices.ContainsFunc(stacks, func(p phaseStack) bool { return p.rare }) {
		text += " A phase that few steps have is added in full to the bar of its step."
	}
	return text
}

// lostCaption names the phases whose steps are not known.
func lostCaption(lost []string) string {
	if lost == nil {
		return ""
	}
	for i, name := range lost {
		lost[i] = label.Clip(label.Clean(words.Phase(name)), 30)
	}
	if rest := len(lost) - mostLoggedPhases; rest > 0 {
		lost = append(lost[:mostLoggedPhases], label.Plural(int64(rest), "more phase"))
	}
	return "The log does not say which steps have these phases, so they are other time: " + strings.Join(lost, ", ") + "."
}

// phaseStacks returns the outermost phases of a log by bar, the longest first, and the names of phases
// whose steps are not known. Timers of one phase are added up. Timers that ran once, such as at start-up,
// and phases that take longer than any step are left out.
func phaseStacks(s *summary.Summary, steps *summary.Series) (out []phaseStack, lost []string) {
	index := map[string]int{}
	for i := range s.Series {
		r := &s.Series[i]
		if r.Metric != loggedPhase || r.Input != steps.Input || r.Producer != steps.Producer || r.Pooled > 0 || r.Inside != "" || r.Strip == nil || r.N < 2 ||
			*r.Max > longestTime || *r.Min < 0 || steps.Derived == "" && *r.Max > 1.01**steps.Max {
			continue
		}
		name := cmp.Or(r.Labels["phase"], r.Name)
		k, ok := index[name]
		if !ok {
			k = len(out)
			index[name] = k
			out = append(out, phaseStack{name: name, bars: make([]float64, len(steps.Strip.X)), placed: true, rare: true})
		}
		out[k].add(r, steps)
	}
	slices.SortStableFunc(out, func(a, b phaseStack) int { return cmp.Compare(b.sum, a.sum) })
	all := 0.0
	for _, p := range out {
		all += p.sum
	}
	out = slices.DeleteFunc(out, func(p phaseStack) bool {
		if p.sum < leastLoggedShare*all {
			return true
		}
		if !p.placed {
			lost = append(lost, p.name)
		}
		return !p.placed
	})
	return out[:min(mostLoggedPhases, len(out))], lost
}

// add adds the values of a timer to the bars of their steps.
func (p *phaseStack) add(r, steps *summary.Series) {
	p.sum += *r.Sum
	p.n, p.median = max(p.n, r.N), *r.Median
	p.timers++
	rare := 2*r.N < steps.N
	p.rare = p.rare && rare
	st := steps.Strip
	switch {
	case slices.Equal(r.Strip.X, st.X) && r.N == steps.N:
		for i, v := range r.Strip.Values {
			p.bars[i] += v
		}
	case r.Strip.By != st.By || st.By == "index" || !slices.IsSorted(st.X) || !slices.IsSorted(r.Strip.X):
		p.placed = false
	case st.High == nil || rare:
		p.addSteps(r.Strip, st)
	default: // the values are medians over different groups of steps
		for i, x := range st.X {
			at := sort.Search(len(r.Strip.X), func(k int) bool { return r.Strip.X[k] > x }) - 1
			p.bars[i] += r.Strip.Values[max(0, at)]
		}
	}
}

// addSteps adds each value to the bar of its step. If a bar has several values, the largest is used,
// because a bar represents one step.
func (p *phaseStack) addSteps(own, st *summary.SeriesStrip) {
	largest := map[int]float64{}
	for i, x := range own.X {
		at := sort.Search(len(st.X), func(k int) bool { return st.X[k] > x }) - 1
		if at >= 0 && (st.High != nil || st.X[at] == x) {
			largest[at] = max(largest[at], own.Values[i])
		}
	}
	for at, v := range largest {
		p.bars[at] += v
	}
}
