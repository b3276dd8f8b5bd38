package proton

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/profile"
	"assay/internal/redact"
)

// A node is a scope or a kernel. Its numbers are its own, without those of its children.
type node struct {
	name     string
	device   string // that a kernel ran on; "" for scopes
	ns       int64
	count    int64
	flops    float64 // as the author states them
	bytes    float64
	stated   [2]bool // whether flops and bytes are stated
	children []*node
	byName   map[string]*node // of children, while a trace is read

	repeats int64 // number of siblings that became this node
}

// isKernel reports whether the node is work of a device.
func (n *node) isKernel() bool {
	return n.device != "" || len(n.children) == 0 && (n.count > 0 || n.ns > 0)
}

// What an author states.
const (
	ofFLOPs = 0
	ofBytes = 1
)

// total has the sums of a node and what is below it.
type total struct {
	ns, kernels int64
	amount      [2]float64
	covered     [2]int64 // the part of ns that a stated amount covers
}

func (n *node) total() (t total) {
	t.ns, t.kernels = n.ns, n.count
	for _, c := range n.children {
		of := c.total()
		t.ns, t.kernels = plus(t.ns, of.ns), plus(t.kernels, of.kernels)
		for i := range t.amount {
			t.amount[i] += of.amount[i]
			t.covered[i] = plus(t.covered[i], of.covered[i])
		}
	}
	for i, own := range [2]float64{n.flops, n.bytes} {
		if t.amount[i] += own; n.stated[i] && own > 0 {
			t.covered[i] = t.ns
		}
	}
	return t
}

// child returns the child of a name, and adds it if there is none.
func (n *node) child(name string) *node {
	if n.byName == nil {
		n.byName = map[string]*node{}
	}
	c, ok := n.byName[name]
	if !ok {
		c = &node{name: strings.Clone(name)}
		n.byName[c.name] = c
		n.children = append(n.children, c)
	}
	return c
}

// numbered matches names that end in a number of their own: "step_3", "layer.12", "iteration 7".
var numbered = lazyregexp.New(`^(.*[_.# :-])\d{1,9}$`)

// manyAlike is the number of siblings whose names differ only in a number from which they become one scope.
const manyAlike = 3

// join joins siblings of one name, and scopes whose names differ only in a number, such as those of steps.
func (n *node) join() {
	alike := map[string]int{}
	stem := func(c *node) string {
		if m := numbered().FindStringSubmatch(c.name); m != nil && !c.isKernel() {
			return m[1] + "*"
		}
		return c.name
	}
	for _, c := range n.children {
		alike[stem(c)]++
	}
	type key struct {
		name, device string
		kernel       bool
	}
	first := map[key]*node{}
	var kept []*node
	for _, c := range n.children {
		if s := stem(c); alike[s] >= manyAlike {
			c.name = s
		}
		k := key{c.name, c.device, c.isKernel()}
		if of := first[k]; of != nil {
			of.add(c)
			continue
		}
		c.repeats = 1
		first[k] = c
		kept = append(kept, c)
	}
	n.children = kept
	for _, c := range n.children {
		c.join()
	}
}

// add adds a sibling to a node.
func (n *node) add(c *node) {
	n.repeats++
	n.ns, n.count = plus(n.ns, c.ns), plus(n.count, c.count)
	n.flops, n.bytes = n.flops+c.flops, n.bytes+c.bytes
	n.stated = [2]bool{n.stated[ofFLOPs] || c.stated[ofFLOPs], n.stated[ofBytes] || c.stated[ofBytes]}
	n.children = append(n.children, c.children...)
}

// A line is a row of a table that is being made.
type line struct {
	name, device string
	count        int64
	total
}

// tables returns the tables of kernels and of scopes below the root.
func tables(root *node, bandwidth float64) (list []*profile.Table) {
	root.join()
	kernels, scopes := map[[2]string]*line{}, []*line{}
	var walk func(n *node, path []string)
	walk = func(n *node, path []string) {
		for _, c := range n.children {
			if c.isKernel() {
				key := [2]string{c.name, c.device}
				if kernels[key] == nil {
					kernels[key] = &line{name: c.name, device: c.device}
				}
				kernels[key].addKernel(c)
				if len(c.children) == 0 {
					continue
				}
			}
			below := append(slices.Clone(path), c.name)
			if len(c.children) > 0 {
				scopes = append(scopes, &line{name: strings.Join(below, " / "), count: max(1, c.repeats), total: c.total()})
			}
			walk(c, below)
		}
	}
	walk(root, nil)
	var work []*line
	for _, l := range kernels {
		work = append(work, l)
	}
	return []*profile.Table{
		table("proton_kernels", profile.OfKernel, profile.Self, work, bandwidth),
		table("proton_scopes", profile.OfRange, profile.Total, scopes, bandwidth),
	}
}

// addKernel adds the work of a node without that of its children.
func (l *line) addKernel(n *node) {
	l.count, l.ns = plus(l.count, n.count), plus(l.ns, n.ns)
	for i, own := range [2]float64{n.flops, n.bytes} {
		if l.amount[i] += own; n.stated[i] && own > 0 {
			l.covered[i] = plus(l.covered[i], n.ns)
		}
	}
}

// rate returns an amount in 10^9 per second, if what the author stated covers all the time.
func (l *line) rate(of int) (perSecond float64, ok bool) {
	return l.amount[of] / float64(max(1, l.ns)), l.ns > 0 && l.amount[of] > 0 && l.covered[of] == l.ns
}

// table makes a table of lines, the one with the most time first.
func table(name, of string, adds profile.Adds, lines []*line, bandwidth float64) *profile.Table {
	slices.SortFunc(lines, func(a, b *line) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.name, b.name), cmp.Compare(a.device, b.device))
	})
	t := &profile.Table{Name: name, Of: of, Columns: []profile.Heading{{Name: "total", Unit: "nanoseconds", Adds: adds},
		{Name: "count", Unit: "count", Adds: adds}, {Name: "mean", Unit: "nanoseconds"}}}
	has := func(f func(l *line) bool) bool { return slices.ContainsFunc(lines, f) }
	amounts := [2]bool{has(func(l *line) bool { return l.amount[ofFLOPs] > 0 }), has(func(l *line) bool { return l.amount[ofBytes] > 0 })}
	rates := [2]profile.Heading{{Name: "FLOP rate", Unit: "GFLOP/s"}, {Name: "byte rate", Unit: "GB/s"}}
	for i, h := range []profile.Heading{{Name: "stated FLOPs", Unit: "count", Adds: adds}, {Name: "stated bytes", Unit: "bytes", Adds: adds}} {
		if amounts[i] {
			t.Columns = append(t.Columns, h, rates[i])
		}
	}
	share := amounts[ofBytes] && bandwidth > 0
	if share {
		t.Columns = append(t.Columns, profile.Heading{Name: "of memory peak", Unit: "%"})
	}
	for _, l := range lines {
		row := profile.Row{Name: l.name, Cells: []profile.Cell{profile.Known(l.ns), profile.Known(l.count), {}}}
		if l.count > 0 {
			row.Cells[2] = profile.Known(l.ns / l.count)
		}
		for i := range amounts {
			if !amounts[i] {
				continue
			}
			rate, ok := l.rate(i)
			row.Cells = append(row.Cells, known(l.amount[i], l.amount[i] > 0), known(rate, ok))
		}
		if share {
			rate, ok := l.rate(ofBytes)
			row.Cells = append(row.Cells, known(100*rate/bandwidth, ok))
		}
		if l.device != "" {
			row.Labels = []profile.Label{{Key: "device", Text: l.device}}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// known returns a cell with a rounded value.
func known(v float64, ok bool) profile.Cell {
	if !ok || math.IsNaN(v) || v >= math.MaxInt64 {
		return profile.Cell{}
	}
	return profile.Known(int64(math.Round(v)))
}

// plus adds with saturation.
func plus(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// shortened returns a name within the limit, without a part of a secret.
func shortened(name string) string {
	if len(name) > maxName {
		return redact.Cut(name, maxName)
	}
	return name
}
