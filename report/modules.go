package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/unit"
)

// The limits of the tree of modules. A module with less than a part in
// moduleParts of the GPU work is left out, and so is what is inside it.
const (
	moduleParts = 100
	maxModules  = 40
	maxDepth    = 12 // levels that are indented; deeper ones stand below each other
)

// A module is a launcher at its place in the tree.
type module struct {
	launcher
	depth int
}

// moduleTree returns the modules that have at least the given total time, each
// followed by those inside it, the largest first. One whose parent is not
// among them stands as a tree of its own. Of more than most, those with the
// largest totals are kept, and with them what they are in.
func moduleTree(list []launcher, least int64, most int) []module {
	var kept []launcher
	for _, l := range list {
		if l.total >= max(1, least) {
			kept = append(kept, l)
		}
	}
	slices.SortFunc(kept, func(a, b launcher) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(depthOf(a.name), depthOf(b.name)), cmp.Compare(a.name, b.name))
	})
	kept = kept[:min(most, len(kept))]
	present := map[string]bool{}
	for _, l := range kept {
		present[l.name] = true
	}
	inside := map[string][]launcher{}
	var roots []launcher
	for _, l := range kept {
		if up := parentOf(l.name); up != "" && present[up] {
			inside[up] = append(inside[up], l)
		} else {
			roots = append(roots, l)
		}
	}
	var tree []module
	var walk func(level []launcher, depth int)
	walk = func(level []launcher, depth int) {
		for _, l := range level {
			tree = append(tree, module{l, depth})
			walk(inside[l.name], depth+1)
		}
	}
	walk(roots, 0)
	return tree
}

// parentOf returns the path less its last part, "" if it has one part.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func depthOf(path string) int { return strings.Count(path, "/") }

// label is the last part of the path, indented by dots: white space at the
// beginning of code is not shown.
func (m module) label() string {
	name := m.name
	if m.depth > 0 {
		name = name[len(parentOf(name))+1:]
	}
	return strings.Repeat("· ", min(m.depth, maxDepth)) + name
}

func (b *builder) modules() Section {
	list := sumModules(b.Summary)
	if !has(list) {
		return Section{}
	}
	tree := moduleTree(list, gpuWork(b.Summary)/moduleParts, maxModules)
	if len(tree) == 0 {
		return Section{}
	}
	var shown []launcher
	var hosts []int64
	for _, m := range tree {
		l := m.launcher
		l.name = m.label()
		shown = append(shown, l)
		hosts = append(hosts, l.cpu)
	}
	host := scaleOf(hosts...)
	t := b.launcherTable(shown, "modules", Column{"module", Name}, []Column{{"backward", Number}, {host.head("host time"), Number}},
		func(l launcher) []string { return []string{unit.Share(l.backward, l.total), host.text(l.cpu)} })
	t.More.Rows, t.More.Weight = len(list)-len(shown), max(0, selfOf(list)-selfOf(shown))
	t.Note = b.selfNote() + fmt.Sprintf(" Modules are in the tree of the program, the largest first; those with less than %d%% of GPU work are left out. "+
		"Backward is the part of the total time that the backward pass launched.", 100/moduleParts)
	return Section{Title: "Modules", Blocks: append(append([]Block{b.linked(list, "Modules")}, b.pictures("top-modules.png")...), t)}
}
