package page

import (
	"fmt"
	"strconv"

	"assay/internal/label"
	"assay/summary"
)

// lineName returns a position in a source file.
func lineName(file string, line int) string {
	if line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// flame is a tree of stacks, in depth-first order. The script derives callers and callees from it.
type flame struct {
	Title string  `json:"title"`
	Unit  string  `json:"unit"` // "ns", "bytes", "count"
	Total int64   `json:"total"`
	Depth []int   `json:"depth"`
	Name  []int   `json:"name"`
	Value []int64 `json:"value"`
}

func flames(s *summary.Summary, n *names) (out []flame) {
	for i := range s.Flames {
		f := &s.Flames[i]
		to := flame{Title: visible(f.Name), Unit: f.Unit, Total: f.Total}
		if len(s.Inputs) > 1 {
			to.Title += ", " + visible(label.Base(s.Inputs[f.Input].Path))
		}
		for _, node := range f.Nodes {
			name := node.Name
			if node.Others > 0 {
				name = fmt.Sprintf("(%s)", label.Plural(node.Others, "more function"))
			}
			to.Depth, to.Name, to.Value = append(to.Depth, node.Depth), append(to.Name, n.kernel(name)), append(to.Value, node.Value)
		}
		out = append(out, to)
	}
	return out
}
