package logs

import (
	"cmp"
	"slices"
)

// A Course is what a log tells about the life of its program, in the order of the log: the steps it has done,
// and lines about its start, checkpoints, evaluations and end.
type Course struct {
	Producer string // of the steps
	Beats    []Beat // the records of steps of the process that logged most
	Marks    []Mark
	Gaps     []Gap // times in which nothing with a time was written, by time
	// First and Last are the times of the first and the last line that has one, or NoTime. Many of these
	// lines have no values.
	First, Last int64
	Dated       bool // these times have a year
}

// A Beat is the first record of a step.
type Beat struct {
	Step int64 // the number of the step that is done
	Time int64 // when its record was written, or NoTime
	Run  int32 // the start of the program, as in [Points]
	Line int64
}

// A Mark is a line about the life of a program.
type Mark struct {
	Kind  string // what happened: see the constants
	Class string // of a failure or an end: "out of memory"
	Line  int64
	Time  int64 // when it was written, or NoTime
	Seen  int64 // the last time in the log up to this line, or NoTime
	Step  int64 // of a checkpoint, or NoStep
	NS    int64 // what it took; -1 if unknown

	Rank int    // -1 if unknown
	Node string // "" if unknown
	Path string // folder of a checkpoint; "" if unknown
	Text string // the line, cut
}

// Kinds of marks. Failed, Followed and Raised may end a program: Followed is a failure that another one usually
// causes, such as a collective that waits for a rank that has died, and Raised an exception, which programs may handle.
const (
	MarkSaved      = "saved"      // a checkpoint is written
	MarkSaving     = "saving"     // a checkpoint begins to be written
	MarkLoaded     = "loaded"     // a checkpoint was read
	MarkEvaluated  = "evaluated"  // an evaluation is done
	MarkEvaluating = "evaluating" // an evaluation begins
	MarkCompiled   = "compiled"   // a compilation or the capture of graphs is done
	MarkBegins     = "begins"     // the first step begins
	MarkLaunched   = "launched"   // the program starts; it may die before its first step
	MarkSetup      = "setup"      // what it trains, by Class: SetupData, SetupModel, SetupOutput, SetupSteps; the value is Path
	MarkFinished   = "finished"   // the program has done all its steps
	MarkStopped    = "stopped"    // it was ended on purpose, or by the scheduler
	MarkFailed     = "failed"
	MarkFollowed   = "followed"
	MarkRaised     = "raised"
	MarkWhere      = "where" // the launcher tells which rank or node failed first
)

// Classes of MarkSetup.
const (
	SetupData   = "data"
	SetupModel  = "model"
	SetupOutput = "output folder"
	SetupSteps  = "number of steps"
)

// Died reports whether the program started and failed, as far as lines tell.
func (c *Course) Died() bool {
	launched := slices.IndexFunc(c.Marks, func(m Mark) bool { return m.Kind == MarkLaunched })
	return launched >= 0 && slices.ContainsFunc(c.Marks[launched:], func(m Mark) bool { return m.Fails() })
}

// Fails reports whether a line is about a failure.
func (m *Mark) Fails() bool {
	return m.Kind == MarkFailed || m.Kind == MarkFollowed || m.Kind == MarkRaised
}

// A Gap is a time between two lines in which nothing was written.
type Gap struct{ From, To int64 }

// Limits of a course. Of gaps the longest are kept.
const (
	MaxMarks  = 20_000
	maxSetups = 1000
	maxBeats  = 1 << 20
	beatBytes = 32
	markBytes = 256
)

// Mark adds a line about the life of the program. Marks over the limit are left out.
func (b *Builder) Mark(m Mark) {
	n := len(b.log.Course.Marks)
	if n > 0 {
		if last := &b.log.Course.Marks[n-1]; last.Line == m.Line && last.Kind == m.Kind && last.Class == m.Class {
			return
		}
	}
	if m.Kind == MarkSetup {
		if b.setups++; b.setups > maxSetups || m.Path == "None" {
			return
		}
	}
	if n >= MaxMarks || b.used+markBytes > b.limits.Memory {
		return
	}
	b.used += markBytes
	m.Text, m.Node, m.Path = cut(m.Text), cut(m.Node), cut(m.Path)
	b.log.Course.Marks = append(b.log.Course.Marks, m)
	if (m.Kind == MarkLoaded || m.Kind == MarkBegins) && m.Step != NoStep {
		for i := range b.streams {
			b.streams[i].resumed = true
		}
	}
}

// Beat adds the record of a step of a stream.
func (b *Builder) Beat(n int, producer string, beat Beat) {
	s := &b.streams[n]
	if k := len(s.beats); k > 0 {
		if last := &s.beats[k-1]; last.Run == beat.Run && last.Step >= beat.Step {
			return // a later record of the same step
		}
	}
	if b.beats >= maxBeats || b.used+beatBytes > b.limits.Memory {
		s.cut = true
		return
	}
	b.used, b.beats = b.used+beatBytes, b.beats+1
	s.beats, s.producer = append(s.beats, beat), producer
}

// Times sets the first and the last time of the text, and its gaps.
func (b *Builder) Times(first, last int64, gaps []Gap, dated bool) {
	b.log.Course.First, b.log.Course.Last, b.log.Course.Gaps, b.log.Course.Dated = first, last, gaps, dated
}

// Preferred returns the number of a stream whose beats are those of the log.
func (b *Builder) Preferred(name string) int {
	n := b.Stream(name)
	b.streams[n].best = true
	return n
}

// Marked reports whether the log has a mark of a kind.
func (b *Builder) Marked(kind string) bool {
	return slices.ContainsFunc(b.log.Course.Marks, func(m Mark) bool { return m.Kind == kind })
}

// finishCourse takes the steps of the stream with most of them. A stream that is not whole has no course.
func (b *Builder) finishCourse() {
	if len(b.streams) == 0 {
		return
	}
	s := slices.MaxFunc(b.streams, func(x, y stream) int { return cmp.Compare(len(x.beats), len(y.beats)) })
	if i := slices.IndexFunc(b.streams, func(s stream) bool { return s.best }); i >= 0 {
		s = b.streams[i]
	}
	if !s.cut {
		b.log.Course.Beats, b.log.Course.Producer = s.beats, s.producer
	}
}
