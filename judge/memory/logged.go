package memory

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// memoryExhausted reports an out-of-memory error in a log. It is critical if the program did nothing afterwards. Where
// that is unknown, or it went on, it is a warning.
func (c *Evaluator) loggedExhausted() (finding.Finding, bool) {
	var last *summary.Series
	ended := false
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric != "memory.failed" || r.Pooled > 0 || r.N == 0 {
			continue
		}
		if end := c.lastOf(r); last == nil || end && !ended {
			last, ended = r, end
		}
	}
	if last == nil {
		return c.batchExhausted()
	}
	f := finding.Finding{Rule: rule.MemoryExhausted, Level: finding.Warn, NumeratorBytes: int64(*last.Last)}
	if ended {
		f.Level = finding.Critical
	}
	where := ""
	if n := last.Labels["gpu"]; n != "" {
		where = " on GPU " + label.Clip(label.Clean(n), 20)
	}
	f.Title = "Out of memory" + where + ": tried to allocate " + unit.Bytes(f.NumeratorBytes)
	amount := func(metric string) (int64, bool) { return c.amount(last, metric) }
	free, freeKnown := amount("memory.failed_free")
	if freeKnown {
		f.Title += fmt.Sprintf(", %s free", unit.Bytes(free))
	}
	all, ok := amount("memory.failed_capacity")
	if ok && all > 0 {
		f.Title += " of " + unit.Bytes(all)
	}
	if limit, ok := amount("memory.failed_limit"); ok && limit < all {
		all = limit
		f.Title += fmt.Sprintf("; the process may use %s", unit.Bytes(limit))
	} else if freeKnown && free >= f.NumeratorBytes {
		f.Title += "; the process may not use it"
	}
	if all > 0 {
		f.DenominatorBytes, f.Value = all, float64(f.NumeratorBytes)/float64(all)
	}
	if last.N > 1 {
		f.Evidence = append(f.Evidence, label.Plural(last.N, "error")+"; this is the last one")
	}
	fixes := []finding.Step{finding.Advise("smaller-micro-batches"), finding.Advise("checkpoint-activations")}
	if own, ok := amount("memory.failed_own"); ok {
		if others := all - free - own; others >= minOthers && 20*others >= all {
			f.Title += "; other processes hold " + unit.Bytes(others)
			f.Evidence = append(f.Evidence, "this process holds "+unit.Bytes(own))
			fixes = append([]finding.Step{finding.Advise("free-the-gpu-of-others").For("gpu-shared")}, fixes...)
		}
	}
	unused, known := amount("memory.failed_unused")
	if known {
		f.Evidence = append(f.Evidence, unit.Bytes(unused)+" was reserved by PyTorch but unallocated")
	}
	if freeKnown && free >= f.NumeratorBytes {
		f.Evidence = append(f.Evidence, limited)
	}
	allocated, _ := amount("memory.failed_allocated")
	if known && fragmented(unused, f.NumeratorBytes, allocated) {
		f.Evidence = append(f.Evidence, "that would be enough, but it is fragmented")
		fixes = append([]finding.Step{finding.Advise("expandable-segments")}, fixes...)
	}
	if freeKnown && free >= f.NumeratorBytes {
		fixes = append([]finding.Step{finding.Advise("raise-the-limit")}, fixes...)
	}
	f.Next = fixes
	f.Where = []finding.Place{{Input: last.Input, Rank: c.Inputs[last.Input].Rank}}
	return f, true
}

// amount returns the last value of another metric of the same error.
func (c *Evaluator) amount(last *summary.Series, metric string) (int64, bool) {
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric == metric && r.Input == last.Input && r.LabelText() == last.LabelText() && r.Last != nil {
			return int64(*r.Last), true
		}
	}
	return 0, false
}

// logged returns the memory of the GPU of a snapshot, and what other processes hold of it, by the log of the same
// failure; 0 if no log tells.
func (c *Evaluator) logged(s *summary.Snapshot) (all, others int64) {
	for i := range c.Series {
		r := &c.Series[i]
		if r.Metric != "memory.failed_capacity" || r.Last == nil || r.Pooled > 0 || len(c.Snapshots) > 1 && c.Inputs[r.Input].Rank != s.Rank {
			continue
		}
		all = int64(*r.Last)
		own, ok := c.amount(r, "memory.failed_own")
		free, known := c.amount(r, "memory.failed_free")
		if ok && known && all-free-own >= minOthers && 20*(all-free-own) >= all {
			others = all - free - own
		}
		return all, others
	}
	return 0, 0
}

// minOthers is the memory of other processes from which on they are named. The contexts of drivers take less.
const minOthers = 1 << 30

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
