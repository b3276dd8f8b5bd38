package operations

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/analyze/critical/change"
)

// An Answer says what the differences between workers cost. Lengths are means over the steps.
type Answer struct {
	Ranks   int `json:"data_parallel_ranks"`
	Stages  int `json:"stages"`
	Steps   int `json:"steps"`
	LeftOut int `json:"steps_left_out,omitempty"`

	MeasuredNS int64   `json:"measured_ns"`
	ReplayedNS int64   `json:"replayed_ns"` // without the gaps that no dependency explains
	TypicalNS  int64   `json:"typical_ns"`  // with typical durations of all operations
	Slowdown   float64 `json:"slowdown"`    // replayed against typical

	ByWorker    []Part `json:"by_worker"`
	ByStage     []Part `json:"by_stage"`
	ByRank      []Part `json:"by_rank"`
	ByOperation []Part `json:"by_operation"`

	ForecastNS int64    `json:"forecast_ns,omitempty"` // replayed with the changes that were asked for
	Verdict    string   `json:"verdict"`
	Reasons    []string `json:"reasons"`
}

// A Part is a part of the operations.
type Part struct {
	Name     string  `json:"name"`
	Slowdown float64 `json:"slowdown"` // if only these take as long as recorded, and all others are typical
	SavedNS  int64   `json:"saved_ns"` // of a step, if only these were typical
}

// A duration returns how long an operation of a step and rank takes.
type duration func(step, rank, op int) int64

func (j *Job) recorded(step, rank, op int) int64 { return j.dur[j.at(step, rank, op)] }

// replay returns the mean length of a step.
func (j *Job) replay(d duration) int64 {
	ends := make([]int64, j.Ranks*len(j.ops))
	starts := make([]int64, j.Ranks)
	total := int64(0)
	for step := range j.Steps {
		last := int64(0)
		for _, u := range j.units {
			for r := range starts {
				at := int64(0)
				for _, v := range u.ops {
					for _, w := range j.waits[v] {
						at = max(at, ends[r*len(j.ops)+w])
					}
				}
				starts[r] = at
			}
			if u.ranks {
				at := slices.Max(starts)
				for r := range starts {
					starts[r] = at
				}
			}
			for r, at := range starts {
				for _, v := range u.ops {
					end := at + d(step, r, v)
					ends[r*len(j.ops)+v] = end
					last = max(last, end)
				}
			}
		}
		total += last
	}
	return total / int64(max(1, j.Steps))
}

// typical returns the typical durations: the mean of computations of a name, the median of
// communication.
func (j *Job) typical() duration {
	samples := make(map[string][]int64)
	for i, d := range j.dur {
		name := j.ops[i%len(j.ops)].name
		samples[name] = append(samples[name], d)
	}
	usual := make(map[string]int64)
	for name, list := range samples {
		if known[name] {
			slices.Sort(list)
			usual[name] = (list[(len(list)-1)/2] + list[len(list)/2]) / 2
			continue
		}
		sum := int64(0)
		for _, d := range list {
			sum += d
		}
		usual[name] = sum / int64(len(list))
	}
	byOp := make([]int64, len(j.ops))
	for i, op := range j.ops {
		byOp[i] = usual[op.name]
	}
	return func(_, _, op int) int64 { return byOp[op] }
}

// The limits of the difference between the replay and the measurement, in percent.
const (
	warnAbove    = 2
	abstainAbove = 5
)

// mostWorkers is how many workers are answered for one by one.
const mostWorkers = 256

// Answer replays the steps without differences between workers, with each difference alone, and with
// changes. It returns an error for changes that say nothing about operations.
func (j *Job) Answer(changes []change.Change) (*Answer, error) {
	a := &Answer{Ranks: j.Ranks, Stages: j.Stages, Steps: j.Steps, LeftOut: j.LeftOut, Verdict: "ok", Reasons: []string{}}
	for _, n := range j.lengths {
		a.MeasuredNS += n
	}
	a.MeasuredNS /= int64(max(1, j.Steps))
	typical := j.typical()
	a.ReplayedNS, a.TypicalNS = j.replay(j.recorded), j.replay(typical)
	a.Slowdown = float64(a.ReplayedNS) / float64(max(1, a.TypicalNS))
	part := func(name string, of func(rank int, op *operation) bool) Part {
		alone := j.replay(func(step, rank, op int) int64 {
			if of(rank, &j.ops[op]) {
				return j.recorded(step, rank, op)
			}
			return typical(step, rank, op)
		})
		without := j.replay(func(step, rank, op int) int64 {
			if of(rank, &j.ops[op]) {
				return typical(step, rank, op)
			}
			return j.recorded(step, rank, op)
		})
		return Part{name, float64(alone) / float64(max(1, a.TypicalNS)), a.ReplayedNS - without}
	}
	for r := range j.Ranks {
		a.ByRank = append(a.ByRank, part(fmt.Sprintf("DP rank %d", r), func(rank int, _ *operation) bool { return rank == r }))
		for s := range j.Stages {
			if j.Ranks*j.Stages <= mostWorkers {
				a.ByWorker = append(a.ByWorker, part(fmt.Sprintf("DP rank %d, PP rank %d", r, s),
					func(rank int, op *operation) bool { return rank == r && op.stage == s }))
			}
		}
	}
	for s := range j.Stages {
		a.ByStage = append(a.ByStage, part(fmt.Sprintf("PP rank %d", s), func(_ int, op *operation) bool { return op.stage == s }))
	}
	for _, name := range j.names() {
		a.ByOperation = append(a.ByOperation, part(name, func(_ int, op *operation) bool { return pair(op.name) == name }))
	}
	for _, list := range [][]Part{a.ByWorker, a.ByStage, a.ByRank, a.ByOperation} {
		slices.SortStableFunc(list, func(x, y Part) int {
			return cmp.Or(cmp.Compare(y.SavedNS, x.SavedNS), cmp.Compare(y.Slowdown, x.Slowdown))
		})
	}
	a.judge()
	if len(changes) == 0 {
		return a, nil
	}
	d, err := j.changed(changes)
	if err != nil {
		return nil, err
	}
	a.ForecastNS = j.replay(d)
	return a, nil
}

// judge says how far the answer can be trusted.
func (a *Answer) judge() {
	off := 100 * float64(a.ReplayedNS-a.MeasuredNS) / float64(max(1, a.MeasuredNS))
	if max(off, -off) > warnAbove {
		a.Verdict = "warn"
		a.Reasons = append(a.Reasons, fmt.Sprintf("the replay of the operations differs from the measured steps by %.1f%%", off))
	}
	if max(off, -off) > abstainAbove {
		a.Verdict = "abstain"
	}
	if a.LeftOut > 0 {
		a.Reasons = append(a.Reasons, fmt.Sprintf("%d steps were left out: a worker has other operations in them", a.LeftOut))
	}
}

// changed returns the durations with all changes.
func (j *Job) changed(changes []change.Change) (duration, error) {
	d := duration(j.recorded)
	for _, c := range changes {
		p, err := c.Parse()
		if err != nil {
			return nil, err
		}
		before := d
		if p.Name == "like" {
			like := int(p.Factor)
			if like >= j.Ranks {
				return nil, fmt.Errorf("%s: the timeline has data-parallel ranks 0 to %d", c, j.Ranks-1)
			}
			d = func(step, rank, op int) int64 {
				if known[j.ops[op].name] {
					return before(step, rank, op)
				}
				return before(step, like, op)
			}
			continue
		}
		matches, factor, err := j.scaled(&p, c)
		if err != nil {
			return nil, err
		}
		d = func(step, rank, op int) int64 {
			n := before(step, rank, op)
			if matches[op] {
				n = int64(float64(n) * factor)
			}
			return n
		}
	}
	return d, nil
}

// scaled returns which operations a change makes longer or shorter, and by which factor.
func (j *Job) scaled(p *change.Parsed, c change.Change) (matches []bool, factor float64, err error) {
	var of func(name string) bool
	pattern, isOp := strings.CutPrefix(p.What, "op~")
	switch {
	case p.Name == "scale" && isOp:
		of, err = change.Compile(pattern)
	case p.Name == "scale" && p.What == "class:compute":
		of = func(name string) bool { return !known[name] }
	case p.Name == "scale" && p.What == "class:comm":
		of = func(name string) bool { return known[name] }
	case p.Name == "hide-comm":
		match, wrong := change.Compile(p.What)
		of, err = func(name string) bool { return known[name] && match(name) }, wrong
		p.Factor = 0
	default:
		err = fmt.Errorf("%s needs GPU work, and a timeline of operations has none; it takes --scale op~RE=F, --scale class:compute=F, --scale class:comm=F, --hide-comm and --like with the number of a data-parallel rank", c)
	}
	if err != nil {
		return nil, 0, err
	}
	matches = make([]bool, len(j.ops))
	for i, op := range j.ops {
		matches[i] = of(op.name)
	}
	if !slices.Contains(matches, true) {
		return nil, 0, fmt.Errorf("%s: no operation matches", c)
	}
	return matches, p.Factor, nil
}
