package inspection

import (
	"fmt"
	"slices"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
)

// ops returns the sections about operators.
func (v *view) ops(o *inspect.Ops) []doc.Section {
	what := "Operators"
	if o.Ranges {
		what = "Ranges"
	}
	like := "like"
	if o.Exact {
		like = "named"
	}
	title := fmt.Sprintf("%s %s %q%s", what, like, label.Clean(v.a.Question.Op), v.in())
	lead := fmt.Sprintf("%s, %s CPU time", label.Plural(o.Count, "call"), unit.Duration(o.CPUNS))
	if o.GPUNS > 0 {
		lead += fmt.Sprintf(", %s GPU time (self %s)", unit.Duration(o.GPUNS), unit.Duration(o.GPUSelfNS))
	}
	if o.Containing > 0 {
		lead += fmt.Sprintf("; %s, which --op '*%s*' finds", other(o.Containing, "name contains", "names contain"),
			label.Clean(v.a.Question.Op))
	}
	out := []doc.Section{{Title: title, Lead: lead, Blocks: []doc.Block{v.opTable(o)}}}
	if t, ok := opShapes(o); ok {
		out = append(out, doc.Section{Title: "Input dims", Blocks: []doc.Block{t}})
	}
	if len(o.Kernels) > 0 {
		out = append(out, doc.Section{Title: "GPU operations launched in them",
			Blocks: []doc.Block{namedTable(o.Kernels, o.Left.Kernels, o.GPUNS)}})
	}
	first := ""
	if o.GPUNS > 0 {
		first = "most GPU time first; "
	}
	return append(out,
		doc.Section{Title: "Longest", Lead: first + atLead, Blocks: []doc.Block{v.runs(o)}},
		v.launched(o.Sites, o.Left.Sites, o.GPUNS), stacks(o))
}

// other returns "1 other name contains it", "3 other names contain it".
func other(n int, one, several string) string {
	if n == 1 {
		return "1 other " + one + " it"
	}
	return unit.Count(int64(n)) + " other " + several + " it"
}

func (v *view) opTable(o *inspect.Ops) doc.Table {
	var times []int64
	for _, n := range o.Names {
		times = append(times, n.CPUNS, n.GPUNS)
	}
	s := doc.ScaleOf(times...)
	t := doc.Table{Title: "names", Columns: []doc.Column{
		doc.Col("name", doc.Name), doc.Col("calls", doc.Number), doc.Col(s.Head("CPU"), doc.Number),
		doc.Col(s.Head("self GPU"), doc.Number), doc.Col(s.Head("total GPU"), doc.Number),
	}, More: rest(o.Left.Names)}
	for _, n := range o.Names {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{n.Name, unit.Count(n.Count), s.Text(n.CPUNS),
			onGPU(o, s.Text(n.GPUSelfNS)), onGPU(o, s.Text(n.GPUNS))}})
	}
	return t.WithoutEmpty()
}

// onGPU returns a text about GPU time, or "" if the operators launch nothing.
func onGPU(o *inspect.Ops, text string) string {
	if o.GPUNS == 0 {
		return ""
	}
	return text
}

// opShapes lists the shapes of all names.
func opShapes(o *inspect.Ops) (doc.Table, bool) {
	var times []int64
	left := o.Left.Shapes
	for _, n := range o.Names {
		for _, s := range n.Shapes {
			times = append(times, s.CPUNS, s.GPUNS)
		}
	}
	if len(times) == 0 {
		return doc.Table{}, false
	}
	s := doc.ScaleOf(times...)
	t := doc.Table{Title: "shapes", Columns: []doc.Column{
		doc.Col("calls", doc.Number), doc.Col(s.Head("CPU"), doc.Number), doc.Col(s.Head("self GPU"), doc.Number),
		doc.Col(s.Head("total GPU"), doc.Number), doc.Col("input dims", doc.Name),
	}}
	for _, n := range o.Names {
		for _, r := range n.Shapes {
			text := dims(r.Dims)
			if len(o.Names) > 1 {
				text = n.Name + " " + text
			}
			t.Rows = append(t.Rows, doc.Row{Cells: []string{unit.Count(r.Count), s.Text(r.CPUNS),
				onGPU(o, s.Text(r.GPUSelfNS)), onGPU(o, s.Text(r.GPUNS)), text}})
		}
	}
	const most = 15
	t = t.WithoutEmpty().Cut(most)
	t.More.Rows += left
	return t, true
}

// runs lists the longest calls.
func (v *view) runs(o *inspect.Ops) doc.Table {
	list := o.Longest
	var cpu, gpu []int64
	places := make([]summary.GPU, len(list))
	for i, r := range list {
		cpu, gpu = append(cpu, r.NS), append(gpu, r.GPUNS)
		places[i].Rank = r.Rank
	}
	ranks, _ := v.gpuOf(places)
	c, g := doc.ScaleOf(cpu...), doc.ScaleOf(gpu...)
	t := doc.Table{Title: "calls", Columns: []doc.Column{
		doc.Col("#", doc.Number), doc.Col(atHead, doc.Number), doc.Col(c.Head("CPU"), doc.Number),
		doc.Col(g.Head("total GPU"), doc.Number), doc.Col("rank", doc.Number), doc.Col("thread", doc.Name),
		doc.Col("name", doc.Name), doc.Col("input dims", doc.Name),
	}}
	for i, r := range list {
		first, thread := r.Name, r.Thread
		if len(o.Names) == 1 {
			first = ""
		}
		if !slices.ContainsFunc(list, func(o inspect.Run) bool { return o.Thread != thread }) {
			thread = "" // one thread made all calls, so the column is left out
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{fmt.Sprint(i + 1), at(r.AtNS), c.Text(r.NS),
			onGPU(o, g.Text(r.GPUNS)), ranks[i], thread, first, dims(r.Dims)}})
	}
	return t.WithoutEmpty()
}

// stacks shows the stack of the longest call of operators that launch nothing. For other operators the
// launch sites show it.
func stacks(o *inspect.Ops) doc.Section {
	if len(o.Sites) > 0 || len(o.Longest) == 0 || len(o.Longest[0].Stack) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Stack of the longest",
		Blocks: []doc.Block{doc.Paragraph{Text: stackText(o.Longest[0].Stack)}}}
}
