package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// The limits of the tree of modules. It omits modules with less than 1/moduleParts of
// the total GPU time, and their children.
const (
	moduleParts = 100
	maxModules  = 40
	maxDepth    = 12 // levels that are indented; deeper levels have the same indent
)

// A module is a launcher at its place in the tree.
type module struct {
	view.Launcher
	depth int
}

// moduleTree returns the modules with at least the given total time in ns. Each is
// followed by its children, the largest first. A module whose parent is missing is a
// root. If there are more than most, moduleTree keeps those with the largest totals.
func moduleTree(list []view.Launcher, least int64, most int) []module {
	var kept []view.Launcher
	for _, l := range list {
		if l.Total >= max(1, least) {
			kept = append(kept, l)
		}
	}
	slices.SortFunc(kept, func(a, b view.Launcher) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(depthOf(a.Name), depthOf(b.Name)), cmp.Compare(a.Name, b.Name))
	})
	kept = kept[:min(most, len(kept))]
	present := map[string]bool{}
	for _, l := range kept {
		present[l.Name] = true
	}
	inside := map[string][]view.Launcher{}
	var roots []view.Launcher
	for _, l := range kept {
		if up := parentOf(l.Name); up != "" && present[up] {
			inside[up] = append(inside[up], l)
		} else {
			roots = append(roots, l)
		}
	}
	var tree []module
	var walk func(level []view.Launcher, depth int)
	walk = func(level []view.Launcher, depth int) {
		for _, l := range level {
			tree = append(tree, module{l, depth})
			walk(inside[l.Name], depth+1)
		}
	}
	walk(roots, 0)
	return tree
}

// parentOf returns the path less its last part, "" if it has one part.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func depthOf(path string) int { return strings.Count(path, "/") }

// byClass adds up the modules whose paths have the same classes. Models repeat their
// layers, and such modules differ only in their numbers.
func byClass(list []view.Launcher) (out []view.Launcher) {
	index := map[string]int{}
	for _, l := range list {
		parts := strings.Split(l.Name, "/")
		for i, part := range parts {
			if class, number, ok := cutLast(part, "_"); ok && strings.Trim(number, "0123456789") == "" {
				parts[i] = class
			}
		}
		l.Name = strings.Join(parts, "/")
		at, ok := index[l.Name]
		if !ok {
			index[l.Name] = len(out)
			l.Places = 1
			out = append(out, l)
			continue
		}
		sum := &out[at]
		sum.Places++
		sum.Count, sum.CPU = summary.Plus(sum.Count, l.Count), summary.Plus(sum.CPU, l.CPU)
		sum.Self, sum.Total = summary.Plus(sum.Self, l.Self), summary.Plus(sum.Total, l.Total)
		sum.Backward = summary.Plus(sum.Backward, l.Backward)
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
	name := m.Name
	if m.depth > 0 {
		name = name[len(parentOf(name))+1:]
	}
	if m.Places > 1 {
		name += fmt.Sprintf(" ×%d", m.Places)
	}
	return strings.Repeat("· ", min(m.depth, maxDepth)) + name
}

func Modules(ctx *section.Context) doc.Section {
	list := view.Modules(ctx.Summary)
	if !view.HasGPUTime(list) {
		return doc.Section{}
	}
	folded := ""
	if len(list) > maxModules {
		list = byClass(list)
		folded = " Modules of one class at one place of the tree are one row; × is their number."
	}
	tree := moduleTree(list, view.GPUWork(ctx.Summary)/moduleParts, maxModules)
	if len(tree) == 0 {
		return doc.Section{}
	}
	var shown []view.Launcher
	var hosts []int64
	for _, m := range tree {
		l := m.Launcher
		l.Name = m.label()
		shown = append(shown, l)
		hosts = append(hosts, l.CPU)
	}
	host := doc.ScaleOf(hosts...)
	t := launcherTable(ctx, shown, "modules", doc.Col("module", doc.Name), []doc.Column{doc.Col("backward %", doc.Number), doc.Col(host.Head("CPU time"), doc.Number)},
		func(l view.Launcher) []string { return []string{unit.Share(l.Backward, l.Total), host.Text(l.CPU)} })
	t.More.Rows, t.More.Weight = len(list)-len(shown), max(0, view.SelfTime(list)-view.SelfTime(shown))
	t.Note = selfNote(ctx) + fmt.Sprintf(" The tree is sorted by total time and omits modules under %d%% of total GPU time. "+
		"Backward: part of the total time that the backward pass launched.", 100/moduleParts) + folded
	return doc.Section{Title: "Modules", Blocks: append(append([]doc.Block{linked(ctx, list, "Modules")}, ctx.Pictures("top-modules.png")...), t)}
}
