package tree

import (
	"fmt"
	"maps"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
)

// A Measured is what a rule measured, as data. The entry of the rule has the words.
type Measured struct {
	Rule     string
	Part, Of int64   // ns; Part / Of is the value of the rule
	Value    float64 // used instead if Of is 0, for shares of counts

	Words map[string]string   // arguments of sentences and conditions
	Rows  map[string]Sums     // times by name, from which evidence shows the largest
	Lists map[string][]string // evidence lines that are not made from rows
	Where []finding.Place
}

// Sums are ns by name, and the ns of which they are shares.
type Sums struct {
	NS map[string]int64
	Of int64
}

// mostRows is how many rows evidence shows.
const mostRows = 3

// Evaluate compares what a rule measured with its limits and words it as a reading, from the texts
// of its entry. It returns false if no limit is reached.
func (c *Context) Evaluate(m Measured) (r Reading, ok bool) {
	limits, say := c.Limits[m.Rule], rule.WordingOf(m.Rule)
	words := c.standard(m)
	maps.Copy(words, m.Words)
	r.What = rule.Fill(say.Title, words)
	f, limit, reached := rule.Measured(limits, m.Part, m.Of)
	if m.Of == 0 {
		f.Value = m.Value
		f.Level, limit, reached = limits.Level(m.Value)
	}
	switch f.Title = r.What; {
	case reached:
		f.Title += rule.Over(limit)
	case limits.Warn+limits.Critical+limits.Info > 0:
		return r, false
	}
	for _, l := range say.Evidence {
		switch {
		case !l.When.Matches(words):
		case l.List != "":
			f.Evidence = append(f.Evidence, m.Lists[l.List]...)
		case l.Rows != "":
			f.Evidence = append(f.Evidence, m.Rows[l.Rows].lines(l.Text)...)
		default:
			f.Evidence = append(f.Evidence, rule.Fill(l.Text, words))
		}
	}
	f.Next, f.Where = say.Steps(words), m.Where
	r.Finding, r.Reached = f, true
	return r, true
}

// standard returns the arguments that every sentence of a rule may use.
func (c *Context) standard(m Measured) map[string]string {
	limits := c.Limits[m.Rule]
	out := map[string]string{"value": fmt.Sprintf("%.1f%%", 100*m.Value), "under": unit.Duration(limits.Under),
		"min_busy": unit.Percent(limits.MinBusy), "margin": unit.Percent(limits.Margin)}
	if m.Of > 0 {
		out["share"], out["amounts"], out["window"] = unit.Share(m.Part, m.Of), unit.DurationOf(m.Part, m.Of),
			c.OfWindow(m.Part)
	}
	return out
}

// lines returns a line for each of the largest rows.
func (s Sums) lines(text string) (out []string) {
	names := finding.ByWork(s.NS)
	for _, name := range names[:min(mostRows, len(names))] {
		out = append(out, rule.Fill(text, map[string]string{"name": name, "quoted": fmt.Sprintf("%q", name),
			"share": unit.Share(s.NS[name], s.Of), "amounts": unit.DurationOf(s.NS[name], s.Of)}))
	}
	return out
}
