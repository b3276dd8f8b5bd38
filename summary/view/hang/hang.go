package hang

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"assay/summary"
)

// A Hang is a call of a group that some members made and others did not, or did not
// complete.
type Hang struct {
	Run         string // run of the dumps, if there are several runs: see [Runs]
	Group, Desc string
	Op          string
	Seq         int64
	Shape       string
	Kind        Kind

	Waiting []int // ranks that made the call and wait in it
	Absent  []int // ranks that did not make the call, or did not complete what others completed
	Unknown []int // members without a dump

	SinceNS int64 // Unix time at which the first rank made the call; 0 if unknown
	RanNS   int64 // how long a watchdog waited; 0 if unknown
	Calls   int64 // number of sends or receives without a counterpart

	Places bool // Waiting and Absent are places in the group, because the ranks in the job are unknown
	Idle   bool // all absent ranks wait in no other call: the program stopped before the call
}

// A Kind is the way in which the members of a group differ.
type Kind string

// The kinds.
const (
	NotArrived   Kind = "not-arrived"   // Absent did not make the call
	NotCompleted Kind = "not-completed" // Absent made the call that others completed
	Unpaired     Kind = "unpaired"      // calls of Send or Recv without a counterpart
	TimedOut     Kind = "timed-out"     // a process printed a time-out; the other members are unknown
)

// In compares the rows of groups of all processes and returns the calls that not all members made. Calls
// whose absent ranks wait in no other call come first, because they are closest to the cause; then they are
// sorted by time.
//
// If the dumps belong to several runs, each run is compared by itself. Dumps that cannot be assigned to a
// run are left out: see [MixedDumps].
func In(s *summary.Summary) (out []Hang) {
	of := Runs(s)
	if of == nil {
		out = hangsOf(s.Groups, ranksOfJob(s))
		for i := range out {
			if h := &out[i]; h.Kind == TimedOut {
				h.Absent = failedRanks(s, h.Waiting)
			}
		}
		return out
	}
	mixed := MixedDumps(s)
	byRun := map[string][]summary.Group{}
	for _, g := range s.Groups {
		byRun[of[g.Input]] = append(byRun[of[g.Input]], g)
	}
	for _, run := range slices.Sorted(maps.Keys(byRun)) {
		if slices.ContainsFunc(mixed, func(m [2]int) bool { return of[m[0]] == run }) {
			continue
		}
		list := hangsOf(byRun[run], nil)
		for i := range list {
			list[i].Run = run
		}
		out = append(out, list...)
	}
	return out
}

// failedRanks returns the ranks whose logs say that memory ran out, without those that wait: a rank that timed out has
// gone on, and a rank that failed does not arrive.
func failedRanks(s *summary.Summary, waiting []int) (out []int) {
	for i := range s.Series {
		r := &s.Series[i]
		if r.Metric != "memory.failed" || r.Pooled > 0 || r.N == 0 || len(waiting) == 0 {
			continue
		}
		rank := s.Inputs[r.Input].Rank
		if n, err := strconv.Atoi(r.Labels["rank"]); err == nil {
			rank = n
		} else if s.Inputs[r.Input].RankFrom == "assumed" || s.Inputs[r.Input].RankFrom == "" {
			continue
		}
		if !slices.Contains(waiting, rank) && !slices.Contains(out, rank) {
			out = append(out, rank)
		}
	}
	slices.Sort(out)
	return out
}

// hangsOf returns the calls of one run that not all members made. ranks has the rank of each input that is
// the output of one process.
func hangsOf(all []summary.Group, ranks map[int]int) []Hang {
	type key struct{ source, group, desc string }
	groups := map[key][]*summary.Group{}
	var order []key
	waits := map[int]bool{}
	for i := range all {
		g := &all[i]
		k := key{g.Source, g.Group, g.Desc}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], g)
		if g.Rank != nil && len(g.Pending) > 0 {
			waits[*g.Rank] = true
		}
	}
	dumped := map[int]bool{}
	for i := range all {
		if g := &all[i]; (g.Source == recorderSource || g.Source == rasSource) && g.Rank != nil {
			dumped[*g.Rank] = true
		}
	}
	var out []Hang
	apart := slices.ContainsFunc(order, func(k key) bool { return k.source == ncclSource && endApart(groups[k]) })
	for _, k := range order {
		switch k.source {
		case recorderSource, rasSource:
			out = append(out, recorded(groups[k], dumped)...)
		case ncclSource:
			if !apart {
				out = append(out, unpaired(groups[k], ranks)...)
			}
		case "watchdog":
			out = append(out, timedOut(groups[k])...)
		}
	}
	for i := range out {
		h := &out[i]
		h.Idle = h.Kind == NotArrived && !slices.ContainsFunc(h.Absent, func(r int) bool { return waits[r] })
	}
	rank := func(h *Hang) int {
		switch {
		case h.Idle:
			return 0
		case h.Kind == NotCompleted:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b Hang) int { return cmp.Or(cmp.Compare(rank(&a), rank(&b)), cmp.Compare(a.SinceNS, b.SinceNS)) })
	return out
}

// recorded compares the dumps of the members of one group.
func recorded(of []*summary.Group, dumped map[int]bool) (out []Hang) {
	members := map[int]bool{}
	byRank := map[int]*summary.Group{}
	for _, g := range of {
		for _, m := range g.Members {
			members[m] = true
		}
		if g.Rank != nil {
			members[*g.Rank] = true
			byRank[*g.Rank] = g
		}
	}
	if len(byRank) < 2 && len(members) == len(byRank) {
		return nil
	}
	// The first call that somebody waits in and that another member did not make, or
	// has completed.
	var calls []*summary.PendingCall
	for _, r := range slices.Sorted(maps.Keys(byRank)) { // of equal calls, the first rank's is used
		g := byRank[r]
		for i := range g.Pending {
			if p := &g.Pending[i]; !p.P2P && p.Seq >= 0 {
				calls = append(calls, p)
			}
		}
	}
	slices.SortStableFunc(calls, func(a, b *summary.PendingCall) int {
		return cmp.Or(cmp.Compare(a.Seq, b.Seq), compareSince(a, b))
	})
	have := map[Kind]bool{}
	for i, p := range calls {
		if i > 0 && calls[i-1].Seq == p.Seq {
			continue
		}
		h := Hang{Group: of[0].Group, Desc: of[0].Desc, Op: p.Op, Seq: p.Seq, Shape: p.Shape}
		if p.CreatedNS != nil {
			h.SinceNS = *p.CreatedNS
		}
		var done []int
		for _, r := range slices.Sorted(maps.Keys(members)) {
			g := byRank[r]
			switch {
			case g == nil && !dumped[r]:
				h.Unknown = append(h.Unknown, r)
			case g == nil:
			case slices.ContainsFunc(g.Pending, func(q summary.PendingCall) bool { return !q.P2P && q.Seq == p.Seq }):
				h.Waiting = append(h.Waiting, r)
			case g.LastCompleted != nil && *g.LastCompleted >= p.Seq:
				done = append(done, r)
			case g.Dropped > 0, g.LastEnqueued != nil && *g.LastEnqueued >= p.Seq: // the entry was overwritten
				h.Unknown = append(h.Unknown, r)
			default:
				h.Absent = append(h.Absent, r)
			}
		}
		switch {
		case len(h.Absent) > 0:
			h.Kind = NotArrived
		case len(done) > 0:
			h.Kind = NotCompleted
			h.Absent, h.Waiting = h.Waiting, done
		default:
			continue
		}
		if !have[h.Kind] {
			have[h.Kind] = true
			out = append(out, h)
		}
	}
	return out
}

func compareSince(a, b *summary.PendingCall) int {
	at := func(p *summary.PendingCall) int64 {
		if p.CreatedNS == nil {
			return 0
		}
		return *p.CreatedNS
	}
	return cmp.Compare(at(a), at(b))
}

// timedOut returns the calls in which a watchdog timed out.
func timedOut(of []*summary.Group) (out []Hang) {
	for _, g := range of {
		for _, p := range g.Pending {
			h := Hang{Group: g.Group, Desc: g.Desc, Kind: TimedOut, Op: p.Op, Seq: p.Seq, Shape: p.Shape, RanNS: p.RanNS}
			if g.Rank != nil {
				h.Waiting = []int{*g.Rank}
			} else if g.Place != nil {
				h.Waiting = []int{*g.Place}
			}
			i := slices.IndexFunc(out, func(o Hang) bool { return o.Group == h.Group && o.Op == h.Op && o.Seq == h.Seq })
			switch {
			case i < 0:
				out = append(out, h)
			case len(h.Waiting) > 0 && !slices.Contains(out[i].Waiting, h.Waiting[0]):
				out[i].Waiting = append(out[i].Waiting, h.Waiting[0])
				out[i].RanNS = max(out[i].RanNS, h.RanNS)
			}
		}
	}
	return out
}
