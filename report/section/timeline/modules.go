package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// The limits of the tree of modules. It omits modules with less than 1/moduleParts of
// the total GPU time, and their children.
const (
	moduleParts = 100
	maxModules  = 40
	maxDepth    = 12 // levels that are indented; deeper levels have the same indent
)

// A module is a row at its place in the tree.
type module struct {
	row.Row
	path  string
	depth int
}

// moduleTree returns the modules with at least the given total time in ns. Each is
// followed by its children, the largest first. A module whose parent is missing is a
// root. If there are more than most, moduleTree keeps those with the largest totals.
func moduleTree(modules *row.Table, key string, least int64, most int) []module {
	var kept []module
	for _, r := range modules.Rows {
		if modules.Number(&r, "total") >= max(1, least) {
			kept = append(kept, module{Row: r, path: modules.Text(&r, key)})
		}
	}
	slices.SortFunc(kept, func(a, b module) int {
		return cmp.Or(cmp.Compare(modules.Number(&b.Row, "total"), modules.Number(&a.Row, "total")),
			cmp.Compare(depthOf(a.path), depthOf(b.path)), cmp.Compare(a.path, b.path))
	})
	kept = kept[:min(most, len(kept))]
	present := map[string]bool{}
	for _, m := range kept {
		present[m.path] = true
	}
	inside := map[string][]module{}
	var roots []module
	for _, m := range kept {
		if up := parentOf(m.path); up != "" && present[up] {
			inside[up] = append(inside[up], m)
		} else {
			roots = append(roots, m)
		}
	}
	var tree []module
	var walk func(level []module, depth int)
	walk = func(level []module, depth int) {
		for _, m := range level {
			m.depth = depth
			tree = append(tree, m)
			walk(inside[m.path], depth+1)
		}
	}
	walk(roots, 0)
	return tree
}

// parentOf returns the path less its last part, "" if it has one part.
func parentOf(path string) string { return path[:max(0, strings.LastIndexByte(path, '/'))] }

func depthOf(path string) int { return strings.Count(path, "/") }

// label is the last part of the path, indented by dots: white space at the
// beginning of code is not shown. A row may stand for several places.
func (m module) label(places int) string {
	name := m.path
	if m.depth > 0 {
		name = name[len(parentOf(name))+1:]
	}
	if places > 1 {
		name += fmt.Sprintf(" ×%d", places)
	}
	return strings.Repeat("· ", min(m.depth, maxDepth)) + name
}

func Modules(ctx *section.Context) doc.Section {
	key, folded := "module", ""
	modules := summary.Modules().By(ctx.Modules, key)
	if !view.HasGPUTime(modules) {
		return doc.Section{}
	}
	if len(modules.Rows) > maxModules {
		key, folded = "layer", " Modules of one class at one place of the tree are one row; × is their number."
		modules = summary.Modules().By(ctx.Modules, key)
	}
	work := view.GPUWork(ctx.Summary)
	tree := moduleTree(modules, key, work/moduleParts, maxModules)
	if len(tree) == 0 {
		return doc.Section{}
	}
	shown, labels := *modules, map[int]string{}
	shown.Rows = nil
	for _, m := range tree {
		shown.Rows = append(shown.Rows, m.Row)
		labels[m.Of[0]] = m.label(len(modules.Values(&m.Row, "module")))
	}
	t := show.View{Columns: "module" + launcherColumns + "backward %;CPU time", Whole: work, Of: modules.Of, Cells: map[string]show.Cell{
		"module":     {Kind: doc.Name, Text: func(r *row.Row) string { return labels[r.Of[0]] }},
		"backward %": {Kind: doc.Number, Text: func(r *row.Row) string { return unit.Share(modules.Number(r, "backward"), modules.Number(r, "total")) }},
	}}.Table(&shown)
	t.More.Rows, t.More.Weight = len(modules.Rows)-len(tree), modules.Whole-shown.Sum("self")
	t.Note = selfNote(ctx) + fmt.Sprintf(" The tree is sorted by total time and omits modules under %d%% of total GPU time. "+
		"Backward: part of the total time that the backward pass launched.", 100/moduleParts) + folded
	return doc.Section{Title: "Modules", Blocks: append(append([]doc.Block{linked(ctx, modules.Whole, "Modules")}, ctx.Pictures("top-modules.png")...), t)}
}
