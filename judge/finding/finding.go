package finding

// A Level says how urgent a finding is. Levels are ordered.
type Level int

// The levels, from lowest to highest.
const (
	Info     Level = iota // no action needed
	Warn                  // over the warn limit
	Critical              // over the critical limit
)

// A Finding is one statement about the run, with its evidence.
type Finding struct {
	Rule  string `json:"rule"`  // stable id, for example "gpu-idle"
	Level Level  `json:"level"` // written as "info", "warn", "critical"

	// Subject says what the finding is about, if a rule can have several: "rank 3", or a function.
	// Rule and Subject together identify a finding.
	Subject string `json:"subject,omitempty"`

	// Title names the problem with one share, its denominator and its limit: "GPU idle: 71.9% of
	// the window (84.2 ms of 117.1 ms); limit 50%".
	Title string `json:"title"`

	Value         float64 `json:"value"`          // NumeratorNS / DenominatorNS, or a share of counts without either
	NumeratorNS   int64   `json:"numerator_ns"`   // ns, summed over the devices judged
	DenominatorNS int64   `json:"denominator_ns"` // ns, summed over the devices judged

	// Findings on memory have bytes instead of times.
	NumeratorBytes   int64 `json:"numerator_bytes,omitempty"`
	DenominatorBytes int64 `json:"denominator_bytes,omitempty"`

	Warn     float64 `json:"warn"` // limits of Value
	Critical float64 `json:"critical"`

	// Cause is the line of evidence that explains the finding, of the same part of the windows as its
	// share. It is absent if the cause is unknown.
	Cause    string   `json:"cause,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // where to look: the worst device, the kernel, ...
	Next     []Step   `json:"steps,omitempty"`    // fixes, the most useful first

	Shown []string `json:"-"` // the facts of the evidence that conditions of fixes are about

	// GainNS is the savings in ns if the cause disappears: by a forecast of the typical step, or else an
	// upper bound, the time saved if nothing replaces the cause; GainBasis says which. It is null if it was
	// not estimated. GainOfNS is its denominator, and GainOf the name of the denominator. The [Page] of a
	// rule defines upper bounds.
	GainNS   *int64 `json:"gain_ns"`
	GainOfNS int64  `json:"gain_of_ns,omitempty"`
	GainOf   string `json:"gain_of,omitempty"`
	// GainBasis is [Modelled] or [UpperBound]. GainChange is the change whose forecast the savings are, and
	// GainVerdict how far it can be trusted: ok or warn. GainSharedWith is the rule of a finding before this
	// one that saves the same time: the savings are not in addition to its. GainBound says that the change is the best case: what
	// the cause takes is gone entirely, or as short as it can be, so the savings are at most these.
	GainBasis      string `json:"gain_basis,omitempty"`
	GainChange     string `json:"gain_change,omitempty"`
	GainVerdict    string `json:"gain_verdict,omitempty"`
	GainBound      bool   `json:"gain_bound,omitempty"`
	GainSharedWith string `json:"gain_shared_with,omitempty"`

	// GainGPUs is the number of GPUs whose windows or steps GainOfNS adds up, so that savings are a
	// mean as titles are; it is 0 for other denominators. GainWithout names what was left out of the windows.
	GainGPUs    int    `json:"-"`
	GainWithout string `json:"-"`

	// GainOfAll says that GainOfNS is the windows, whose name a sentence need not repeat.
	GainOfAll bool `json:"-"`

	// Confidence says how certain the finding is, and ToBeSure what to capture to confirm it.
	// Nothing is certain if the capture itself is doubtful.
	Confidence Confidence `json:"confidence"`
	ToBeSure   []string   `json:"to_be_sure,omitempty"`

	// Where has the places to look at first, if the rule knows any.
	Where []Place `json:"where,omitempty"`

	// InPlaceOf is the rule of the part of the window whose finding this one replaces, because it
	// explains at least half of that part: "gpu-idle" for "data-loading".
	InPlaceOf string `json:"in_place_of,omitempty"`
}

// The values of [Finding.GainBasis].
const (
	Modelled   = "modelled"
	UpperBound = "upper-bound"
)

// A Verdict is the bottleneck of a run.
type Verdict struct {
	// Bound is what limits the run. If there are only hardware counters, it is the side with the
	// largest estimated savings.
	Bound Bound `json:"bound"`
	// Sentence is the answer in one line, with the number that decided.
	Sentence string `json:"sentence"`
	// Rule is the id of the finding that decided. It is absent if none did.
	Rule string `json:"rule,omitempty"`
	// Abstained says why no bound is named. It is absent if one is.
	Abstained *Abstention `json:"abstained,omitempty"`
	// Doubt says why the bound or its share may be another one. It is absent if nothing speaks for it.
	Doubt *Doubt `json:"doubt,omitempty"`
}

// A Doubt says why a verdict may be wrong although it is not withheld.
type Doubt struct {
	// Code is an issue code or the id of a rule: "clocks-differ", "device-records-missing".
	Code   string `json:"code"`
	Reason string `json:"reason"` // one sentence
	// OfCauses says that only the cause of idle time is in doubt, and no time.
	OfCauses bool `json:"of_causes,omitempty"`
}

// An Abstention says why a verdict is withheld.
type Abstention struct {
	// Code is the rule that withholds the verdict, for example "device-records-missing", or
	// "no-functions" for an empty profile.
	Code   string `json:"code"`
	Reason string `json:"reason"` // one sentence
}

// A Result is the verdict of one subject, with its findings and their tree.
type Result struct {
	Verdict  Verdict
	Findings []Finding
	Tree     []Node // without findings that belong to no part of it
}

// DecidedBy returns the verdict that a finding decides: its sentence is the title of f.
func DecidedBy(bound Bound, f Finding) Verdict {
	return Verdict{Bound: bound, Sentence: f.Title, Rule: f.Rule}
}

// A Confidence says how certain a finding is.
type Confidence string

// The values of [Finding.Confidence].
const (
	Certain Confidence = "certain" // counted or measured
	Likely  Confidence = "likely"  // derived from measurements by a rule that can be wrong
	Hint    Confidence = "hint"    // to be checked
)
