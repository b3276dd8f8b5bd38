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

// A pair is a kind of sends from one member of a communicator to another.
type pair struct {
	src, dst int
	count    int64
	dtype    string
}

// balanceOf returns how many more sends than receives each pair of one communicator logged, and the inputs by
// places in it. It returns nil if a place is unknown.
func balanceOf(of []*summary.Group) (balance map[pair]int64, places map[int]int) {
	balance, places = map[pair]int64{}, map[int]int{}
	for _, g := range of {
		if g.Place == nil {
			return nil, nil
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
		return nil, nil
	}
	return balance, places
}

// Limits of a hang. A rank that hangs waits in its last calls. If the logs end at different places, as logs that were
// copied at different times or cut do, many calls of one have no counterpart in the other.
const (
	fewUnpaired  = 8
	mostUnpaired = 0.1 // of all sends and receives of the communicator
)

// endApart reports whether the logs of the members of a communicator end at different places. A member without any
// send or receive may hang before its first one.
func endApart(of []*summary.Group) bool {
	balance, places := balanceOf(of)
	unpaired, all := int64(0), int64(0)
	for p, n := range balance {
		_, given := places[p.src]
		if _, also := places[p.dst]; given && also {
			unpaired += max(n, -n)
		}
	}
	for _, g := range of {
		own := int64(0)
		for _, c := range g.Calls {
			if c.Peer != nil {
				own += c.Calls
			}
		}
		if all += own; own == 0 {
			return false
		}
	}
	return unpaired > fewUnpaired && float64(unpaired) > mostUnpaired*float64(all)
}

// LogsEndApart returns the input with the fewest calls in a communicator of NCCL whose logs end at different places,
// or -1.
func LogsEndApart(s *summary.Summary) int {
	groups := map[string][]*summary.Group{}
	var order []string
	for i := range s.Groups {
		if g := &s.Groups[i]; g.Source == ncclSource {
			if groups[g.Group] == nil {
				order = append(order, g.Group)
			}
			groups[g.Group] = append(groups[g.Group], g)
		}
	}
	calls := func(g *summary.Group) (n int64) {
		for _, c := range g.Calls {
			n += c.Calls
		}
		return n
	}
	for _, name := range order {
		if of := groups[name]; endApart(of) {
			return slices.MinFunc(of, func(a, b *summary.Group) int { return cmp.Compare(calls(a), calls(b)) }).Input
		}
	}
	return -1
}

// unpaired compares the numbers of sends and receives of one communicator, if all its members were given.
func unpaired(of []*summary.Group, ranks map[int]int) (out []Hang) {
	balance, places := balanceOf(of)
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
