package proton

import (
	"maps"
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
	ofFLOPs = profile.StatedFLOPs
	ofBytes = profile.StatedBytes
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
		t.ns, t.kernels = profile.Plus(t.ns, of.ns), profile.Plus(t.kernels, of.kernels)
		for i := range t.amount {
			t.amount[i] += of.amount[i]
			t.covered[i] = profile.Plus(t.covered[i], of.covered[i])
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
	n.ns, n.count = profile.Plus(n.ns, c.ns), profile.Plus(n.count, c.count)
	n.flops, n.bytes = n.flops+c.flops, n.bytes+c.bytes
	n.stated = [2]bool{n.stated[ofFLOPs] || c.stated[ofFLOPs], n.stated[ofBytes] || c.stated[ofBytes]}
	n.children = append(n.children, c.children...)
}

// tables returns the tables of kernels and of scopes below the root.
func tables(root *node, bandwidth float64) (list []*profile.Table) {
	root.join()
	kernels, scopes := map[[2]string]*profile.Stated{}, []*profile.Stated{}
	var walk func(n *node, path []string)
	walk = func(n *node, path []string) {
		for _, c := range n.children {
			if c.isKernel() {
				key := [2]string{c.name, c.device}
				if kernels[key] == nil {
					kernels[key] = &profile.Stated{Name: c.name}
					if c.device != "" {
						kernels[key].Labels = []profile.Label{{Key: "device", Text: c.device}}
					}
				}
				kernels[key].Add(c.count, c.ns, [2]float64{c.flops, c.bytes}, c.stated)
				if len(c.children) == 0 {
					continue
				}
			}
			below := append(slices.Clone(path), c.name)
			if len(c.children) > 0 {
				of := c.total()
				scopes = append(scopes, &profile.Stated{Name: strings.Join(below, " / "), Count: max(1, c.repeats), NS: of.ns, Amount: of.amount, Covered: of.covered})
			}
			walk(c, below)
		}
	}
	walk(root, nil)
	return []*profile.Table{
		profile.StatedTable("proton_kernels", profile.OfKernel, profile.Self, slices.Collect(maps.Values(kernels)), bandwidth),
		profile.StatedTable("proton_scopes", profile.OfRange, profile.Total, scopes, bandwidth),
	}
}

// shortened returns a name within the limit, without a part of a secret.
func shortened(name string) string {
	if len(name) > maxName {
		return redact.Cut(name, maxName)
	}
	return name
}
