package summary

import "fmt"

// A Flame is the tree of the stacks of one input, for pictures: the cost of every function, separately for
// each of its callers. Input is its key.
//
// Only functions that are large enough to be drawn have a node of their own. The others are added up in
// nodes that have their number. The roots sum to Total. The value of a node minus the sum of its children
// is its own cost.
type Flame struct {
	Input int    `json:"input"`
	Name  string `json:"name"` // what the values measure: "cpu", "inuse_space"
	Unit  string `json:"unit"` // "ns", "bytes", "count"
	Total int64  `json:"total"`

	// Nodes are in the order of a depth-first walk: a node precedes its
	// children, and the largest child comes first.
	Nodes []FlameNode `json:"nodes"`
}

// A FlameNode is one function below the functions that called it.
type FlameNode struct {
	Depth int    `json:"depth"` // 0 for a root; its parent is the last node before it whose depth is one less
	Name  string `json:"name,omitempty"`
	File  string `json:"file,omitempty"`
	Value int64  `json:"value"` // including all functions that it called

	// Others is the number of functions at one position that are added up in
	// this node, which then has no name; 0 for an ordinary node.
	Others int64 `json:"others,omitempty"`
}

// check returns an error if f is not a tree, if children sum to more than their
// parent, or if the roots do not sum to the total.
func (f *Flame) check() error {
	rest := []int64{f.Total} // for each node on the path: the value left for its children
	for i, n := range f.Nodes {
		if n.Depth < 0 || n.Depth >= len(rest) {
			return fmt.Errorf(".nodes[%d].depth: got %d, want 0 to %d", i, n.Depth, len(rest)-1)
		}
		rest = rest[:n.Depth+1]
		if n.Value < 0 || n.Value > rest[n.Depth] {
			return fmt.Errorf(".nodes[%d].value: got %d, want 0 to %d, what its parent has left", i, n.Value, rest[n.Depth])
		}
		rest[n.Depth] -= n.Value
		rest = append(rest, n.Value)
	}
	if rest[0] != 0 {
		return fmt.Errorf(".nodes: roots sum to %d, total is %d", f.Total-rest[0], f.Total)
	}
	return nil
}
