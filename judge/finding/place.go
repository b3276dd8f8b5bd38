package finding

// A Place is where to look: a stretch of one device's time, a kernel, a call, a
// step, as far as the rule knows it. What it does not know is absent.
type Place struct {
	Input   int    `json:"input"` // index into the summary's inputs
	Rank    int    `json:"rank"`
	Device  *int64 `json:"device,omitempty"`
	StartNS *int64 `json:"start_ns,omitempty"` // on the input's own clock
	NS      int64  `json:"ns,omitempty"`       // how long from there; of a kernel, call or step what it took in all

	Step   string `json:"step,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Op     string `json:"op,omitempty"` // that launched the kernel
	Copy   string `json:"copy,omitempty"`
	Call   string `json:"call,omitempty"` // of the runtime or driver
	Row    string `json:"row,omitempty"`  // of a table of sums, or a function of a profile
}

// MostPlaces is how many places a rule names of one kind.
const MostPlaces = 3

func PlaceOf(input, rank int, device int64) Place {
	return Place{Input: input, Rank: rank, Device: &device}
}

// At returns the place with a stretch of time.
func (p Place) At(start, ns int64) Place {
	p.StartNS, p.NS = &start, ns
	return p
}

// Gain sets the most that could be saved, of so much. It is never more than the
// whole, nor less than nothing.
func (f *Finding) Gain(ns, of int64, name string) {
	ns = max(0, min(ns, of))
	f.GainNS, f.GainOfNS, f.GainOf = &ns, of, name
}
