package view

import (
	"cmp"
	"path"
	"slices"

	"assay/summary"
)

// A Time is when a capture was recorded: its GPU work, in ns on the clock of the machine, and the numbers of
// its steps. The zero Time is unknown.
type Time struct {
	Start, End         int64
	FirstStep, EndStep int64 // of [FirstStep, EndStep)
}

// timesOf returns the times of the inputs.
func timesOf(s *summary.Summary) []Time {
	out := make([]Time, len(s.Inputs))
	for _, d := range s.Devices {
		if d.Input < 0 || d.Input >= len(out) || d.WindowNS <= 0 {
			continue
		}
		t, start := &out[d.Input], d.StartNS
		if base := s.Inputs[d.Input].BaseTimeNS; base != nil {
			start = summary.Plus(start, *base)
		}
		end := summary.Plus(start, d.WindowNS)
		if t.End == 0 {
			t.Start, t.End = start, end
		}
		t.Start, t.End = min(t.Start, start), max(t.End, end)
	}
	for _, st := range s.Steps {
		if st.Input < 0 || st.Input >= len(out) {
			continue
		}
		t := &out[st.Input]
		if t.EndStep == 0 {
			t.FirstStep, t.EndStep = st.Number, st.Number+1
		}
		t.FirstStep, t.EndStep = min(t.FirstStep, st.Number), max(t.EndStep, st.Number+1)
	}
	return out
}

// disjoint reports whether two captures were recorded one after the other. It is unknown without times.
func (t Time) disjoint(u Time) (yes, known bool) {
	return t.End <= u.Start || u.End <= t.Start, t.End != 0 && u.End != 0
}

// continues reports whether the steps of the later capture are numbered on from those of the earlier one.
func (t Time) continues(u Time) bool {
	if u.Start < t.Start {
		t, u = u, t
	}
	return t.EndStep > 0 && u.EndStep > 0 && t.EndStep <= u.FirstStep
}

// sameProcess reports whether one process wrote two captures of a rank, one after the other, as
// "schedule(repeat=2)" of PyTorch's profiler does. Names of files that state host and process decide.
// Otherwise, the process that the captures state must be the same on the same machine. If they do not name the
// machine, the numbers of the steps must go on, because containers often give the same number to every
// process.
func sameProcess(a, b Capture) bool {
	apart, known := a.Time.disjoint(b.Time)
	if known && !apart {
		return false
	}
	if p, q := process(a.Path), process(b.Path); p != "" || q != "" {
		return p == q
	}
	return a.Process != "" && a.Process == b.Process && a.Host == b.Host && known &&
		path.Dir(slashes(a.Path)) == path.Dir(slashes(b.Path)) && (a.Host != "" || a.Time.continues(b.Time))
}

// place finds which captures of a run are cycles of one process, and which cycles of several processes belong
// together.
func (g *Grouping) place(list []Capture) {
	g.Whose, g.Cycle = make([]int, len(list)), make([]int, len(list))
	for i := range list {
		g.Whose[i] = i
	}
	for _, run := range g.Runs {
		byRank := map[rankKey][]int{}
		var keys []rankKey
		for _, i := range run.Inputs {
			if list[i].Kind != OfTimeline {
				continue
			}
			key := list[i].key()
			if byRank[key] == nil {
				keys = append(keys, key)
			}
			byRank[key] = append(byRank[key], i)
		}
		var most []int // the captures of the process that has most
		for _, key := range keys {
			of := byRank[key]
			slices.SortStableFunc(of, func(a, b int) int {
				return cmp.Or(cmp.Compare(list[a].Time.Start, list[b].Time.Start), cmp.Compare(list[a].Path, list[b].Path))
			})
			for n := 1; n < len(of); n++ {
				if !sameProcess(list[of[n-1]], list[of[n]]) {
					byRank[key] = nil
				}
			}
			if of = byRank[key]; len(of) > len(most) {
				most = of
			}
		}
		for _, key := range keys {
			g.number(list, byRank[key], most)
		}
	}
}

// number sets the cycles of a process. The captures of a process with fewer cycles belong to those of most
// that are nearest in time.
func (g *Grouping) number(list []Capture, of, most []int) {
	last := -1
	for n, i := range of {
		g.Whose[i], g.Cycle[i] = of[0], n
		if len(of) == len(most) || list[i].Time.End == 0 {
			continue
		}
		nearest := func(k int) int64 {
			return max(list[k].Time.Start-list[i].Time.Start, list[i].Time.Start-list[k].Time.Start)
		}
		for k := last + 1; k < len(most); k++ {
			if k == last+1 || nearest(most[k]) < nearest(most[g.Cycle[i]]) {
				g.Cycle[i] = k
			}
		}
		last = g.Cycle[i]
	}
}

// whoseOf returns a function that maps inputs to the first input of the same process: see [Grouping].
func whoseOf(s *summary.Summary) func(input int) int {
	if !Numbered(s) {
		return func(input int) int { return input }
	}
	g := Runs(Captures(s))
	return func(input int) int {
		if input < 0 || input >= len(g.Whose) {
			return input
		}
		return g.Whose[input]
	}
}

// GPUs returns the number of GPUs. Several captures of a process show the same GPUs, one after the other.
func GPUs(s *summary.Summary) int { return GPUsOf(s, s.Devices) }

// GPUsOf returns the number of GPUs that the devices are, which are some of those of s.
func GPUsOf(s *summary.Summary, devices []summary.Device) int {
	whose, seen := whoseOf(s), map[summary.GPU]bool{}
	for _, d := range devices {
		seen[summary.GPU{Input: whose(d.Input), Rank: d.Rank, Device: d.Device}] = true
	}
	return len(seen)
}
