package report

import (
	"io"

	"assay/compare"
	"assay/compare/history"
	"assay/internal/jsonscan"
	"assay/internal/redact"
	"assay/judge"
	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/timeline"
	"assay/report/diff"
	"assay/report/doc"
	reporthistory "assay/report/history"
	"assay/report/plot"
	"assay/summary"
)

// A Report is a document with the data that it shows.
type Report struct {
	doc.Doc

	summary *summary.Summary
	result  judge.Result
	charts  []plot.Chart
	madeBy  string // see [Report.MadeBy]

	comparison *compare.Comparison // of two runs; there is no summary then
	history    *history.History    // of many runs; there is neither then
}

// BuildDiff makes the report of a comparison, in which it masks secrets. It shares the memory of the
// comparison.
func BuildDiff(c *compare.Comparison) Report {
	redact.New(false).Strings(c)
	d, charts := diff.Doc(c)
	both := summary.Summary{Devices: []summary.Device{{Name: c.Base.Name}, {Name: c.New.Name}}}
	for _, side := range []compare.Side{c.Base, c.New} {
		for _, in := range side.Inputs {
			both.Inputs = append(both.Inputs, summary.Input{Format: in.Format})
		}
	}
	d.Say(rule.ForMaker(&both))
	return Report{Doc: d, charts: charts, comparison: c}
}

// BuildHistory makes the report of a history, in which it masks secrets.
func BuildHistory(h *history.History) Report {
	redact.New(false).Strings(h)
	d, charts := reporthistory.Doc(h)
	return Report{Doc: d, charts: charts, history: h}
}

// Charts returns the pictures of the report in the order of their places.
func (d Report) Charts() []plot.Chart { return d.charts }

// Texts returns pointers to what an output shows, is not exported and may have secrets: those of the
// summary, its result and a comparison were masked when the report was made. A caller may rewrite the
// texts in them before it prints the document.
func (d *Report) Texts() []any { return []any{&d.charts, &d.madeBy} }

// JSON writes the summary as one object, with verdict, findings,
// sides of kernels and the software that was found among its fields. Lists of numbers are set in one line; everything else is indented.
func (d Report) JSON(w io.Writer) error {
	switch {
	case d.comparison != nil:
		return jsonscan.Write(w, d.comparison)
	case d.history != nil:
		return jsonscan.Write(w, d.history)
	}
	return summary.Write(w, d.summary, d.madeBy, judgedJSON{d.result.Verdict, findingsJSON(d.result.Findings), d.result.Tree, d.result.Sides, d.result.States, d.result.Groups, d.result.Phases, d.result.Stages, d.result.Runs, d.result.Stacks})
}

// judgedJSON are the members that a verdict adds to those of a summary.
type judgedJSON struct {
	Verdict  finding.Verdict `json:"verdict"`
	Findings []findingJSON   `json:"findings"`
	Tree     []finding.Node  `json:"tree,omitempty"`
	Sides    []counters.Side `json:"sides,omitempty"`

	States []timeline.StepState    `json:"step_states,omitempty"`
	Groups []timeline.StepGroup    `json:"step_groups,omitempty"`
	Phases []timeline.PhaseVerdict `json:"phase_verdicts,omitempty"`
	Stages []judge.StageVerdict    `json:"stage_verdicts,omitempty"`
	Runs   []judge.RunVerdict      `json:"run_verdicts,omitempty"`
	Stacks []rule.Stack            `json:"stacks,omitempty"`
}

// JSONParts returns values of the types of which [Report.JSON] writes the members, for a summary.
func JSONParts() []any { return []any{summary.Summary{}, summary.MadeBy{}, judgedJSON{}} }

// CSV writes the rows of a comparison as one table.
func (d Report) CSV(w io.Writer) error { return diff.CSV(d.comparison, w) }

// MadeBy returns the document with the version of assay in its JSON, as saved summaries
// have it.
func (d Report) MadeBy(version string) Report {
	d.madeBy = version
	return d
}

// A findingJSON is a finding with the texts and sources of its steps, which the data
// itself has by id.
type findingJSON struct {
	finding.Finding
	Next    []string      `json:"next,omitempty"`
	Sources []rule.Source `json:"next_sources,omitempty"` // of each of Next
}

func findingsJSON(list []finding.Finding) []findingJSON {
	out := make([]findingJSON, len(list))
	for i, f := range list {
		out[i].Finding = f
		for _, s := range f.Next {
			out[i].Next, out[i].Sources = append(out[i].Next, rule.Text(s)), append(out[i].Sources, rule.SourceOf(s))
		}
	}
	return out
}
