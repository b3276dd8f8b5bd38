// Package finding has what the judge says, as data: findings with their places and steps,
// the nodes of their tree, bottlenecks and verdicts. It measures nothing and has no limits;
// [assay/judge/rule] has these, and the texts of the steps.
package finding

// A Level says how much a finding matters. Levels are ordered.
type Level int

// The levels, by rising weight.
const (
	Info     Level = iota // worth knowing, no action needed
	Warn                  // over the warn threshold
	Critical              // over the critical threshold
)

// A Finding is one statement about the run, with its evidence.
type Finding struct {
	Rule  string `json:"rule"`  // stable id, as "gpu-idle"
	Level Level  `json:"level"` // written as "info", "warn", "critical"

	// Subject says what the finding is about if a rule can have several: "rank 3", or a
	// function. With Rule it is the key of a finding.
	Subject string `json:"subject,omitempty"`

	// Title names the problem with one share, its denominator and its limit: "GPU
	// idle: 71.9% of the window (84.2 ms of 117.1 ms); limit 50%".
	Title string `json:"title"`

	Value         float64 `json:"value"`          // NumeratorNS / DenominatorNS, or a share of counts, which have none
	NumeratorNS   int64   `json:"numerator_ns"`   // of all devices judged
	DenominatorNS int64   `json:"denominator_ns"` // of all devices judged

	// Findings on memory have bytes instead of times.
	NumeratorBytes   int64 `json:"numerator_bytes,omitempty"`
	DenominatorBytes int64 `json:"denominator_bytes,omitempty"`

	Warn     float64 `json:"warn"` // thresholds of Value
	Critical float64 `json:"critical"`

	// Cause is the evidence that says what causes the finding, in one line. It is absent if
	// that is not known, or if the report finds it in the tables of the summary.
	Cause    string   `json:"cause,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // where to look: the worst device, the kernel, ...
	Next     []Step   `json:"steps,omitempty"`    // what to do about it, the most useful first

	// GainNS is the estimated savings, an upper bound: the time saved if the cause
	// disappears and nothing replaces it. It is null if it is not estimated. GainOfNS
	// is its denominator and GainOf the name of that. The [Page] of a rule defines it.
	GainNS   *int64 `json:"gain_ns"`
	GainOfNS int64  `json:"gain_of_ns,omitempty"`
	GainOf   string `json:"gain_of,omitempty"`

	// GainGPUs is the number of GPUs whose windows are added up in GainOfNS; titles have means of
	// them. It is 0 for other denominators. GainWithout is what the windows leave out.
	GainGPUs    int    `json:"-"`
	GainWithout string `json:"-"`

	// Confidence is the confidence of the finding. ToBeSure is what to capture to
	// confirm it. If the capture itself is doubtful, nothing is certain.
	Confidence Confidence `json:"confidence"`
	ToBeSure   []string   `json:"to_be_sure,omitempty"`

	// Where has the places to look at first, as far as the rule knows them.
	Where []Place `json:"where,omitempty"`

	// InPlaceOf is the rule that this finding replaces, because it explains most of that
	// part of the window: "gpu-idle" for "data-loading".
	InPlaceOf string `json:"in_place_of,omitempty"`
}

// A Verdict is the bottleneck of a run.
type Verdict struct {
	// Bound is what limits the run. For counters of kernels alone it is the side with the
	// largest estimated savings. [Bound] has all values.
	Bound Bound `json:"bound"`
	// Sentence answers in one line, with the number that decided.
	Sentence string `json:"sentence"`
	// Rule is the id of the finding that decided, or absent where none did.
	Rule string `json:"rule,omitempty"`
	// Abstained says why no bound is named. It is absent where one is.
	Abstained *Abstention `json:"abstained,omitempty"`
}

// An Abstention says why a verdict is withheld.
type Abstention struct {
	Code   string `json:"code"`   // the rule that withholds it, as "device-records-missing"; "no-functions" of an empty profile
	Reason string `json:"reason"` // one sentence
}

// A Result is the verdict of one subject, with its findings and their tree.
type Result struct {
	Verdict  Verdict
	Findings []Finding
	Tree     []Node // without the findings that have no place in it
}

// DecidedBy returns the verdict of a finding: its bound and its title.
func DecidedBy(bound Bound, f Finding) Verdict {
	return Verdict{Bound: bound, Sentence: f.Title, Rule: f.Rule}
}

// A Confidence is the confidence of a finding.
type Confidence string

// The confidences.
const (
	Certain Confidence = "certain" // counted or measured
	Likely  Confidence = "likely"  // derived from measurements by a rule that can be wrong
	Hint    Confidence = "hint"    // to be checked
)
