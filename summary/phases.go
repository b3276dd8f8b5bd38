package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Step is one iteration of the program, as marked by its profiler or the program itself (ProfilerStep#N),
// for one device. Activity has the cells of its window, so the cells sum to WallNS.
//
// If Cut is empty, the window is the marker's span on the host: GPU work after the marker's end belongs to
// a later step or to none, and a device has rows only for steps that overlap its window. If Cut is "work",
// the window is on the device: it begins when the work launched before the marker is done, and ends when
// the work launched within it is done. "work" is used if the host runs ahead of the device, as with
// inference servers and with programs whose last work ends long after the last marker. The JSON has another
// member, "budget": see [Step.MarshalJSON].
type Step struct {
	Input    int      `json:"input"`
	Rank     int      `json:"rank"`
	Device   int64    `json:"device"`
	Name     string   `json:"name"`
	Number   int64    `json:"number"`
	StartNS  int64    `json:"start_ns"`
	WallNS   int64    `json:"wall_ns"`
	Activity Activity `json:"activity"`

	// Source is [SourceLog] for a step that a program logged: Device is -1 and Activity
	// is unknown. It is absent for steps of a timeline.
	Source string `json:"source,omitempty"`

	// Steps is the number of steps of a log's record, if it has several: WallNS is their mean, and Number is
	// the last one.
	Steps int64 `json:"steps,omitempty"`

	Marker string `json:"marker,omitempty"` // the program that marks it, such as "SGLang", or MarkedByProgram
	Cut    string `json:"cut,omitempty"`
	Kind   string `json:"kind,omitempty"`    // such as "prefill" or "decode", if the marker contains it
	Batch  int64  `json:"batch,omitempty"`   // requests or sequences, if the marker contains it
	Tokens int64  `json:"tokens,omitempty"`  // tokens that it computes over all requests, if the marker contains them
	HostNS int64  `json:"host_ns,omitempty"` // length of the marker, if Cut is "work"

	// Activities that usually occur only in the first steps of a program: calls
	// that allocate or free device memory, and calls that load code.
	Allocs int64 `json:"allocs,omitempty"`
	Loads  int64 `json:"loads,omitempty"`

	// LaunchesCut counts the launches of kernels and graphs within the marker that are at the end of the
	// capture and have no GPU operation: see [LaunchLoss]. The work and the launches of such a step are
	// incomplete. It is 0 if they are less than 5% of the launches within the marker.
	LaunchesCut int64 `json:"launches_cut,omitempty"`

	// Phases are the outermost phases within the marker, by descending time. The rest of the marker's
	// length is outside phases. Phases of a log may overlap, so they may add up to more than the step.
	Phases []StepPhase `json:"phases,omitempty"`

	// Idle has the causes of the idle time within the device's window. Only the first MaxIdleSteps steps
	// whose window is their marker have it, because programs warm up in them.
	Idle []StepIdle `json:"idle,omitempty"`
}

// MaxIdleSteps is the number of steps of a device for which the causes of idle time are kept.
const MaxIdleSteps = 4

// A StepIdle is the idle time of one cause in a step: see [Idle].
type StepIdle struct {
	Owner       string `json:"owner"`
	State       string `json:"state,omitempty"`
	Name        string `json:"name,omitempty"`
	NS          int64  `json:"ns"`
	Count       int64  `json:"count"`
	ShortGapsNS int64  `json:"short_gaps_ns,omitempty"`
}

// MarkedByProgram is the marker of steps whose names no known framework uses.
const MarkedByProgram = "program"

// A StepPhase is the host's time in one phase within a step.
type StepPhase struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
}

// A Phase is the time of one device in one part of the program: generation, training, the forward pass.
// (Input, Rank, Device, Path) is its key.
//
// Phases are marked on the host. If several threads mark phases, the thread whose phases cover the most
// time is used. A phase may be nested in another; Path then names both, such as "generation/decode". The
// row with the Path "" is the time outside phases.
//
// Each moment of the device's window belongs to one phase, so the Activity of all rows sums to the Activity
// of the device, cell by cell; Total also includes the nested phases. While the device is busy, the moment
// belongs to the phase that launched the running work; work without a known launch is outside phases,
// unless no launch of the trace is known. If several GPU operations run, compute has precedence over
// communication, and communication over copies; within one class the operation launched last decides. While
// the device is idle, the moment belongs to the phase of the host at the time when the device finished all
// work launched before.
type Phase struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Path   string `json:"path"`

	Example  string `json:"example,omitempty"`  // the first name with which it was marked
	Producer string `json:"producer,omitempty"` // the program that writes that name, if there is only one

	// On the host: number of runs, total time in ns, and total time in ns without nested
	// phases.
	Count      int64 `json:"count"`
	HostNS     int64 `json:"host_ns"`
	HostOwnNS  int64 `json:"host_own_ns"`
	MedianNS   int64 `json:"median_ns,omitempty"` // median duration of a run
	MaxNS      int64 `json:"max_ns,omitempty"`
	MaxStartNS int64 `json:"max_start_ns,omitempty"` // start of the longest run, on the input's own clock

	// Source is [SourceLog] for a phase that a program logged: Device is -1 and Activity,
	// Total, Launched and WorkNS are unknown. It is absent for phases of a timeline.
	Source string `json:"source,omitempty"`
	// InSteps is the part of a logged phase in steps whose time was logged; see type InSteps.
	InSteps *InSteps `json:"in_steps,omitempty"`
	// OutsideNS is the time of runs of a logged phase that took longer than the step with which they were
	// logged, so that they were outside of it: an evaluation between two steps.
	OutsideNS int64 `json:"outside_ns,omitempty"`

	// On the device.
	Activity Activity `json:"activity"`
	Total    Activity `json:"total"`
	Launched int64    `json:"launched"` // GPU operations launched in it, without nested phases
	WorkNS   int64    `json:"work_ns"`  // their total time
}

// InSteps is the time of a logged phase in the steps that have both a logged time and the phase, without the
// warm-up of each start of the program. A program may log one without the other, and a share of the time of all
// steps would then count phases outside the denominator. In each step a phase takes at most the time of the step,
// and nested phases together at most that of the phase around them. All fields are 0 if no step has both, or if
// the values have no step numbers.
type InSteps struct {
	Steps  int64 `json:"steps"`
	StepNS int64 `json:"step_ns"` // the time of these steps
	NS     int64 `json:"ns"`      // the time of the phase in them
	OwnNS  int64 `json:"own_ns"`  // NS without nested phases; equal to NS for a plain timer
}

// Covers returns the number of steps that st stands for, at least 1.
func (st *Step) Covers() int64 { return max(1, st.Steps) }

// Name returns the last part of the path: "decode" of "generation/decode".
func (p Phase) Name() string { return p.Path[strings.LastIndexByte(p.Path, '/')+1:] }

// Depth returns the number of phases around p, or -1 for the time outside
// phases.
func (p Phase) Depth() int {
	if p.Path == "" {
		return -1
	}
	return strings.Count(p.Path, "/")
}

// check returns an error if the cells of a step do not sum to its length, or if
// its phases are longer than the step.
func (st *Step) check() error {
	activity := st.WallNS
	if st.Source == SourceLog {
		activity = 0
	}
	if err := st.Activity.check("wall_ns", activity); err != nil {
		return err
	}
	rest := st.WallNS
	if st.Cut != "" {
		rest = st.HostNS
	}
	for _, p := range st.Phases {
		if rest -= p.NS; p.NS < 0 || rest < 0 && st.Source != SourceLog { // logged phases may overlap
			return fmt.Errorf("phases: %q has %d ns, which does not fit into the step", p.Name, p.NS)
		}
	}
	idle := st.Activity.Idle()
	for _, r := range st.Idle {
		if idle -= r.NS; r.NS < 0 || idle < 0 {
			return fmt.Errorf("idle: %q has %d ns, which does not fit into the idle time of the step", r.Name, r.NS)
		}
	}
	return nil
}

// checkPhases returns an error if the phases of a device do not sum to it, or
// if a total is not the sum of the phase and its nested phases.
func (s *Summary) checkPhases() error {
	devices := make(map[GPU]Activity)
	for _, d := range s.Devices {
		devices[GPU{d.Input, d.Rank, d.Device}] = d.Activity
	}
	sum, totals := make(map[GPU]Activity), make(map[string]Activity)
	at := func(k GPU, path string) string { return fmt.Sprint(k, path) }
	for i, p := range s.Phases {
		k := GPU{p.Input, p.Rank, p.Device}
		if p.Source == SourceLog && p.Device == NoDevice && p.Activity.Window() == 0 && p.Total.Window() == 0 {
			continue
		}
		if _, ok := devices[k]; !ok {
			return fmt.Errorf("phases[%d]: rank %d has no device %d in input %d", i, p.Rank, p.Device, p.Input)
		}
		if p.Depth() > MaxPhaseDepth {
			return fmt.Errorf("phases[%d]: path %q is %d deep, want at most %d", i, p.Path, p.Depth(), MaxPhaseDepth)
		}
		sum[k] = sum[k].Plus(p.Activity)
		for path := p.Path; ; path = path[:max(0, strings.LastIndexByte(path, '/'))] {
			totals[at(k, path)] = totals[at(k, path)].Plus(p.Activity)
			if strings.IndexByte(path, '/') < 0 {
				break
			}
		}
	}
	for k, a := range sum {
		if a != devices[k] {
			return fmt.Errorf("phases of rank %d device %d sum to %d ns, the device has %d, or other cells of it", k.Rank, k.Device, a.Window(), devices[k].Window())
		}
	}
	for i, p := range s.Phases {
		if want := totals[at(GPU{p.Input, p.Rank, p.Device}, p.Path)]; p.Total != want {
			return fmt.Errorf("phases[%d].total: %q has %d ns, the phases within it sum to %d", i, p.Path, p.Total.Window(), want.Window())
		}
	}
	return nil
}

// MaxPhaseDepth is the maximum number of phases around a phase. The time of deeper phases is added to the
// phase at this depth.
const MaxPhaseDepth = 7

// sortPhases sorts phases by device, outer phases before those nested in them,
// and phases of one level by descending time.
func sortPhases(phases []Phase) {
	type key struct {
		GPU
		path string
	}
	totals := make(map[key]int64)
	for _, p := range phases {
		totals[key{GPU{p.Input, p.Rank, p.Device}, p.Path}] = p.Total.Window()
		if p.Source == SourceLog {
			totals[key{GPU{p.Input, p.Rank, p.Device}, p.Path}] = p.HostNS
		}
	}
	slices.SortStableFunc(phases, func(a, b Phase) int {
		if c := cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device)); c != 0 || a.Path == b.Path {
			return c
		}
		if a.Path == "" || b.Path == "" { // the time outside phases comes last
			return cmp.Compare(b.Path, a.Path)
		}
		partsA, partsB := strings.Split(a.Path, "/"), strings.Split(b.Path, "/")
		for i := range min(len(partsA), len(partsB)) {
			if partsA[i] != partsB[i] {
				upA, upB := strings.Join(partsA[:i+1], "/"), strings.Join(partsB[:i+1], "/")
				return cmp.Or(cmp.Compare(totals[key{GPU{b.Input, b.Rank, b.Device}, upB}], totals[key{GPU{a.Input, a.Rank, a.Device}, upA}]), cmp.Compare(upA, upB))
			}
		}
		return cmp.Compare(len(partsA), len(partsB))
	})
}
