package ranks

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/summary/view"
	"assay/summary/view/comparability"
)

// A Row is one rank on both sides.
type Row struct {
	Rank    int    `json:"rank"`
	Device  *int64 `json:"device,omitempty"` // set if a rank has several GPUs
	Match   string `json:"match"`            // "name", "new" or "gone"
	Base    *Side  `json:"base"`             // null if the side does not have the rank
	New     *Side  `json:"new"`
	DeltaNS *int64 `json:"delta_ns"` // change of the step; null if a side does not have the rank
}

// A Side is one rank on one side. Times are means in ns per step, or per window.
type Side struct {
	Steps   int64 `json:"steps"`
	NS      int64 `json:"ns"` // the step; the next four fields sum to it
	Compute int64 `json:"compute_ns"`
	Comm    int64 `json:"exposed_comm_ns"`
	Copies  int64 `json:"exposed_copies_ns"`
	Idle    int64 `json:"idle_ns"`

	Collectives *Collectives `json:"collectives"` // null if none is matched
	Straggler   bool         `json:"straggler,omitempty"`

	Others *summary.Comparison `json:"-"`
	total  summary.Activity
	wait   summary.RankWait
}

// Collectives has the matched collectives of a rank.
type Collectives struct {
	Transfer int64 `json:"transfer_ns"`
	Wait     int64 `json:"wait_ns"`
	Caused   int64 `json:"caused_ns"` // total time that other ranks waited for this one
	Last     int64 `json:"last"`      // number of collectives at which it arrived last, in all steps
}

// Wait returns the waiting in matched collectives, or 0 if there are none.
func (s *Side) Wait() int64 {
	if s.Collectives == nil {
		return 0
	}
	return s.Collectives.Wait
}

// Transfer returns the transfer time of matched collectives, or 0 if there are none.
func (s *Side) Transfer() int64 {
	if s.Collectives == nil {
		return 0
	}
	return s.Collectives.Transfer
}

// Parts returns the names of the parts of the step, and their times.
func (s *Side) Parts() []Part {
	return []Part{{"compute", s.Compute}, {"exposed communication", s.Comm}, {"exposed copies", s.Copies},
		{"idle", s.Idle}}
}

// A Part is a part of the step of a rank.
type Part struct {
	Name string
	NS   int64
}

// A Comparison has the ranks of both sides.
type Comparison struct {
	Rows []Row
	// Base and New are sums over the ranks of each side.
	Base, New Total
}

// A Total adds up the ranks of a side. Times are means in ns per rank and step.
type Total struct {
	Ranks    int    `json:"ranks"`
	Transfer *int64 `json:"transfer_ns"` // null if no collective is matched
	Wait     *int64 `json:"wait_ns"`
	// Stragglers are the ranks that the others wait for, if that takes enough of the step.
	Stragglers []int `json:"stragglers"`
	// Matched is true if the ranks do the same work and most of their communication is in matched
	// collectives, so that stragglers are known.
	Matched bool `json:"matched"`
}

// atLeast is the least share of a step that ranks wait, on average, if there is a straggler.
const atLeast = 0.02

type place struct {
	rank   int
	device int64
}

// Compare compares the ranks of the runs of two sides by steps, or by windows. It returns nil if a
// side has fewer than two ranks, or if a run has a rank twice.
func Compare(base, new []comparability.Part, bySteps bool) *Comparison {
	b, n := gather(base, bySteps), gather(new, bySteps)
	if len(b) < 2 || len(n) < 2 {
		return nil
	}
	c := &Comparison{Base: judge(base, b), New: judge(new, n)}
	several := map[int]bool{}
	for _, side := range []map[place]*Side{b, n} {
		seen := map[int]bool{}
		for p := range side {
			several[p.rank] = several[p.rank] || seen[p.rank]
			seen[p.rank] = true
		}
	}
	// A rank with one GPU is the same rank on any GPU.
	fold := func(side map[place]*Side) map[place]*Side {
		out := map[place]*Side{}
		for p, s := range side {
			if !several[p.rank] {
				p.device = 0
			}
			out[p] = s
		}
		return out
	}
	b, n = fold(b), fold(n)
	add := func(p place) {
		r := Row{Rank: p.rank, Match: "name", Base: b[p], New: n[p]}
		if several[p.rank] {
			r.Device = &p.device
		}
		switch {
		case r.Base == nil:
			r.Match = "new"
		case r.New == nil:
			r.Match = "gone"
		default:
			delta := r.New.NS - r.Base.NS
			r.DeltaNS = &delta
		}
		c.Rows = append(c.Rows, r)
	}
	for p := range b {
		add(p)
	}
	for p := range n {
		if b[p] == nil {
			add(p)
		}
	}
	device := func(r Row) int64 {
		if r.Device == nil {
			return 0
		}
		return *r.Device
	}
	slices.SortFunc(c.Rows,
		func(x, y Row) int { return cmp.Or(cmp.Compare(x.Rank, y.Rank), cmp.Compare(device(x), device(y))) })
	return c
}

// gather returns the ranks of a side, or nil if a run has a rank twice. It adds up repeated runs.
func gather(parts []comparability.Part, bySteps bool) map[place]*Side {
	out := map[place]*Side{}
	for _, p := range parts {
		has := func(input int) bool { return p.Inputs == nil || slices.Contains(p.Inputs, input) }
		at := func(input, rank int, device int64) *Side {
			if !has(input) {
				return nil
			}
			return out[place{rank, device}]
		}
		seen := map[place]bool{}
		for _, d := range p.Devices {
			if !has(d.Input) || d.Activity.Window() <= 0 {
				continue
			}
			k := place{d.Rank, d.Device}
			if seen[k] {
				return nil
			}
			seen[k] = true
			if out[k] == nil {
				out[k] = &Side{}
			}
			if !bySteps {
				out[k].Steps++
				out[k].total = out[k].total.Plus(d.Activity)
			}
		}
		for _, st := range p.Steps {
			if s := at(st.Input, st.Rank, st.Device); s != nil && bySteps && st.Activity.Window() > 0 && st.LaunchesCut == 0 {
				s.Steps++
				s.total = s.total.Plus(st.Activity)
			}
		}
		for i := range p.Ranks {
			r := p.Ranks[i]
			if s := at(r.Input, r.Rank, r.Device); s != nil {
				s.wait.TransferNS, s.wait.WaitNS = s.wait.TransferNS+r.TransferNS,
					s.wait.WaitNS+r.WaitNS
				s.wait.CausedNS, s.wait.Last = s.wait.CausedNS+r.CausedNS, s.wait.Last+r.Last
				s.wait.Collectives += r.Collectives
				s.Others = r.Others
			}
		}
	}
	for k, s := range out {
		if s.Steps == 0 {
			delete(out, k)
			continue
		}
		s.divide()
	}
	return out
}

// divide converts sums to means. It carries remainders, so that the parts sum to the step.
func (s *Side) divide() {
	n := s.Steps
	var all, done int64
	next := func(ns int64) int64 {
		all += ns
		part := all/n - done
		done += part
		return part
	}
	s.Compute, s.Comm, s.Copies, s.Idle = next(s.total.Compute()), next(s.total.ExposedComm()),
		next(s.total.ExposedCopy()), next(s.total.Idle())
	s.NS = done
	if s.wait.Collectives > 0 {
		s.Collectives = &Collectives{s.wait.TransferNS / n, s.wait.WaitNS / n, s.wait.CausedNS / n, s.wait.Last}
	}
}

// judge returns the totals of a side and marks its stragglers.
func judge(parts []comparability.Part, side map[place]*Side) Total {
	t := Total{Ranks: len(side), Stragglers: []int{}}
	var step, wait, transfer int64
	known := false
	var rows []summary.RankWait
	for k, s := range side {
		step, wait, transfer = step+s.NS, wait+s.Wait(), transfer+s.Transfer()
		row := summary.RankWait{Rank: k.rank, Device: k.device, WaitNS: s.Wait()}
		if s.Collectives != nil {
			row.CausedNS, known = s.Collectives.Caused, true
		}
		rows = append(rows, row)
	}
	n := int64(len(side))
	if wait, transfer = wait/n, transfer/n; known {
		t.Wait, t.Transfer = &wait, &transfer
	}
	t.Matched = matched(parts, side)
	if !t.Matched || float64(wait) < atLeast*float64(step/n) {
		return t
	}
	late, _ := view.LateRanks(rows)
	for _, r := range late {
		t.Stragglers = append(t.Stragglers, r.Rank)
		side[place{r.Rank, r.Device}].Straggler = true
	}
	slices.Sort(t.Stragglers)
	t.Stragglers = slices.Compact(t.Stragglers)
	return t
}

// matched reports whether the ranks do the same work, and whether at least half of their
// communication is in matched collectives.
func matched(parts []comparability.Part, side map[place]*Side) bool {
	var inside, all int64
	for _, s := range side {
		inside += s.wait.TransferNS + s.wait.WaitNS
	}
	for _, p := range parts {
		jobs := map[int]bool{}
		for _, t := range p.Topologies {
			if t.PeersFrom != "all" {
				return false
			}
		}
		for _, r := range p.Ranks {
			if p.Inputs == nil || slices.Contains(p.Inputs, r.Input) {
				jobs[r.Job] = true
			}
		}
		if len(jobs) != 1 {
			return false
		}
		for _, k := range p.Kernels {
			if k.Class == "comm" && (p.Inputs == nil || slices.Contains(p.Inputs, k.Input)) {
				all += k.TotalNS
			}
		}
	}
	return inside > 0 && inside >= all-inside
}
