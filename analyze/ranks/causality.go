package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
)

// No rank leaves a collective that synchronizes before the last has come, and all leave it about when the transfer is
// over. So each collective bounds the offset of two clocks from both sides, and some offset must be within nearly all
// bounds. If there is none, the times of one of
// the ranks are wrong: its collectives are too short, or they are of another run.
const (
	// mostWithin is the least share of the collectives whose bounds must hold. A few wrong records prove nothing
	// about the rest.
	mostWithin = 0.95
	// leastBounded is the least number of collectives that prove anything.
	leastBounded = 5
	// mostBounded is the number of collectives of a rank that are tested.
	mostBounded = 2048
)

// leaveEarly returns the lists of members whose times are impossible compared with those of most members. A group
// that was matched by order or end proves nothing if there are few members: then the match may be wrong.
func (g *group) leaveEarly(members []Member) []int {
	if g.sends != noSends || g.matched == byNothing || len(g.lists) < 2 {
		return nil
	}
	const tries = 4 // members; one of them is probably right
	for ref := range g.lists[:min(tries, len(g.lists))] {
		var out []int
		for i := range g.lists {
			if i != ref && !g.within(members, i, ref) {
				out = append(out, i)
			}
		}
		if sure := g.matched == byNumber && !g.local && len(g.lists) == 2; len(out) == 0 || 2*len(out) < len(g.lists)-1 || sure {
			return out
		}
	}
	return nil
}

// within reports whether there is an offset of the clocks of two lists that is possible for nearly all collectives.
// Clocks may drift apart by 50 ppm.
func (g *group) within(members []Member, own, ref int) bool {
	const slack, drift = 50_000, 20_000
	type bound struct {
		at   int64
		step int // 1 where the bounds of a collective begin, -1 where they end
	}
	at := make([]int32, len(g.instances)) // the reference's run of each instance plus 1, or 0
	for i, id := range g.lists[ref].of {
		if id >= 0 {
			at[id] = g.lists[ref].runs[i] + 1
		}
	}
	a, b := members[g.lists[own].member].Columns.Runs, members[g.lists[ref].member].Columns.Runs
	var bounds []bound
	var first, last int64
	every := 1 + len(g.lists[own].of)/mostBounded
	for k := 0; k < len(g.lists[own].of); k += every {
		id := g.lists[own].of[k]
		if id < 0 || at[id] == 0 || g.instances[id].differs || g.instances[id].uneven || !g.instances[id].what.Op.Synchronizes() {
			continue
		}
		x, y := a[g.lists[own].runs[k]], b[at[id]-1]
		x.End, y.End = max(x.End, x.Start), max(y.End, y.Start)
		ends, near := x.End-y.End, 2*g.instances[id].shortest
		if len(bounds) == 0 {
			first = x.Start
		}
		last = x.End
		bounds = append(bounds, bound{max(x.Start-y.End, ends-near), 1}, bound{min(x.End-y.Start, ends+near), -1})
	}
	n := len(bounds) / 2
	if n < leastBounded {
		return true
	}
	more := slack + max(0, last-first)/drift
	for i := range bounds {
		if bounds[i].step < 0 {
			bounds[i].at += more
		}
	}
	slices.SortFunc(bounds, func(a, b bound) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.step, a.step)) })
	open, most := 0, 0
	for _, b := range bounds {
		open += b.step
		most = max(most, open)
	}
	return float64(most) >= mostWithin*float64(n)
}

// noteLeavers adds an issue if a rank leaves collectives before others have come, and reports whether one does.
func (j *Job) noteLeavers(s *summary.Summary, facts []Facts) bool {
	var odd []capture
	seen := map[int]bool{}
	for n, g := range j.groups {
		for _, i := range facts[n].Leavers {
			m := j.members[g.lists[i].member]
			if !seen[m.Input] && m.Input < len(s.Inputs) {
				odd = append(odd, capture{rank: m.Rank, path: s.Inputs[m.Input].Path})
			}
			seen[m.Input] = true
		}
	}
	if len(odd) == 0 {
		return false
	}
	help := fmt.Sprintf("%s leaves collectives before other ranks have come, whatever the offset of the clocks, so its times are wrong or it is of another run.", were(odd))
	add(s, *incomparable(odd, help, "Give the file that the profiler wrote."))
	return true
}
