package goodput

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// overlap is the time by which the clocks of nodes may differ, so that an attempt seems to begin before the one
// before it has ended.
const overlap = 120 * second

// Join finds which attempts form a job, and adds the rows of their time. It may be called again.
func Join(s *summary.Summary) {
	s.JobTimes = nil
	if len(s.Attempts) == 0 {
		return
	}
	list := make([]*summary.Attempt, len(s.Attempts))
	for i := range s.Attempts {
		list[i] = &s.Attempts[i]
		list[i].Job, list[i].Same, list[i].Apart = 0, false, ""
	}
	slices.SortStableFunc(list, func(a, b *summary.Attempt) int {
		if a.Input != b.Input && a.StartNS != nil && b.StartNS != nil && a.Dated == b.Dated {
			return cmp.Compare(*a.StartNS, *b.StartNS)
		}
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Number, b.Number))
	})
	j := joiner{s: s}
	for _, a := range list {
		j.place(a)
	}
	for n, job := range j.jobs {
		j.times(strconv.Itoa(n+1), job)
	}
	slices.SortStableFunc(s.JobTimes, func(a, b summary.JobTime) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.Part, b.Part))
	})
}

type joiner struct {
	s    *summary.Summary
	jobs [][]*summary.Attempt
}

// mostOpen is how many jobs, the last ones, an attempt may continue: text whose steps are in no order has thousands.
const mostOpen = 1000

// place adds an attempt to the job that it continues, or makes it the first of a new one.
func (j *joiner) place(a *summary.Attempt) {
	for n := len(j.jobs) - 1; n >= max(0, len(j.jobs)-mostOpen); n-- {
		job := j.jobs[n]
		last := job[len(job)-1]
		if j.sameAttempt(last, a) {
			a.Job, a.Same = n+1, true
			j.merge(last, a)
			return
		}
		if slices.ContainsFunc(job, func(o *summary.Attempt) bool { return identical(o, a) }) {
			a.Job, a.Same = n+1, true
			return
		}
		if j.continues(last, withSteps(job), a) {
			a.Job, a.Apart, a.Producer = n+1, "", cmp.Or(a.Producer, last.Producer)
			j.jobs[n] = append(job, a)
			return
		}
	}
	j.jobs = append(j.jobs, []*summary.Attempt{a})
	a.Job = len(j.jobs)
}

// sameAttempt reports whether two inputs have one attempt, as two ranks wrote it: at the same time, the same steps.
func (j *joiner) sameAttempt(a, b *summary.Attempt) bool {
	x, y := &j.s.Inputs[a.Input], &j.s.Inputs[b.Input]
	if a.Input == b.Input || a.Producer != b.Producer || a.StartNS == nil || b.StartNS == nil || a.Dated != b.Dated ||
		x.RankFrom == "" || y.RankFrom == "" || x.Rank == y.Rank {
		return false
	}
	both := min(*a.EndNS, *b.EndNS) - max(*a.StartNS, *b.StartNS)
	return both > 0 && both >= (*b.EndNS-*b.StartNS)/2 && abs(a.FirstStep-b.FirstStep) <= 1
}

// identical reports whether two inputs have one attempt because one is a copy of the other.
func identical(a, b *summary.Attempt) bool {
	return a.Input != b.Input && a.Producer == b.Producer && a.StartNS != nil && b.StartNS != nil && *a.StartNS == *b.StartNS && *a.EndNS == *b.EndNS &&
		a.FirstStep == b.FirstStep && a.LastStep == b.LastStep && a.MedianNS == b.MedianNS && a.Part(summary.PartSteps) == b.Part(summary.PartSteps)
}

func abs(v int64) int64 { return max(v, -v) }

// merge takes over what ended an attempt, if only another rank knows.
func (j *joiner) merge(into, from *summary.Attempt) {
	if from.End != summary.EndFailed || into.End == summary.EndFailed && into.Rank != nil {
		return
	}
	rank := j.s.Inputs[from.Input].Rank
	into.End, into.Reason, into.Line, into.Error, into.Node = from.End, from.Reason, from.Line, from.Error, from.Node
	into.Rank = cmp.Or(from.Rank, &rank)
}

// continues reports whether an attempt is the restart of a job, whose last attempt with steps is given besides the last one.
func (j *joiner) continues(last, a, b *summary.Attempt) bool {
	named := attempts(j.s.Inputs[last.Input].Path, j.s.Inputs[b.Input].Path)
	same := last.Input == b.Input
	switch {
	case a.Producer != b.Producer && a.Producer != "" && b.Producer != "", last.Dated != b.Dated && !same, last.End == summary.EndFinished,
		last.StartNS != nil && b.StartNS != nil && *b.StartNS < *last.EndNS-overlap,
		a.Folder != "" && b.Folder != "" && path.Clean(a.Folder) != path.Clean(b.Folder),
		unlike(a.SamplesPerStep, b.SamplesPerStep):
		return false
	case a.Steps == 0 || b.Steps == 0: // the one of them failed before its first step
		return (same || named) && j.alike(a, b)
	case !same && (a.StartNS == nil || b.StartNS == nil) && b.Resumed == nil:
		return false // nothing but the numbers of the steps would relate them
	case b.Resumed != nil && *b.Resumed > 0:
		return (*b.Resumed <= a.LastStep && *b.Resumed >= a.FirstStep-1 || same && *b.Resumed <= a.LastStep) && j.alike(a, b)
	case b.FirstStep > a.FirstStep && b.FirstStep <= a.LastStep+2*strideOf(a):
		// It does not begin at the start. Logs of two programs may have steps that happen to follow each other.
		return (same || a.End != "" || a.Folder != "" && b.Folder != "" || named) && j.alike(a, b)
	}
	// It begins at the start: all steps are lost if the one before failed, and the files say that it is a restart.
	return b.FirstStep <= a.FirstStep && last.End == summary.EndFailed && (same || named) && j.alike(a, b) && j.anew(a, b, named)
}

// withSteps returns the last attempt of a job that has steps, else its last one.
func withSteps(job []*summary.Attempt) *summary.Attempt {
	for _, a := range slices.Backward(job) {
		if a.Steps > 0 {
			return a
		}
	}
	return job[len(job)-1]
}

// alike reports whether two attempts may train the same thing. One that continues the steps of another may read other
// data for more steps: then only the model and the folder of its output count.
func (j *joiner) alike(a, b *summary.Attempt) bool {
	goesOn := b.Resumed != nil && *b.Resumed > 0 || b.FirstStep > a.FirstStep
	for _, name := range slices.Sorted(maps.Keys(b.Setup)) {
		x, y := a.Setup[name], b.Setup[name]
		if x != "" && x != y && !(goesOn && (name == "data" || name == "number of steps")) {
			b.Apart = fmt.Sprintf("another %s: %s instead of %s", name, y, x)
			return false
		}
	}
	return true
}

// anew reports whether an attempt that begins with the first step again trains the same thing as another one. The loss of
// a model that was trained before begins elsewhere.
func (j *joiner) anew(a, b *summary.Attempt, named bool) bool {
	known := named || a.SamplesPerStep != nil && b.SamplesPerStep != nil
	for name, x := range a.Setup {
		known = known || x == b.Setup[name]
	}
	if x, y := a.FirstLoss, b.FirstLoss; x != nil && y != nil {
		if math.Abs(*x-*y) > 0.25*max(math.Abs(*x), math.Abs(*y)) {
			b.Apart = fmt.Sprintf("its loss begins at %.3g instead of %.3g", *y, *x)
			return false
		}
		known = true
	}
	if !known {
		b.Apart = "nothing in the log says whether it trains the same model on the same data"
	}
	return known
}

// unlike reports whether two numbers are known and differ.
func unlike(a, b *float64) bool { return a != nil && b != nil && (*a < 0.99**b || *a > 1.01**b) }

var attemptNumber = lazyregexp.New(`(?i)(attempt|restart|retry|resume)[-_.]?\d*`)

// attempts reports whether names of files of one folder differ in the number of an attempt only.
func attempts(a, b string) bool {
	x, y := attemptNumber().ReplaceAllString(path.Base(a), "#"), attemptNumber().ReplaceAllString(path.Base(b), "#")
	return path.Dir(a) == path.Dir(b) && a != b && (x == y && x != path.Base(a) || y == x+"#")
}

// resumedAt returns the last step whose work an attempt keeps.
func resumedAt(a *summary.Attempt) int64 {
	if a.Resumed != nil {
		return *a.Resumed
	}
	return a.LastStep - a.Steps // its first record may stand for several steps
}

// times adds the rows of a job.
func (j *joiner) times(name string, job []*summary.Attempt) {
	keep := int64(1) << 62 // the last step of earlier attempts that counts
	var rows []summary.JobTime
	for n := len(job) - 1; n >= 0; n-- {
		a := job[n]
		add := func(part string, ns, steps int64) {
			if ns > 0 || steps > 0 {
				rows = append(rows, summary.JobTime{Job: name, Part: part, Attempt: n + 1, Input: a.Input, NS: ns, Steps: steps})
			}
		}
		lost, steps := lostAfter(a, keep)
		kept := a.Part(summary.PartSteps) - lost
		if n+1 < len(job) && a.End != summary.EndFinished { // the step under way is lost too
			lost += a.Part(summary.PartAfter)
		}
		for _, part := range summary.JobParts {
			switch ns := a.Part(part); {
			case part == summary.PartSteps:
				add(part, kept, a.Steps-steps)
			case part == summary.PartLost:
				add(part, lost, steps)
			case part == summary.PartAfter && n+1 < len(job) && a.End != summary.EndFinished:
			case part == summary.PartWaiting:
				if n+1 < len(job) && a.EndNS != nil && job[n+1].StartNS != nil {
					add(part, max(0, *job[n+1].StartNS-*a.EndNS), 0)
				}
			default:
				add(part, ns, 0)
			}
		}
		if a.Steps > 0 {
			keep = min(keep, resumedAt(a))
		}
	}
	j.s.JobTimes = append(j.s.JobTimes, rows...)
}

// lostAfter returns the time and the number of the steps of an attempt after one that a later attempt kept.
func lostAfter(a *summary.Attempt, keep int64) (ns, steps int64) {
	if a.LastStep <= keep || len(a.Done) == 0 {
		return 0, 0
	}
	at := summary.DoneAt{Step: a.LastStep - a.Steps} // before its first step
	if keep <= at.Step {
		return a.Part(summary.PartSteps), a.Steps
	}
	next := slices.IndexFunc(a.Done, func(d summary.DoneAt) bool { return d.Step > keep })
	if next > 0 {
		at = a.Done[next-1]
	}
	to := a.Done[max(next, 0)]
	done := at.NS
	if to.Step > at.Step && keep > at.Step { // a record of several steps
		done += (to.NS - at.NS) / (to.Step - at.Step) * (keep - at.Step)
	}
	return max(0, a.Part(summary.PartSteps)-done), min(a.Steps, a.LastStep-keep)
}

// strideOf returns the number of steps between the last records of an attempt.
func strideOf(a *summary.Attempt) int64 {
	if n := len(a.Done); n > 1 {
		return max(1, a.Done[n-1].Step-a.Done[n-2].Step)
	}
	return 1
}
