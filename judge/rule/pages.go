package rule

import (
	"assay/judge/finding"
)

// A Page is the documentation of one rule. It is made from the entry that the judge uses, so the
// two cannot differ.
type Page struct {
	Rule
	Line       string             `json:"line"`        // what the rule is about
	Part       string             `json:"numerator"`   // the numerator of its value
	Whole      string             `json:"denominator"` // the denominator of its value; "" if there is none
	Gain       string             `json:"gain"`        // what gain_ns means; "none" if savings cannot be estimated
	Confidence finding.Confidence `json:"confidence"`  // the highest one that its findings have
	Sure       []string           `json:"to_be_sure"`  // what to capture to confirm a finding
	Changes    string             `json:"changes"`     // what changes the verdict
	Remedies   []Remedy           `json:"remedies"`    // all remedies that its findings may give, by id
}

// Pages returns the page of every rule with its limits in t, in the order of precedence.
func (t Thresholds) Pages() []Page {
	var out []Page
	for _, r := range t.Rules() {
		e := builtIn().rule(r.ID)
		out = append(out, Page{
			Rule: r, Line: e.Line, Part: e.Part, Whole: e.Whole, Gain: e.Gain, Confidence: e.Confidence, Sure: e.Sure,
			Changes: e.Changes, Remedies: remediesOf(r.ID),
		})
	}
	return out
}

// LineOf returns what a rule is about, in a few words.
func LineOf(id string) string { return builtIn().rule(id).Line }
