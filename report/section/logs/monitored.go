package logs

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// Maximum numbers of rows of the tables.
const (
	screenMonitored = 10
	mostMonitored   = 200
	mostSteps       = 20
	mostClocks      = 100
)

// columnsOf has the metrics of the tables, in their order, with the titles of their columns.
var columnsOf = []struct{ metric, head string }{
	{"gpu.util", "GPU use"}, {"gpu.memory_util", "memory reads/writes"}, {"memory.used", "memory used"},
	{"gpu.power", "power"}, {"gpu.clock", "SM clock"},
	{"host.cpu_util", "CPU use"}, {"host.iowait", "I/O wait"},
}

// besideRow is one line of a table: the metrics of a monitor during a phase, a step or the whole of another
// input.
type besideRow struct {
	*summary.Monitored
	by      map[string]*summary.Monitored
	samples int64
}

// besideRows returns the rows, for all GPUs together or for the host, that want selects.
func besideRows(ctx *section.Context, want func(*summary.Monitored) bool) (out []*besideRow) {
	type key struct {
		input, beside int
		name          string
		step          int64
	}
	index := map[key]*besideRow{}
	for i := range ctx.Monitored {
		m := &ctx.Monitored[i]
		if m.Place != "" && m.Place != "host" || !want(m) {
			continue
		}
		k := key{m.Input, m.Beside, m.Name, -1}
		if m.Step != nil {
			k.step = *m.Step
		}
		r := index[k]
		if r == nil {
			r = &besideRow{Monitored: m, by: map[string]*summary.Monitored{}}
			index[k] = r
			out = append(out, r)
		}
		r.by[m.Metric] = m
		if n := m.Samples / max(1, m.Places); r.samples < n {
			r.samples = n
		}
	}
	return out
}

// byPhase returns what monitors measured during phases of logs.
func byPhase(ctx *section.Context, most int) doc.Section {
	rows := besideRows(ctx, func(m *summary.Monitored) bool { return m.Step == nil })
	if len(rows) == 0 {
		return doc.Section{}
	}
	slices.SortStableFunc(rows, func(a, b *besideRow) int {
		return cmp.Or(cmp.Compare(a.Beside, b.Beside), cmp.Compare(a.Input, b.Input), cmp.Compare(b.samples, a.samples))
	})
	t := besideTable(ctx, rows, []doc.Column{doc.Col("phase", doc.Text), doc.Col("timer", doc.Text),
		doc.Col("runs", doc.Number)}, func(r *besideRow) []string {
		if r.Whole() {
			return []string{"whole input", unit.None, unit.None}
		}
		return []string{cmp.Or(r.Phase, unit.None), label.Clip(label.Clean(r.Name), 40), unit.Count(r.Parts)}
	})
	t.Title = "phases"
	t.Note = fmt.Sprintf("A sample counts if it is certainly within the phase. Means are weighted by time; with fewer than %d samples of a GPU there is none.", summary.MinSamples)
	return doc.Section{Title: "GPU use by phase", Lead: besideLead(rows), Blocks: []doc.Block{t.Cut(most)}}
}

// besideLead states over what the means are computed.
func besideLead(rows []*besideRow) string {
	gpus := int64(0)
	for _, r := range rows {
		gpus = max(gpus, r.Places)
	}
	if gpus < 2 {
		return "samples of monitors, joined by wall clock"
	}
	return fmt.Sprintf("samples of monitors, joined by wall clock, mean of %d GPUs", gpus)
}

// besideTable returns a table of rows with the metrics that at least one of them has.
func besideTable(ctx *section.Context, rows []*besideRow, first []doc.Column,
	cells func(*besideRow) []string) doc.Table {
	several := slices.ContainsFunc(rows,
		func(r *besideRow) bool { return r.Input != rows[0].Input || r.Beside != rows[0].Beside })
	paths, _ := view.ShortPaths(ctx.Summary)
	var t doc.Table
	if several {
		t.Columns = []doc.Column{doc.Col("input", doc.Name), doc.Col("monitor", doc.Name)}
	}
	t.Columns = append(append(t.Columns, first...), doc.Col("samples", doc.Number))
	shown := slices.DeleteFunc(slices.Clone(columnsOf), func(c struct{ metric, head string }) bool {
		return !slices.ContainsFunc(rows, func(r *besideRow) bool { return r.by[c.metric] != nil })
	})
	for _, c := range shown {
		t.Columns = append(t.Columns, doc.Col(c.head, doc.Number))
	}
	for _, r := range rows {
		var row []string
		if several {
			row = []string{label.Clean(paths[r.Beside]), label.Clean(paths[r.Input])}
		}
		row = append(append(row, cells(r)...), unit.Count(r.samples))
		for _, c := range shown {
			text := unit.None
			if m := r.by[c.metric]; m != nil {
				text = Value(m.Mean, m.Unit)
			}
			row = append(row, text)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: r.samples, Cells: row})
	}
	return t
}

// byStep returns what monitors measured during steps, the steps with the lowest utilization first.
func byStep(ctx *section.Context) doc.Section {
	rows := besideRows(ctx, func(m *summary.Monitored) bool { return m.Step != nil })
	rows = slices.DeleteFunc(rows, func(r *besideRow) bool {
		return !slices.ContainsFunc(columnsOf,
			func(c struct{ metric, head string }) bool { return r.by[c.metric] != nil && r.by[c.metric].Mean != nil })
	})
	if len(rows) == 0 {
		return doc.Section{}
	}
	use := func(r *besideRow) float64 {
		if m := r.by["gpu.util"]; m != nil && m.Mean != nil {
			return *m.Mean
		}
		return 2
	}
	slices.SortStableFunc(rows, func(a, b *besideRow) int { return cmp.Compare(use(a), use(b)) })
	t := besideTable(ctx, rows, []doc.Column{doc.Col("step", doc.Number)},
		func(r *besideRow) []string { return []string{strconv.FormatInt(*r.Step, 10)} })
	t.Title, t.Note = "steps", "The first step has no row, because its log does not tell when it began."
	return doc.Section{Title: "GPU use by step", Lead: "lowest use first", Blocks: []doc.Block{t.Cut(mostSteps)}}
}

// whyLeft has the reasons why an input is joined with no other, with the remedies.
var whyLeft = map[string]string{
	summary.NoTimes:     "has no date and time (record with nvidia-smi dmon -o DT, iostat -t, vmstat -t)",
	summary.ZoneUnknown: "its zone is unknown (state it: --clock-offset FILE=UTC+02:00)",
	summary.YearUnknown: "its year is unknown (it fits several, or none)",
	summary.OtherZone:   "its load fits the steps only with a clock of another zone (see the clocks; state it: --clock-offset FILE=-1h, or FILE=+0s if it is right)",
	summary.IdleInSteps: "its GPUs are idle during all steps and in use at other times: its clock or its GPUs are others (state: --clock-offset FILE=-2h, or FILE=+0s if they are right)",
	summary.NoOverlap:   "no time in common with another input (if clocks differ: --clock-offset FILE=-2h)",
	summary.ValuesGone:  "more values than memory (raise --max-memory)",
	summary.TooMany:     "over the limit of joined inputs",

	summary.TrainerWithoutTimes: "the steps of the trainer have no times (log with times)",
	summary.NoRole:              "no role is known (put it into the name of the file or folder: rollout, trainer or reward)",
	summary.TooCoarse:           "too few samples in a step (record ten or more)",
	summary.ServesOthers:        "it works for longer than the trainer waits for this role, so it has other requests too",
	summary.NoUse:               "it has no use of GPUs",
	summary.OtherRole:           "it serves a reference model, a teacher or embeddings",
}

// assumed has the display names of assumptions about clocks.
var assumed = map[string]string{
	summary.AssumedSameZone: "the zone of the others", summary.AssumedZone: "zone, the only one that fits",
	summary.AssumedYear: "year",
}

// clocks returns how the clocks of inputs were aligned.
func clocks(ctx *section.Context) doc.Section {
	if len(ctx.Clocks) == 0 {
		return doc.Section{}
	}
	paths, _ := view.ShortPaths(ctx.Summary)
	t := doc.Table{Title: "inputs", Columns: []doc.Column{doc.Col("input", doc.Name), doc.Col("from", doc.Text),
		doc.Col("to", doc.Text), doc.Col("zone", doc.Text), doc.Col("added", doc.Text), doc.Col("assumed", doc.Text),
		doc.Col("joined", doc.Text)}}
	for i := range ctx.Clocks {
		c := &ctx.Clocks[i]
		row := []string{label.Clean(paths[c.Input]), clockTime(c.FirstNS), clockTime(c.LastNS), zoneText(c), unit.None,
			unit.None, "yes"}
		if c.ShiftNS != 0 {
			row[4] = shiftText(c.ShiftNS)
		}
		var parts []string
		for _, a := range c.Assumed {
			parts = append(parts, cmp.Or(assumed[a], label.Clean(a)))
		}
		if len(parts) > 0 {
			row[5] = strings.Join(parts, ", ")
		}
		if c.LeftOut != "" {
			row[6] = "no: " + whyLeftOut(c)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: row})
	}
	return doc.Section{Title: "Clocks of the inputs", Lead: "how monitors, logs and traces were joined",
		Blocks: []doc.Block{t.Cut(mostClocks)}}
}

// whyLeftOut says why an input is joined with no other.
func whyLeftOut(c *summary.Clock) string {
	if c.LeftOut == summary.OtherZone {
		return fmt.Sprintf("its load fits the steps only if %s is added to its times: state it (--clock-offset FILE=%s), or that they are right (FILE=+0s)",
			signed(c.Fits), signed(c.Fits))
	}
	return cmp.Or(whyLeft[c.LeftOut], label.Clean(c.LeftOut))
}

// signed returns whole minutes as --clock-offset takes them: "+5h30m", "-2h".
func signed(ns int64) string {
	text := strings.TrimSuffix(time.Duration(ns).String(), "0s")
	text = strings.Replace(text, "h0m", "h", 1)
	if ns > 0 {
		return "+" + text
	}
	return text
}

func zoneText(c *summary.Clock) string {
	switch c.Frame {
	case summary.FrameUnix:
		return "UTC"
	case summary.FrameLocal:
		return "not stated"
	}
	return unit.None
}

func clockTime(ns *int64) string {
	if ns == nil {
		return unit.None
	}
	return time.Unix(0, *ns).UTC().Format("2006-01-02 15:04:05.000")
}

// shiftText prints the shift of the times of an input: "+2h0m0s".
func shiftText(ns int64) string {
	if ns > 0 {
		return "+" + time.Duration(ns).String()
	}
	return time.Duration(ns).String()
}
