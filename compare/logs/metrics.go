package logs

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"golang.org/x/perf/benchmath"

	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view/comparability"
)

// The effects of a change.
const (
	Better  = "better"
	Worse   = "worse"
	Changed = "changed" // the metric has no better direction
	Same    = "same"    // the change is below still
	Unclear = "unclear" // the intervals overlap, or are unknown
)

// still is the relative change below which a metric counts as unchanged.
const still = 0.01

// confidence is the confidence of the intervals.
const confidence = 0.95

// How a metric or a result was matched.
const (
	ByName  = "name" // the same program, name and place, or the same workload
	OnlyNew = "new"
	OnlyOld = "gone"
)

// A Metric is one metric at one place on both sides.
type Metric struct {
	Metric   string            `json:"metric"`
	Name     string            `json:"name"` // the producer's name of it
	Producer string            `json:"producer"`
	Unit     string            `json:"unit,omitempty"`
	Better   string            `json:"better,omitempty"` // "lower" or "higher"
	Role     string            `json:"role"`
	Labels   map[string]string `json:"labels,omitempty"`
	// Rank of the new side, if each side has one rank and these differ.
	NewRank string   `json:"new_rank,omitempty"`
	Match   string   `json:"match"`
	Base    *Values  `json:"base"` // null if the side does not have it
	New     *Values  `json:"new"`
	Delta   *float64 `json:"delta"`  // difference of the medians; null if a side has none
	Change  *float64 `json:"change"` // Delta as a share of the base; null if the base is not positive
	Effect  string   `json:"effect,omitempty"`
	Note    string   `json:"note,omitempty"` // why the sides cannot be compared: "places" or "steps"

	pooled bool // the values of all places together, see key
}

// Values are the values of a metric on one side, without warm-up.
type Values struct {
	Inputs int   `json:"inputs"`           // inputs with the metric; if there are several, each is one value
	Places int64 `json:"places,omitempty"` // number of ranks or replicas whose values are pooled
	N      int64 `json:"n"`
	WarmUp int64 `json:"warm_up,omitempty"` // number of values that are left out

	Median float64 `json:"median"`
	// Low and High contain the true median with 95% confidence, by the order of the values; they
	// are null if there are too few. They say nothing about the noise between runs.
	Low  *float64 `json:"low"`
	High *float64 `json:"high"`
}

// The reasons why a metric has no effect.
const (
	OtherPlaces = "places" // the sides have different numbers of ranks or replicas
	OtherSteps  = "steps"  // the values depend on progress, and the sides have no steps in common
)

// A key identifies a metric on a side. A metric with several places has a row for each place and a
// pooled row, which may have the labels of one of them.
type key struct {
	producer, metric, name, unit, labels string
	pooled                               bool
}

// A group has the rows of one key on one side, one for each input.
type group struct {
	of     *summary.Series
	labels map[string]string
	rows   []gathered

	newRank string // see [Metric.NewRank]
}

// A gathered is a row with the rows that have its points.
type gathered struct {
	row    *summary.Series
	points []*summary.Series // for a pooled row, the rows of its places
	warm   map[int64]bool    // numbers of warm-up steps of its input
}

// Metrics compares the metrics of two sides. Those that both sides have come first.
func Metrics(base, new []comparability.Part) []Metric {
	b, n := gather(base), gather(new)
	if len(b) == 0 || len(n) == 0 {
		return nil
	}
	pairRanks(b, n)
	var out []Metric
	for k, g := range b {
		m := g.metric()
		if o := n[k]; o != nil {
			m.Match, m.NewRank = ByName, o.newRank
			m.compare(g, o)
		} else {
			m.Match = OnlyOld
			m.Base = g.values(nil)
		}
		out = append(out, m)
	}
	for k, g := range n {
		if b[k] == nil {
			m := g.metric()
			m.Match, m.New, m.NewRank = OnlyNew, g.values(nil), g.newRank
			out = append(out, m)
		}
	}
	slices.SortFunc(out, order)
	return out
}

// roles are ordered by their importance for a comparison.
var roles = []string{"time", "latency", "throughput", "utilization", "queue", "memory", "health", "quality", "load"}

// Rank returns the position of a role in that order.
func Rank(role string) int {
	if i := slices.Index(roles, role); i >= 0 {
		return i
	}
	return len(roles)
}

// order sorts the metrics of a comparison, which come from maps. The pooled row of a metric comes
// before those of single places.
func order(a, b Metric) int {
	first := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	return cmp.Or(cmp.Compare(first(a.Match == ByName), first(b.Match == ByName)),
		cmp.Compare(Rank(a.Role), Rank(b.Role)), cmp.Compare(a.Metric, b.Metric),
		cmp.Compare(a.Producer, b.Producer), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Unit, b.Unit),
		cmp.Compare(LabelText(a.Labels), LabelText(b.Labels)),
		cmp.Compare(first(a.pooled), first(b.pooled)))
}

// LabelText returns labels as one text, sorted by name.
func LabelText(labels map[string]string) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		parts = append(parts, name+"="+labels[name])
	}
	return strings.Join(parts, " ")
}

// gather collects the rows that represent a metric: the pooled rows and those of each place.
func gather(parts []comparability.Part) map[key]*group {
	out := map[key]*group{}
	for _, p := range parts {
		warm, single := warmUp(p), pools(p)
		for i := range p.Series {
			r := &p.Series[i]
			if p.Inputs != nil && !slices.Contains(p.Inputs, r.Input) || r.N == 0 || r.Median == nil {
				continue
			}
			labels := maps.Clone(r.Labels)
			if in := p.Summary.Inputs[r.Input]; labels["rank"] == "" && ranked(in) {
				if labels == nil {
					labels = map[string]string{}
				}
				labels["rank"] = itoa(in.Rank)
			}
			k := key{r.Producer, r.Metric, r.Name, r.Unit, LabelText(labels), r.Pooled > 0}
			if out[k] == nil {
				out[k] = &group{of: r, labels: labels}
			}
			g := gathered{row: r, points: []*summary.Series{r}, warm: warm[r.Input]}
			if r.Pooled > 0 {
				g.points = single[poolOf(r)]
			}
			out[k].rows = append(out[k].rows, g)
		}
	}
	return out
}

// ranked reports whether the rank of an input is known.
func ranked(in summary.Input) bool { return in.RankFrom != "" && in.RankFrom != "assumed" }

// warmUp returns the numbers of the warm-up steps of each input.
func warmUp(p comparability.Part) map[int]map[int64]bool {
	type log struct {
		walls   []float64
		covers  []int64
		numbers []int64
		starts  []int
	}
	type from struct {
		input  int
		marker string
	}
	logs := map[from]*log{}
	for _, st := range p.Steps {
		if st.Source != summary.SourceLog || st.WallNS <= 0 {
			continue
		}
		k := from{st.Input, st.Marker}
		l := logs[k]
		if l == nil {
			l = &log{}
			logs[k] = l
		}
		if n := len(l.numbers); n == 0 || st.Number <= l.numbers[n-1] {
			l.starts = append(l.starts, n)
		}
		l.walls, l.covers = append(l.walls, float64(st.WallNS)), append(l.covers, st.Covers())
		l.numbers = append(l.numbers, st.Number)
	}
	out := map[int]map[int64]bool{}
	for k, l := range logs {
		for i, warm := range stat.WarmUp(l.walls, l.covers, l.starts) {
			if !warm {
				continue
			}
			if out[k.input] == nil {
				out[k.input] = map[int64]bool{}
			}
			out[k.input][l.numbers[i]] = true
		}
	}
	return out
}

func (g *group) metric() Metric {
	r := g.of
	return Metric{Metric: r.Metric, Name: r.Name, Producer: r.Producer, Unit: r.Unit, Better: r.Better, Role: r.Role,
		Labels: g.labels,
		pooled: r.Pooled > 0}
}

// A span is a range of steps, with both ends.
type span struct{ from, to int64 }

// compare sets the values of both sides and the effect of their difference. Metrics that change as
// a program proceeds, such as losses and lengths of answers, are compared over the same steps.
func (m *Metric) compare(base, new *group) {
	var over *span
	if a, ok := base.steps(); ok {
		if b, ok := new.steps(); ok {
			over = &span{max(a.from, b.from), min(a.to, b.to)}
			if over.from > over.to {
				over = nil
				if m.progresses() {
					m.Note = OtherSteps
				}
			}
		}
	}
	m.Base, m.New = base.values(over), new.values(over)
	if m.Base == nil || m.New == nil {
		m.Base, m.New = base.values(nil), new.values(nil)
		if over != nil && m.progresses() {
			m.Note = OtherSteps
		}
	}
	if m.Base == nil || m.New == nil {
		return
	}
	if m.Base.Places != m.New.Places {
		m.Note = OtherPlaces
	}
	if m.Note != "" {
		return
	}
	delta := m.New.Median - m.Base.Median
	m.Delta, m.Change = finite(delta), nil
	if m.Base.Median > 0 {
		m.Change = finite(delta / m.Base.Median)
	}
	m.Effect = effect(m.Better, delta, m.Base.Median, disjoint(m.Base, m.New))
}

// progresses reports whether a metric can depend on how far the program is, as losses and lengths
// of answers do.
func (m *Metric) progresses() bool {
	return m.Role == "quality" || m.Role == "load" || m.Role == "other"
}

// effect classifies a change; clear reports that it is not noise.
func effect(better string, delta, base float64, clear bool) string {
	switch {
	case delta == 0 || math.Abs(delta) < still*math.Abs(base):
		return Same
	case !clear:
		return Unclear
	case better == "":
		return Changed
	case (delta > 0) == (better == "higher"):
		return Better
	}
	return Worse
}

// disjoint reports whether the intervals of both sides are known and do not overlap.
func disjoint(a, b *Values) bool {
	if a.Low == nil || b.Low == nil || a.High == nil || b.High == nil {
		return false
	}
	return *a.High < *b.Low || *b.High < *a.Low
}

// steps returns the range of the steps that every row has.
func (g *group) steps() (span, bool) {
	var out span
	for i, r := range g.rows {
		if r.row.FirstStep == nil || r.row.LastStep == nil {
			return span{}, false
		}
		if i == 0 {
			out = span{*r.row.FirstStep, *r.row.LastStep}
		}
		out = span{max(out.from, *r.row.FirstStep), min(out.to, *r.row.LastStep)}
	}
	return out, len(g.rows) > 0 && out.from <= out.to
}

// values returns the values of a side within a range of steps, or nil if it has none there. If
// there are several inputs, the median of each is one value.
func (g *group) values(over *span) *Values {
	v := &Values{Places: g.of.Pooled}
	var medians, points []float64
	for _, r := range g.rows {
		list, left := r.values(over)
		if len(list) == 0 {
			continue
		}
		v.Inputs++
		v.WarmUp += left
		middle, n := stat.Median(list), int64(len(list))
		if left == 0 && r.whole(over) { // the row was computed from all values, its strip may have only a part
			middle, n = *r.row.Median, r.row.N
		}
		v.N += n
		medians, points = append(medians, middle), list
	}
	if v.Inputs == 0 {
		return nil
	}
	v.Median = stat.Median(medians)
	if v.Inputs > 1 {
		points = medians
	}
	v.Low, v.High = interval(points)
	return v
}

// whole reports whether all steps of a row are in the range.
func (g *gathered) whole(over *span) bool {
	return over == nil || g.row.FirstStep != nil && *g.row.FirstStep >= over.from && *g.row.LastStep <= over.to
}

// values returns the points of an input in a range of steps, and the number of warm-up points that
// are left out. A row without points has only its median.
func (g *gathered) values(over *span) (out []float64, left int64) {
	for _, r := range g.points {
		st := r.Strip
		if st == nil {
			continue
		}
		for i, x := range st.X {
			switch {
			case st.By == "step" && over != nil && (x < over.from || x > over.to):
			case st.By == "step" && g.warm[x]:
				left++
			default:
				out = append(out, st.Values[i])
			}
		}
	}
	if out == nil && left == 0 && over == nil {
		out = []float64{*g.row.Median}
	}
	return out, left
}

// interval returns bounds of the median, or nil if there are too few values.
func interval(values []float64) (low, high *float64) {
	if len(values) < 2 {
		return nil, nil
	}
	sum := benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds),
		confidence)
	return finite(sum.Lo), finite(sum.Hi)
}

// finite returns a pointer to v, or nil if it is not finite.
func finite(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
