package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A Step is one iteration of the program, as its profiler or the program marked
// it (ProfilerStep#N), seen from one device. Activity cuts its window, so its
// cells sum to WallNS.
//
// Where Cut is empty the window is the marker's span on the host: GPU work that
// was still running after the marker's end falls into a later step or into none,
// and a device has rows only for steps that meet its window. Where Cut is
// "work", the host runs ahead of the device, and the window is the device's: it
// begins when the work launched before the marker is done, and ends when that
// launched within it is. The JSON has a further member, "budget": see
// [Step.MarshalJSON].
type Step struct {
	Input    int      `json:"input"`
	Rank     int      `json:"rank"`
	Device   int64    `json:"device"`
	Name     string   `json:"name"`
	Number   int64    `json:"number"`
	StartNS  int64    `json:"start_ns"`
	WallNS   int64    `json:"wall_ns"`
	Activity Activity `json:"activity"`

	Marker string `json:"marker,omitempty"` // who marks it, as "SGLang", or MarkedByProgram
	Cut    string `json:"cut,omitempty"`
	Kind   string `json:"kind,omitempty"`    // "prefill", "decode" or "mixed", where the marker tells
	Batch  int64  `json:"batch,omitempty"`   // requests or sequences, where the marker tells
	HostNS int64  `json:"host_ns,omitempty"` // length of the marker, where the step is cut by its work

	// What only the first steps of a program do: calls that take or return memory
	// of the device, and such that load code.
	Allocs int64 `json:"allocs,omitempty"`
	Loads  int64 `json:"loads,omitempty"`

	// Phases are the outermost phases within the marker, by falling time. What is
	// missing to its length was in none.
	Phases []StepPhase `json:"phases,omitempty"`
}

// MarkedByProgram is the marker of steps whose names no framework claims.
const MarkedByProgram = "program"

// A StepPhase is the host's time in one phase within a step.
type StepPhase struct {
	Name string `json:"name"`
	NS   int64  `json:"ns"`
}

// A Phase is what one part of the program had of one device: generation, training,
// the forward pass. (Input, Rank, Device, Path) is its key.
//
// Phases are marked on the host, and one thread stands for all: that whose
// phases cover the most time. A phase may be within another; Path has both, as
// "generation/decode". The row with the Path "" has what is in no phase.
//
// Each moment of the device's window belongs to one phase, so the Activity of all
// rows sums to that of the device, cell by cell; Total adds the phases within a
// phase to its own. While anything runs the moment belongs to the phase in which
// it was launched; of several pieces of work compute decides before communication
// before copies, and of those the one launched last. While nothing runs it
// belongs to the phase that the host was in when the device was done with all
// launched before.
type Phase struct {
	Input  int    `json:"input"`
	Rank   int    `json:"rank"`
	Device int64  `json:"device"`
	Path   string `json:"path"`

	Example  string `json:"example,omitempty"`  // the first name that it was marked with
	Producer string `json:"producer,omitempty"` // who writes that name, where only one does

	// On the host: how often it ran, how long in all, and how long that was less
	// the phases within.
	Count      int64 `json:"count"`
	HostNS     int64 `json:"host_ns"`
	HostOwnNS  int64 `json:"host_own_ns"`
	MedianNS   int64 `json:"median_ns,omitempty"` // of one run
	MaxNS      int64 `json:"max_ns,omitempty"`
	MaxStartNS int64 `json:"max_start_ns,omitempty"` // when the longest run began, on the input's own clock

	// On the device.
	Activity Activity `json:"activity"`
	Total    Activity `json:"total"`
	Launched int64    `json:"launched"` // pieces of work launched in it, less those of phases within
	WorkNS   int64    `json:"work_ns"`  // sum of their durations
}

// Name returns the last part of the path: "decode" of "generation/decode".
func (p Phase) Name() string { return p.Path[strings.LastIndexByte(p.Path, '/')+1:] }

// Depth returns how many phases p is in, or -1 for what is in no phase.
func (p Phase) Depth() int {
	if p.Path == "" {
		return -1
	}
	return strings.Count(p.Path, "/")
}

// check returns an error if the cells of a step do not sum to its length, or its
// phases do not fit into it.
func (st *Step) check() error {
	if err := st.Activity.check("wall_ns", st.WallNS); err != nil {
		return err
	}
	rest := st.WallNS
	if st.Cut != "" {
		rest = st.HostNS
	}
	for _, p := range st.Phases {
		if rest -= p.NS; p.NS < 0 || rest < 0 {
			return fmt.Errorf("phases: %q has %d ns, which does not fit into the step", p.Name, p.NS)
		}
	}
	return nil
}

// checkPhases returns an error if the phases of a device do not sum to it, or a
// total is not the sum of what it is of.
func (s *Summary) checkPhases() error {
	type key struct {
		input, rank int
		device      int64
	}
	devices := make(map[key]Activity)
	for _, d := range s.Devices {
		devices[key{d.Input, d.Rank, d.Device}] = d.Activity
	}
	sum, totals := make(map[key]Activity), make(map[string]Activity)
	at := func(k key, path string) string { return fmt.Sprint(k, path) }
	for i, p := range s.Phases {
		k := key{p.Input, p.Rank, p.Device}
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
			return fmt.Errorf("phases of rank %d device %d sum to %d ns, the device has %d, or other cells of it", k.rank, k.device, a.Window(), devices[k].Window())
		}
	}
	for i, p := range s.Phases {
		if want := totals[at(key{p.Input, p.Rank, p.Device}, p.Path)]; p.Total != want {
			return fmt.Errorf("phases[%d].total: %q has %d ns, the phases within it sum to %d", i, p.Path, p.Total.Window(), want.Window())
		}
	}
	return nil
}

// MaxPhaseDepth is how many phases a phase may be in. Deeper ones count as the
// phase that they are in.
const MaxPhaseDepth = 7

// sortPhases sorts phases by device, outer ones before those within them, and of
// one level those with the most time first.
func sortPhases(phases []Phase) {
	type key struct {
		input, rank int
		device      int64
		path        string
	}
	totals := make(map[key]int64)
	for _, p := range phases {
		totals[key{p.Input, p.Rank, p.Device, p.Path}] = p.Total.Window()
	}
	slices.SortStableFunc(phases, func(a, b Phase) int {
		if c := cmp.Or(cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Device, b.Device)); c != 0 || a.Path == b.Path {
			return c
		}
		if a.Path == "" || b.Path == "" { // what is in no phase comes last
			return cmp.Compare(b.Path, a.Path)
		}
		partsA, partsB := strings.Split(a.Path, "/"), strings.Split(b.Path, "/")
		for i := range min(len(partsA), len(partsB)) {
			if partsA[i] != partsB[i] {
				upA, upB := strings.Join(partsA[:i+1], "/"), strings.Join(partsB[:i+1], "/")
				return cmp.Or(cmp.Compare(totals[key{b.Input, b.Rank, b.Device, upB}], totals[key{a.Input, a.Rank, a.Device, upA}]), cmp.Compare(upA, upB))
			}
		}
		return cmp.Compare(len(partsA), len(partsB))
	})
}
