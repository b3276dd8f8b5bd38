package comm

import (
	"slices"

	"assay/internal/lazyregexp"
	"assay/logs"
)

const sourceRAS = "NCCL RAS"

var (
	reRASGroup = lazyregexp.New(`^#\d+-\d+ \(([0-9a-f]+)\)`)
	reRASOp    = lazyregexp.New(`Communicator ranks have different (\w+) operation counts`)
	reRASCount = lazyregexp.New(`^\s*(\d{1,7}) ranks? ha(?:ve|s) launched up to operation (\d{1,18})`)
	reRASRank  = lazyregexp.New(`^\s*Rank (\d{1,7}) -- GPU `)
)

// A ras is a mismatch in a report of ncclras, the client of NCCL's RAS: so many ranks of a communicator launched up
// to some operation, and others up to another one. The ranks of the smaller sides are listed.
type ras struct {
	name, op string
	sides    []rasSide
}

type rasSide struct {
	count  int
	number int64 // of the last operation that was launched
	ranks  []int
}

// rasLine reads a line of a report.
func (f *Finder) rasLine(line string) {
	r := &f.ras
	if m := reRASGroup().FindStringSubmatch(line); m != nil {
		f.closeRAS()
		r.name = m[1]
	} else if m := reRASOp().FindStringSubmatch(line); m != nil {
		name := r.name
		f.closeRAS()
		r.name, r.op = name, m[1]
	} else if m := reRASCount().FindStringSubmatch(line); m != nil && r.op != "" && len(r.sides) < 64 {
		r.sides = append(r.sides, rasSide{count: number(m[1]), number: int64(number(m[2]))})
	} else if m := reRASRank().FindStringSubmatch(line); m != nil && len(r.sides) > 0 && len(f.order) < logs.MaxGroups {
		s := &r.sides[len(r.sides)-1]
		s.ranks = append(s.ranks, number(m[1]))
	}
}

// closeRAS adds the members of the communicator. If one side is not listed, it has all other ranks. It adds none if
// the numbers do not fit.
func (f *Finder) closeRAS() {
	r := f.ras
	f.ras = ras{}
	size, listed, rest := 0, []int{}, -1
	for i, s := range r.sides {
		size += s.count
		listed = append(listed, s.ranks...)
		if len(s.ranks) == 0 {
			rest = i
		}
	}
	if len(r.sides) < 2 || size > logs.MaxGroups-len(f.order) {
		return
	}
	if rest >= 0 {
		for rank := range size {
			if !slices.Contains(listed, rank) {
				r.sides[rest].ranks = append(r.sides[rest].ranks, rank)
			}
		}
	}
	last := int64(0)
	for _, s := range r.sides {
		last = max(last, s.number)
		if len(s.ranks) != s.count {
			return
		}
	}
	f.b.Record(sourceRAS, false)
	for _, s := range r.sides {
		for _, rank := range s.ranks {
			g := &logs.Group{Source: sourceRAS, Name: r.name, Rank: rank, Place: rank, Size: size, LastEnqueued: s.number, LastCompleted: -1, Version: f.version}
			if s.number == last {
				g.Pending = []logs.PendingOp{{Op: r.op, Seq: last, State: "started", Created: logs.NoTime}}
			}
			f.order = append(f.order, g)
		}
	}
}
