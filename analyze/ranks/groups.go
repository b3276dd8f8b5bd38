package ranks

import (
	"fmt"

	"assay/analyze/ranks/collective"
)

// A group is one communicator as all members see it.
type group struct {
	name, ranks string
	size        int  // ranks of the communicator; 0 if it is not known
	local       bool // the name means nothing in other processes
	sends       sendsKind
	key         string // of the communicator; equal for its sends and its collectives
	lists       []list
	whole       int // number of lists whose inputs did not end early

	matched   matchedBy
	instances []instance
	differ    int64 // number of instances whose kind, type or size differs between ranks

	leavers []int // lists of members that leave collectives before others have come

	solved *Solved // result from another machine; nil if the runs are here
}

// A sendsKind says whether a group has collectives, or sends and receives.
type sendsKind uint8

const (
	noSends     sendsKind = iota // collectives
	sendsOfPair                  // sends from one rank to another
	sendsOfAll                   // sends whose ranks the profiler did not record
)

// A list has the runs of one member in a group.
type list struct {
	member int     // index of the member in the job
	runs   []int32 // indices of the member's runs, in launch order
	of     []int32 // instance of each run, or -1
	cut    bool    // the input of the member ended early
}

// groupsOf returns the groups of all members, in the order of their first use.
func groupsOf(members []Member) []*group {
	index := map[string]*group{}
	var out []*group
	for m := range members {
		c := members[m].Columns
		keys := keysOf(c)
		slots := make([]slot, len(c.Whats)) // the list for the runs of each kind
		at := map[*group]int{}
		for i := range c.Runs {
			to := &slots[c.Runs[i].What]
			if to.group == nil {
				what := &c.Whats[c.Runs[i].What]
				key, sends := sendsOf(keys[what.Group], what, members[m].Rank)
				g := index[key]
				if g == nil {
					g = newGroup(c.Groups[what.Group], sends, keys[what.Group])
					index[key] = g
					out = append(out, g)
				}
				n, ok := at[g]
				if !ok {
					n = len(g.lists)
					at[g] = n
					g.lists = append(g.lists, list{member: m, cut: members[m].Cut})
				}
				*to = slot{g, n}
			}
			l := &to.group.lists[to.list]
			l.runs = append(l.runs, int32(i))
		}
	}
	return out
}

// newGroup returns a group without members. The key is that of its communicator.
func newGroup(from collective.Group, sends sendsKind, key string) *group {
	return &group{name: from.Name, ranks: from.Ranks, size: from.Size, local: from.Local, sends: sends, key: key}
}

// A slot is a list of a group.
type slot struct {
	group *group
	list  int
}

// sendsOf returns the key of the group of a run. Collectives have a group per communicator. Sends
// and receives have a group per pair of ranks and direction, because only the two ranks know of
// them, and they number them separately.
func sendsOf(key string, what *collective.What, rank int) (string, sendsKind) {
	switch {
	case what.Op != collective.SendRecv:
		return key, noSends
	case what.Peer < 0:
		return key + "\x00sends", sendsOfAll
	case what.Sends:
		return fmt.Sprintf("%s\x00from %d to %d", key, rank, what.Peer), sendsOfPair
	}
	return fmt.Sprintf("%s\x00from %d to %d", key, what.Peer, rank), sendsOfPair
}

// keysOf returns, for each group of one rank, a key that is equal on all ranks of the group.
func keysOf(c *collective.Columns) []string {
	out := make([]string, len(c.Groups))
	local := map[int]int{} // groups of each size so far
	for i := range c.Runs {
		at := c.Whats[c.Runs[i].What].Group
		if out[at] != "" {
			continue
		}
		switch g := c.Groups[at]; {
		case g.ID != 0:
			out[at] = fmt.Sprintf("id %d", g.ID)
		case g.Local:
			out[at] = fmt.Sprintf("local %d of %d", local[g.Size], g.Size)
			local[g.Size]++
		default:
			out[at] = fmt.Sprintf("name %s\x00%s\x00%d", g.Name, g.Ranks, g.Size)
		}
	}
	return out
}

// ranksOf returns the number of ranks of the communicator: as recorded, and at least the number of
// ranks that were given.
func (g *group) ranksOf() int { return max(g.size, len(g.lists)) }

// longest returns the list with the most runs, the first of equal ones.
func (g *group) longest() *list {
	best := &g.lists[0]
	for i := range g.lists {
		if len(g.lists[i].runs) > len(best.runs) {
			best = &g.lists[i]
		}
	}
	return best
}
