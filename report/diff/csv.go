package diff

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"assay/compare"
	"assay/compare/logs"
	"assay/internal/label"
)

// csvHead are the columns of the table of all rows. Values are in base units: ns, byte, share
// from 0 to 1.
var csvHead = []string{"table", "name", "place", "match", "unit", "base_count", "new_count", "base", "new", "delta",
	"change", "effect"}

// CSV writes all rows of a comparison as one table.
func CSV(c *compare.Comparison, w io.Writer) error {
	t := csvTable{w: csv.NewWriter(w)}
	t.w.Write(csvHead)
	if s := c.Steps; s != nil {
		t.times("step", "step", "", "", s.Base.Count, s.New.Count, s.Base.MeanNS, s.New.MeanNS)
	}
	for _, r := range c.Phases {
		t.times("phases", phaseWord(r), "", r.Match, r.BaseCount, r.NewCount, r.BaseNS, r.NewNS)
	}
	for _, p := range []struct {
		table string
		rows  []compare.Row
	}{
		{"budget", c.Budget.Rows}, {"cells", c.Cells.Rows}, {"categories", c.Categories.Rows}, {"operators", c.Ops.Rows},
		{"kernels", c.Kernels.Rows},
		{"copies", c.Copies.Rows}, {"idle", c.Idle.Rows}, {"calls", c.Calls.Rows}, {"passes", c.Passes.Rows},
		{"annotations", c.Annotations},
	} {
		for _, r := range p.rows {
			name, place := r.Name, r.Op
			if p.table == "idle" {
				place = strings.TrimSuffix(r.Owner+"/"+r.State, "/")
			}
			t.times(p.table, name, place, r.Match, r.BaseCount, r.NewCount, r.BaseNS, r.NewNS)
		}
	}
	t.ranks(c)
	t.logged(c)
	t.totals(c)
	t.w.Flush()
	return t.w.Error()
}

// A csvTable writes rows.
type csvTable struct{ w *csv.Writer }

// row writes one row. Texts come from the programs under test.
func (t csvTable) row(cells ...string) {
	for i := range 4 {
		cells[i] = label.NoFormula(label.Clean(cells[i]))
	}
	t.w.Write(cells)
}

// times writes a row of times in ns.
func (t csvTable) times(table, name, place, match string, baseCount, newCount, base, new int64) {
	share := ""
	if base > 0 {
		share = decimal(float64(new-base) / float64(base))
	}
	t.row(table, name, place, match, "ns", whole(baseCount), whole(newCount), whole(base), whole(new), whole(new-base),
		share, "")
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

func optional(v *float64) string {
	if v == nil {
		return ""
	}
	return decimal(*v)
}

// ranks writes the parts of the step of each rank.
func (t csvTable) ranks(c *compare.Comparison) {
	for _, r := range c.Ranks {
		if r.Base == nil || r.New == nil {
			continue
		}
		place := "rank " + strconv.Itoa(r.Rank)
		if r.Device != nil {
			place += " GPU " + whole(*r.Device)
		}
		base := r.Base.Parts()
		for i, p := range r.New.Parts() {
			t.times("ranks", p.Name, place, r.Match, r.Base.Steps, r.New.Steps, base[i].NS, p.NS)
		}
		if x, y := r.Base.Collectives, r.New.Collectives; x != nil && y != nil {
			t.times("ranks", "transfer", place, r.Match, r.Base.Steps, r.New.Steps, x.Transfer, y.Transfer)
			t.times("ranks", "wait", place, r.Match, r.Base.Steps, r.New.Steps, x.Wait, y.Wait)
			t.times("ranks", "waiting that it caused", place, r.Match, x.Last, y.Last, x.Caused, y.Caused)
		}
	}
}

// logged writes metrics and results of benchmarks.
func (t csvTable) logged(c *compare.Comparison) {
	for _, m := range c.Series {
		name := m.Metric
		if m.Name != m.Metric {
			name += " " + m.Name
		}
		cells := []string{"series", name, logs.LabelText(m.Labels), m.Match, m.Unit, "", "", "", "", optional(m.Delta),
			optional(m.Change), m.Effect}
		if m.Base != nil {
			cells[5], cells[7] = whole(m.Base.N), decimal(m.Base.Median)
		}
		if m.New != nil {
			cells[6], cells[8] = whole(m.New.N), decimal(m.New.Median)
		}
		t.row(cells...)
	}
	for _, b := range c.Benchmarks {
		place := strings.TrimSpace(b.Producer + " " + logs.LabelText(b.Settings))
		for _, f := range b.Figures {
			t.row("benchmarks", strings.TrimSpace(f.Metric+" "+f.Stat), place, b.Match, f.Unit, strconv.Itoa(b.Base),
				strconv.Itoa(b.New),
				optional(f.Base), optional(f.New), optional(f.Delta), optional(f.Change), f.Effect)
		}
	}
}

// totals writes tables of other tools and counters of kernels.
func (t csvTable) totals(c *compare.Comparison) {
	text := func(n *int64) string {
		if n == nil {
			return ""
		}
		return whole(*n)
	}
	for _, table := range c.Tables {
		for _, r := range table.Rows {
			for i, col := range table.Columns {
				t.row(table.Tool+" "+table.Name, r.Name, col.Name, r.Match, col.Unit, "", "", text(r.Base[i]), text(r.New[i]),
					whole(r.Delta(i)), "", "")
			}
		}
	}
	for _, k := range c.Counters {
		t.row("counters", k.Kernel, "per launch", k.Match, "ns", whole(k.BaseLaunches), whole(k.NewLaunches),
			text(k.BaseNS), text(k.NewNS), whole(k.Delta()), "", "")
	}
}
