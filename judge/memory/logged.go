package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A failure is what an error message says of an allocation that failed. Amounts that it does not say are below 0.
type failure struct {
	row                           *summary.Series
	wanted, free, card, limit     int64
	allocated, unused, own, other int64
}

// failureOf returns the last failed allocation of a row of a log.
func (c *Evaluator) failureOf(last *summary.Series) failure {
	amount := func(metric string) int64 {
		for i := range c.Series {
			r := &c.Series[i]
			if r.Metric == metric && r.Input == last.Input && r.LabelText() == last.LabelText() && r.Last != nil {
				return int64(*r.Last)
			}
		}
		return -1
	}
	return failure{row: last, wanted: int64(*last.Last), free: amount("memory.failed_free"), card: amount("memory.failed_capacity"),
		limit: amount("memory.failed_limit"), allocated: amount("memory.failed_allocated"), unused: amount("memory.failed_unused"),
		own: amount("memory.failed_process"), other: amount("memory.failed_others")}
}

// others returns how much of the GPU other processes hold, if the allocation would have fitted without them. The rest of
// the GPU is theirs but for what its driver takes, so it counts only if the message names a process or the rest is large.
func (l *failure) others() int64 {
	held := max(0, l.other)
	if l.own >= 0 && l.card > 0 && l.free >= 0 {
		if rest := l.card - l.free - l.own; l.other >= 0 || 20*rest >= l.card {
			held = max(held, rest)
		}
	}
	if l.free < 0 || l.free >= l.wanted || held < 1<<30 || held < l.wanted-l.free {
		return 0
	}
	return held
}

// limited reports whether enough memory was free for the allocation.
func (l *failure) limited() bool { return l.free >= 0 && l.free >= l.wanted }

// title says what failed: on is where, of says how much the GPU has.
func (l *failure) title(on string) string {
	text := "Out of memory" + on + ": tried to allocate " + unit.Bytes(l.wanted)
	of := ""
	if l.card > 0 {
		of = " of " + unit.Bytes(l.card)
	}
	switch {
	case l.limited() && l.limit >= 0:
		return text + fmt.Sprintf(" with %s free%s: the process hit its memory limit (%s)", unit.Bytes(l.free), of, unit.Bytes(l.limit))
	case l.limited():
		return text + fmt.Sprintf(" with %s free%s: the process hit its memory limit", unit.Bytes(l.free), of)
	case l.free >= 0:
		text += fmt.Sprintf(", %s free%s", unit.Bytes(l.free), of)
	case of != "":
		text += "," + of
	}
	if held := l.others(); held > 0 {
		text += fmt.Sprintf("; other processes: %s", unit.Bytes(held))
	}
	return text
}

// fixes puts the limit of the process or the memory of other processes before what makes the program smaller.
func (l *failure) fixes(rest []finding.Step) []finding.Step {
	if l.limited() {
		return finding.JoinSteps([]finding.Step{finding.Advise("raise-the-limit")}, rest)
	}
	if held := l.others(); held > 0 {
		return finding.JoinSteps([]finding.Step{finding.Advise("free-what-others-hold", "held", unit.Bytes(held)).For("other-process")}, rest)
	}
	return rest
}

// logged returns what a log says of the failed allocation of a snapshot: the message of the same rank and GPU about an
// allocation of the same size, as far as two decimals tell.
func (c *Evaluator) logged(s *summary.Snapshot, o summary.OutOfMemory) failure {
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric != "memory.failed" || r.Pooled > 0 || r.Last == nil || !near(int64(*r.Last), o.Wanted) {
			continue
		}
		rank := cmp.Or(r.Labels["rank"], fmt.Sprint(c.Inputs[r.Input].Rank))
		if gpu := r.Labels["gpu"]; gpu != "" && gpu != fmt.Sprint(s.Device) || len(c.Snapshots) > 1 && rank != fmt.Sprint(s.Rank) {
			continue
		}
		l := c.failureOf(r)
		if o.Free == nil || l.free < 0 || near(l.free, *o.Free) {
			return l
		}
	}
	return failure{free: -1, card: -1, limit: -1, allocated: -1, unused: -1, own: -1, other: -1}
}

// near reports whether two amounts are equal within one percent.
func near(a, b int64) bool { return max(a-b, b-a) <= max(a, b)/100 }

// loggedExhausted reports an out-of-memory error in a log. It is critical if the program did nothing afterwards. Where
// that is unknown, or it went on, it is a warning.
func (c *Evaluator) loggedExhausted() (finding.Finding, bool) {
	var last *summary.Series
	var all []*summary.Series
	ended := false
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric != "memory.failed" || r.Pooled > 0 || r.N == 0 {
			continue
		}
		all = append(all, r)
		if end := c.lastOf(r); last == nil || end && !ended {
			last, ended = r, end
		}
	}
	if last == nil {
		return c.batchExhausted()
	}
	l := c.failureOf(last)
	f := finding.Finding{Rule: rule.MemoryExhausted, Level: finding.Warn, NumeratorBytes: l.wanted}
	if ended {
		f.Level = finding.Critical
	}
	where := ""
	if n := last.Labels["gpu"]; n != "" {
		where = " on GPU " + label.Clip(label.Clean(n), 20)
	}
	f.Title = l.title(where)
	whole := l.card
	if l.limit >= 0 && l.limit < whole {
		whole = l.limit
	}
	if whole > 0 {
		f.DenominatorBytes, f.Value = whole, float64(f.NumeratorBytes)/float64(whole)
	}
	f.Evidence = append(f.Evidence, c.otherFailures(all, last)...)
	if last.N > 1 {
		f.Evidence = append(f.Evidence, label.Plural(last.N, "error")+"; this is the last one")
	}
	fixes := []finding.Step{finding.Advise("smaller-micro-batches"), finding.Advise("checkpoint-activations")}
	if l.unused >= 0 {
		f.Evidence = append(f.Evidence, unit.Bytes(l.unused)+" was reserved by PyTorch but unallocated")
	}
	if l.limited() {
		f.Evidence = append(f.Evidence, limited)
	}
	if l.unused >= 0 && fragmented(l.unused, l.wanted, max(0, l.allocated)) {
		f.Evidence = append(f.Evidence, "that would be enough, but it is fragmented")
		fixes = append([]finding.Step{finding.Advise("expandable-segments")}, fixes...)
	}
	if text := c.loggedGrowth(last.Input); text != "" {
		f.Evidence = append(f.Evidence, text)
		fixes = append([]finding.Step{finding.Advise("find-what-keeps-tensors").For("growth")}, fixes...)
	}
	f.Next = l.fixes(fixes)
	f.Where = []finding.Place{{Input: last.Input, Rank: c.Inputs[last.Input].Rank}}
	return f, true
}

// otherFailures says which other ranks ran out of memory, and whether in fragments.
func (c *Evaluator) otherFailures(all []*summary.Series, but *summary.Series) (out []string) {
	for _, r := range all {
		l := c.failureOf(r)
		if r == but || len(out) == 4 {
			continue
		}
		text := fmt.Sprintf("also on %s: tried to allocate %s", cmp.Or(r.LabelText(), c.Inputs[r.Input].Path), unit.Bytes(l.wanted))
		if l.unused >= 0 && fragmented(l.unused, l.wanted, max(0, l.allocated)) {
			text += fmt.Sprintf("; %s was reserved but unallocated, which is fragmentation", unit.Bytes(l.unused))
		}
		out = append(out, label.Clip(label.Clean(text), 160))
	}
	return out
}

// loggedGrowth says that the memory of a program grew from step to step until it failed: in both halves of its log, and
// hardly ever fell. A peak since the start of the program rises, too, but no longer in the second half.
func (c *Evaluator) loggedGrowth(input int) string {
	for i := range c.Series {
		r := &c.Series[i]
		if r.Input != input || r.Pooled > 0 || r.Strip == nil || r.Strip.By != "step" || len(r.Strip.Values) < 8 ||
			!slices.Contains([]string{"memory.allocated", "memory.peak", "memory.reserved", "memory.peak_reserved", "memory.used"}, r.Metric) {
			continue
		}
		v, fell := r.Strip.Values, 0
		for k := range v[1:] {
			if v[k+1] < v[k] {
				fell++
			}
		}
		first, middle, last := v[0], v[len(v)/2], v[len(v)-1]
		if 10*fell <= len(v) && middle >= 1.05*first && last >= 1.05*middle {
			return fmt.Sprintf("%s grew from %s to %s over %d steps", r.Metric, unit.Bytes(int64(first)), unit.Bytes(int64(last)), r.N)
		}
	}
	return ""
}

// lastOf reports whether the program logged no step and no request after the last value of a row. It is false if
// that is unknown: neither has a step or a time, or the program was started again.
func (c *Evaluator) lastOf(r *summary.Series) bool {
	program := false
	for i := range c.Series {
		other := &c.Series[i]
		isProgram := slices.ContainsFunc([]string{"step.", "train.", "requests.", "throughput."},
			func(prefix string) bool { return strings.HasPrefix(other.Metric, prefix) })
		if other.Input != r.Input || !isProgram {
			continue
		}
		program = true
		switch {
		case other.Runs > 1:
		case other.LastStep != nil && r.LastStep != nil:
			return *other.LastStep <= *r.LastStep
		case other.LastNS != nil && r.LastNS != nil:
			return *other.LastNS <= *r.LastNS
		}
	}
	return !program
}

// batchExhausted reports the batch size at which a benchmark of memory ran out of it, which is its answer.
func (c *Evaluator) batchExhausted() (finding.Finding, bool) {
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric != "batch_size.failed" || r.Pooled > 0 || r.N == 0 {
			continue
		}
		f := finding.Finding{Rule: rule.MemoryExhausted, Level: finding.Info}
		f.Title = fmt.Sprintf("Out of memory at batch size %.4g", *r.Min)
		fits, peak := 0.0, int64(0)
		for k := range c.Benchmarks {
			b := &c.Benchmarks[k]
			var size float64
			if _, err := fmt.Sscan(b.Settings["batch_size"], &size); err != nil || b.Input != r.Input || size >= *r.Min || size <= fits {
				continue
			}
			fits = size
			for _, m := range b.Metrics {
				if m.Metric == "memory.peak" {
					peak = int64(m.Value)
				}
			}
		}
		if fits > 0 {
			f.Title += fmt.Sprintf("; %.4g is the largest that fits", fits)
		}
		if peak > 0 {
			f.Title += " (" + unit.Bytes(peak) + ")"
		}
		f.Next = []finding.Step{finding.Advise("checkpoint-activations")}
		f.Where = []finding.Place{{Input: r.Input, Rank: c.Inputs[r.Input].Rank}}
		return f, true
	}
	return finding.Finding{}, false
}
