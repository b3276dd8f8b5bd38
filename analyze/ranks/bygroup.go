package ranks

import (
	"cmp"
	"fmt"
	"slices"

	"assay/analyze/ranks/collective"
	"assay/summary"
)

// If the collectives of a job do not fit into the memory of one machine, the job is compared group
// by group. The result is the same as that of [Match]:
//
//	Split     per member: divide its collectives by group
//	OutlineOf per group: list its members
//	NewPlan   from all outlines: choose the groups by which clocks are aligned
//	Solve     per group: compute rows and sums, and the clock offsets of the plan
//	Assemble  from all results: the Job

// A Share has the collectives of one member in one group.
type Share struct {
	Key     string // identifies the group; equal on all its members
	Of      string // key of the communicator
	Sends   uint8
	First   int // index of its first collective among those of the member
	Columns *collective.Columns
}

// Split returns the shares of a member in the order of their first collectives.
func Split(m Member) []Share {
	c := m.Columns
	keys := keysOf(c)
	index := map[string]int{}
	var out []Share
	whats := make([]struct {
		share int
		what  uint32 // in the columns of the share
	}, len(c.Whats))
	known := make([]bool, len(c.Whats))
	for i, run := range c.Runs {
		if !known[run.What] {
			what := c.Whats[run.What]
			key, sends := sendsOf(keys[what.Group], &what, m.Rank)
			at, ok := index[key]
			if !ok {
				at = len(out)
				index[key] = at
				out = append(out, Share{Key: key, Of: keys[what.Group], Sends: uint8(sends), First: i,
					Columns: &collective.Columns{Groups: []collective.Group{c.Groups[what.Group]}}})
			}
			to := out[at].Columns
			what.Group = 0 // groups with the same key are equal in all that matters
			whats[run.What].share, whats[run.What].what, known[run.What] = at, uint32(len(to.Whats)), true
			to.Whats = append(to.Whats, what)
		}
		to := out[whats[run.What].share].Columns
		run.What = whats[run.What].what
		to.Runs = append(to.Runs, run)
	}
	return out
}

// A Given is the share of a member, with the member's place: its index in [Comparable].
type Given struct {
	Place  int
	Member Member // without its columns
	Share  Share
}

// An Outline is what NewPlan needs to know of a group.
type Outline struct {
	Key    string
	First  [2]int // place of the first member, and its first collective: the order of groups
	Places []int  // of the members, ascending
	Aligns bool   // clocks can be aligned by its collectives
}

// A Plan says which groups align which clocks.
type Plan struct {
	Steps map[string][]Step // by the key of the group
}

// A Step aligns the clocks of the members To with the clock of the member From.
type Step struct {
	Nth  int // order of the steps
	From int
	To   []int
}

// NewPlan returns the plan of a job from the outlines of all its groups, in any order.
func NewPlan(members int, groups []Outline) Plan {
	slices.SortFunc(groups, func(a, b Outline) int { return slices.Compare(a.First[:], b.First[:]) })
	p := Plan{Steps: map[string][]Step{}}
	for n, s := range alignment(members, groups) {
		key := groups[s.group].Key
		p.Steps[key] = append(p.Steps[key], Step{n, s.From, s.To})
	}
	return p
}

// A Solved is the result of Solve for one group.
type Solved struct {
	First   [2]int
	Group   collective.Group
	Of      string
	Sends   uint8
	Matched uint8
	Facts   Facts
	Rows    []summary.Collective
	Lists   []SolvedList
	Clocks  []SolvedClock
}

// A SolvedList has the sums of one member in one group, in ns and counts.
type SolvedList struct {
	Place                                      int
	Transfer, Wait, Caused, Matched, Last, Not int64
	Synchronizing                              int
}

// A SolvedClock is the difference of two clocks, in ns, from N collectives.
type SolvedClock struct {
	Nth, From, To, N int
	Offset, Residual int64
}

// groupFrom returns the group of some shares, matched, and its members in the order of its lists.
func groupFrom(list []Given) (*group, []Member) {
	slices.SortFunc(list, func(a, b Given) int { return cmp.Compare(a.Place, b.Place) })
	first := &list[0].Share
	g := newGroup(first.Columns.Groups[0], sendsKind(first.Sends), first.Of)
	members := make([]Member, len(list))
	for i, s := range list {
		members[i] = s.Member
		members[i].Columns = s.Share.Columns
		runs := make([]int32, len(s.Share.Columns.Runs))
		for k := range runs {
			runs[k] = int32(k)
		}
		g.lists = append(g.lists, newList(i, runs, s.Member.Cut))
	}
	g.match(members)
	return g, members
}

func newList(member int, runs []int32, cut bool) list {
	return list{member: member, runs: runs, cut: cut}
}

// outline returns the outline of a group whose lists refer to places of the job.
func (g *group) outline() Outline {
	o := Outline{Aligns: g.matched != byNothing &&
		slices.ContainsFunc(g.instances, func(in instance) bool { return g.aligns(&in) })}
	for _, l := range g.lists {
		o.Places = append(o.Places, l.member)
	}
	return o
}

// OutlineOf returns the outline of the group of some shares.
func OutlineOf(list []Given) Outline {
	g, _ := groupFrom(list)
	o := g.outline()
	o.Key, o.First = list[0].Share.Key, [2]int{list[0].Place, list[0].Share.First}
	for i := range o.Places {
		o.Places[i] = list[i].Place
	}
	return o
}

// Solve compares the members of one group.
func Solve(list []Given, plan Plan) Solved {
	g, members := groupFrom(list)
	share := list[0].Share
	out := Solved{
		First: [2]int{list[0].Place, share.First}, Group: share.Columns.Groups[0], Of: g.key, Sends: share.Sends,
		Matched: uint8(g.matched),
		Facts:   g.facts(members), Rows: g.rows(members),
	}
	sums := make([]waits, len(list))
	g.sum(members, sums)
	counts := g.counts(members)
	at := map[int]int{}
	for i, w := range sums {
		at[list[i].Place] = i
		out.Lists = append(out.Lists, SolvedList{list[i].Place, w.transfer, w.wait, w.caused, w.matched, w.last,
			w.incomplete, counts[i]})
	}
	for _, s := range plan.Steps[share.Key] {
		to := make([]int, len(s.To))
		for i, place := range s.To {
			to[i] = at[place]
		}
		for i, c := range g.offsets(members, at[s.From], to) {
			out.Clocks = append(out.Clocks, SolvedClock{s.Nth, s.From, s.To[i], c.n, c.offset, c.residual})
		}
	}
	return out
}

// Assemble returns the job from the results of all its groups, in any order. members must be as
// [Comparable] returns them. It returns an error if the results do not fit together.
func Assemble(members []Member, found []Solved) (*Job, error) {
	slices.SortFunc(found, func(a, b Solved) int { return slices.Compare(a.First[:], b.First[:]) })
	j := &Job{members: members, waits: make([]waits, len(members)), clocks: make([]clock, len(members))}
	var clocks []SolvedClock
	for i := range found {
		f := &found[i]
		g := newGroup(f.Group, sendsKind(f.Sends), f.Of)
		g.matched, g.solved = matchedBy(f.Matched), f
		for _, l := range f.Lists {
			if l.Place < 0 || l.Place >= len(members) {
				return nil, fmt.Errorf("place %d of %d members", l.Place, len(members))
			}
			w := &j.waits[l.Place]
			w.transfer, w.wait, w.caused = summary.Plus(w.transfer, l.Transfer), summary.Plus(w.wait, l.Wait),
				summary.Plus(w.caused, l.Caused)
			w.matched, w.last, w.incomplete = w.matched+l.Matched, w.last+l.Last, w.incomplete+l.Not
			g.lists = append(g.lists, list{member: l.Place})
		}
		j.groups = append(j.groups, g)
		clocks = append(clocks, f.Clocks...)
	}
	slices.SortFunc(clocks,
		func(a, b SolvedClock) int { return cmp.Or(cmp.Compare(a.Nth, b.Nth), cmp.Compare(a.To, b.To)) })
	for _, c := range clocks {
		j.clocks[c.To] = clock{j.clocks[c.From].offset + c.Offset, c.Residual, c.N}
	}
	return j, nil
}
