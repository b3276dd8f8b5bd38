package metric

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/row"
)

// rowKinds are the kinds of rows whose measures become metrics automatically: "<kind>.<measure>".
// Kernels and copies have metrics of their own.
func rowKinds() []*row.Kind {
	own := []*row.Kind{summary.Kernels(), summary.Copies(), summary.Idles()}
	kinds := slices.DeleteFunc(summary.Described(), func(k *row.Kind) bool { return slices.Contains(own, k) })
	return append(kinds, summary.Idles()) // last in lists
}

// rowMetrics returns a metric for each measure of these kinds, and the share of the main one.
func rowMetrics() (out []Metric) {
	for _, k := range rowKinds() {
		keys := slices.DeleteFunc(k.Keys(), func(key string) bool { return key == "input" || key == "number" })
		for i := range k.Columns {
			c := &k.Columns[i]
			if c.Adds == row.Key {
				continue
			}
			m := Metric{Name: k.Name + "." + measureName(c), Unit: Time, Host: hostOnly(k, c), Rises: true, Keys: keys,
				needsRows: true, rows: k,
				Meaning: meaningOf(k, c, "selected"), measure: func(v selection) (Value, error) { return v.measured(k, c) }}
			switch {
			case c.Adds == row.Mean:
				over, under := c.Terms()
				m.Meaning, m.Per, m.Rises = meaningOf(k, &k.Columns[over], "selected"),
					meaningOf(k, &k.Columns[under], "selected"), false
			case c.Adds == row.Sum:
				m.Sums = true
			}
			if c.Unit == row.Count {
				m.Unit, m.Steady = Count, true
			}
			m.Passes = k == summary.Passes()
			out = append(out, m)
		}
		if k != summary.Idles() { // idle.share already exists, as a share of the window
			share := Metric{Name: k.Name + ".share", Of: Time, Host: hostOnly(k, k.Main()), Keys: keys,
				needsRows: true, rows: k, Passes: k == summary.Passes(),
				Meaning: meaningOf(k, k.Main(), "selected"), Per: meaningOf(k, k.Main(), "all"),
				measure: func(v selection) (Value, error) { return v.shareOfRows(k) }}
			if k.Within != "" {
				share.Needs, share.Per = []string{k.Within}, "all time of this "+k.Noun
			}
			out = append(out, share)
		}
	}
	return out
}

// measureName returns the name in the JSON without its unit.
func measureName(c *row.Column) string {
	if c.Adds == row.Mean {
		return c.Name
	}
	if name := strings.TrimSuffix(strings.TrimSuffix(c.JSON, "ns"), "_"); name != "" {
		return name
	}
	return "total"
}

// hostOnly reports whether a measure is a time or count of the CPU.
func hostOnly(k *row.Kind, c *row.Column) bool {
	return k.Host || strings.HasPrefix(c.JSON, "cpu_")
}

// meaningOf describes a measure: "self GPU time of the selected operators".
func meaningOf(k *row.Kind, c *row.Column, which string) string {
	what := c.Name
	switch gpu := strings.HasPrefix(c.JSON, "gpu_"); {
	case c.Adds == row.Max:
		what = "duration of the longest"
	case c.Unit == row.Count && c.Name == "count":
		what = "number"
	case c.Unit == row.Count:
		what = "number of " + c.Name
	case !strings.HasSuffix(c.Name, "time"):
		what += map[bool]string{true: " GPU"}[gpu] + " time"
	}
	_, plural, _ := strings.Cut(label.Plural(2, k.Noun), " ")
	if which == "selected" {
		which = "the " + which
	}
	text := fmt.Sprintf("%s of %s %s", what, which, plural)
	if c.Nested {
		text += ", which must have one name, because they contain each other"
	}
	return text
}

// rows returns the rows of a kind that match the selector, or only some of its keys.
func (v selection) rows(k *row.Kind, keys ...string) any {
	values := map[string]string{}
	for _, t := range v.sel.terms {
		if len(keys) == 0 || slices.Contains(keys, t.key) {
			values[t.key] = t.value
		}
	}
	return k.Where(v.RowsOf(k), values)
}

// measured returns a measure of the selected rows.
func (v selection) measured(k *row.Kind, c *row.Column) (Value, error) {
	names := k.By(v.rows(k), k.Noun)
	if len(names.Rows) == 0 {
		return Value{}, v.noRows(k)
	}
	if c.Nested && len(names.Rows) > 1 {
		return Value{}, ambiguous("no sum: %d %s are selected, which contain each other; select one, or use a self time",
			len(names.Rows), k.Name)
	}
	all := k.By(v.rows(k))
	if c.Adds == row.Mean {
		over, under := c.Terms()
		sum, n := all.Number(&all.Rows[0], k.Columns[over].Name), all.Number(&all.Rows[0], k.Columns[under].Name)
		if n == 0 {
			return Value{}, fmt.Errorf("no %s of these %s", k.Columns[under].Name, k.Name)
		}
		return ratio(sum, n), nil
	}
	return whole(all.Number(&all.Rows[0], c.Name)), nil
}

// shareOfRows returns the share of the selected rows in all rows of the selected ranks and GPUs, and of what
// the kind has shares within.
func (v selection) shareOfRows(k *row.Kind) (Value, error) {
	part, all := k.By(v.rows(k)), k.By(v.rows(k, "rank", "device", k.Within))
	if len(part.Rows) == 0 {
		return Value{}, v.noRows(k)
	}
	if all.Whole == 0 {
		return Value{}, fmt.Errorf("no time of %s", k.Name)
	}
	return ratio(part.Whole, all.Whole), nil
}

// noRows is the error for a selector that finds nothing.
func (v selection) noRows(k *row.Kind) error {
	names, have := k.By(v.RowsOf(k), k.Noun), []string(nil)
	for i := range names.Rows {
		have = append(have, strconv.Quote(names.Text(&names.Rows[i], k.Noun)))
	}
	if have == nil {
		return errors.New("no " + k.Name + " in the capture")
	}
	return fmt.Errorf("no such %s; there is %s", k.Noun, few(have))
}
