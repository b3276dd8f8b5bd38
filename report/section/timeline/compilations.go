package timeline

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// The limits of the section on compilations.
const (
	screenCompiled = 3
	maxCompiled    = 30
)

// ScreenCompilations returns the functions that took longest to compile; of a run with GPU work only the first one,
// because its other parts are more important.
func ScreenCompilations(ctx *section.Context) doc.Section {
	s := compilations(ctx, screenCompiled)
	if len(ctx.Devices) == 0 || len(s.Blocks) == 0 {
		return s
	}
	f := view.Compiled(ctx.Summary)[0]
	text := fmt.Sprintf("Longest: %s, %s in %s", label.Clip(label.Clean(f.Function), 40), unit.Duration(f.NS), label.Plural(f.Count, "compilation"))
	if f.Step != nil {
		text += fmt.Sprintf("; %s of the %s of %s", unit.Duration(f.InStep), unit.Duration(f.Step.WallNS), label.Clip(label.Clean(f.Step.Name), 30))
	}
	s.Blocks = []doc.Block{doc.Paragraph{Text: text}}
	return s
}

// Compilations returns all functions that torch.compile compiled.
func Compilations(ctx *section.Context) doc.Section { return compilations(ctx, maxCompiled) }

func compilations(ctx *section.Context, most int) doc.Section {
	list := view.Compiled(ctx.Summary)
	if len(list) == 0 {
		return doc.Section{}
	}
	all, again, breaks := view.CompiledFunction{}, int64(0), map[string]bool{}
	for _, f := range list {
		all.Count, all.NS, all.AgainNS = all.Count+f.Count, summary.Plus(all.NS, f.NS), summary.Plus(all.AgainNS, f.AgainNS)
		again += f.Again
		all.Hits, all.Misses = all.Hits+f.Hits, all.Misses+f.Misses
		for _, b := range f.Breaks {
			breaks[place(b)] = true
		}
	}
	parts := []string{fmt.Sprintf("%s of %s: %s", label.Plural(all.Count, "compilation"), label.Plural(int64(len(list)), "function"), unit.Duration(all.NS))}
	if again > 0 {
		parts = append(parts, fmt.Sprintf("%s again (%s)", unit.Count(again), unit.Duration(all.AgainNS)))
	}
	if n := int64(len(breaks)); n > 0 {
		parts = append(parts, label.Plural(n, "place")+" with a graph break")
	}
	if all.Hits+all.Misses > 0 {
		parts = append(parts, fmt.Sprintf("caches: %s of %s", label.Plural(all.Hits, "hit"), unit.Count(all.Hits+all.Misses)))
	}
	s := doc.Section{Title: "Compilation (torch.compile)", Lead: strings.Join(parts, "; ")}
	s.Blocks = append(s.Blocks, compiledTable(list, most))
	if notes := compiledNotes(list, most); len(notes) > 0 {
		s.Blocks = append(s.Blocks, notes)
	}
	return s
}

// compiledTable returns the functions with the most time.
func compiledTable(list []view.CompiledFunction, most int) doc.Table {
	t := doc.Table{Title: "functions", Columns: []doc.Column{doc.Col("time", doc.Number), doc.Col("compilations", doc.Number),
		doc.Col("again", doc.Number), doc.Col("most in a step", doc.Text), doc.Col("function", doc.Name)}}
	for _, f := range list[:min(most, len(list))] {
		again, step := "", ""
		if f.Again > 0 {
			again = unit.FineDuration(f.AgainNS)
		}
		if f.Step != nil {
			step = fmt.Sprintf("%s of %s", unit.Duration(f.InStep), unit.Duration(f.Step.WallNS))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: f.NS, Cells: []string{unit.FineDuration(f.NS), unit.Count(f.Count), again, step,
			fmt.Sprintf("%s (%s:%d)", f.Function, path.Base(strings.ReplaceAll(f.File, `\`, "/")), f.Line)}})
	}
	t.More = doc.Rest{Rows: max(0, len(list)-most)}
	return t.WithoutEmpty()
}

// compiledNotes says why functions were compiled again, and where graphs break.
func compiledNotes(list []view.CompiledFunction, most int) (out doc.List) {
	var again, breaks doc.List
	seen := map[string]bool{}
	for _, f := range list {
		if f.Guard != "" && f.Again > 0 {
			again = append(again, doc.Item{Text: fmt.Sprintf("%s, compiled again %s:", label.Clip(label.Clean(f.Function), 40), times(f.Again)),
				Code: label.Clip(label.Clean(f.Guard), 120)})
		}
		if f.Failed != "" {
			again = append(again, doc.Item{Text: fmt.Sprintf("%s was not compiled:", label.Clip(label.Clean(f.Function), 40)),
				Code: label.Clip(label.Clean(f.Failed), 80)})
		}
		for _, b := range f.Breaks {
			if seen[place(b)] {
				continue
			}
			seen[place(b)] = true
			breaks = append(breaks, doc.Item{Text: "graph break at " + place(b) + ":", Code: label.Clip(label.Clean(cmp.Or(b.Reason, "no reason is logged")), 120)})
		}
	}
	return slices.Concat(again[:min(most, len(again))], breaks[:min(most, len(breaks))])
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}

// place returns the file, without its folders, and the line of a graph break.
func place(b summary.GraphBreak) string {
	if b.File == "" {
		return "an unknown place"
	}
	return label.Clip(label.Clean(fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(b.File, `\`, "/")), b.Line)), 60)
}
