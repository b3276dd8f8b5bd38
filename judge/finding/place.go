package finding

// A Place says where to look: a stretch of a device's time, a kernel, a call or a step. Fields that
// the rule does not know are absent.
type Place struct {
	Input   int    `json:"input"` // index into the summary's inputs
	Rank    int    `json:"rank"`
	Device  *int64 `json:"device,omitempty"`
	StartNS *int64 `json:"start_ns,omitempty"` // on the input's own clock
	NS      int64  `json:"ns,omitempty"`       // duration from StartNS; for a kernel, call or step its total time

	Step   string `json:"step,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Op     string `json:"op,omitempty"` // operator that launched the kernel
	Copy   string `json:"copy,omitempty"`
	Call   string `json:"call,omitempty"` // runtime or driver call
	Row    string `json:"row,omitempty"`  // row of a table of totals, or function of a profile
}

// MostPlaces is how many places of one kind a rule names.
const MostPlaces = 3

// PlaceOf returns a device as a place.
func PlaceOf(input, rank int, device int64) Place {
	return Place{Input: input, Rank: rank, Device: &device}
}

// At returns p with a stretch of time, in ns.
func (p Place) At(start, ns int64) Place {
	p.StartNS, p.NS = &start, ns
	return p
}

// Gain sets the estimated savings and their denominator, both in ns. Savings are clipped to the
// range from 0 to the denominator.
func (f *Finding) Gain(ns, of int64, name string) {
	ns = max(0, min(ns, of))
	f.GainNS, f.GainOfNS, f.GainOf, f.GainOfAll = &ns, of, name, false
}
