package logs

import (
	"fmt"
	"math"
	"math/bits"
	"slices"
	"strings"

	"assay/internal/diag"
	"assay/internal/redact"
)

// Limits bound the resources for reading one input. A field that is 0 has the default
// value. Fields may be added.
type Limits struct {
	// Memory is the maximum memory of all series, in estimated bytes.
	Memory int64
	// Series is the maximum number of series.
	Series int
}

// The defaults of [Limits].
const (
	MaxMemory = 256 << 20
	MaxSeries = 8192
)

// Limits of the texts of a series and of the results of benchmarks.
const (
	MaxName       = 200 // bytes of a name, and of a label's value
	MaxBenchmarks = 4096
	maxFigures    = 512 // of one benchmark
)

// Estimated bytes of a series without points, and of a text.
const (
	seriesBytes = 512
	figureBytes = 160
)

// A Builder makes a [Log] from values in the order of the input. It is not safe
// for concurrent use.
type Builder struct {
	log    Log
	series []openSeries
	index  map[string]int
	issues diag.Ledger

	readings map[string]int // by node, part and property

	streams   []stream
	streamOf  map[string]int
	producers map[string]int
	names     map[string]string // names of spans, so that equal ones share memory

	limits Limits
	used   int64
	level  int // points are kept with a chance of 1 in 1<<level
	beats  int // of all streams
	setups int // marks of this kind

	leftOut string // the help text for series that were left out, formatted only once
}

// An openSeries is a series that is not finished: its last value may still be
// replaced by one of the same step.
type openSeries struct {
	Series
	last    value
	pending bool
	recent  [recentSteps]int64 // steps of the last values, to recognize repeated ones
	n       int                // number of values so far, which decides what is in the sample

	impossible, replaced int64 // see plausible.go
}

const recentSteps = 4

// A value is one entry of a series.
type value struct {
	v          float64
	step, time int64
	run        int32
}

// A stream is one sequence of steps: those of one producer and rank.
type stream struct {
	last    int64
	run     int32
	started bool  // a record of the start of the program was read
	stride  int64 // distance between the last two steps
	steady  int   // number of successive steps at this distance

	resumed bool // a checkpoint was loaded after the last step

	beats    []Beat
	producer string // of the beats
	cut      bool   // some beats are over the limit
	best     bool   // its beats are those of the log, however many others there are
}

// steadySteps is the number of successive steps at one distance after which a larger
// distance counts as missing steps.
const steadySteps = 16

// advance records that a stream advances by d steps, and reports whether steps are missing:
// all steps so far had one distance, and now there is a gap.
func (s *stream) advance(d int64) bool {
	if d == s.stride {
		s.steady++
		return false
	}
	gap := d > s.stride && s.steady >= steadySteps
	s.stride, s.steady = d, 0
	return gap
}

// NewBuilder returns a builder within limits.
func NewBuilder(limits Limits) *Builder {
	if limits.Memory <= 0 {
		limits.Memory = MaxMemory
	}
	if limits.Series <= 0 {
		limits.Series = MaxSeries
	}
	return &Builder{
		log: Log{Complete: true, Course: Course{First: NoTime, Last: NoTime}}, index: map[string]int{}, streamOf: map[string]int{}, producers: map[string]int{}, limits: limits,
		leftOut: fmt.Sprintf("Values of metrics over the limit of %d series of one input were left out. Raise --max-memory, or give the input in parts.",
			limits.Series),
	}
}

// Note counts an issue.
func (b *Builder) Note(is diag.Issue) { b.NoteN(is, 1) }

// NoteN adds an issue that occurred n times.
func (b *Builder) NoteN(is diag.Issue, n int64) { b.issues.AddN(is, n) }

// Of returns the number of a series, which it creates at first use. A series is identified
// by its producer, the name as that the producer uses for the metric, and its labels, in any
// order. Of returns -1 and adds an issue if the limit permits no more series.
func (b *Builder) Of(m Metric, producer, as string, labels []Label, at diag.Pos) int {
	m.Name, as = cut(m.Name), cut(as)
	labels = slices.Clone(labels)
	slices.SortStableFunc(labels, func(x, y Label) int { return strings.Compare(x.Name, y.Name) })
	labels = slices.CompactFunc(labels, func(x, y Label) bool { return x.Name == y.Name })
	size := int64(seriesBytes + len(m.Name) + len(as))
	for i := range labels {
		labels[i].Value = cut(labels[i].Value)
		size += int64(len(labels[i].Name) + len(labels[i].Value))
	}
	key := m.Name + "\x00" + m.Unit + "\x00" + producer + "\x00" + as + "\x00" + labelKey(labels)
	if i, ok := b.index[key]; ok {
		return i
	}
	if len(b.series) >= b.limits.Series || b.used+size > b.limits.Memory {
		b.issues.Add(diag.Issue{Code: "series-left-out", Severity: diag.DataLoss, First: at, Help: b.leftOut})
		return -1
	}
	b.used += size
	i := len(b.series)
	b.index[key] = i
	s := openSeries{Series: Series{Metric: m, As: as, Producer: producer, Labels: labels}}
	for k := range s.recent {
		s.recent[k] = NoStep
	}
	b.series = append(b.series, s)
	return i
}

// Inside records that the time of series i is part of the time of another series, given by
// the name that the producer uses for it.
func (b *Builder) Inside(i int, as string) {
	if i >= 0 {
		b.series[i].Inside = as
	}
}

// Stream returns the number of the sequence of steps with the given name.
func (b *Builder) Stream(name string) int {
	i, ok := b.streamOf[name]
	if !ok {
		i = len(b.streams)
		b.streamOf[name] = i
		b.streams = append(b.streams, stream{last: NoStep})
	}
	return i
}

// jitter is the number of steps by which a stream may go back without counting as a
// restart, because the lines of several ranks come in any order.
const jitter = 2

// Step records the step of a stream. It returns the number of the start of the program to
// which the step belongs: if steps go back, the program was started again.
func (b *Builder) Step(stream int, step int64, at diag.Pos) int32 {
	s := &b.streams[stream]
	switch {
	case step == NoStep:
	case s.last != NoStep && (step < s.last-jitter || s.resumed && step <= s.last):
		s.run++
		s.last = step
		b.restarted(at)
	default:
		if s.last != NoStep && step > s.last && s.advance(step-s.last) {
			b.issues.Add(diag.Issue{Code: "log-steps-missing", Severity: diag.Suspect, First: at})
		}
		s.last = max(s.last, step)
	}
	s.resumed = s.resumed && step == NoStep
	return s.run
}

// LastStep returns the last step of a stream, or NoStep.
func (b *Builder) LastStep(stream int) (step int64, run int32) {
	return b.streams[stream].last, b.streams[stream].run
}

// Restart records a start of the program of a stream. The first start does not count as a
// restart.
func (b *Builder) Restart(stream int, at diag.Pos) {
	s := &b.streams[stream]
	if s.started {
		s.run++
		s.last = NoStep
		b.restarted(at)
	}
	s.started = true
}

func (b *Builder) restarted(at diag.Pos) {
	b.issues.Add(diag.Issue{Code: "log-restarted", Severity: diag.Info, First: at})
}

// Add adds a value to series i, unless i is negative. A value of the same step as the last
// one replaces it, and a value of a step shortly before is dropped, because several ranks
// log one step and trainers log the last step twice. Values that are not finite are only
// counted.
func (b *Builder) Add(i int, v float64, step, time int64, run int32) {
	if i < 0 {
		return
	}
	s := &b.series[i]
	next := value{v, step, time, run}
	if step != NoStep && s.pending {
		if s.last.step == step && s.last.run == run {
			s.replace(v)
			s.last = next
			return
		}
		if s.last.run == run && step < s.last.step && slices.Contains(s.recent[:], step) {
			return
		}
	}
	if s.last.run != run {
		for k := range s.recent {
			s.recent[k] = NoStep
		}
	}
	b.commit(s)
	s.last, s.pending = next, true
	s.recent[s.n%recentSteps] = step
	s.n++
}

// Missing counts a missing value of series i.
func (b *Builder) Missing(i int) {
	if i >= 0 {
		b.series[i].Missing++
	}
}

// commit adds the last value of a series to its statistics and points.
func (b *Builder) commit(s *openSeries) {
	if !s.pending {
		return
	}
	s.pending = false
	v := s.last
	switch {
	case math.IsNaN(v.v):
		s.NaN++
		return
	case math.IsInf(v.v, 0):
		s.Inf++
		return
	case !s.Metric.possible(v.v):
		s.Missing++
		s.impossible++
		return
	}
	if s.N++; s.N == 1 {
		s.Min, s.Max, s.Sum = v.v, v.v, v.v
	} else {
		s.Min, s.Max, s.Sum = min(s.Min, v.v), max(s.Max, v.v), s.Sum+v.v
	}
	if b.level > 0 && !kept(s.N, b.level) {
		return
	}
	s.Points.add(v)
	if b.used += s.Points.width(); b.used > b.limits.Memory {
		b.thin()
	}
}

// add appends a value. A column is created when the first value needs it, and filled up to
// that value.
func (p *Points) add(v value) {
	n := len(p.Value)
	p.Value = append(p.Value, v.v)
	if v.step != NoStep && p.Step == nil {
		p.Step = slices.Repeat([]int64{NoStep}, n)
	}
	if p.Step != nil || v.step != NoStep {
		p.Step = append(p.Step, v.step)
	}
	if v.time != NoTime && p.Time == nil {
		p.Time = slices.Repeat([]int64{NoTime}, n)
	}
	if p.Time != nil || v.time != NoTime {
		p.Time = append(p.Time, v.time)
	}
	if v.run != 0 && p.Run == nil {
		p.Run = make([]int32, n)
	}
	if p.Run != nil || v.run != 0 {
		p.Run = append(p.Run, v.run)
	}
}

// width returns the bytes of one point, including the spare capacity of growing slices.
func (p *Points) width() int64 {
	n := int64(10)
	if p.Step != nil {
		n += 10
	}
	if p.Time != nil {
		n += 10
	}
	if p.Run != nil {
		n += 5
	}
	return n
}

// kept reports whether the n-th value of a series is in a sample of one in 1<<level values.
// A hash of n decides, so that the sample has no period. The sample of a level is a subset of
// the sample of each lower level.
func kept(n int64, level int) bool {
	h := uint64(n) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	h ^= h >> 32
	return bits.TrailingZeros64(h) >= level
}

// thin drops about half of the points, selected by kept.
func (b *Builder) thin() {
	b.level++
	b.issues.Add(diag.Issue{Code: "series-sampled", Severity: diag.Suspect,
		Help: fmt.Sprintf("The values need more than the limit of %d MiB, so a sample of them was kept. Counts, sums, means, minima and maxima are exact; medians and pictures are of the sample. Raise --max-memory.", b.limits.Memory>>20)})
	b.used = 0
	for i := range b.series {
		s := &b.series[i]
		s.Points.keep(s.sampleOf(b.level))
		b.used += seriesBytes + int64(s.Points.Len())*s.Points.width()
	}
}

// sampleOf reports for each point of a series whether it is in the sample of a level.
func (s *openSeries) sampleOf(level int) []bool {
	stay := make([]bool, 0, s.Points.Len())
	for n := int64(1); n <= s.N && len(stay) < s.Points.Len(); n++ {
		if kept(n, level-1) {
			stay = append(stay, kept(n, level))
		}
	}
	return stay
}

// keep drops the points for which stay is false.
func (p *Points) keep(stay []bool) {
	n := 0
	for i, ok := range stay {
		if !ok {
			continue
		}
		p.Value[n] = p.Value[i]
		if p.Step != nil {
			p.Step[n] = p.Step[i]
		}
		if p.Time != nil {
			p.Time[n] = p.Time[i]
		}
		if p.Run != nil {
			p.Run[n] = p.Run[i]
		}
		n++
	}
	p.Value = shrunk(p.Value, n)
	p.Step, p.Time, p.Run = shrunk(p.Step, n), shrunk(p.Time, n), shrunk(p.Run, n)
}

// shrunk returns a copy of the first n elements, so that the memory of s can be freed. It
// returns nil for nil.
func shrunk[E any](s []E, n int) []E {
	if s == nil {
		return nil
	}
	return append(make([]E, 0, n+n/4), s[:n]...)
}

// Record counts a record of a producer that had values.
func (b *Builder) Record(producer string, unverified bool) {
	i, ok := b.producers[producer]
	if !ok {
		i = len(b.log.Producers)
		b.producers[producer] = i
		b.log.Producers = append(b.log.Producers, Producer{Name: producer})
	}
	if unverified {
		b.log.Producers[i].Unverified++
	}
	b.log.Producers[i].Records++
	b.log.Records++
}

// Records returns the number of records so far.
func (b *Builder) Records() int64 { return b.log.Records }

// Clock records a time of the input. The first one becomes the start of the log's clock.
func (b *Builder) Clock(time int64, dated, zoned bool) {
	c := &b.log.Clock
	if !c.Known {
		*c = Clock{Known: true, Start: time, Dated: dated, Zoned: zoned, Leap: c.Leap}
	}
}

// LeapDay records that the input has a 29 February without a year.
func (b *Builder) LeapDay() { b.log.Clock.Leap = true }

// DropSeries removes the series for which drop returns true.
func (b *Builder) DropSeries(drop func(*Series) bool) {
	for i := range b.series {
		b.commit(&b.series[i])
	}
	b.series = slices.DeleteFunc(b.series, func(s openSeries) bool { return drop(&s.Series) })
	b.index = map[string]int{}
}

// EachSeries calls f for each series, for corrections that need the whole input.
func (b *Builder) EachSeries(f func(*Series)) {
	for i := range b.series {
		f(&b.series[i].Series)
	}
}

// Log returns the result. The builder must not be used afterwards.
func (b *Builder) Log(lines int64, complete bool) *Log {
	for i := range b.series {
		b.commit(&b.series[i])
	}
	b.milliwatts()
	b.finishCourse()
	b.daylight()
	for i := range b.series {
		b.noteSeries(&b.series[i])
		b.log.Series = append(b.log.Series, b.series[i].Series)
	}
	b.log.Series = append(b.log.Series, sharesOf(b.log.Series)...)
	b.log.Series = slices.DeleteFunc(b.log.Series, isTotal)
	b.log.Lines = lines
	b.log.Complete = b.log.Complete && complete
	b.log.Issues = b.issues.Issues()
	return &b.log
}

// cut returns a copy of the first [MaxName] bytes of a text, so that the memory of a long
// line can be freed. It does not cut a secret, because the rest of it would not be recognized.
func cut(s string) string {
	return strings.Clone(strings.ToValidUTF8(redact.Cut(s, MaxName), "\ufffd"))
}
