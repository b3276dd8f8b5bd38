package fleet

import (
	"fmt"

	"assay/collective"
)

// A group is one communicator as all members see it.
type group struct {
	name, ranks string
	size        int  // ranks of the communicator; 0 if it is not known
	local       bool // only one process knows the name
	lists       []list

	matched   matchedBy
	instances []instance
	differ    int64 // instances whose kind, type or size differs between ranks
}

// A list has the runs of one member in a group.
type list struct {
	member int     // index of the job's members
	runs   []int32 // indexes of the member's runs, in launch order
	of     []int32 // the instance of each run; -1 if it matches none
}

// groupsOf returns the groups of all members, those with two and more of them first
// used first.
func groupsOf(members []Member) []*group {
	index := map[string]*group{}
	var out []*group
	for m := range members {
		c := members[m].Columns
		keys := keysOf(c)
		at := map[*group]int{}
		for i := range c.Runs {
			what := &c.Whats[c.Runs[i].What]
			key := keys[what.Group]
			if what.Op == collective.SendRecv {
				key += "\x00p2p" // it is counted apart from collectives
			}
			g := index[key]
			if g == nil {
				from := c.Groups[what.Group]
				g = &group{name: from.Name, ranks: from.Ranks, size: from.Size, local: from.Local}
				index[key] = g
				out = append(out, g)
			}
			n, ok := at[g]
			if !ok {
				n = len(g.lists)
				at[g] = n
				g.lists = append(g.lists, list{member: m})
			}
			g.lists[n].runs = append(g.lists[n].runs, int32(i))
		}
	}
	return out
}

// keysOf returns for each group of one rank a key that is equal on all its ranks.
func keysOf(c *collective.Columns) []string {
	out := make([]string, len(c.Groups))
	local := map[int]int{} // groups of each size so far
	for i, g := range c.Groups {
		switch {
		case g.ID != 0:
			out[i] = fmt.Sprintf("id %d", g.ID)
		case g.Local:
			out[i] = fmt.Sprintf("local %d of %d", local[g.Size], g.Size)
			local[g.Size]++
		default:
			out[i] = fmt.Sprintf("name %s\x00%s\x00%d", g.Name, g.Ranks, g.Size)
		}
	}
	return out
}

// ranks returns how many ranks the communicator of g has: as recorded, or at least
// as many as were given.
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
