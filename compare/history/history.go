package history

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"assay/gate"
	"assay/gate/metric"
	"assay/internal/label"
	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view"
)

// Schema names the JSON layout of a [History]. Fields may be added to it, never renamed.
const Schema = "assay/history/1"

// A History has the metrics of runs in their order.
type History struct {
	Schema   string `json:"schema"`
	Headline string `json:"headline"`
	// OrderedBy says what the order of the runs is: "time" if all captures state when they were recorded,
	// else "name".
	OrderedBy string   `json:"ordered_by"`
	Runs      []Run    `json:"runs"`
	Metrics   []Metric `json:"metrics"`
	Changes   []Change `json:"changes"`
	Drifts    []Drift  `json:"drifts,omitempty"`  // metrics that move steadily instead of in places
	Newest    []Newest `json:"newest,omitempty"`  // metrics in which the last runs stand out
	Missing   []Skip   `json:"missing,omitempty"` // metrics that the last runs do not have, with the number of these
	Skipped   []Skip   `json:"skipped,omitempty"`
	// Copies are runs that are left out, because an earlier one has the same captures.
	Copies []string `json:"copies,omitempty"`
	// StableFrom is the index of the first run after the last change: the runs from there on are alike.
	StableFrom int `json:"stable_from"`
}

// A Run is one run of the history.
type Run struct {
	Name string     `json:"name"`
	Path string     `json:"path"`
	Time *time.Time `json:"time,omitempty"` // when the capture began, if it states that

	Values []gate.Measured `json:"-"` // of the metrics that were asked for
}

// A Metric is one figure over all runs.
type Metric struct {
	Metric string `json:"metric"` // with its selector, as gates write it
	Unit   string `json:"unit"`
	Higher bool   `json:"higher_is_better"`
	// Values has one value for each run; null where the run has none that can be compared.
	Values []*float64 `json:"values"`
	Levels []Level    `json:"levels"`

	Of metric.Unit `json:"-"`
}

// A Level is a stretch of runs without a change.
type Level struct {
	First  int     `json:"first"` // index of its first run
	Last   int     `json:"last"`
	Runs   int     `json:"runs"` // with a value
	Median float64 `json:"median"`
	Low    float64 `json:"low"` // smallest and largest value
	High   float64 `json:"high"`
}

// A Change is a place in the history after which the level of metrics is another one.
type Change struct {
	At    int `json:"at"` // index of the first run of the new level
	First int `json:"first"`
	Last  int `json:"last"` // the place is between First and Last with a confidence of 95%

	Metrics []Move `json:"metrics"` // the largest relative change first
	Cause   *Cause `json:"cause,omitempty"`
}

// A Move is the change of one metric.
type Move struct {
	Metric string  `json:"metric"`
	Before float64 `json:"before"` // medians of the levels
	After  float64 `json:"after"`
	Change float64 `json:"change"` // After / Before - 1; of a share the difference, and of a level of 0 the new one
	Worse  bool    `json:"worse"`
	P      float64 `json:"p"`               // that runs in any order show as large a change
	Drift  bool    `json:"drift,omitempty"` // a steady drift explains the values as well

	of metric.Unit
}

// A Drift is a metric that a line over all runs explains better than levels do.
type Drift struct {
	Metric string  `json:"metric"`
	From   float64 `json:"from"` // the line at the first and at the last run
	To     float64 `json:"to"`
	Change float64 `json:"change"` // as of a Move
	Worse  bool    `json:"worse"`
	Cause  *Cause  `json:"cause,omitempty"` // what the last runs do differently from the first ones

	of metric.Unit
}

// Text describes the drift: "step.median drifts by +9.1% over all runs (104.2 ms to 113.7 ms)".
func (d Drift) Text() string {
	return fmt.Sprintf("%s drifts by %s over all runs (%s to %s)", d.Metric, changeText(d.of, d.From, d.Change), d.of.Text(d.From), d.of.Text(d.To))
}

// A Newest is a metric in which the last runs stand out. They are too few for a level.
type Newest struct {
	Metric string  `json:"metric"`
	Runs   int     `json:"runs"`
	Value  float64 `json:"value"`
	Level  float64 `json:"level"` // median of the runs before them
	Change float64 `json:"change"`
	Worse  bool    `json:"worse"`
}

// A Skip is a metric that too few runs have.
type Skip struct {
	Metric string `json:"metric"`
	Runs   int    `json:"runs"`
	Why    string `json:"why"`
}

// ByTime and ByName are the orders of runs.
const (
	ByTime = "time"
	ByName = "name"
)

// Of returns the history of runs in the order of their names, whose values are of the metrics of gates. Load returns the summary of
// a run again, by its index in the list that was given; it may be nil, then no causes are found.
func Of(runs []Run, gates []gate.Gate, load func(i int) (*summary.Summary, error)) *History {
	h := &History{Schema: Schema, Changes: []Change{}}
	order := h.order(runs)
	for i := range gates {
		h.add(&gates[i], i)
	}
	slices.SortStableFunc(h.Skipped, func(a, b Skip) int { return b.Runs - a.Runs })
	h.search()
	if load != nil {
		load := func(i int) (*summary.Summary, error) { return load(order[i]) }
		for i := range h.Changes {
			base, new := h.sides(&h.Changes[i])
			h.Changes[i].Cause = h.explain(base, new, load)
		}
		for i := range h.Drifts {
			n := min(runsOfSide, len(h.Runs)/2)
			h.Drifts[i].Cause = h.explain(indices(0, n), indices(len(h.Runs)-n, len(h.Runs)), load)
			break // that of the largest; the others have the same runs
		}
	}
	h.Headline = h.headline()
	return h
}

// order sorts the runs by time if all have one, and returns the index that each had.
func (h *History) order(runs []Run) []int {
	h.OrderedBy = ByTime
	order := make([]int, len(runs))
	for i, r := range runs {
		order[i] = i
		if r.Time == nil {
			h.OrderedBy = ByName
		}
	}
	if h.OrderedBy == ByTime {
		slices.SortStableFunc(order, func(i, j int) int { return runs[i].Time.Compare(*runs[j].Time) })
	}
	for _, i := range order {
		h.Runs = append(h.Runs, runs[i])
	}
	return order
}

// add adds the metric of a gate, whose values are the n-th of each run.
func (h *History) add(g *gate.Gate, n int) {
	m := Metric{Metric: g.Text, Unit: g.Metric.Unit.String(), Higher: g.Metric.Higher, Of: g.Metric.Unit}
	measured, why := 0, ""
	for i := range h.Runs {
		v := &h.Runs[i].Values[n]
		if v.Why != "" {
			why = v.Why
			m.Values = append(m.Values, nil)
			continue
		}
		measured++
		m.Values = append(m.Values, &v.Value.V)
	}
	switch {
	case measured == 0:
		h.Skipped = append(h.Skipped, Skip{g.Text, 0, why})
	case measured < stat.FewestForChange:
		h.Skipped = append(h.Skipped, Skip{g.Text, measured, fmt.Sprintf("changes are searched in %d runs or more", stat.FewestForChange)})
	default:
		if last := m.missing(); last > 0 {
			h.Missing = append(h.Missing, Skip{g.Text, last, why})
		}
		h.Metrics = append(h.Metrics, m)
	}
}

// missing returns how many of the last runs have no value.
func (m *Metric) missing() (n int) {
	for n < len(m.Values) && m.Values[len(m.Values)-1-n] == nil {
		n++
	}
	return n
}

// present returns the values of the runs that have one, and the indices of these runs.
func (m *Metric) present() (values []float64, at []int) {
	for i, v := range m.Values {
		if v != nil {
			values, at = append(values, *v), append(at, i)
		}
	}
	return values, at
}

// Steady reports whether all values are equal.
func (m *Metric) Steady() bool {
	values, _ := m.present()
	return slices.Min(values) == slices.Max(values)
}

// changeOf returns by how much a metric changed.
func (m *Metric) changeOf(before, after float64) float64 {
	if m.Of == metric.Share {
		return after - before
	}
	if before == 0 {
		return after
	}
	return after/before - 1
}

func (m *Metric) worse(before, after float64) bool {
	return (after < before) == m.Higher && after != before
}

// Recorded returns when the captures of a run began, or nil if one does not state that.
func Recorded(s *summary.Summary) *time.Time {
	starts := make([]int64, len(s.Inputs))
	for i, c := range view.Captures(s) {
		if s.Inputs[i].BaseTimeNS != nil {
			starts[i] = c.Time.Start
		}
	}
	for _, a := range s.Attempts {
		if a.Dated && a.StartNS != nil && a.Number == 0 && a.Input < len(starts) {
			starts[a.Input] = *a.StartNS
		}
	}
	if len(starts) == 0 || slices.Min(starts) <= 0 {
		return nil
	}
	t := time.Unix(0, slices.Min(starts)).UTC()
	return &t
}

// Identity returns what the captures of a run have in common with copies of them only, or "" if that is not known.
func Identity(s *summary.Summary) string {
	var of []string
	for _, in := range s.Inputs {
		if in.SHA256 == "" {
			return ""
		}
		of = append(of, in.SHA256)
	}
	slices.Sort(of)
	return strings.Join(of, " ")
}

// headline says what changed.
func (h *History) headline() string {
	runs := label.Plural(int64(len(h.Runs)), "run")
	switch n := len(h.Changes); {
	case len(h.Metrics) == 0:
		return fmt.Sprintf("%s, and no metric that %d of them have", runs, stat.FewestForChange)
	case n == 0 && len(h.Drifts) > 0:
		return fmt.Sprintf("%s; %s", runs, h.Drifts[0].Text())
	case n == 0:
		text := fmt.Sprintf("no change in %s of %s", label.Plural(int64(len(h.Metrics)), "metric"), runs)
		if len(h.Newest) > 0 {
			text += "; but " + h.newestText(h.Newest[0])
		}
		return text
	default:
		c := &h.Changes[n-1]
		for i := range h.Changes {
			if x := &h.Changes[n-1-i]; x.main().Worse {
				c = x
				break
			}
		}
		return fmt.Sprintf("%s in %s; %s", label.Plural(int64(n), "change"), runs, h.ChangeText(c))
	}
}

// main returns the largest move: others may follow from it, as a share of the step does from a shorter step.
func (c *Change) main() Move { return c.Metrics[0] }

// ChangeText describes a change: "from 2026-11-12 on, step.median +9.1% (104.2 ms to 113.7 ms)".
func (h *History) ChangeText(c *Change) string {
	m := c.main()
	text := fmt.Sprintf("from %s on, %s", h.Runs[c.At].Name, m.Text())
	if m.Drift {
		text = fmt.Sprintf("around %s, %s, by steps or a steady drift", h.Runs[c.At].Name, m.Text())
	}
	return text
}

// Text describes the move: "step.median +9.1% (104.2 ms to 113.7 ms)".
func (m Move) Text() string {
	return fmt.Sprintf("%s %s (%s to %s)", m.Metric, m.ChangeText(), m.of.Text(m.Before), m.of.Text(m.After))
}

// ChangeText is "+9.1%", "-4.2 points", or "new" if the level was 0.
func (m Move) ChangeText() string { return changeText(m.of, m.Before, m.Change) }

func changeText(of metric.Unit, before, change float64) string {
	switch {
	case of == metric.Share:
		return fmt.Sprintf("%+.1f points", 100*change)
	case before == 0:
		return "new"
	case math.Abs(change) >= 10:
		return fmt.Sprintf("%.3g times", 1+change)
	}
	return fmt.Sprintf("%+.1f%%", 100*change)
}

// newestText describes the last runs: "step.median of the newest run is +31.0%, at 130.1 ms".
func (h *History) newestText(x Newest) string {
	i := slices.IndexFunc(h.Metrics, func(m Metric) bool { return m.Metric == x.Metric })
	which := "the newest run"
	if x.Runs > 1 {
		which = fmt.Sprintf("the newest %d runs", x.Runs)
	}
	of := h.Metrics[i].Of
	return strings.TrimSpace(fmt.Sprintf("%s of %s is at %s (%s)", x.Metric, which, of.Text(x.Value), changeText(of, x.Level, x.Change)))
}

// NewestText says what stands out in the last runs, for each metric.
func (h *History) NewestText() (out []string) {
	for _, x := range h.Newest {
		out = append(out, h.newestText(x))
	}
	return out
}
