package inspection

import (
	"fmt"
	"strings"

	"assay/analyze/inspect"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/summary"
)

// kernels returns the sections about GPU operations.
func (v *view) kernels(k *inspect.Kernels) []doc.Section {
	what := "GPU operations like"
	if k.Category {
		what = "Kernels of the category"
	}
	title := fmt.Sprintf("%s %q%s", what, label.Clean(v.a.Question.Kernel), v.in())
	lead := fmt.Sprintf("%s, %s (%s of total GPU time); min %s, median %s, max %s", launches(k.Count),
		unit.Duration(k.TotalNS), unit.Share(k.TotalNS, k.GPUNS),
		unit.Duration(k.MinNS), unit.Duration(k.MedianNS), unit.Duration(k.MaxNS))
	return []doc.Section{
		{Title: title, Lead: lead, Blocks: []doc.Block{namedTable(k.Names, k.Left.Names, k.GPUNS)}},
		{Title: "Longest", Lead: atLead + "; delay is from the start of the launch call to the start of the operation",
			Blocks: []doc.Block{v.longest(k.Longest)}},
		{Title: "Before and after on the stream", Lead: "gap is the time between the two operations",
			Blocks: []doc.Block{around(k.Longest)}},
		v.launched(k.Sites, k.Left.Sites, k.TotalNS),
		shapes(k),
	}
}

// launches prints a number of launches.
func launches(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}

// namedTable lists names with their durations.
func namedTable(names []inspect.Named, left int, of int64) doc.Table {
	var totals, each []int64
	for _, n := range names {
		totals, each = append(totals, n.TotalNS), append(each, n.MaxNS)
	}
	total, one := doc.ScaleOf(totals...), doc.ScaleOf(each...)
	t := doc.Table{Title: "names", Columns: []doc.Column{
		doc.Col("name", doc.KernelName), doc.Col("launches", doc.Number), doc.Col(total.Head("total"), doc.Number),
		doc.Col("%", doc.Number),
		doc.Col(one.Head("median"), doc.Number), doc.Col("max", doc.Number),
	}, More: rest(left)}
	for _, n := range names {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{n.Name, unit.Count(n.Count), total.Text(n.TotalNS),
			unit.Share(n.TotalNS, of), one.Text(n.MedianNS), one.Text(n.MaxNS)}})
	}
	return t
}

// longest lists the longest instances.
func (v *view) longest(list []inspect.Instance) doc.Table {
	var each, queued []int64
	var places []summary.GPU
	for _, k := range list {
		each, places = append(each, k.NS), append(places, k.GPU)
		if k.Launch != nil {
			queued = append(queued, k.Launch.DelayNS)
		}
	}
	ranks, gpus := v.gpuOf(places)
	one, delay := doc.ScaleOf(each...), doc.ScaleOf(queued...)
	t := doc.Table{Title: "instances", Columns: []doc.Column{
		doc.Col("#", doc.Number), doc.Col(atHead, doc.Number), doc.Col(one.Head("length"), doc.Number),
		doc.Col("step", doc.Number),
		doc.Col("rank", doc.Number), doc.Col("GPU", doc.Number), doc.Col("stream", doc.Number),
		doc.Col(delay.Head("delay"), doc.Number), doc.Col("grid", doc.Text), doc.Col("block", doc.Text),
		doc.Col("size", doc.Number),
	}}
	for i, k := range list {
		wait, size, step := "", "", ""
		if k.Step != nil {
			step = fmt.Sprint(k.Step.Number)
		}
		if k.Launch != nil {
			wait = delay.Text(k.Launch.DelayNS)
		}
		if k.Bytes != nil {
			size = unit.Bytes(*k.Bytes)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			fmt.Sprint(i + 1), at(k.AtNS), one.Text(k.NS), step, ranks[i], gpus[i], fmt.Sprint(k.Stream), wait, extent(k.Grid),
			extent(k.Block), size,
		}})
	}
	return t.WithoutEmpty()
}

// extent prints the size of a grid or block without trailing dimensions of 1: "64×2".
func extent(size []int64) string {
	for len(size) > 1 && size[len(size)-1] <= 1 {
		size = size[:len(size)-1]
	}
	var parts []string
	for _, n := range size {
		parts = append(parts, fmt.Sprint(n))
	}
	return strings.Join(parts, "×")
}

// around lists what ran before and after the instances.
func around(list []inspect.Instance) doc.Table {
	apart := func(n *inspect.Neighbour) (string, string) {
		if n == nil {
			return "(nothing)", ""
		}
		return n.Name, unit.FineDuration(n.ApartNS)
	}
	t := doc.Table{Title: "instances", Columns: []doc.Column{
		doc.Col("#", doc.Number), doc.Col("before", doc.KernelName), doc.Col("gap", doc.Number),
		doc.Col("after", doc.KernelName), doc.Col("gap", doc.Number),
	}, Note: "Apart: time between the two operations."}
	for i, k := range list {
		before, b := apart(k.Before)
		after, a := apart(k.After)
		t.Rows = append(t.Rows, doc.Row{Cells: []string{fmt.Sprint(i + 1), before, b, after, a}})
	}
	return t
}

// shownSites is how many sites a screen shows.
const shownSites = 5

// launched lists the sites that launched work.
func (v *view) launched(sites []inspect.Site, left int, of int64) doc.Section {
	var list doc.List
	for _, s := range sites[:min(shownSites, len(sites))] {
		list = append(list, siteItem(s, of))
	}
	if left += len(sites) - len(list); left > 0 {
		list = append(list, doc.Item{Text: label.Plural(int64(left), "more place") + "; --format json has them"})
	}
	if len(list) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Launched by", Lead: "% of their total time; Python functions, innermost first",
		Blocks: []doc.Block{list}}
}

// shapes lists the shapes of the operators that launched the instances.
func shapes(k *inspect.Kernels) doc.Section {
	if len(k.Shapes) == 0 {
		return doc.Section{}
	}
	var totals, each []int64
	for _, s := range k.Shapes {
		totals, each = append(totals, s.TotalNS), append(each, s.MaxNS)
	}
	total, one := doc.ScaleOf(totals...), doc.ScaleOf(each...)
	t := doc.Table{Title: "shapes", Columns: []doc.Column{
		doc.Col("launches", doc.Number), doc.Col(total.Head("total"), doc.Number), doc.Col(one.Head("median"), doc.Number),
		doc.Col("max", doc.Number),
		doc.Col("operator, input dims", doc.Name),
	}, More: rest(k.Left.Shapes)}
	for _, s := range k.Shapes {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{unit.Count(s.Count), total.Text(s.TotalNS), one.Text(s.MedianNS),
			one.Text(s.MaxNS), s.Op + " " + dims(s.Dims)}})
	}
	return doc.Section{Title: "Shapes of the operator's arguments", Blocks: []doc.Block{t}}
}
