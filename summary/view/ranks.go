package view

import (
	"cmp"
	"slices"
	"strconv"

	"assay/internal/stat"
	"assay/summary"
)

// RankDevices returns the indices of the GPUs in the order of their ranks. It is nil if there are fewer
// than two ranks, or if a rank and GPU is given twice: then the inputs belong to different runs or are
// parts of one, and must not be compared as ranks. Several GPUs of one rank count as ranks if their
// collectives are matched.
func RankDevices(s *summary.Summary) []int {
	order := make([]int, len(s.Devices))
	for i := range order {
		order[i] = i
	}
	place := func(i, j int) int {
		a, b := s.Devices[i], s.Devices[j]
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device))
	}
	slices.SortStableFunc(order, place)
	for i := 1; i < len(order); i++ {
		if place(order[i-1], order[i]) == 0 {
			return nil
		}
	}
	if len(order) < 2 || oneRank(s, order) && len(s.Ranks) < 2 {
		return nil
	}
	return order
}

// oneRank reports whether all GPUs of the ordered list have the same rank.
func oneRank(s *summary.Summary, devices []int) bool {
	return s.Devices[devices[0]].Rank == s.Devices[devices[len(devices)-1]].Rank
}

// RankNames returns the names of the GPUs of [RankDevices] for an axis, and what the names are: "rank",
// "GPU" if there is only one rank, or "rank:GPU" if a rank has several GPUs.
func RankNames(s *summary.Summary, devices []int) (kind string, names []string) {
	kind = "rank"
	for i := 1; i < len(devices); i++ {
		if s.Devices[devices[i]].Rank == s.Devices[devices[i-1]].Rank {
			kind = "rank:GPU"
		}
	}
	if oneRank(s, devices) {
		kind = "GPU"
	}
	for _, i := range devices {
		rank, gpu := strconv.Itoa(s.Devices[i].Rank), strconv.FormatInt(s.Devices[i].Device, 10)
		names = append(names, map[string]string{"rank": rank, "GPU": gpu, "rank:GPU": rank + ":" + gpu}[kind])
	}
	return kind, names
}

// RankWaits returns the waits of the GPUs of [RankDevices], nil for GPUs without matched collectives. It is
// nil if no collective is matched.
func RankWaits(s *summary.Summary, devices []int) []*summary.RankWait {
	if len(s.Ranks) == 0 {
		return nil
	}
	rows := map[summary.GPU]*summary.RankWait{}
	for i := range s.Ranks {
		r := &s.Ranks[i]
		rows[summary.GPU{Input: r.Input, Rank: r.Rank, Device: r.Device}] = r
	}
	out, known := make([]*summary.RankWait, len(devices)), false
	for i, at := range devices {
		d := s.Devices[at]
		r := rows[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
		if r != nil && r.TransferNS+r.WaitNS > 0 {
			out[i], known = r, true
		}
	}
	if !known {
		return nil
	}
	return out
}

// A Pace is the order of ranks by how long the others have to wait for them.
type Pace struct {
	// Slowest, Median and Fastest are positions in the list of GPUs, or -1. Median is -1
	// if there are two ranks.
	Slowest, Median, Fastest int
	// Waits says that the order is by matched collectives: OwnNS is the rank's own waiting, the fastest
	// rank waits longest, and the slowest rank is the one with the most CausedNS, the waiting that it
	// causes. Otherwise OwnNS is the exposed communication, which includes the waiting, and the slowest
	// rank has the least.
	Waits    bool
	OwnNS    []int64
	CausedNS []int64
	// Unknown is why there is no order, or PaceKnown.
	Unknown PaceUnknown
}

// PaceUnknown is a reason why ranks have no order.
type PaceUnknown uint8

// The values of PaceUnknown.
const (
	PaceKnown     PaceUnknown = iota
	PaceNoWaiting             // some rank has no communication
	PaceUneven                // windows or numbers of steps differ too much
	PaceStages                // send/recv: ranks may be stages of a pipeline
	PaceEqual                 // the ranks hardly differ
)

// PaceOf orders the GPUs of [RankDevices]. Ranks that do different work, or whose captures have different
// lengths, have no order.
func PaceOf(s *summary.Summary, devices []int) Pace {
	p := Pace{Slowest: -1, Median: -1, Fastest: -1}
	waits := RankWaits(s, devices)
	p.Waits = waits != nil && !slices.Contains(waits, nil)
	var windows []int64
	for i, at := range devices {
		a := s.Devices[at].Activity
		windows = append(windows, a.Window())
		if p.Waits {
			p.OwnNS = append(p.OwnNS, waits[i].WaitNS)
			p.CausedNS = append(p.CausedNS, waits[i].CausedNS)
		} else {
			p.OwnNS = append(p.OwnNS, a.ExposedComm())
		}
		if a.With(summary.ClassComm) == 0 {
			p.Unknown = PaceNoWaiting
		}
	}
	longest, shortest := slices.Max(windows), slices.Min(windows)
	switch {
	case p.Unknown != PaceKnown:
		return p
	case slices.ContainsFunc(s.Collectives, func(c summary.Collective) bool { return c.Op == summary.OpSendRecv }):
		p.Unknown = PaceStages
		return p
	case longest-shortest > longest/4 || !sameSteps(s, devices):
		p.Unknown = PaceUneven
		return p
	case slices.Max(p.OwnNS)-slices.Min(p.OwnNS) <= longest/100:
		p.Unknown = PaceEqual
		return p
	}
	order := make([]int, len(devices))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p.OwnNS[i], p.OwnNS[j]) })
	if p.Waits { // a rank may cause most of the waiting and still wait for others in turn
		most := slices.MaxFunc(order, func(i, j int) int { return cmp.Compare(p.CausedNS[i], p.CausedNS[j]) })
		order = slices.DeleteFunc(order, func(i int) bool { return i == most })
		order = slices.Insert(order, 0, most)
	}
	p.Slowest, p.Fastest = order[0], order[len(order)-1]
	if len(order) > 2 {
		_, p.Median = stat.Middle(order)
	}
	return p
}

// sameSteps reports whether the GPUs have the same number of steps, or none has any.
func sameSteps(s *summary.Summary, devices []int) bool {
	count := map[summary.GPU]int{}
	for _, st := range s.Steps {
		count[summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}]++
	}
	steps := func(i int) int {
		d := s.Devices[devices[i]]
		return count[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
	}
	for i := range devices {
		if steps(i) != steps(0) {
			return false
		}
	}
	return true
}

// StepsOfEachGPU returns the number of steps that every GPU has, or 0 if there are none or the GPUs differ.
func StepsOfEachGPU(s *summary.Summary) int64 {
	count, whose := map[summary.GPU]int64{}, whoseOf(s)
	for i := range s.Steps {
		st := &s.Steps[i]
		count[summary.GPU{Input: whose(st.Input), Rank: st.Rank, Device: st.Device}]++
	}
	n := int64(-1)
	for _, d := range s.Devices {
		k := count[summary.GPU{Input: whose(d.Input), Rank: d.Rank, Device: d.Device}]
		if n >= 0 && k != n {
			return 0
		}
		n = k
	}
	return max(0, n)
}

// A RankRow has one time for each GPU of [RankDevices], in ns, or -1 if it was not recorded.
type RankRow struct {
	Name   string // the path of a phase, or the name of a step
	Kind   string // kind of the step
	Number int64  // number of the step
	NS     []int64
	Median int64 // median of the recorded times, in ns
}

// finish computes the median of the recorded times, and returns for how many GPUs there is a time.
func (r *RankRow) finish() (known int) {
	list := slices.DeleteFunc(slices.Clone(r.NS), func(ns int64) bool { return ns < 0 })
	r.Median = stat.Median(list)
	return len(list)
}

// positions maps GPUs to their positions in the list.
func positions(s *summary.Summary, devices []int) map[summary.GPU]int {
	out := map[summary.GPU]int{}
	for i, at := range devices {
		d := s.Devices[at]
		out[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}] = i
	}
	return out
}

func newRow(r RankRow, n int) *RankRow {
	r.NS = slices.Repeat([]int64{-1}, n)
	return &r
}

// PhasesOfRanks returns the phases that two or more GPUs have, in the order of [Phases], with the time of
// one run on each GPU: its GPU time over the number of runs. If no phase has GPU time on most GPUs, it is
// the median duration of a run on the CPU, and onGPU is false.
func PhasesOfRanks(s *summary.Summary, devices []int) (rows []RankRow, onGPU bool) {
	if rows = phasesOfRanks(s, devices, true); len(rows) > 0 {
		return rows, true
	}
	return phasesOfRanks(s, devices, false), false
}

func phasesOfRanks(s *summary.Summary, devices []int, onGPU bool) (rows []RankRow) {
	at, byPath := positions(s, devices), map[string]*RankRow{}
	for i := range s.Phases {
		p := &s.Phases[i]
		pos, ok := at[summary.GPU{Input: p.Input, Rank: p.Rank, Device: p.Device}]
		if !ok || p.Path == "" || p.Count <= 0 {
			continue
		}
		if byPath[p.Path] == nil {
			byPath[p.Path] = newRow(RankRow{Name: p.Path}, len(devices))
		}
		byPath[p.Path].NS[pos] = p.MedianNS
		if onGPU {
			byPath[p.Path].NS[pos] = p.Total.Window() / p.Count
		}
	}
	for _, p := range Phases(s) {
		if r := byPath[p.Path]; r != nil && r.finish() > 1 && r.Median > 0 {
			rows = append(rows, *r)
		}
	}
	return rows
}

// StepsOfRanks returns the steps that two or more GPUs have, in the order of [Steps], with the step time on
// each GPU.
func StepsOfRanks(s *summary.Summary, devices []int) (rows []RankRow) {
	at := positions(s, devices)
	for _, st := range Steps(s) {
		r := newRow(RankRow{Name: st.Name, Kind: st.Kind, Number: st.Number}, len(devices))
		for _, n := range st.Rows {
			row := &s.Steps[n]
			if pos, ok := at[summary.GPU{Input: row.Input, Rank: row.Rank, Device: row.Device}]; ok {
				r.NS[pos] = max(0, r.NS[pos]) + row.WallNS
			}
		}
		if r.finish() > 1 && r.Median > 0 {
			rows = append(rows, *r)
		}
	}
	return rows
}
