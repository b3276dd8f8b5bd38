package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
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

// byClass folds the modules whose paths have the same classes into one each:
// models repeat their layers, and modules are numbered through, so the layers of
// one kind have nothing but the numbers to tell them apart.
func byClass(list []launcher) (out []launcher) {
	index := map[string]int{}
	for _, l := range list {
		parts := strings.Split(l.name, "/")
		for i, part := range parts {
			if class, number, ok := cutLast(part, "_"); ok && strings.Trim(number, "0123456789") == "" {
				parts[i] = class
			}
		}
		l.name = strings.Join(parts, "/")
		at, ok := index[l.name]
		if !ok {
			index[l.name] = len(out)
			l.places = 1
			out = append(out, l)
			continue
		}
		sum := &out[at]
		sum.places++
		sum.count, sum.cpu = summary.Plus(sum.count, l.count), summary.Plus(sum.cpu, l.cpu)
		sum.self, sum.total = summary.Plus(sum.self, l.self), summary.Plus(sum.total, l.total)
		sum.backward = summary.Plus(sum.backward, l.backward)
	}
	return out
}

// cutLast is [strings.Cut] at the last separator.
func cutLast(s, sep string) (before, after string, ok bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// label is the last part of the path, indented by dots: white space at the
// beginning of code is not shown.
func (m module) label() string {
	name := m.name
	if m.depth > 0 {
		name = name[len(parentOf(name))+1:]
	}
	if m.places > 1 {
		name += fmt.Sprintf(" ×%d", m.places)
	}
	return strings.Repeat("· ", min(m.depth, maxDepth)) + name
}

func (b *builder) modules() Section {
	list := sumModules(b.Summary)
	if !has(list) {
		return Section{}
	}
	folded := ""
	if len(list) > maxModules {
		list = byClass(list)
		folded = " Modules of one class at one place of the tree are one row, with their number behind ×."
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
		"Backward is the part of the total time that the backward pass launched.", 100/moduleParts) + folded
	return Section{Title: "Modules", Blocks: append(append([]Block{b.linked(list, "Modules")}, b.pictures("top-modules.png")...), t)}
}
