package summary

import "fmt"

// A Flame is the tree of the stacks of one input, for pictures: what every
// function cost where it was called from. Input is its key.
//
// Only what has room in a picture is a node of its own; what is left out is
// added up in nodes that say how many functions they stand for. The roots sum to
// Total, and what a node has over its children it cost itself.
type Flame struct {
	Input int    `json:"input"`
	Name  string `json:"name"` // of the values: "cpu", "inuse_space"
	Unit  string `json:"unit"` // "ns", "bytes", "count"
	Total int64  `json:"total"`

	// Nodes are in the order of a walk along the tree: a node comes before its
	// children, the largest of them first.
	Nodes []FlameNode `json:"nodes"`
}

// A FlameNode is one function below the functions that called it.
type FlameNode struct {
	Depth int    `json:"depth"` // 0 for a root; its parent is the last node before it that is one less deep
	Name  string `json:"name,omitempty"`
	File  string `json:"file,omitempty"`
	Value int64  `json:"value"` // with all that it called

	// Others is how many functions of one place are added up here, which then has
	// no name; 0 for a node that stands for itself.
	Others int64 `json:"others,omitempty"`
}

// check returns an error if f is no tree, or if children have more than their
// parent or roots other than the total.
func (f *Flame) check() error {
	rest := []int64{f.Total} // of each node on the path, what its children may still have
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
