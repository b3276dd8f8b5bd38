package goodput

import (
	"math"
	"slices"

	"assay/logs"
	"assay/summary"
)

// A divided run is cut into parts from its first to its last line: pos is how far. So they add up to its length.
type divided struct {
	*run
	pos  int64
	sums map[string]int64
	owed int64 // logged time of steps for which the clock, in whole seconds, has not advanced yet
	done []summary.DoneAt
	held []held
}

// A held time may be a stall: no line tells what it was.
type held struct{ step, ns int64 }

// take makes the time up to a moment part of one kind.
func (d *divided) take(part string, to int64) {
	if to = min(to, d.to); to > d.pos {
		d.sums[part] += to - d.pos
		d.pos = to
	}
}

// work makes the time up to a moment steps that end with a record.
func (d *divided) work(i int, to int64) {
	d.take(summary.PartSteps, to)
	d.done = append(d.done, summary.DoneAt{Step: d.beats[i].Step, NS: d.sums[summary.PartSteps]})
}

// divide divides a run whose steps have times.
func (d *divided) divide(end string) {
	first := d.beats[0].Time
	steps := max(d.from, first-d.length(0))
	d.startUp(min(steps, first))
	if in := d.evaluation[d.beats[0].Step] + d.checkpoint[d.beats[0].Step]; in > 0 && in < first-d.pos-d.usual/2 {
		d.take(summary.PartEvaluation, d.pos+d.evaluation[d.beats[0].Step])
		d.take(summary.PartCheckpoint, d.pos+d.checkpoint[d.beats[0].Step])
	}
	if usual := d.usual * d.covers(0); len(d.beats) > leastBeats && first-d.pos > usual+usual/2 {
		d.take(summary.PartCompile, first-usual)
	}
	d.work(0, first)
	for i := 1; i < len(d.beats); i++ {
		d.record(i)
	}
	last := len(d.beats) - 1
	d.marked(d.beats[last], logs.Beat{Step: logs.NoStep, Line: math.MaxInt64}, d.to)
	d.tail(end)
	d.stalls()
}

// startUp divides the time before the first step.
func (d *divided) startUp(to int64) {
	compiled := map[int]int64{} // by rank
	for _, m := range d.marks {
		if m.Kind == logs.MarkCompiled && m.NS > 0 && m.Line < d.beats[0].Line {
			compiled[m.Rank] += m.NS
		}
	}
	longest := int64(0)
	for _, ns := range compiled {
		longest = max(longest, ns)
	}
	d.take(summary.PartStartUp, to-min(longest, max(0, to-d.pos)))
	d.take(summary.PartCompile, to)
}

// record divides the time from one record of steps to the next: what is between the steps, then the steps.
func (d *divided) record(i int) {
	b, before := d.beats[i], d.beats[i-1]
	whole, n := b.Time-d.pos, b.Step-before.Step
	one, logged := d.value[b.Step]
	usual := d.usual * n
	work := whole
	switch {
	case logged && d.includes(before, b, one*n-usual, usual):
		work = min(whole, usual)
	case logged:
		work = min(whole, one*n+d.owed)
		d.owed = min(second, one*n+d.owed-work)
	case whole > usual+usual/2:
		work = usual
	}
	if logged {
		work = max(0, work-d.inside(b.Step, whole-work))
	} else if work == whole && d.stated(before, b) {
		d.work(i, b.Time)
		return
	}
	d.marked(before, b, b.Time-work)
	if logged && work > usual && d.long(work-usual, usual) {
		d.held = append(d.held, held{b.Step, work - usual})
		d.take(summary.PartStall, b.Time-usual)
	}
	d.work(i, b.Time)
}

// includes reports whether the logged time of a step is longer than usual because it includes what lines between two
// records are about: Megatron-LM's timer runs while a checkpoint is saved.
func (d *divided) includes(before, b logs.Beat, over, usual int64) bool {
	return over > usual/2 && d.evaluation[b.Step]+d.checkpoint[b.Step] == 0 && slices.ContainsFunc(within(d.marks, before.Line+1, b.Line-1), func(m logs.Mark) bool {
		return partOf[m.Kind] != ""
	})
}

// stated takes the times that lines between two records of steps state, and reports whether there are any. Steps run
// before and after them.
func (d *divided) stated(before, b logs.Beat) (any bool) {
	for _, m := range d.marks {
		part := partOf[m.Kind]
		if m.Line > before.Line && m.Line < b.Line && part != "" && m.NS > 0 && m.NS < b.Time-d.pos {
			d.take(part, d.pos+m.NS)
			any = true
		}
	}
	return any
}

// inside returns the time of the phases of evaluation and checkpoints that the logged time of a step includes. Programs
// differ in this: the phases that are not in it are those that explain the time outside it best.
func (d *divided) inside(step, outside int64) (ns int64) {
	e, c := d.evaluation[step], d.checkpoint[step]
	best := int64(math.MaxInt64)
	for _, out := range []int64{0, e, c, e + c} {
		if far := max(outside-out, out-outside); far < best {
			best, ns = far, e+c-out
		}
	}
	return ns
}

// long reports whether a time without steps is long, next to the usual time of a record.
func (d *divided) long(ns, usual int64) bool { return ns >= leastStall && ns >= stallSteps*usual }

// partOf has the part of the time of each kind of line.
var partOf = map[string]string{logs.MarkSaving: summary.PartCheckpoint, logs.MarkSaved: summary.PartCheckpoint,
	logs.MarkEvaluating: summary.PartEvaluation, logs.MarkEvaluated: summary.PartEvaluation}

// marked divides the time up to a moment by the lines between two records of steps, and by the phases that were
// logged for the second one. Of the time after the last record, what no line is about is left.
func (d *divided) marked(before, b logs.Beat, to int64) {
	to = min(to, d.to)
	last := b.Step == logs.NoStep
	part := ""
	logged := d.evaluation[b.Step]+d.checkpoint[b.Step] > 0 // these are exact
	for _, m := range within(d.marks, before.Line+1, b.Line-1) {
		if logged {
			break
		}
		switch m.Kind {
		case logs.MarkSaving, logs.MarkEvaluating:
			if m.Time != logs.NoTime {
				if part != "" {
					d.take(part, min(m.Time, to))
				}
				d.rest(min(m.Time, to), before.Step, last)
			}
			part = partOf[m.Kind]
		case logs.MarkSaved, logs.MarkEvaluated:
			part = partOf[m.Kind]
			switch {
			case m.Time == logs.NoTime && m.NS >= 0:
				d.take(part, min(d.pos+m.NS, to))
			case m.Time == logs.NoTime:
				continue // it takes what is left
			case m.NS >= 0:
				d.rest(min(m.Time-m.NS, to), before.Step, last)
				d.take(part, min(m.Time, to))
			default:
				d.take(part, min(m.Time, to))
			}
			part = ""
		}
	}
	d.take(summary.PartEvaluation, min(d.pos+d.evaluation[b.Step], to))
	d.take(summary.PartCheckpoint, min(d.pos+d.checkpoint[b.Step], to))
	if part != "" {
		d.take(part, to)
	}
	if !last {
		d.rest(to, before.Step, last)
	}
}

// rest makes a time up to a moment, after a step, one without a reason.
func (d *divided) rest(to, step int64, last bool) {
	ns := to - d.pos
	if !last && d.long(ns, d.usual*d.stride) {
		d.held = append(d.held, held{step, ns})
		d.take(summary.PartStall, to)
		return
	}
	d.take(summary.PartBetween, to)
}

// tail divides the time after the last record of steps.
func (d *divided) tail(end string) {
	usual := d.usual * d.stride
	hung := slices.ContainsFunc(d.marks, func(m logs.Mark) bool {
		return m.Kind == logs.MarkFollowed && m.NS > 0 && m.Line > d.beats[len(d.beats)-1].Line
	})
	switch {
	case end == summary.EndFinished || end == summary.EndStopped && !d.long(d.to-d.pos, usual):
		d.take(summary.PartAfter, d.to)
	case hung || d.long(d.to-d.pos, usual) && end != "":
		d.take(summary.PartStall, d.to)
	default:
		d.take(summary.PartAfter, d.to)
	}
}

// stalls takes back stalls at regular steps: a program that evaluates or writes checkpoints without a line about it.
func (d *divided) stalls() {
	if len(d.held) == 0 {
		return
	}
	round := int64(0)
	for _, h := range d.held {
		round = gcd(round, h.step/max(1, d.stride))
	}
	if len(d.held) < 2 && round%10 != 0 || len(d.held) >= 2 && round < 5 {
		return
	}
	for _, h := range d.held {
		d.sums[summary.PartStall] -= h.ns
		d.sums[summary.PartBetween] += h.ns
	}
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// add adds up what a log without times tells: the time of steps, and phases in them.
func (d *divided) add() {
	for i, b := range d.beats {
		one, ok := d.value[b.Step]
		if !ok {
			continue
		}
		ns := one * d.covers(i)
		if usual := d.usual * d.covers(i); i == 0 && len(d.beats) > leastBeats && ns > usual+usual/2 {
			d.sums[summary.PartCompile] += ns - usual
			ns = usual
		}
		for part, v := range map[string]int64{summary.PartEvaluation: d.evaluation[b.Step], summary.PartCheckpoint: d.checkpoint[b.Step]} {
			if v <= ns {
				ns -= v
			}
			d.sums[part] += v
		}
		d.sums[summary.PartSteps] += ns
		d.done = append(d.done, summary.DoneAt{Step: b.Step, NS: d.sums[summary.PartSteps]})
	}
}
