package pictures

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"assay/internal/label"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
)

// mostLoggedPhases is how many phases have a colour; the others are drawn together.
const mostLoggedPhases = 7

// leastLoggedShare is the share of all phases from which a phase has a colour.
const leastLoggedShare = 0.005

// loggedColors returns the colours of phases, each another.
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
	name string
	sum  float64
	bars []float64
}

// logPhases shows the phases of each step of a log. Timers within other timers are part of
// these.
func logPhases(s *summary.Summary) (plot.Chart, bool) {
	steps := longestLogged(s)
	if steps == nil {
		return plot.Chart{}, false
	}
	stacks := phaseStacks(s, steps)
	if len(stacks) < 2 {
		return plot.Chart{}, false
	}
	c := plot.Chart{Title: "Phases of each step", Subtitle: "logged by " + label.Clip(label.Clean(steps.Producer), 40)}
	colors := loggedColors(stacks)
	var columns plot.Columns
	rest := false
	for i, x := range steps.Strip.X {
		bar := plot.ColumnBar{Label: fmt.Sprintf("%s %d", axisOf(steps.Strip), x), Of: 1}
		left := steps.Strip.Values[i]
		for k, p := range stacks {
			left -= p.bars[i]
			bar.Parts = append(bar.Parts, plot.Part{Color: colors[k], NS: int64(p.bars[i])})
		}
		if left > steps.Strip.Values[i]/200 {
			bar.Parts = append(bar.Parts, plot.Part{Color: plot.ColorIdle, NS: int64(left)})
			rest = true
		}
		columns.Bars = append(columns.Bars, bar)
	}
	for k, p := range stacks {
		c.Legend = append(c.Legend, plot.Swatch{Color: colors[k], Text: label.Clip(label.Clean(words.Phase(p.name)), 30)})
	}
	if rest {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorIdle, Text: "other time"})
	}
	if steps.Strip.High != nil {
		c.Caption = fmt.Sprintf("Each bar has the medians of about %d steps, and the mean of a phase that few steps have.", steps.N/int64(len(steps.Strip.X)))
	}
	c.Body = columns
	c.Alt = fmt.Sprintf("Times of %s in %s", label.Plural(int64(len(stacks)), "phase"), label.Plural(steps.N, "step"))
	return c, true
}

// phaseStacks returns the outermost phases of a log by bar, the longest first. Timers of
// one phase are added up. A phase that takes longer than any step is in none of them.
func phaseStacks(s *summary.Summary, steps *summary.Series) (out []phaseStack) {
	index := map[string]int{}
	for i := range s.Series {
		r := &s.Series[i]
		if r.Metric != loggedPhase || r.Input != steps.Input || r.Producer != steps.Producer || r.Pooled > 0 || r.Inside != "" || r.Strip == nil || r.N == 0 ||
			*r.Max > longestTime || *r.Min < 0 || steps.Derived == "" && *r.Max > 1.01**steps.Max {
			continue
		}
		name := cmp.Or(r.Labels["phase"], r.Name)
		k, ok := index[name]
		if !ok {
			k = len(out)
			index[name] = k
			out = append(out, phaseStack{name: name, bars: make([]float64, len(steps.Strip.X))})
		}
		out[k].add(r, steps)
	}
	slices.SortStableFunc(out, func(a, b phaseStack) int { return cmp.Compare(b.sum, a.sum) })
	all := 0.0
	for _, p := range out {
		all += p.sum
	}
	out = slices.DeleteFunc(out, func(p phaseStack) bool { return p.sum < leastLoggedShare*all })
	return out[:min(mostLoggedPhases, len(out))]
}

// add adds the values of a timer to the bars of their steps.
func (p *phaseStack) add(r, steps *summary.Series) {
	p.sum += *r.Sum
	if slices.Equal(r.Strip.X, steps.Strip.X) {
		for i, v := range r.Strip.Values {
			p.bars[i] += v
		}
		return
	}
	// Not every step has this phase: a bar has its share of each step that has.
	per := float64(steps.N) / float64(len(steps.Strip.X))
	each := float64(r.N) / float64(len(r.Strip.X))
	for i, x := range r.Strip.X {
		at := sort.Search(len(steps.Strip.X), func(k int) bool { return steps.Strip.X[k] > x }) - 1
		if at >= 0 {
			p.bars[at] += r.Strip.Values[i] * each / per
		}
	}
}
