package logs

import (
	"maps"
	"math"
	"slices"

	"assay/internal/diag"
)

// WithoutFirst returns the log without the values of the first n steps after each start of
// each program, in which programs compile and warm up. Values without a step stay. It returns
// false if no value has a step, if no other steps are left, or if the log has only a sample of
// its values.
func (l *Log) WithoutFirst(n int) (*Log, bool) {
	type start struct {
		producer string
		run      int32
	}
	steps := map[start]map[int64]bool{}
	for i := range l.Series {
		s := &l.Series[i]
		for k := range s.Points.Value {
			at := start{s.Producer, s.Points.RunAt(k)}
			if step := s.Points.StepAt(k); step != NoStep {
				if steps[at] == nil {
					steps[at] = map[int64]bool{}
				}
				steps[at][step] = true
			}
		}
	}
	from, left, gone := map[start]int64{}, false, int64(0)
	for at, set := range steps {
		numbers := slices.Sorted(maps.Keys(set))
		if n < len(numbers) {
			from[at], left = numbers[n], true
		} else {
			from[at] = math.MaxInt64
		}
		gone += int64(min(n, len(numbers)))
	}
	if !left {
		return nil, false
	}
	out := *l
	out.Series = slices.Clone(l.Series)
	for i := range out.Series {
		s := &out.Series[i]
		if s.Points.Step == nil {
			continue
		}
		if s.Sampled() {
			return nil, false
		}
		s.keep(func(k int) bool {
			step := s.Points.StepAt(k)
			return step == NoStep || step >= from[start{s.Producer, s.Points.RunAt(k)}]
		})
	}
	out.Issues = append(slices.Clone(l.Issues), diag.Issue{Code: "steps-left-out", Severity: diag.Info, Count: gone,
		Help: "The first steps of each start of the program were left out, as --ignore-first asks for. Values without a step are all there."})
	return &out, true
}

// keep drops the points for which want returns false, and computes the statistics again.
func (s *Series) keep(want func(int) bool) {
	var p Points
	s.N, s.Min, s.Max, s.Sum = 0, 0, 0, 0
	for k, v := range s.Points.Value {
		if !want(k) {
			continue
		}
		p.Value = append(p.Value, v)
		p.Step = append(p.Step, s.Points.Step[k])
		if s.Points.Time != nil {
			p.Time = append(p.Time, s.Points.Time[k])
		}
		if s.Points.Run != nil {
			p.Run = append(p.Run, s.Points.Run[k])
		}
		if s.N == 0 {
			s.Min, s.Max = v, v
		}
		s.N, s.Min, s.Max, s.Sum = s.N+1, min(s.Min, v), max(s.Max, v), s.Sum+v
	}
	s.Points = p
}
