// Package whatif prints the critical paths of steps, and what changes would give.
package whatif

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/analyze/whatif"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
)

// Doc returns the document of an answer. If all is set it has every step.
func Doc(a *whatif.Answer, all bool) doc.Doc {
	v := view{a: a, paths: a.CriticalPaths}
	if !all {
		v.paths = v.typical()
	}
	var s []doc.Section
	for i := range a.Operations {
		s = append(s, v.operations(&a.Operations[i], all)...)
	}
	for i := range a.Negotiations {
		s = append(s, negotiations(&a.Negotiations[i]))
	}
	if len(s)+len(v.paths) == 0 {
		s = append(s, doc.Section{Title: "Critical path", Lead: "withheld: the trace has no GPU work, and no calls or operators of the CPU"})
	}
	for i := range v.paths {
		s = append(s, v.path(&v.paths[i]))
	}
	s = append(s, v.profiler())
	s = append(s, v.forecasts(all)...)
	s = append(s, v.sweep(), v.rests())
	s = doc.Present(s...)
	return doc.Doc{Title: "What if", Screen: s, Sections: s}
}

type view struct {
	a     *whatif.Answer
	paths []summary.CriticalPath // that are shown
}

// typical returns the path of one step: the typical one of the rank whose typical step takes longest.
func (v *view) typical() []summary.CriticalPath {
	byRank := make(map[int][]summary.CriticalPath)
	for _, p := range v.a.CriticalPaths {
		byRank[p.Rank] = append(byRank[p.Rank], p)
	}
	var best *summary.CriticalPath
	for _, list := range byRank {
		p := &list[whatif.TypicalOf(len(list), func(i int) (int64, bool) { return list[i].WindowNS, list[i].Verdict == summary.Withheld })]
		if best == nil || p.WindowNS > best.WindowNS || p.WindowNS == best.WindowNS && p.Rank < best.Rank {
			best = p
		}
	}
	if best == nil {
		return nil
	}
	return []summary.CriticalPath{*best}
}

// step returns the name of a step with its rank, if there are several.
func (v *view) step(rank int, name string) string {
	name = label.Clip(label.Clean(name), 60)
	if len(v.a.Inputs) > 1 {
		return fmt.Sprintf("%s of rank %d", name, rank)
	}
	return name
}

// path returns the section of one path.
func (v *view) path(p *summary.CriticalPath) doc.Section {
	s := doc.Section{Title: fmt.Sprintf("Critical path of %s: %s", v.step(p.Rank, p.Step), unit.Duration(p.WindowNS))}
	if p.Verdict == summary.Withheld {
		s.Lead = "withheld: " + reasons(p.Reasons)
		return s
	}
	s.Lead = "what determined when the step ended" + v.twice()
	scale := doc.ScaleOf(p.WindowNS)
	t := doc.Table{Title: "classes", Columns: []doc.Column{doc.Col("%", doc.Number), doc.Col(scale.Head("time"), doc.Number),
		doc.Col("spent on", doc.Text), doc.Col(scale.Head("twice as fast"), doc.Number), doc.Col("change", doc.Number)}}
	parts := p.Classes.Each()
	slices.SortStableFunc(parts, func(a, b summary.PathPart) int { return int(min(1, max(-1, b.NS-a.NS))) })
	for _, c := range parts {
		if c.NS == 0 {
			continue
		}
		cells := []string{unit.Share(c.NS, p.WindowNS), scale.Text(c.NS), words.PathClass(c.Name), "", ""}
		if g := v.gain("--scale class:" + c.Name + "=0.5"); g != nil && g.ForecastNS != nil {
			after := share(p.WindowNS, g)
			cells[3], cells[4] = scale.Text(after), change(p.WindowNS, after)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
	}
	s.Blocks = append(s.Blocks, t, v.named("Operators on it", "operator or kernel", p.Operators, p.WindowNS))
	if len(p.Modules) > 0 {
		s.Blocks = append(s.Blocks, v.named("Modules on it", "module", p.Modules, p.WindowNS))
	}
	if len(p.Phases) > 0 {
		s.Blocks = append(s.Blocks, v.named("Phases on it", "phase", p.Phases, p.WindowNS))
	}
	if len(p.Ranks) > 0 {
		var list []string
		for _, r := range p.Ranks {
			list = append(list, fmt.Sprintf("%s rank %s", unit.Share(r.NS, p.WindowNS), r.Name))
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "By rank: " + strings.Join(list, ", ") + "."})
	}
	if p.Verdict != "ok" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "Read with care: " + reasons(p.Reasons) + "."})
	}
	return s
}

// twice says what the column of classes at twice the speed is over, or "" without it.
func (v *view) twice() string {
	if len(v.a.Sweep) == 0 {
		return ""
	}
	text := "; twice as fast is the length of the step if that class took half the time"
	if n := v.steps(); n > 1 {
		text += fmt.Sprintf(", scaled by the mean over %d steps", n)
	}
	return text
}

// steps returns the number of steps that the sweep is over: if there are any, those whose path is not withheld.
func (v *view) steps() int {
	n := 0
	for _, p := range v.a.CriticalPaths {
		if p.Verdict != summary.Withheld {
			n++
		}
	}
	return cmp.Or(n, len(v.a.CriticalPaths))
}

// share returns the length of a step if it changes as all steps together do.
func share(step int64, g *whatif.Gain) int64 {
	return int64(float64(step) * float64(*g.ForecastNS) / float64(max(1, g.MeasuredNS)))
}

func change(before, after int64) string {
	return fmt.Sprintf("%+.1f%%", 100*float64(after-before)/float64(max(1, before)))
}

func reasons(list []string) string { return strings.Join(list, "; ") }

// shown is how many names a screen lists.
const shown = 5

// named lists the names with the most time.
func (v *view) named(title, column string, list []summary.PathPart, of int64) doc.Table {
	var times []int64
	for _, p := range list {
		times = append(times, p.NS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: title, Columns: []doc.Column{doc.Col("%", doc.Number), doc.Col(scale.Head("time"), doc.Number), doc.Col(column, doc.KernelName)}}
	for _, p := range list[:min(shown, len(list))] {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{unit.Share(p.NS, of), scale.Text(p.NS), p.Name}})
	}
	return t
}

// gain returns what a change of the sweep gives, or nil.
func (v *view) gain(change string) *whatif.Gain {
	i := slices.IndexFunc(v.a.Sweep, func(g whatif.Gain) bool { return g.Change == change })
	if i < 0 {
		return nil
	}
	return &v.a.Sweep[i]
}

// forecasts returns the sections of what was asked for.
func (v *view) forecasts(all bool) []doc.Section {
	if len(v.a.Forecasts) == 0 {
		return nil
	}
	var rows []summary.Forecast
	for _, f := range v.a.Forecasts {
		if all || slices.ContainsFunc(v.paths, func(p summary.CriticalPath) bool { return p.Rank == f.Rank && p.Step == f.Step }) {
			rows = append(rows, f)
		}
	}
	s := doc.Section{Title: "With " + label.Clip(label.Clean(v.a.Change), 120)}
	var times []int64
	for _, f := range rows {
		times = append(times, f.MeasuredNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "steps", Columns: []doc.Column{doc.Col("step", doc.Text), doc.Col(scale.Head("measured"), doc.Number),
		doc.Col(scale.Head("no profiler"), doc.Number), doc.Col(scale.Head("forecast"), doc.Number), doc.Col("change", doc.Number),
		doc.Col("verdict", doc.Text), doc.Col("then critical", doc.Text)}}
	why := map[string]bool{}
	for _, f := range rows {
		cells := []string{v.step(f.Rank, f.Step), scale.Text(f.MeasuredNS), "", "", "", "withheld", ""}
		before := f.MeasuredNS
		if f.FittedNS != nil {
			before, cells[2] = *f.FittedNS, scale.Text(*f.FittedNS)
		}
		if f.ForecastNS != nil {
			cells[3], cells[4], cells[5], cells[6] = scale.Text(*f.ForecastNS), change(before, *f.ForecastNS), verdict(f.Verdict, f.Bound), then(&f)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: cells})
		for _, r := range f.Reasons {
			why[r] = true
		}
	}
	s.Blocks = append(s.Blocks, t.WithoutEmpty())
	for _, f := range rows {
		for _, r := range f.Reasons {
			if why[r] {
				s.Blocks = append(s.Blocks, doc.Paragraph{Text: doc.Capital(r) + "."})
				delete(why, r)
			}
		}
	}
	return []doc.Section{s}
}

// verdict returns how far a forecast can be trusted. That of a bound is the best case, and one of its reasons says so.
func verdict(level string, bound bool) string {
	if bound {
		return "at best"
	}
	return level
}

// then returns the largest classes of the changed path.
func then(f *summary.Forecast) string {
	parts := f.Classes.Each()
	slices.SortStableFunc(parts, func(a, b summary.PathPart) int { return int(min(1, max(-1, b.NS-a.NS))) })
	var out []string
	most := 2
	if f.FittedNS != nil { // its column needs the room
		most = 1
	}
	for _, p := range parts[:most] {
		if p.NS > 0 {
			out = append(out, unit.Share(p.NS, *f.ForecastNS)+" "+words.PathClass(p.Name))
		}
	}
	return strings.Join(out, ", ")
}

// sweep returns the section of the single changes that pay most.
func (v *view) sweep() doc.Section {
	if len(v.a.Sweep) == 0 {
		return doc.Section{}
	}
	const rows = 10
	s := doc.Section{Title: "Single changes that pay most", Lead: "each alone; = 0.5 is half the time; over " + label.Plural(int64(v.steps()), "step")}
	t := doc.Table{Title: "changes", Columns: []doc.Column{doc.Col("gain", doc.Number), doc.Col("verdict", doc.Text), doc.Col("change", doc.KernelName)}}
	for _, g := range v.a.Sweep {
		if g.ForecastNS == nil {
			continue
		}
		if len(t.Rows) == rows {
			t.More.Rows++
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{change(g.MeasuredNS, *g.ForecastNS), verdict(g.Verdict, g.Bound), g.Change}})
	}
	if len(t.Rows) == 0 {
		s.Lead = "withheld, as the path"
		return s
	}
	s.Blocks = []doc.Block{t}
	return s
}

// rests returns what forecasts rest on.
func (v *view) rests() doc.Section {
	var list []string
	for _, f := range v.a.Forecasts {
		if f.Verdict != summary.Withheld {
			list = f.Assumptions
		}
	}
	s := doc.Section{Title: "The forecast rests on", Blocks: []doc.Block{doc.Points(list)}}
	if len(list) == 0 {
		s = doc.Section{}
	}
	if v.a.Apart != "" {
		s.Title, s.Blocks = "Ranks", append([]doc.Block{doc.Paragraph{Text: doc.Capital(v.a.Apart) + "."}}, s.Blocks...)
	}
	return s
}
