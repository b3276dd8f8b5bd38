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
	Part, Of int64   // ns
	Value    float64 // the share of what has no times

	Words map[string]string   // arguments of sentences and conditions
	Rows  map[string]Sums     // where most of it is
	Lists map[string][]string // lines of a story that no row tells
	Where []finding.Place
}

// Sums are times by name, and what they are shares of.
type Sums struct {
	NS map[string]int64
	Of int64
}

// mostRows is how many rows of a kind have a line.
const mostRows = 3

// Say returns the reading of what a rule measured, in the words of its entry. It returns false if
// no limit of the rule is reached.
func (c *Context) Say(m Measured) (r Reading, ok bool) {
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
		case !l.When.Holds(words):
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

// standard returns the arguments that every sentence of a rule may have.
func (c *Context) standard(m Measured) map[string]string {
	limits := c.Limits[m.Rule]
	out := map[string]string{"value": fmt.Sprintf("%.1f%%", 100*m.Value), "under": unit.Duration(limits.Under),
		"min_busy": unit.Percent(limits.MinBusy), "margin": unit.Percent(limits.Margin)}
	if m.Of > 0 {
		out["share"], out["amounts"], out["window"] = unit.Share(m.Part, m.Of), unit.DurationOf(m.Part, m.Of), c.OfWindow(m.Part)
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
