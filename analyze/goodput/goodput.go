// Package goodput divides the time of a program that logs its steps: into steps, start-up, compilation, evaluation,
// checkpoints, stalls, and over its restarts into lost steps and waiting.
//
// Start with [Measure], which makes one row for each start of the program that a log has; cursor.go divides its time,
// ends.go finds what ended it. [Join] (join.go) finds which attempts continue each other, in one log or in
// several. What a log does not tell, such as the time between steps without a line about it, is a part of its own.
package goodput

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/stat"
	"assay/logs"
	"assay/summary"
)

const second = int64(1e9)

// Limits of what is found.
const (
	leastBeats = 3   // records of steps of a log whose time is divided
	mostDone   = 128 // entries of Done: the last ones, and as many of the others
	farAway    = 48 * 3600 * second
	leastStall = 60 * second // without a step, and
	stallSteps = 10          // times as long as a usual record
	mostStarts = 1000        // of the program in one log; with more, the numbers are not those of steps
)

// A run is what a log has of one start of the program.
type run struct {
	c     *logs.Course
	log   *logs.Log
	beats []logs.Beat
	marks []logs.Mark // between the last step of the start before and the first step of the next one
	timed bool        // all beats have times, in order

	launch     int64           // line at which a run without beats starts; 0 for others
	born, died int64           // times of this line and of that of its end, or NoTime
	from, to   int64           // times of the first and the last line; NoTime if unknown
	resumed    int64           // step of the checkpoint, or NoStep
	stride     int64           // usual number of steps of a record
	usual      int64           // median time of one step; 0 if unknown
	value      map[int64]int64 // time of one step by the number of its record, as logged
	evaluation map[int64]int64 // time of phases in it
	checkpoint map[int64]int64

	points points // of all runs
}

// Measure returns the starts of the program whose steps a log has. phaseOf returns the phase that a timer measures.
func Measure(l *logs.Log, phaseOf func(string) string) (out []summary.Attempt) {
	if n := len(l.Course.Beats); l.Limited() || n < leastBeats && !l.Course.Died() {
		return nil
	}
	for n, r := range runsOf(l, phaseOf) {
		a := r.attempt()
		a.Number = n
		out = append(out, a)
	}
	return out
}

// runsOf divides a log at its restarts: where steps go back, and where a checkpoint is loaded between steps.
func runsOf(l *logs.Log, phaseOf func(string) string) (list []*run) {
	c := &l.Course
	var starts []int
	for i, b := range c.Beats {
		if i == 0 || b.Run != c.Beats[i-1].Run || loadedBetween(c, c.Beats[i-1], b) {
			starts = append(starts, i)
		}
	}
	if len(starts) > mostStarts {
		return nil
	}
	all := points{}
	for k, from := range starts {
		to := len(c.Beats)
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		r := &run{c: c, log: l, beats: c.Beats[from:to], from: logs.NoTime, to: logs.NoTime, resumed: logs.NoStep, points: all}
		r.take(from, to)
		r.measureSteps(phaseOf)
		list = append(list, r)
	}
	if list = withFailedStarts(list, l); len(list) > mostStarts {
		return nil
	}
	bound(list, l)
	return list
}

// loadedBetween reports whether a checkpoint is loaded between two records of steps.
func loadedBetween(c *logs.Course, a, b logs.Beat) bool {
	return slices.ContainsFunc(within(c.Marks, a.Line+1, b.Line-1), func(m logs.Mark) bool {
		return m.Step != logs.NoStep && m.Step <= a.Step && begins(m)
	})
}

// within returns the marks from a line to another. Marks are in the order of lines, and there may be as many as steps.
func within(marks []logs.Mark, from, to int64) []logs.Mark {
	after := func(line int64) int {
		n, _ := slices.BinarySearchFunc(marks, line, func(m logs.Mark, line int64) int { return cmp.Compare(m.Line, line) })
		return n
	}
	first := after(from)
	if to == math.MaxInt64 {
		return marks[first:]
	}
	return marks[first:max(first, after(to+1))]
}

// ends reports whether a mark is about the end of the program, and begins whether it is about its start.
func ends(m logs.Mark) bool {
	switch m.Kind {
	case logs.MarkFailed, logs.MarkFollowed, logs.MarkRaised, logs.MarkStopped, logs.MarkFinished, logs.MarkWhere:
		return true
	}
	return false
}

func begins(m logs.Mark) bool { return m.Kind == logs.MarkLoaded || m.Kind == logs.MarkBegins }

// starting reports whether a mark is one of those before the first step.
func starting(m logs.Mark) bool {
	return begins(m) || m.Kind == logs.MarkLaunched || m.Kind == logs.MarkSetup
}

// take sets the marks of a run whose beats are those from one index to another: from its own first line, which is one
// about a start after the last one about an end of the run before, to that of the next run.
func (r *run) take(from, to int) {
	first, last := int64(0), int64(math.MaxInt64)
	if from > 0 {
		first = startLine(r.c, from)
	}
	if to < len(r.c.Beats) {
		last = endLine(r.c, to)
	}
	r.marks = within(r.c.Marks, first, last)
	for _, m := range within(r.marks, first, r.beats[0].Line-1) {
		if begins(m) && m.Step != logs.NoStep && m.Step < r.beats[0].Step {
			r.resumed = m.Step
		}
	}
}

// startLine returns the first line of the run whose first beat is given, as far as marks tell.
func startLine(c *logs.Course, beat int) int64 {
	line := c.Beats[beat].Line
	for _, m := range within(c.Marks, c.Beats[beat-1].Line+1, line-1) {
		switch {
		case ends(m):
			line = c.Beats[beat].Line
		case starting(m):
			line = min(line, m.Line)
		}
	}
	return line
}

// endLine returns the last line of the run before that whose first beat is given, as far as marks tell.
func endLine(c *logs.Course, beat int) int64 {
	dead := false
	for _, m := range within(c.Marks, c.Beats[beat-1].Line+1, c.Beats[beat].Line-1) {
		if begins(m) || dead && starting(m) {
			return m.Line - 1
		}
		dead = dead || ends(m)
	}
	return c.Beats[beat].Line - 1
}

// measureSteps finds the usual time of a step and which steps a record stands for.
func (r *run) measureSteps(phaseOf func(string) string) {
	var rises []int64
	r.timed = true
	for i, b := range r.beats {
		// Without a restart, days between two steps are a clock that was set.
		r.timed = r.timed && b.Time != logs.NoTime && (i == 0 || b.Time >= r.beats[i-1].Time && b.Time-r.beats[i-1].Time < farAway)
		if i > 0 {
			rises = append(rises, b.Step-r.beats[i-1].Step)
		}
	}
	r.stride = max(1, stat.Median(rises))
	r.value, r.evaluation, r.checkpoint = map[int64]int64{}, map[int64]int64{}, map[int64]int64{}
	phases := map[int64]int64{} // of a program that logs no time of steps
	for i := range r.log.Series {
		s := &r.log.Series[i]
		if s.Producer != r.c.Producer || s.Sampled() {
			continue
		}
		switch {
		case s.Metric.Name == "step.time":
			r.each(s, func(step, ns int64) { r.value[step] = max(r.value[step], ns) })
		case s.Metric.Name == "step.phase" && s.Inside == "":
			part := map[string]map[int64]int64{"evaluation": r.evaluation, "checkpoint": r.checkpoint}[phaseOf(s.As)]
			r.each(s, func(step, ns int64) {
				phases[step] += ns
				if part != nil {
					part[step] += ns
				}
			})
		}
	}
	if len(r.value) == 0 {
		r.value = phases
	}
	r.findUsual()
}

// each calls f for the values of the run, which are times.
func (r *run) each(s *logs.Series, f func(step, ns int64)) {
	for _, k := range r.points.of(s, r.beats[0].Run) {
		if step, v := s.Points.StepAt(k), s.Points.Value[k]; step != logs.NoStep && v >= 0 && v < float64(farAway) {
			f(step, int64(v))
		}
	}
}

// points has the points of each run of series, so that a log with many runs is read once.
type points map[*logs.Series]map[int32][]int

func (p points) of(s *logs.Series, run int32) []int {
	if p[s] == nil {
		p[s] = map[int32][]int{}
		for k := range s.Points.Value {
			run := s.Points.RunAt(k)
			p[s][run] = append(p[s][run], k)
		}
	}
	return p[s][run]
}

// findUsual sets the median time of a step: as logged, or from one record to the next.
func (r *run) findUsual() {
	var list []int64
	for i, b := range r.beats {
		v, ok := r.value[b.Step]
		switch {
		case ok:
			list = append(list, v)
		case len(r.value) == 0 && r.timed && i > 0:
			list = append(list, (b.Time-r.beats[i-1].Time)/(b.Step-r.beats[i-1].Step))
		}
	}
	if len(list) > 0 {
		r.usual = stat.Median(list)
	}
}

// covers returns the number of steps of a record.
func (r *run) covers(i int) int64 {
	b := r.beats[i]
	switch {
	case i > 0:
		return b.Step - r.beats[i-1].Step
	case r.resumed != logs.NoStep && b.Step > r.resumed:
		return min(b.Step-r.resumed, r.stride)
	case b.Step <= 1:
		return 1
	}
	return min(r.stride, b.Step)
}

// bound sets the times of the first and the last line of each run.
func bound(list []*run, l *logs.Log) {
	for k, r := range list {
		if !r.timed {
			continue
		}
		first, last := r.span()
		r.from, r.to = first, last
		if k == 0 {
			if t := l.Course.First; t != logs.NoTime && t < r.from && first-t < farAway {
				r.from = t
			}
		} else if before := list[k-1]; before.timed {
			before.to, r.from = between(before, r, l.Course.Gaps)
		}
		if t := l.Course.Last; k == len(list)-1 && t != logs.NoTime && t > last && t-last < farAway {
			r.to = t
		}
		r.to = r.stopped(r.failed(r.to))
	}
}

// span returns the time at which steps begin, or at which a run without steps had started, and that of the last step, or of
// the end of such a run.
func (r *run) span() (first, last int64) {
	if len(r.beats) == 0 {
		return r.born, r.died
	}
	return r.beats[0].Time - r.length(0), r.beats[len(r.beats)-1].Time
}

// lastLine returns the line of the last step, or that before the start of a run without steps.
func (r *run) lastLine() int64 {
	if len(r.beats) == 0 {
		return r.launch - 1
	}
	return r.beats[len(r.beats)-1].Line
}

// failed returns when the lines about the failure of a run were written, if that is after a time: libraries write them with
// times of another form.
func (r *run) failed(after int64) int64 {
	last := r.lastLine()
	for _, m := range r.marks {
		if m.Line > last && m.Time != logs.NoTime && m.Time > after && m.Time-after < farAway && m.Fails() {
			after = m.Time
		}
	}
	return after
}

// stopped returns when the scheduler ended a run, by the clock of another host, if that is plausible after a time: a
// difference of whole half hours may be that of two time zones.
func (r *run) stopped(after int64) int64 {
	const zone, off = 1800 * second, 90 * second
	for _, m := range r.marks {
		late := m.Time - after
		if m.Kind == logs.MarkStopped && m.Time != logs.NoTime && m.Line > r.lastLine() && late > 0 && late < farAway &&
			(late < off || (late+off)%zone > 2*off) {
			return m.Time
		}
	}
	return after
}

// between returns when a run ended and the next one started: around the first time of silence after a line about the
// end, else around the longest one. If the start of the next run is known, it is the longest one between both: the line
// about the end may have no time and come after a silence.
func between(a, b *run, gaps []logs.Gap) (end, start int64) {
	_, from := a.span()
	to, _ := b.span()
	dead := logs.NoTime
	for _, m := range a.marks {
		if ends(m) && m.Line > a.lastLine() && m.Seen >= from && m.Seen <= to {
			dead = max(dead, m.Seen)
		}
	}
	start, end = from, from
	if dead != logs.NoTime {
		start, end = dead, dead
	}
	launched := false
	for _, m := range b.marks { // the next start has written before this
		at := m.Time
		if at == logs.NoTime && m.Seen > start {
			at = m.Seen // of a line before it
		}
		if starting(m) && at != logs.NoTime && at >= start {
			to, launched = min(to, at), true
		}
	}
	longest := int64(0)
	for _, g := range gaps {
		if g.From < start || g.From >= to {
			continue
		}
		// A silence that lasts until the first record of steps has no line of the next start: it has waited until its steps began.
		silent := min(g.To, to) - g.From
		if silent > longest && (dead == logs.NoTime || launched || longest == 0) {
			longest, end, start = silent, g.From, g.From+silent
		}
	}
	return max(end, from), max(start, end)
}

// length returns the time of the steps of a record: as logged, or as usual.
func (r *run) length(i int) int64 {
	one, ok := r.value[r.beats[i].Step]
	if !ok {
		if ns := r.sinceBegin(); i == 0 && ns > 0 {
			return ns
		}
		one = r.usual
	}
	n := r.covers(i)
	if one > math.MaxInt64/4/max(1, n) {
		return 0
	}
	return one * n
}

// sinceBegin returns the time from the line that says that steps begin to the first record, or 0.
func (r *run) sinceBegin() int64 {
	for _, m := range slices.Backward(r.marks) {
		if m.Kind == logs.MarkBegins && m.Line < r.beats[0].Line && m.Time != logs.NoTime && r.beats[0].Time != logs.NoTime {
			return max(0, r.beats[0].Time-m.Time)
		}
	}
	return 0
}

// attempt returns the row of a run.
func (r *run) attempt() summary.Attempt {
	a := summary.Attempt{Producer: r.c.Producer, MedianNS: r.usual, Parts: []summary.AttemptPart{}, Setup: r.setup()}
	if n := len(r.beats); n > 0 {
		a.FirstStep, a.LastStep, a.FirstLoss = r.beats[0].Step, r.beats[n-1].Step, r.firstLoss()
	}
	for i := range r.beats {
		a.Steps += r.covers(i)
	}
	if r.resumed != logs.NoStep {
		a.Resumed = &r.resumed
	}
	r.checkpoints(&a)
	r.end(&a)
	d := &divided{run: r, sums: map[string]int64{}}
	if r.timed {
		d.pos = r.from
		a.StartNS, a.EndNS, a.Dated = &r.from, &r.to, r.log.Clock.Dated || len(r.c.Beats) == 0 && r.c.Dated
		if len(r.beats) > 0 {
			d.divide(a.End)
		}
		d.take(summary.PartStartUp, d.to) // all of an attempt without a step
	} else {
		d.add()
	}
	for _, part := range summary.JobParts {
		if ns := d.sums[part]; ns > 0 {
			a.Parts = append(a.Parts, summary.AttemptPart{Part: part, NS: ns})
		}
	}
	a.Done = thin(d.done)
	a.TokensPerStep, a.SamplesPerStep = r.amounts()
	return a
}

// thin keeps the last entries, and some of the others.
func thin(list []summary.DoneAt) []summary.DoneAt {
	over := len(list) - mostDone
	if over <= mostDone {
		return list
	}
	var out []summary.DoneAt
	for k := range mostDone {
		out = append(out, list[k*over/mostDone])
	}
	return append(out, list[over:]...)
}

// checkpoints sets the last checkpoint of a run, and its folder.
func (r *run) checkpoints(a *summary.Attempt) {
	for _, m := range r.marks {
		switch {
		case m.Kind == logs.MarkSaved && m.Step != logs.NoStep, m.Kind == logs.MarkSaving && m.Step != logs.NoStep && r.done(m):
			step := m.Step
			a.Saved = &step
			fallthrough
		case begins(m) && (len(r.beats) == 0 || m.Line < r.beats[0].Line):
			a.Folder = cmp.Or(m.Path, a.Folder)
		}
	}
}

// done reports whether a step was done after a mark: then the checkpoint that began is complete, unless it is
// written while steps run.
func (r *run) done(m logs.Mark) bool { return r.lastLine() > m.Line }
