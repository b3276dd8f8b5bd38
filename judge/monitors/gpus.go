// Package monitors has the rules on monitors of GPUs, disks and hosts: what they show by themselves, whatever program
// ran. How a monitor relates to the phases of a log is judged by package logs.
package monitors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// uses are the measures of the use of a GPU, the one that counts first: all say in which part of the time anything
// ran, or at most as much.
var uses = []string{"gpu.util", "gpu.util_graphics", "gpu.sm_active"}

// An Evaluator applies the rules to a summary.
type Evaluator struct {
	*tree.Context
	Alone bool // no input is a log of a program
}

// Rules returns the rules on monitors.
func (e *Evaluator) Rules() (out []tree.Row) {
	for _, r := range []struct {
		id      string
		measure func() (finding.Finding, bool)
	}{
		{rule.LowGPUUse, e.aloneUse}, {rule.SpinningGPUs, e.spins}, {rule.IdleGPUs, e.idleBesideBusy},
		{rule.BusyDisk, e.busyDisk}, {rule.SlowedGPUs, e.slowed}, {rule.SlowLink, e.slowLink},
	} {
		out = append(out, tree.Row{ID: r.id, Part: tree.BasisLogs, Measure: tree.Single(r.measure)})
	}
	return out
}

func (e *Evaluator) finding(m tree.Measured) (finding.Finding, bool) {
	r, ok := e.Evaluate(m)
	return r.Finding, ok
}

// measured compares a share with the limits of a rule.
func (e *Evaluator) measured(id string, share float64) (f finding.Finding, limit float64, ok bool) {
	r := e.Limits[id]
	level, limit, ok := r.Level(share)
	return finding.Finding{Rule: id, Level: level, Value: share, Warn: r.Warn, Critical: r.Critical}, limit, ok
}

// percent prints a share with one decimal.
func percent(share float64) string { return fmt.Sprintf("%.1f%%", 100*share) }

// A gpu has what a monitor recorded of one GPU.
type gpu struct {
	input int
	place string // "gpu=2"
	use   *summary.Series
	rows  map[string]*summary.Series
}

// number returns the number or name of a GPU without the name of its label.
func (g *gpu) number() string {
	_, n, _ := strings.Cut(g.place, "=")
	return label.Clip(label.Clean(cmp.Or(n, g.place, "0")), 20)
}

// gpus returns the GPUs that monitors recorded, by input, with their use.
func (e *Evaluator) gpus() (out []*gpu) {
	for i := range e.Series {
		r := &e.Series[i]
		if r.Pooled > 0 || r.N == 0 || r.Strip == nil || !strings.HasPrefix(r.Metric, "gpu.") && !strings.HasPrefix(r.Metric, "memory.") {
			continue
		}
		place := r.LabelText()
		k := slices.IndexFunc(out, func(g *gpu) bool { return g.input == r.Input && g.place == place })
		if k < 0 {
			k = len(out)
			out = append(out, &gpu{input: r.Input, place: place, rows: map[string]*summary.Series{}})
		}
		out[k].rows[r.Metric] = cmp.Or(out[k].rows[r.Metric], r)
	}
	for _, g := range out {
		for _, metric := range slices.Backward(uses) {
			g.use = cmp.Or(g.rows[metric], g.use)
		}
	}
	return slices.DeleteFunc(out, func(g *gpu) bool { return g.use == nil })
}

// like returns the values of a metric that were recorded together with those of the use, or nil.
func (g *gpu) like(metric string) []float64 {
	r := g.rows[metric]
	if r == nil || r.N != g.use.N || !slices.Equal(r.Strip.X, g.use.Strip.X) {
		return nil
	}
	return r.Strip.Values
}

// power returns the power draw as a share of its limit or, if that is unknown, of the largest power that was drawn
// while the GPU was in use.
func (g *gpu) power() (shares []float64, of string) {
	if shares = g.like("gpu.power_share"); shares != nil {
		return shares, "the power limit"
	}
	watts := g.like("gpu.power")
	most := 0.0
	for i, w := range watts {
		if g.use.Strip.Values[i] > 0 {
			most = max(most, w)
		}
	}
	if most <= 0 {
		return nil, ""
	}
	for _, w := range watts {
		shares = append(shares, w/most)
	}
	return shares, "the largest power"
}

// hardlyAny is the use of the memory of a GPU below which a kernel moves no data to speak of.
const hardlyAny = 0.05

// A spin is the time in which a GPU is in use at low power.
type spin struct {
	*gpu
	share, power float64 // part of the time in use; median power in it
	of           string
	lasts        bool // it spins at the end of the recording
}

// spinning measures how long a GPU spins.
func (g *gpu) spinning(limits rule.Rule) (out spin, ok bool) {
	power, of := g.power()
	if power == nil || g.use.N < limits.MinEvents || g.use.Metric == "gpu.sm_active" {
		return out, false
	}
	traffic := g.like("gpu.memory_util")
	if traffic == nil {
		traffic = g.like("gpu.dram_active")
	}
	busy, last := 0, false
	var low []float64
	for i, u := range g.use.Strip.Values {
		if u > 0.01 {
			busy++
		}
		if last = u >= limits.Margin && power[i] > 0 && power[i] < limits.OfPeak && (traffic == nil || traffic[i] < hardlyAny); last {
			low = append(low, power[i])
		}
	}
	if len(low) == 0 {
		return out, false
	}
	return spin{g, float64(len(low)) / float64(busy), stat.Median(low), of, last}, true
}

// spins reports GPUs that are in use and do nothing: kernels that wait for something that does not come.
func (e *Evaluator) spins() (finding.Finding, bool) {
	limits := e.Limits[rule.SpinningGPUs]
	var all []spin
	gpus := e.gpus()
	for _, g := range gpus {
		if s, ok := g.spinning(limits); ok && s.share >= limits.Warn {
			all = append(all, s)
		}
	}
	if len(all) == 0 {
		return finding.Finding{}, false
	}
	worst := slices.MaxFunc(all, func(a, b spin) int { return cmp.Compare(a.share, b.share) })
	f, _, _ := e.measured(rule.SpinningGPUs, worst.share)
	hung := len(slices.DeleteFunc(slices.Clone(all), func(s spin) bool { return !s.lasts }))
	if hung > 0 {
		f.Level = finding.Critical
	}
	f.Title = fmt.Sprintf("%d of %s spin: in use at %s of %s for %s of the time", len(all), label.Plural(int64(len(gpus)), "GPU"),
		percent(worst.power), worst.of, percent(worst.share))
	f.Evidence = []string{"GPUs: " + numbers(all)}
	if hung > 0 {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s still spin at the end of the recording: the job probably hangs in a collective",
			label.Plural(int64(hung), "GPU")))
	}
	f.Next = []finding.Step{finding.Advise("read-the-stacks"), finding.Advise("dump-all-ranks").For("absent=unknown")}
	f.Where = []finding.Place{{Input: worst.input, Rank: e.Inputs[worst.input].Rank}}
	return f, true
}

func numbers(list []spin) string {
	var out []string
	for _, s := range list[:min(16, len(list))] {
		out = append(out, s.number())
	}
	return strings.Join(out, ", ")
}

// idleBesideBusy reports GPUs without work while other GPUs of the same monitor work.
func (e *Evaluator) idleBesideBusy() (best finding.Finding, found bool) {
	limits := e.Limits[rule.IdleGPUs]
	byInput := map[int][]*gpu{}
	for _, g := range e.gpus() {
		byInput[g.input] = append(byInput[g.input], g)
	}
	for input := range e.Inputs {
		var idle, busy []string
		held := 0.0
		for _, g := range byInput[input] {
			switch {
			case g.use.N < limits.MinEvents:
			case *g.use.Mean < limits.Margin:
				idle = append(idle, g.number())
				if m := g.rows["memory.used"]; m != nil {
					held = max(held, *m.Max)
				}
			case *g.use.Mean >= limits.MinBusy:
				busy = append(busy, fmt.Sprintf("GPU %s %s", g.number(), percent(*g.use.Mean)))
			}
		}
		if len(idle) == 0 || len(busy) == 0 {
			continue
		}
		f, _, ok := e.measured(rule.IdleGPUs, float64(len(idle))/float64(len(byInput[input])))
		if !ok || found && best.Value >= f.Value {
			continue
		}
		f.Title = fmt.Sprintf("%d of %d GPUs are idle: %s", len(idle), len(byInput[input]),
			label.Clip("GPU "+strings.Join(idle, ", "), 50))
		f.Evidence = []string{"in use: " + strings.Join(busy[:min(8, len(busy))], ", ")}
		if held >= minHeld {
			f.Evidence = append(f.Evidence, fmt.Sprintf("a program holds up to %s of memory on them", unit.Bytes(int64(held))))
		}
		f.Next = []finding.Step{finding.Advise("use-all-gpus")}
		f.Where = []finding.Place{{Input: input, Rank: e.Inputs[input].Rank}}
		best, found = f, true
	}
	return best, found
}

// minHeld is the memory of a GPU from which on a program uses it; drivers take less.
const minHeld = 2 << 30

// aloneUse judges the use of the GPUs of monitors without a log: from the first to the last time at which a GPU is in
// use, of the GPUs that are.
func (e *Evaluator) aloneUse() (finding.Finding, bool) {
	limits := e.Limits[rule.LowGPUUse]
	if !e.Alone || !e.only() {
		return finding.Finding{}, false
	}
	var means []float64
	samples := int64(0)
	input := -1
	for _, g := range e.gpus() {
		if g.use.Metric != "gpu.util" || *g.use.Mean < e.Limits[rule.IdleGPUs].Margin || g.use.N < limits.MinEvents {
			continue
		}
		if input >= 0 && g.input != input {
			return finding.Finding{}, false // several monitors may have recorded one GPU, or other times
		}
		input = g.input
		values := g.use.Strip.Values
		inUse := func(v float64) bool { return v > 0.01 }
		from := slices.IndexFunc(values, inUse)
		to := len(values)
		for to > from && !inUse(values[to-1]) {
			to--
		}
		means, samples = append(means, mean(values[from:to])), samples+g.use.N
	}
	if len(means) == 0 {
		return finding.Finding{}, false
	}
	all := mean(means)
	f, limit, ok := e.measured(rule.LowGPUUse, 1-all)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("GPU use: %s of the time in use; target over %s", percent(all), unit.Percent(1-limits.Warn))
	if len(means) > 1 {
		f.Title = fmt.Sprintf("GPU use: %s (mean of %d GPUs); target over %s", percent(all), len(means), unit.Percent(1-limits.Warn))
	}
	f.Evidence = []string{fmt.Sprintf("%s, from the first to the last in which the GPU was in use", label.Plural(samples, "sample"))}
	if limit == limits.Critical {
		f.Evidence = append(f.Evidence, "under "+unit.Percent(1-limit)+" the GPUs wait for the CPU, for I/O or for requests")
	}
	f.Next = []finding.Step{finding.Advise("trace-a-training-step"), finding.Advise("load-data-ahead")}
	f.Where = []finding.Place{{Input: input, Rank: e.Inputs[input].Rank}}
	return f, true
}

func mean(values []float64) (sum float64) {
	for _, v := range values {
		sum += v / float64(len(values))
	}
	return sum
}

// only reports whether the inputs are monitors and logs, so that no profiler measured the time of the GPUs.
func (e *Evaluator) only() bool {
	return len(e.Devices)+len(e.Tables)+len(e.Counters)+len(e.Spans) == 0
}

// busyDisk reports the disk that is in use and has a queue for the longest time.
func (e *Evaluator) busyDisk() (best finding.Finding, found bool) {
	limits := e.Limits[rule.BusyDisk]
	rows := map[string]map[string]*summary.Series{}
	for i := range e.Series {
		if r := &e.Series[i]; strings.HasPrefix(r.Metric, "disk.") && r.Pooled == 0 && r.N > 0 && r.Strip != nil {
			k := fmt.Sprint(r.Input, " ", r.Labels["device"])
			if rows[k] == nil {
				rows[k] = map[string]*summary.Series{}
			}
			rows[k][r.Metric] = r
		}
	}
	for i := range e.Series {
		r := &e.Series[i]
		disk := rows[fmt.Sprint(r.Input, " ", r.Labels["device"])]
		queue := disk["disk.queue"]
		if r.Metric != "disk.util" || disk[r.Metric] != r || queue == nil || !slices.Equal(queue.Strip.X, r.Strip.X) {
			continue
		}
		n := 0
		for k, v := range r.Strip.Values {
			if v >= limits.Margin && queue.Strip.Values[k] >= float64(limits.MinEvents) {
				n++
			}
		}
		m := tree.Measured{Rule: rule.BusyDisk, Value: float64(n) / float64(len(r.Strip.Values)),
			Where: []finding.Place{{Input: r.Input, Rank: e.Inputs[r.Input].Rank}},
			Words: map[string]string{"name": label.Clip(label.Clean(r.Labels["device"]), 40), "util": percent(*r.Median),
				"queue": fmt.Sprintf("%.4g", *queue.Median)}}
		if wait := cmp.Or(disk["disk.await"], disk["disk.read_await"]); wait != nil {
			m.Lists = map[string][]string{"wait": {"an operation takes " + unit.Duration(int64(*wait.Median)) + " (median)"}}
		}
		if f, ok := e.finding(m); ok && (!found || f.Value > best.Value) {
			best, found = f, true
		}
	}
	return best, found
}
