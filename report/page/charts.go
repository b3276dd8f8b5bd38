package page

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// A chart has values over steps or time.
type chart struct {
	Title string `json:"title"`
	Note  string `json:"note,omitempty"`
	Role  string `json:"role"`            // kind of the values: "time", "memory"
	Unit  string `json:"unit"`            // "ns", "bytes", "share", or as in a summary
	By    string `json:"by"`              // "step", "time" (ns from 0 on) or "index"
	Lines []line `json:"lines"`           // the first is drawn on top
	Areas bool   `json:"areas,omitempty"` // lines are stacked, except those without Area

	weight float64 // the larger, the earlier among the charts of its role
}

type line struct {
	Name string     `json:"name"`
	Area bool       `json:"area,omitempty"`
	X    []int64    `json:"x"` // differences
	Y    []*float64 `json:"y"` // null if there is no value
	Low  []float64  `json:"low,omitempty"`
	High []float64  `json:"high,omitempty"`
}

const (
	mostCharts = 120
	mostLines  = 12 // per chart; further places are in the table only
)

func charts(s *summary.Summary) []chart {
	out := slices.Concat(memoryCharts(s), seriesCharts(s))
	return out[:min(len(out), mostCharts)]
}

// roles is the order of charts, the most important for a reader first.
var roles = []string{"time", "throughput", "latency", "queue", "utilization", "memory", "load", "quality", "health", "other"}

// seriesCharts returns a chart for each metric of a log or a monitor, with a line for each place where it
// was measured.
func seriesCharts(s *summary.Summary) (out []chart) {
	type key struct {
		input                        int
		producer, metric, name, unit string
	}
	at := map[key]int{}
	for i := range s.Series {
		r := &s.Series[i]
		if r.Strip == nil || len(r.Strip.X) < 2 || r.Min != nil && r.Max != nil && *r.Min == *r.Max && r.Role != "time" {
			continue // a constant needs no chart
		}
		k := key{r.Input, r.Producer, r.Metric, r.Name, r.Unit}
		j, ok := at[k]
		if !ok {
			j = len(out)
			at[k] = j
			c := chart{Title: visible(r.Metric), Role: r.Role, Unit: r.Unit, By: r.Strip.By}
			if r.Name != r.Metric {
				c.Title = visible(r.Name) + " (" + visible(r.Metric) + ")"
			}
			c.Note = visible(r.Producer)
			if len(s.Inputs) > 1 {
				c.Note += ", " + visible(label.Base(s.Inputs[r.Input].Path))
			}
			out = append(out, c)
		}
		c := &out[j]
		c.weight += weightOf(r)
		if len(c.Lines) < mostLines && c.By == r.Strip.By {
			c.Lines = append(c.Lines, lineOf(r))
		}
	}
	slices.SortStableFunc(out, func(a, b chart) int {
		return cmp.Or(cmp.Compare(roleOrder(a.Role), roleOrder(b.Role)), cmp.Compare(b.weight, a.weight))
	})
	return out
}

// weightOf returns how early the chart of a series is among those of its role: the time of steps first, then phases by
// their time; what explains a throughput comes after it.
func weightOf(r *summary.Series) float64 {
	switch {
	case r.Metric == "step.time":
		return math.MaxFloat64 / 4
	case r.Role == "time" && r.Sum != nil:
		return *r.Sum
	case strings.HasPrefix(r.Metric, "spec."):
		return -1
	}
	return 0
}

func roleOrder(role string) int {
	if i := slices.Index(roles, role); i >= 0 {
		return i
	}
	return len(roles)
}

func lineOf(r *summary.Series) line {
	l := line{Name: visible(r.LabelText()), X: differences(r.Strip.X), Y: finite(r.Strip.Values)}
	if r.Pooled > 0 {
		l.Name = strings.TrimSpace("all " + l.Name)
	}
	if allFinite(r.Strip.Low) && allFinite(r.Strip.High) {
		l.Low, l.High = r.Strip.Low, r.Strip.High
	}
	return l
}

// memoryCharts returns charts of memory over time by allocation site.
func memoryCharts(s *summary.Summary) (out []chart) {
	snapshots := view.Snapshots(s)
	for i, name := range view.SnapshotLabels(s, snapshots) {
		if st := snapshots[i].Strip; st != nil {
			out = append(out, strataChart("Allocated memory by allocation site: "+visible(name), st))
		}
	}
	for i := range s.MemoryTimelines {
		m := &s.MemoryTimelines[i]
		if m.Strip != nil {
			out = append(out, strataChart("Memory by category: "+visible(label.Base(s.Inputs[m.Input].Path)), m.Strip))
		}
	}
	rows := view.Memory(s)
	for i, name := range view.MemoryLabels(s, rows) {
		st := rows[i].Strip
		if st == nil {
			continue
		}
		c := chart{Title: "Memory of the allocator: " + visible(name), Role: "memory", Unit: "bytes", By: "time"}
		for _, l := range []struct {
			name   string
			values []int64
		}{{"allocated", st.Allocated}, {"reserved", st.Reserved}} {
			if len(l.values) > 0 {
				c.Lines = append(c.Lines, bins(l.name, st.BinNS, l.values))
			}
		}
		out = append(out, c)
	}
	return out
}

// strataChart stacks the allocated memory of each allocation site.
func strataChart(title string, st *summary.OwnerStrip) chart {
	c := chart{Title: title, Role: "memory", Unit: "bytes", By: "time", Areas: true}
	for _, o := range st.Owners {
		l := bins(cmp.Or(o.Name, "others"), st.BinNS, o.Bytes)
		l.Area = true
		c.Lines = append(c.Lines, l)
	}
	if len(st.Reserved) > 0 {
		c.Lines = append(c.Lines, bins("reserved", st.BinNS, st.Reserved))
	}
	return c
}

// bins returns values at equal distances, from 0. Negative values are unknown.
func bins(name string, bin int64, values []int64) line {
	l := line{Name: visible(name), X: make([]int64, len(values)), Y: make([]*float64, len(values))}
	for i, v := range values {
		if i > 0 {
			l.X[i] = bin
		}
		if v >= 0 {
			f := float64(v)
			l.Y[i] = &f
		}
	}
	return l
}

func differences(list []int64) []int64 {
	out := make([]int64, len(list))
	last := int64(0)
	for i, v := range list {
		out[i], last = v-last, v
	}
	return out
}

// finite returns values with nil for those that JSON cannot represent.
func finite(list []float64) []*float64 {
	out := make([]*float64, len(list))
	for i := range list {
		if !math.IsNaN(list[i]) && !math.IsInf(list[i], 0) {
			out[i] = &list[i]
		}
	}
	return out
}

func allFinite(list []float64) bool {
	return !slices.ContainsFunc(list, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
