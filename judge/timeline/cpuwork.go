package timeline

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A work is named work of the CPU between launches. Names that differ only in their numbers, like
// the annotations of iterations, are one work.
type work struct {
	name               string // the name with the most time
	state              string
	most               int64 // ns of name
	names              int
	ns, count, longest int64
}

// cpuWork judges the idle time in long gaps during which the launching thread ran named code that
// launches little or nothing. It has precedence over the wait that often comes before such work:
// without the wait, the work would still take its time.
func (c *Evaluator) cpuWork() []tree.Reading {
	list := slices.DeleteFunc(works(c), func(w work) bool { return advice.IsWait(w.name) })
	ns := int64(0)
	for _, w := range list {
		ns += w.ns
	}
	if ns == 0 || generatedElsewhere(c) > 0 {
		return nil // or the code is a wait for another process
	}
	f, limit, ok := rule.Measured(c.Limits[rule.CPUWork], ns, c.Total.Window())
	f.Title = fmt.Sprintf("CPU work between launches: %s", c.OfWindow(ns)) + rule.Over(limit)
	c.GainOfWindow(&f, ns)
	for i, w := range list {
		if i == 3 {
			break
		}
		_, period := periodOf(c, w)
		f.Evidence = append(f.Evidence, w.evidence()+period)
	}
	_, f.Where = idleWithCause(c, func(r summary.Idle) bool {
		return slices.ContainsFunc(list,
			func(w work) bool { return w.matches(r.Name) })
	})
	steps, _ := periodOf(c, list[0])
	f.Next = list[0].advice(steps)
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.GPUIdle: ns}}
	return r.IfReached()
}

// leastWork is the least part of the idle time for one name, as a divisor. Below it, an operator is
// as often a thread that waited for a core as it is work.
const leastWork = 5

// works returns the work of the CPU, with the most idle time first.
func works(c *Evaluator) (out []work) {
	byName := map[string]*work{}
	launching := launchingNames(c)
	for _, r := range c.Idle {
		long := r.NS - r.ShortGapsNS
		if r.Owner != summary.OwnerHost || r.Name == "" || r.Name == "ProfilerStep" || long < max(1, r.NS-long) ||
			launching(r) {
			continue
		}
		if !slices.Contains([]string{summary.StateOp, summary.StatePython, summary.StateCollector, summary.StateAnnotation}, r.State) {
			continue
		}
		key := r.State + "\x00" + withoutNumbers(r.State, r.Name)
		w := byName[key]
		if w == nil {
			w = &work{state: r.State}
			byName[key] = w
		}
		w.names++
		w.ns, w.count, w.longest = w.ns+long, w.count+r.Count, max(w.longest, r.MaxNS)
		if long > w.most || long == w.most && r.Name < w.name {
			w.name, w.most = r.Name, long
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byName)) {
		if w := byName[key]; w.ns >= c.Total.Idle()/leastWork && w.ns/max(1, w.count) >= summary.ShortGapNS {
			out = append(out, *w)
		}
	}
	slices.SortStableFunc(out, func(a, b work) int { return cmp.Compare(b.ns, a.ns) })
	return out
}

// launchingNames returns a function that reports whether idle time is in code that launches: an
// operator that launches kernels, an annotation around kernels that is idle for less than half of
// its time, or a function with several gaps in each call.
func launchingNames(c *Evaluator) func(summary.Idle) bool {
	ops, notes, calls := map[string]bool{}, map[string]int64{}, map[string]int64{}
	for _, o := range c.Ops {
		ops[o.Name] = ops[o.Name] || o.Launched > 0
	}
	for _, a := range c.Annotations {
		if a.GPUTotalNS > 0 {
			notes[a.Name] += a.CPUTotalNS
		}
	}
	for _, l := range c.Lines {
		name := fmt.Sprintf("%s(%d): %s", l.File, l.Line, l.Function)
		calls[name] += l.Count
	}
	idle := map[string]int64{}
	for _, r := range c.Idle {
		if r.State == summary.StateAnnotation {
			idle[r.Name] += r.NS
		}
	}
	devices := int64(max(1, c.GPUs))
	return func(r summary.Idle) bool {
		switch r.State {
		case summary.StateOp:
			return ops[r.Name]
		case summary.StateAnnotation:
			return notes[r.Name] > 0 && idle[r.Name]/devices < notes[r.Name]/2
		}
		const most = 4 // gaps per call
		n := calls[r.Name]
		return n > 0 && r.Count > most*n && r.NS/max(1, r.Count) < longWork
	}
}

// longWork is the mean length of gaps, in ns, from which a function with several gaps in each call
// counts as work.
const longWork = 1_000_000

// withoutNumbers returns the name of an annotation without its numbers, because "IO 30" and "IO 40"
// are the same work. In other names, numbers are line numbers.
func withoutNumbers(state, name string) string {
	if state != summary.StateAnnotation {
		return name
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, name)
}

// matches reports whether a name belongs to the work.
func (w work) matches(name string) bool {
	return name == w.name || w.names > 1 && withoutNumbers(summary.StateAnnotation,
		name) == withoutNumbers(summary.StateAnnotation, w.name)
}

func (w work) evidence() string {
	others := ""
	if w.names > 1 {
		others = fmt.Sprintf(" and %s with other numbers", label.Plural(int64(w.names-1), "name"))
	}
	return fmt.Sprintf("%q%s: %s of idle time in %s, longest %s", finding.Short(w.name), others, unit.Duration(w.ns),
		label.Plural(w.count, "piece"), unit.Duration(w.longest))
}

// periodOf says how often the work interrupts the GPU if its gaps are at equal distances, in steps
// if they are marked, else in time. The summary lists only the longest gaps of each GPU. If the work
// has more gaps, its period is that of the slow steps, or unknown.
func periodOf(c *Evaluator, w work) (steps int, text string) {
	if n := periodInSteps(c, w); n > 1 {
		return n, fmt.Sprintf("; in every %d%s step", n, ordinal(n))
	}
	for _, d := range c.Devices {
		var at []int64
		for _, g := range d.LargestGaps {
			if w.matches(g.Name) && g.Owner == summary.OwnerHost {
				at = append(at, g.StartNS)
			}
		}
		if len(at) < fewestPeriods || len(at) == summary.MaxLargestGaps && w.count > int64(len(at)) {
			continue
		}
		slices.Sort(at)
		if n := stepDistance(c, d, at); n > 1 {
			return n, fmt.Sprintf("; in every %d%s step", n, ordinal(n))
		}
		if ns, ok := evenDistance(at); ok {
			return 0, "; every " + unit.Duration(ns)
		}
	}
	return 0, ""
}

// evenDistance returns the mean distance of times, if no distance differs from it by more than a
// tenth.
func evenDistance(at []int64) (mean int64, ok bool) {
	mean = (at[len(at)-1] - at[0]) / int64(len(at)-1)
	for i := 1; i < len(at); i++ {
		if d := at[i] - at[i-1]; d < mean-mean/10 || d > mean+mean/10 {
			return 0, false
		}
	}
	return mean, true
}

// stepDistance returns the number of steps from one of the times to the next if it is always the
// same, else 0.
func stepDistance(c *Evaluator, d summary.Device, at []int64) (n int) {
	last, next := -1, 0
	for _, t := range at {
		for i := next; i < len(c.Steps); i++ {
			st := c.Steps[i]
			if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || t < st.StartNS || t >= st.StartNS+st.WallNS {
				continue
			}
			if last >= 0 && n > 0 && i-last != n {
				return 0
			}
			if last >= 0 {
				n = i - last
			}
			last, next = i, i
			break
		}
	}
	return n
}

// advice returns fixes by the words in the name of the work and by the distance of its gaps in
// steps (0 if unknown). An operator that launches nothing and is slow in every few steps was
// interrupted by something else, such as garbage collection.
func (w work) advice(steps int) []finding.Step {
	general := finding.Advise("move-off-the-launching-thread", "what", strconv.Quote(finding.Short(w.name))).For("idle=code")
	if w.state == summary.StateCollector || label.IsCollector(w.name) {
		return []finding.Step{finding.Advise("schedule-garbage-collection"), general}
	}
	if w.state == summary.StateOp && steps > 1 {
		return []finding.Step{finding.Advise("find-what-is-periodic", "n", fmt.Sprint(steps)),
			finding.Advise("schedule-garbage-collection"), general}
	}
	words := strings.FieldsFunc(strings.ToLower(w.name), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, kind := range []struct {
		step  finding.Step
		words []string
	}{
		{finding.Advise("cache-compiled-code"), []string{"dynamo", "inductor", "compile", "autotuner", "autotune"}},
		{finding.Advise("save-asynchronously"), []string{"save", "checkpoint", "ckpt", "checkpointing"}},
		{finding.Advise("write-on-another-thread").For("idle=output"), []string{"io", "write", "dump", "output", "serialize"}},
		{finding.Advise("evaluate-elsewhere"), []string{"eval", "evaluate", "evaluation", "validate", "validation"}},
		{finding.Advise("log-less-often"), []string{"log", "logging", "logger", "wandb", "tensorboard", "print", "mlflow"}},
	} {
		if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(kind.words, word) }) {
			return []finding.Step{kind.step, general}
		}
	}
	return []finding.Step{general}
}
