package judge

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

	// Title is one sentence with value, numerator, denominator and the limit
	// it is over: "GPU idle time is 71.9% of the window (84.2 ms of 117.1 ms),
	// over the critical limit of 50%".
	Title string `json:"title"`

	Value         float64 `json:"value"`          // NumeratorNS / DenominatorNS, or a share of counts, which have none
	NumeratorNS   int64   `json:"numerator_ns"`   // of all devices judged
	DenominatorNS int64   `json:"denominator_ns"` // of all devices judged

	// Of findings on memory there are bytes in the place of times.
	NumeratorBytes   int64 `json:"numerator_bytes,omitempty"`
	DenominatorBytes int64 `json:"denominator_bytes,omitempty"`

	Warn     float64 `json:"warn"` // thresholds of Value
	Critical float64 `json:"critical"`

	Evidence []string `json:"evidence,omitempty"` // where to look: the worst device, the kernel, ...
	Next     []Step   `json:"steps,omitempty"`    // what to do about it, the most useful first

	// GainNS is the most that could be saved if the cause vanished and nothing took
	// its place, and GainOfNS what it is a part of, with GainOf its name. It is an
	// upper bound and no forecast; null where a file cannot tell. What it is of each
	// rule its [Page] says.
	GainNS   *int64 `json:"gain_ns"`
	GainOfNS int64  `json:"gain_of_ns,omitempty"`
	GainOf   string `json:"gain_of,omitempty"`

	// Confidence says how sure the finding is, and ToBeSure what to capture to be
	// sure. Where the capture itself is doubtful, nothing is certain.
	Confidence Confidence `json:"confidence"`
	ToBeSure   []string   `json:"to_be_sure,omitempty"`

	// Where has the places to look at first, as far as the rule knows them.
	Where []Place `json:"where,omitempty"`

	// InPlaceOf is the rule of the part of the window that this finding is about,
	// where its own rule says what most of that part comes from: "gpu-idle" of
	// "data-loading".
	InPlaceOf string `json:"in_place_of,omitempty"`
}

// A Verdict is the one answer to "what bounds this run?".
type Verdict struct {
	// Bound is a stable id: "host" (the GPU waits for work), "communication",
	// "copies", "compute", "memory" (kernels that move data are most of the compute
	// time), "mixed" (nothing stands out), or "unknown", as it is of all tables of
	// sums and where the answer is withheld: see Abstained. Where there are only counters of kernels: "latency",
	// "memory", "compute", "balanced" or "near-limit", whichever has the most to
	// gain, "mixed" or "unknown". Of a profile of functions: "function" (one has
	// most of the time), "waiting", "calls" (too many that do little) or "mixed".
	// Of memory alone: "out-of-memory",
	// "memory-pressure", "fragmentation", "allocator-churn", "memory-growth",
	// "memory-owner" or "memory-healthy".
	Bound string `json:"bound"`
	// Sentence answers in one line, with the number that decided.
	Sentence string `json:"sentence"`
	// Rule is the id of the finding that decided, or absent where none did.
	Rule string `json:"rule,omitempty"`
	// Abstained says why no bound is named. It is absent where one is.
	Abstained *Abstention `json:"abstained,omitempty"`
}

// A Result is what Judge returns.
type Result struct {
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"` // worst first; within a level the one that decides the verdict, then by gain

	// States says of each step of the summary, in their order, whether it counts;
	// Groups adds steps up by kind, and Phases has what bounds each phase. They are
	// absent where nothing is judged.
	States []StepState    `json:"step_states,omitempty"`
	Groups []StepGroup    `json:"step_groups,omitempty"`
	Phases []PhaseVerdict `json:"phase_verdicts,omitempty"`

	// Sides says of each row of the summary's counters, in their order, what holds
	// it back, by the shares in Peaks.
	Sides []Side `json:"sides,omitempty"`
	Peaks Peaks  `json:"-"`

	// Stacks is the software that the summary shows.
	Stacks []Stack `json:"stacks,omitempty"`
}
