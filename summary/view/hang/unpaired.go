package hang

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
)

// ncclSource is the source of communicators of NCCL.
const ncclSource = "NCCL log"

// unpaired compares the numbers of sends and receives of one communicator, if all its members were given.
func unpaired(of []*summary.Group, ranks map[int]int) (out []Hang) {
	type pair struct {
		src, dst int
		count    int64
		dtype    string
	}
	places := map[int]int{} // input by rank in the group
	balance := map[pair]int64{}
	for _, g := range of {
		if g.Place == nil {
			return nil
		}
		places[*g.Place] = g.Input
		for _, c := range g.Calls {
			switch {
			case c.Peer == nil:
			case c.Op == "Send":
				balance[pair{*g.Place, *c.Peer, c.Count, c.Dtype}] += c.Calls
			case c.Op == "Recv":
				balance[pair{*c.Peer, *g.Place, c.Count, c.Dtype}] -= c.Calls
			}
		}
	}
	if len(places) != len(of) { // several processes of the same place: several runs
		return nil
	}
	for p, n := range balance {
		src, given := places[p.src]
		dst, alsoGiven := places[p.dst]
		if n == 0 || !given || !alsoGiven {
			continue
		}
		h := Hang{Group: of[0].Group, Desc: of[0].Desc, Kind: Unpaired, Shape: strconv.FormatInt(p.count, 10) + " " + p.dtype, Calls: max(n, -n), Op: "Send", Places: true}
		from, to := p.src, p.dst
		if a, ok := ranks[src]; ok {
			if b, ok := ranks[dst]; ok {
				from, to, h.Places = a, b, false
			}
		}
		h.Waiting, h.Absent = []int{from}, []int{to}
		if n < 0 {
			h.Op, h.Waiting, h.Absent = "Recv", []int{to}, []int{from}
		}
		out = append(out, h)
	}
	slices.SortFunc(out, func(a, b Hang) int {
		return cmp.Or(cmp.Compare(a.Waiting[0], b.Waiting[0]), cmp.Compare(a.Absent[0], b.Absent[0]), strings.Compare(a.Op, b.Op), strings.Compare(a.Shape, b.Shape))
	})
	return out
}

// ranksOfJob returns the ranks in the job of the inputs that are the log of one process each. A rank that
// was taken from the process's largest communicator is a rank of the job only if the largest communicators
// of all processes are the same.
func ranksOfJob(s *summary.Summary) map[int]int {
	type member struct {
		input int
		group string
	}
	seen, largest := map[member]bool{}, map[int]*summary.Group{}
	several := map[int]bool{}
	for i := range s.Groups {
		g := &s.Groups[i]
		if g.Source != ncclSource {
			continue
		}
		k := member{g.Input, g.Group}
		several[g.Input] = several[g.Input] || seen[k]
		seen[k] = true
		if l := largest[g.Input]; l == nil || g.Size > l.Size {
			largest[g.Input] = g
		}
	}
	worlds := map[string]bool{}
	for _, g := range largest {
		worlds[g.Group] = true
	}
	out := map[int]int{}
	for input := range largest {
		if input >= len(s.Inputs) {
			continue
		}
		in := &s.Inputs[input]
		if !several[input] && in.RankFrom != "assumed" && (in.RankFrom != "nccl" || len(worlds) == 1) {
			out[input] = in.Rank
		}
	}
	return out
}
