package goodput

import (
	"assay/logs"
)

// withFailedStarts adds the starts of the program that failed before their first step: a line about a start that follows one
// about an end begins another one.
func withFailedStarts(list []*run, l *logs.Log) (out []*run) {
	c := &l.Course
	from := int64(0) // of the lines that are not part of a run with steps before
	for _, r := range append(list, nil) {
		to := int64(1<<62 - 1)
		if r != nil {
			to = r.beats[0].Line
		}
		starts := startsIn(within(c.Marks, from, to-1), len(out) == 0)
		if r == nil && len(starts) > 0 && !failsAfter(c, starts[len(starts)-1], to) {
			starts = starts[:len(starts)-1] // it still runs
		}
		for k, line := range starts {
			end := to - 1
			if k+1 < len(starts) {
				end = starts[k+1] - 1
			}
			if len(out) > 0 {
				before := out[len(out)-1]
				before.marks = within(before.marks, 0, line-1)
			}
			if r != nil && k == len(starts)-1 { // it has steps
				r.marks = within(c.Marks, line, lastOf(r.marks, line))
				break
			}
			out = append(out, failedStart(c, l, within(c.Marks, line, end)))
		}
		if r != nil {
			out, from = append(out, r), r.beats[len(r.beats)-1].Line+1
		}
	}
	return out
}

// startsIn returns the lines at which the program starts again after an end, and the first start of a log. A program writes
// several kinds of such lines: only one of a kind that the start before had is about another start, because libraries write
// errors that are handled.
func startsIn(marks []logs.Mark, first bool) (out []int64) {
	dead, seen := first, map[string]bool{}
	for i := range marks {
		m := &marks[i]
		kind := m.Text[:min(len(m.Text), 12)]
		again := len(out) == 0 || seen[kind]
		seen[kind] = seen[kind] || m.Kind == logs.MarkLaunched
		switch {
		case m.Kind == logs.MarkLaunched && dead && again:
			out, dead = append(out, m.Line), false
		case m.Fails() || m.Kind == logs.MarkStopped:
			dead = true
		}
	}
	return out
}

// failsAfter reports whether a line about a failure follows a line.
func failsAfter(c *logs.Course, line, to int64) bool {
	for _, m := range within(c.Marks, line, to) {
		if m.Fails() || m.Kind == logs.MarkStopped {
			return true
		}
	}
	return false
}

// lastOf returns the last line of marks, or a given one.
func lastOf(marks []logs.Mark, line int64) int64 {
	if n := len(marks); n > 0 {
		return max(line, marks[n-1].Line)
	}
	return line
}

// failedStart returns a run without steps.
func failedStart(c *logs.Course, l *logs.Log, marks []logs.Mark) *run {
	r := &run{c: c, log: l, marks: marks, launch: marks[0].Line, born: marks[0].Time, died: logs.NoTime, from: logs.NoTime, to: logs.NoTime,
		resumed: logs.NoStep, stride: 1}
	if r.born == logs.NoTime {
		r.born = marks[0].Seen
	}
	for _, m := range marks {
		if ends(m) {
			r.died = max(r.died, m.Seen, m.Time)
		}
	}
	r.timed = r.born != logs.NoTime && r.died != logs.NoTime && r.died >= r.born && r.died-r.born < farAway
	return r
}

// setup returns what the lines before the first step say of what is trained.
func (r *run) setup() (out map[string]string) {
	for _, m := range r.marks {
		if m.Kind == logs.MarkSetup && (len(r.beats) == 0 || m.Line < r.beats[0].Line) && out[m.Class] == "" {
			if out == nil {
				out = map[string]string{}
			}
			out[m.Class] = m.Path
		}
	}
	return out
}

// firstLoss returns the loss of the first record, or nil.
func (r *run) firstLoss() *float64 {
	for i := range r.log.Series {
		s := &r.log.Series[i]
		if s.Producer != r.c.Producer || s.Metric.Name != "train.loss" {
			continue
		}
		for _, k := range r.points.of(s, r.beats[0].Run) {
			if step := s.Points.StepAt(k); step >= r.beats[0].Step {
				return ptr(s.Points.Value[k])
			}
		}
	}
	return nil
}
