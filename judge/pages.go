package judge

// A Confidence is the confidence of a finding.
type Confidence string

// The confidences.
const (
	Certain Confidence = "certain" // counted or measured
	Likely  Confidence = "likely"  // derived from measurements by a rule that can be wrong
	Hint    Confidence = "hint"    // to be checked
)

// A Page is the documentation of one rule: what its findings are made by. It is
// generated from what judges, so it cannot say anything else.
type Page struct {
	Rule
	Line       string     `json:"line"`        // what the rule is about
	Part       string     `json:"numerator"`   // what is divided ...
	Whole      string     `json:"denominator"` // ... by what; "" where nothing is
	Gain       string     `json:"gain"`        // what gain_ns is; "none" where a file cannot tell
	Confidence Confidence `json:"confidence"`  // of its findings, at best
	Sure       []string   `json:"to_be_sure"`  // what to capture to be sure
	Changes    string     `json:"changes"`     // what changes the verdict
	Remedies   []Remedy   `json:"remedies"`    // all that its findings may give, by id
}

// Pages returns the page of every rule with its limits in t, in
// order of precedence.
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
