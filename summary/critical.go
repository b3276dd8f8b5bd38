package summary

import (
	"cmp"
	"fmt"
)

// A CriticalPath is what one step of a rank waited for: the chain of activities and delays that
// determined when the step ended. Its classes sum to its window.
type CriticalPath struct {
	Input    int         `json:"input"`
	Rank     int         `json:"rank"`
	Step     string      `json:"step"`
	StartNS  int64       `json:"start_ns"`  // on the clock of the trace: the end of the step before, or the start of the first
	WindowNS int64       `json:"window_ns"` // from there to the end of the step's last work
	Classes  PathClasses `json:"classes"`

	InferredNS  int64 `json:"inferred_ns"`  // of the path: delays of dependencies that are inferred, not recorded
	ExactNS     int64 `json:"exact_ns"`     // length of the step if it is computed anew without a change
	ExplainedNS int64 `json:"explained_ns"` // the same with the typical length of each delay

	Verdict string   `json:"verdict"` // ok, warn or abstain: the path is withheld
	Reasons []string `json:"reasons"`

	Operators []PathPart `json:"operators,omitempty"` // largest first; none if the path is withheld
	Kernels   []PathPart `json:"kernels,omitempty"`   // largest first
	Modules   []PathPart `json:"modules,omitempty"`   // largest first, by path of the innermost module, with their backward passes
	Phases    []PathPart `json:"phases,omitempty"`    // largest first, by path of the innermost phase
	Ranks     []PathPart `json:"ranks,omitempty"`     // if the path leads through several ranks

	Communication []PathComm `json:"communication,omitempty"` // of the GPU in the step, by name, longest first
}

// A PathComm is the communication of one name in a step, and when it could have run.
type PathComm struct {
	Name    string `json:"name"`
	Count   int64  `json:"count"`
	NS      int64  `json:"ns"`       // from start to end, added up
	Late    int64  `json:"late"`     // of these: started when they were launched, while all else that they wait for on the GPU was done
	LateNS  int64  `json:"late_ns"`  // how much earlier these could have started, added up
	SlackNS *int64 `json:"slack_ns"` // median time that they could have ended later without delaying what waits for them; null if nothing does
}

// A PathPart is the time of one name on a critical path.
type PathPart struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
}

// PathClasses divide the time of a critical path, in ns.
type PathClasses struct {
	HostOp      int64 `json:"host_op"`      // in operators
	Python      int64 `json:"python"`       // in Python functions and annotations
	HostGap     int64 `json:"host_gap"`     // on a thread without an open event
	Runtime     int64 `json:"runtime"`      // in calls of the runtime and driver of the GPU
	DataLoader  int64 `json:"dataloader"`   // in data loaders, or waiting for a batch
	LaunchDelay int64 `json:"launch_delay"` // from the end of a launch call to the start of its work
	KernelGap   int64 `json:"kernel_gap"`   // between work that is queued
	SyncReturn  int64 `json:"sync_return"`  // from the end of work to the return of the call that waited for it
	Compute     int64 `json:"compute"`
	Comm        int64 `json:"comm"`
	Copy        int64 `json:"copy"`
	Unexplained int64 `json:"unexplained"` // nothing in the trace explains the wait
}

// Withheld is the verdict of a path or a forecast that is withheld.
const Withheld = "abstain"

// Sum returns the time of all classes.
func (c *PathClasses) Sum() (ns int64) {
	for _, p := range c.Each() {
		ns = Plus(ns, p.NS)
	}
	return ns
}

// Each returns the names and times of the classes, in the order of the fields.
func (c *PathClasses) Each() []PathPart {
	return []PathPart{
		{"host_op", c.HostOp}, {"python", c.Python}, {"host_gap", c.HostGap}, {"runtime", c.Runtime},
		{"dataloader", c.DataLoader}, {"launch_delay", c.LaunchDelay}, {"kernel_gap", c.KernelGap},
		{"sync_return", c.SyncReturn}, {"compute", c.Compute}, {"comm", c.Comm}, {"copy", c.Copy}, {"unexplained", c.Unexplained},
	}
}

// A Forecast is what a change of the program would make of one step. A forecast that is withheld has
// no numbers of the changed step, so that nobody takes them for a promise.
type Forecast struct {
	Input       int          `json:"input"`
	Rank        int          `json:"rank"`
	Step        string       `json:"step"`
	Change      string       `json:"change"`          // as on the command line of "assay whatif"
	By          string       `json:"by,omitempty"`    // what the change stands for, if it does not say: [ByTF32] and the others
	Bound       bool         `json:"bound,omitempty"` // the best case: the change takes time away entirely, or overlaps it perfectly
	MeasuredNS  int64        `json:"measured_ns"`
	FittedNS    *int64       `json:"fitted_ns,omitempty"` // the unchanged step without the profiler, if the time of such a step was given
	ForecastNS  *int64       `json:"forecast_ns,omitempty"`
	Verdict     string       `json:"verdict"` // ok, warn or abstain: the forecast is withheld
	Reasons     []string     `json:"reasons"`
	Assumptions []string     `json:"assumptions"`
	Classes     *PathClasses `json:"classes,omitempty"` // of the critical path of the changed step
}

// What a change stands for.
const (
	ByTF32   = "tf32"   // fp32 products in TF32, at the peak of the GPU
	ByFusion = "fusion" // operators in a row that become one kernel

	ByLateRank = "late-rank" // the others wait for it no longer
	ByEarly    = "early"     // communication that is launched in time

	// Work of findings that is left out or takes as long as they say, by the ids of their rules.
	ByCopyKernels = "copy-kernels"
	ByRoundTrips  = "host-round-trips"
	ByFewBlocks   = "few-blocks"
	ByFewWarps    = "few-warps"
)

// Gain returns how much shorter the changed step is, in ns, or 0 if the forecast is withheld.
func (f *Forecast) Gain() int64 {
	if f.ForecastNS == nil {
		return 0
	}
	return f.MeasuredNS - *f.ForecastNS
}

// gainFirst is the order of forecasts: by gain, those that take time away entirely last.
func (f *Forecast) gainFirst(o *Forecast) int {
	return cmp.Or(compareBools(f.Bound, o.Bound), cmp.Compare(o.Gain(), f.Gain()), cmp.Compare(f.Change, o.Change))
}

func (p *CriticalPath) check() error {
	if p.WindowNS < 0 || p.Classes.Sum() != p.WindowNS {
		return fmt.Errorf(".classes: got a sum of %d ns, want window_ns, which is %d", p.Classes.Sum(), p.WindowNS)
	}
	for _, c := range p.Communication {
		if min(c.Count, c.NS, c.Late, c.LateNS) < 0 || c.Late > c.Count || negative(c.SlackNS) {
			return fmt.Errorf(".communication: got %d late of %d", c.Late, c.Count)
		}
	}
	return checkVerdict(p.Verdict)
}

func (f *Forecast) check() error {
	if f.MeasuredNS < 0 || f.ForecastNS != nil && *f.ForecastNS < 0 {
		return fmt.Errorf(".measured_ns: got a negative time")
	}
	if (f.ForecastNS == nil) != (f.Verdict == Withheld) {
		return fmt.Errorf(".forecast_ns: want a time unless the verdict is %q", Withheld)
	}
	return checkVerdict(f.Verdict)
}

func checkVerdict(v string) error {
	if v != "ok" && v != "warn" && v != Withheld {
		return fmt.Errorf(".verdict: got %q, want ok, warn or %s", v, Withheld)
	}
	return nil
}
