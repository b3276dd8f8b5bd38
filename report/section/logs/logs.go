package logs

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// Maximum numbers of rows of the tables.
const (
	screenMetrics = 24
	screenPhases  = 10
	mostMetrics   = 400
	mostPlaces    = 200
)

// Screen returns the sections of the one-screen summary.
func Screen(ctx *section.Context) []doc.Section {
	values := metricsOnScreen(ctx)
	switch {
	case ctx.OnlyMachines(): // what is not healthy is a finding
		values = doc.Section{}
	case len(values.Blocks) == 0: // no metric has a canonical name
		values = others(ctx, screenMetrics)
	}
	return narrow(slices.Concat([]doc.Section{jobsOnScreen(ctx)}, rolesOfSteps(ctx), []doc.Section{hangs(ctx, screenHangs)}, benchmarks(ctx, screenResults),
		[]doc.Section{phases(ctx, screenPhases), byPhase(ctx, screenMonitored), services(ctx, screenServices), values,
			groups(ctx, screenGroups)}))
}

// narrow lets screens leave out the last columns of tables that are wider.
func narrow(list []doc.Section) []doc.Section {
	for _, s := range list {
		for i, b := range s.Blocks {
			if t, ok := b.(doc.Table); ok {
				t.Narrows = true
				s.Blocks[i] = t
			}
		}
	}
	return list
}

// Sections returns the sections of the report.
func Sections(ctx *section.Context) []doc.Section {
	drawn := ctx.Pictures("log-steps.png", "log-phases.png")
	first := phases(ctx, mostMetrics)
	if first.Title == "" && len(drawn) > 0 {
		first = doc.Section{Title: "Steps", Lead: "as the program logged them"}
	}
	first.Blocks = append(drawn, first.Blocks...)
	values := metrics(ctx, mostMetrics)
	if over := ctx.Pictures("log-server.png", "log-monitor.png"); len(over) > 0 {
		if values.Title == "" {
			values.Title = "Values over time"
		}
		values.Blocks = append(over, values.Blocks...)
	}
	return slices.Concat(jobs(ctx), withPicture(rolesOfSteps(ctx), ctx.Pictures("log-roles.png")), []doc.Section{hangs(ctx, mostHangs)}, benchmarks(ctx, mostResults),
		[]doc.Section{first, byPhase(ctx, mostMonitored), byStep(ctx), clocks(ctx), services(ctx, mostServices), values,
			places(ctx), others(ctx, mostPlaces), groups(ctx, mostGroups), settings(ctx)})
}

// withPicture begins the first section with pictures.
func withPicture(list []doc.Section, pictures []doc.Block) []doc.Section {
	if len(list) > 0 {
		list[0].Blocks = append(pictures, list[0].Blocks...)
	}
	return list
}

// Metrics of steps.
const (
	stepTime = "step.time"

	timePerToken = "step.time_per_token"
	stepPhase    = "step.phase"
	stepWait     = "step.wait"
)

// phases returns the times of the phases of a step. Their shares refer to the steps that have both a time
// and phases.
func phases(ctx *section.Context, most int) doc.Section {
	total := map[int]float64{}
	for i := range ctx.Series {
		if r := &ctx.Series[i]; r.Metric == stepTime && r.Sum != nil && r.Pooled == 0 {
			total[r.Input] = max(total[r.Input], *r.Sum)
		}
	}
	var rows []*summary.Series
	var times []int64
	for _, r := range shown(ctx) {
		if (r.Metric == stepPhase || r.Metric == stepWait) && r.N > 0 {
			rows = append(rows, r)
			times = append(times, int64(*r.Max))
		}
	}
	if len(rows) == 0 {
		return doc.Section{}
	}
	slices.SortStableFunc(rows, func(a, b *summary.Series) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(*b.Sum, *a.Sum))
	})
	scale := doc.ScaleOf(times...)
	several := len(ctx.Inputs) > 1
	t := doc.Table{Title: "timers", Columns: columns(several, doc.Col("timer", doc.Text), doc.Col("phase", doc.Text),
		doc.Col("% of steps", doc.Number), doc.Col("n", doc.Number),
		doc.Col(scale.Head("median"), doc.Number), doc.Col(scale.Head("max"), doc.Number))}
	for _, r := range rows {
		share := unit.None
		if in := r.InSteps; in != nil && in.StepNS > 0 && (in.NS > 0 || *r.Sum == 0) {
			share = unit.Value(float64(in.NS)/float64(in.StepNS), "share")
		} else if all := total[r.Input]; in == nil && all > 0 {
			share = unit.Value(*r.Sum/all, "share")
		}
		name := label.Clip(label.Clean(r.Name), 44)
		if r.Inside != "" {
			name = "  " + name
		}
		t.Rows = append(t.Rows, doc.Row{Weight: int64(min(*r.Sum, math.MaxInt64/2)),
			Cells: cells(several, r, name, cmp.Or(r.Labels["phase"], unit.None), share, unit.Count(r.N),
				scale.Text(int64(*r.Median)), scale.Text(int64(*r.Max)))})
	}
	t.Note = "Indented timers are part of another timer, so shares do not add up."
	if !slices.ContainsFunc(rows, func(r *summary.Series) bool { return r.Inside != "" }) {
		t.Note = ""
	}
	return doc.Section{Title: "Phases of a step", Lead: "as the program logged them", Blocks: []doc.Block{t.Cut(most)}}
}

// columns prepends a column with the number of the input if there are several inputs; cells does the same
// for a row.
func columns(several bool, list ...doc.Column) []doc.Column {
	if several {
		return append([]doc.Column{doc.Col("input", doc.Number)}, list...)
	}
	return list
}

func cells(several bool, r *summary.Series, list ...string) []string {
	if several {
		return append([]string{strconv.Itoa(r.Input + 1)}, list...)
	}
	return list
}

// shown returns the rows that represent a metric: the pooled rows, and rows of metrics that were measured
// at one place only.
func shown(ctx *section.Context) (out []*summary.Series) {
	type key struct {
		input                  int
		producer, metric, name string
		phase                  string
	}
	pooled := map[key]bool{}
	of := func(r *summary.Series) key {
		return key{r.Input, r.Producer, r.Metric, r.Name, r.Labels["phase"]}
	}
	for i := range ctx.Series {
		if r := &ctx.Series[i]; r.Pooled > 0 {
			pooled[of(r)] = true
		}
	}
	for i := range ctx.Series {
		if r := &ctx.Series[i]; r.Pooled > 0 || !pooled[of(r)] {
			out = append(out, r)
		}
	}
	return out
}

// roles has the roles in the order of the table.
var roles = []string{"time", "latency", "throughput", "utilization", "queue", "memory", "health", "quality", "load"}

// ofJobs are the roles of the metrics that say something about the time of a job or of the roles of a step.
var ofJobs = []string{"time", "latency", "throughput", "utilization", "queue", "memory", "health"}

// metricsOnScreen returns the metrics without rows that say nothing: those that are always 0, and beside jobs and the
// roles of a step, what the model learns and how large its batches are.
func metricsOnScreen(ctx *section.Context) doc.Section {
	kinds := roles
	if len(ctx.RoleSteps)+len(ctx.JobTimes) > 0 {
		kinds = ofJobs
	}
	rows := named(ctx, func(r *summary.Series) bool {
		always0 := r.N > 1 && r.Role != "health" && r.Min != nil && *r.Min == 0 && r.Max != nil && *r.Max == 0
		return slices.Contains(kinds, r.Role) && !always0
	})
	if len(rows) == 0 {
		return doc.Section{}
	}
	t := table(ctx, rows, "metrics", true)
	return doc.Section{Title: "Metrics", Lead: producers(ctx), Blocks: []doc.Block{t.Cut(screenMetrics)}}
}

// metrics returns the metrics with canonical names.
func metrics(ctx *section.Context, most int) doc.Section {
	rows := named(ctx, func(r *summary.Series) bool { return slices.Contains(roles, r.Role) })
	if len(rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Metrics", Lead: producers(ctx), Blocks: []doc.Block{table(ctx, rows, "metrics", false).Cut(most)}}
}

// named returns the rows of metrics that are wanted, by input and role. Times of phases have a table of their own.
func named(ctx *section.Context, wanted func(*summary.Series) bool) (rows []*summary.Series) {
	for _, r := range shown(ctx) {
		if r.Metric != stepPhase && r.Metric != stepWait && wanted(r) {
			rows = append(rows, r)
		}
	}
	slices.SortStableFunc(rows, func(a, b *summary.Series) int {
		return cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(slices.Index(roles, a.Role), slices.Index(roles, b.Role)),
			cmp.Compare(a.Metric, b.Metric), cmp.Compare(a.Labels["phase"], b.Labels["phase"]))
	})
	return rows
}

// producers returns the programs that logged the values.
func producers(ctx *section.Context) string {
	var names []string
	for i := range ctx.Series {
		if n := ctx.Series[i].Producer; !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) > 6 {
		return "logged by " + label.Plural(int64(len(names)), "program")
	}
	return "logged by " + label.Clean(strings.Join(names, ", "))
}

// places returns the metrics of each rank or replica.
func places(ctx *section.Context) doc.Section {
	var rows []*summary.Series
	is := map[*summary.Series]bool{}
	for _, r := range shown(ctx) {
		is[r] = true
	}
	for i := range ctx.Series {
		if r := &ctx.Series[i]; !is[r] && r.Role != "other" {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Metrics by rank and replica", Blocks: []doc.Block{table(ctx, rows, "rows", false).Cut(mostPlaces)}}
}

// others returns the values without canonical names.
func others(ctx *section.Context, most int) doc.Section {
	var rows []*summary.Series
	for _, r := range shown(ctx) {
		if !slices.Contains(roles, r.Role) {
			rows = append(rows, r)
		}
	}
	if len(rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Other values", Lead: "by the names of the program",
		Blocks: []doc.Block{table(ctx, rows, "values", false).Cut(mostPlaces)}}
}

// table returns a table of rows, each printed in its own unit. On a screen, rows of one metric and input differ in their
// phase only.
func table(ctx *section.Context, rows []*summary.Series, title string, onScreen bool) doc.Table {
	several := len(ctx.Inputs) > 1
	place := placeText
	if onScreen {
		place = func(r *summary.Series) string {
			return cmp.Or(label.Clip(label.Clean(r.Labels["phase"]), 20), unit.None)
		}
	}
	places := slices.ContainsFunc(rows, func(r *summary.Series) bool { return place(r) != unit.None })
	producers := !onScreen && slices.ContainsFunc(rows, func(r *summary.Series) bool { return r.Producer != rows[0].Producer })
	list := []doc.Column{doc.Col("metric", doc.Text)}
	if producers {
		list = append(list, doc.Col("producer", doc.Text))
	}
	if places {
		list = append(list, doc.Col("of", doc.Text))
	}
	list = append(list, doc.Col("n", doc.Number), doc.Col("median", doc.Number), doc.Col("mean", doc.Number),
		doc.Col("min", doc.Number), doc.Col("max", doc.Number), doc.Col("last", doc.Number))
	t := doc.Table{Title: title, Columns: columns(several, list...)}
	for _, r := range rows {
		name := r.Metric
		if r.Metric == timePerToken { // one row for each phase
			name = r.Name
		}
		row := []string{label.Clip(label.Clean(name), 40)}
		if producers {
			row = append(row, label.Clip(label.Clean(r.Producer), 24))
		}
		if places {
			row = append(row, place(r))
		}
		row = append(row, unit.Count(r.N))
		for _, v := range []*float64{r.Median, r.Mean, r.Min, r.Max, r.Last} {
			row = append(row, Value(v, r.Unit))
		}
		t.Rows = append(t.Rows, doc.Row{Weight: r.N, Cells: cells(several, r, row...)})
	}
	return t
}

// placeText returns where a row was measured.
func placeText(r *summary.Series) string {
	var parts []string
	if r.Pooled > 0 {
		parts = append(parts, label.Plural(r.Pooled, "place"))
	}
	if text := r.LabelText(); text != "" {
		parts = append(parts, label.Clip(label.Clean(text), 40))
	}
	return cmp.Or(strings.Join(parts, ", "), unit.None)
}

// Value prints a value in the given base unit, or a dash if there is none.
func Value(v *float64, of string) string {
	if v == nil {
		return unit.None
	}
	return unit.Value(*v, of)
}
