package metric

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
)

var (
	errNoDevices = errors.New("no GPU events")
	errNoSteps   = errors.New("no steps (ProfilerStep#N or another marker): call prof.step() in every iteration, or set a gate on phase.mean of an annotation")
	errNoLaunch  = errors.New("no calls that launch work: record CPU activity too (ProfilerActivity.CPU)")
	errClocks    = errors.New("the clocks of CPU and GPU differ (" + summary.ClocksDiffer + "), so it is unknown what the CPU did while the GPU was idle")
	errNoMemory  = errors.New("no record of the allocator: record with profile_memory=True")
)

// WithoutKernels is the issue of missing device work. It affects only metrics of the device, and
// its rows say more than its severity.
const WithoutKernels = summary.LaunchesWithoutKernels

// StepsMissing is the issue of steps without a marker. It affects the metrics that divide totals by
// the number of steps.
const StepsMissing = "steps-missing"

// devices returns the selected devices.
func (v selection) devices() ([]summary.Device, error) {
	var out []summary.Device
	var have []string
	for _, d := range v.Devices {
		if v.sel.hasDevice(d.Rank, d.Device) {
			out = append(out, d)
		}
		have = append(have, fmt.Sprintf("rank %d device %d", d.Rank, d.Device))
	}
	switch {
	case len(have) == 0:
		return nil, errNoDevices
	case len(out) == 0:
		return nil, fmt.Errorf("no such device; there is %s", few(have))
	}
	return out, nil
}

// activity adds up the windows of the selected devices, or of their selected steps.
func (v selection) activity() (summary.Activity, error) {
	devices, err := v.devices()
	if err != nil {
		return summary.Activity{}, err
	}
	var sum summary.Activity
	switch {
	case v.sel.Value("phase") != "":
		if sum, err = v.phaseActivity(); err != nil {
			return sum, err
		}
	case v.sel.Value("steps") == "":
		for _, d := range devices {
			sum = sum.Plus(d.Activity)
		}
	default:
		rows, err := v.stepRows()
		if err != nil {
			return sum, err
		}
		for _, st := range rows {
			sum = sum.Plus(st.Activity)
		}
	}
	if sum.Window() == 0 {
		return sum, errors.New("no GPU time: the events of the devices span none")
	}
	return sum, nil
}

// shareOf returns a function that measures a part of the window.
func shareOf(part func(summary.Activity) int64) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		a, err := v.activity()
		if err != nil {
			return Value{}, err
		}
		return ratio(part(a), a.Window()), nil
	}
}

// exposedComm returns 0 if nothing communicated, which is a measurement. The note says so, because
// communication kernels that no rule recognizes would look the same.
func (v selection) exposedComm() (Value, error) {
	a, err := v.activity()
	if err != nil {
		return Value{}, err
	}
	out := ratio(a.ExposedComm(), a.Window())
	if a.With(summary.ClassComm) == 0 {
		out.Note = "no kernel of communication ran"
	}
	return out, nil
}

func (v selection) overlap() (Value, error) {
	a, err := v.activity()
	if err != nil {
		return Value{}, err
	}
	all := a.With(summary.ClassComm)
	if all == 0 {
		return Value{}, errors.New("no communication kernels")
	}
	return ratio(a.HiddenComm(), all), nil
}

// idle adds up idle time. A cause without idle time is 0 if other causes have some, because all
// idle time has a cause.
func (v selection) idle() (Value, error) {
	if v.sel.Value("owner") == "" && v.sel.Value("state") == "" {
		return shareOf(summary.Activity.Idle)(v)
	}
	for _, key := range []string{"steps", "phase"} {
		if v.sel.Value(key) != "" {
			return Value{}, fmt.Errorf("no owners of idle time within %s; leave out %[1]s=, or owner= and state=", key)
		}
	}
	a, err := v.activity()
	if err != nil {
		return Value{}, err
	}
	if v.Issue(summary.ClocksDiffer) != nil {
		return Value{}, errClocks
	}
	var ns int64
	known := a.Idle() == 0
	for _, r := range v.Idle {
		if v.sel.hasDevice(r.Rank, r.Device) {
			known = true
			if v.sel.has("owner", r.Owner) && v.sel.has("state", r.State) {
				ns += r.NS
			}
		}
	}
	if !known {
		return Value{}, errors.New("no owners of idle time")
	}
	return ratio(ns, a.Window()), nil
}

func (v selection) syncs() (Value, error) {
	devices, err := v.devices()
	if err != nil {
		return Value{}, err
	}
	var host, window int64
	for _, d := range devices {
		window += d.Activity.Window()
	}
	for _, r := range v.Syncs {
		if v.sel.hasDevice(r.Rank, r.Device) {
			host += r.HostNS
		}
	}
	switch {
	case window == 0:
		return Value{}, errors.New("no GPU time: the events of the devices span none")
	case len(v.Calls) == 0:
		return Value{}, errNoLaunch
	case v.Issue(summary.ClocksDiffer) != nil:
		return Value{}, errClocks
	}
	return ratio(host, window), nil
}

// stepRows returns the rows of the selected steps, one for each device.
func (v selection) stepRows() ([]summary.Step, error) {
	var out []summary.Step
	cut := 0
	var have, kinds []string
	timeline := slices.ContainsFunc(v.Steps, func(st summary.Step) bool { return st.Source != summary.SourceLog })
	for _, st := range v.Steps {
		if !v.sel.hasDevice(st.Rank, st.Device) || timeline && st.Source == summary.SourceLog {
			continue // the steps of a timeline are more exact
		}
		if !v.sel.has("kind", st.Kind) {
			if !slices.Contains(kinds, st.Kind) {
				kinds = append(kinds, st.Kind)
			}
			continue
		}
		have = append(have, strconv.FormatInt(st.Number, 10))
		if !v.sel.hasStep(st.Number) {
			continue
		}
		if st.LaunchesCut > 0 { // the work of the step is incomplete
			cut++
			continue
		}
		out = append(out, st)
	}
	switch {
	case len(out) == 0 && cut > 0:
		return nil, fmt.Errorf("the capture ends before the GPU work of the selected steps (%s)", WithoutKernels)
	case len(have) == 0 && len(kinds) > 0:
		return nil, fmt.Errorf("no step of kind %s; %s", v.sel.Value("kind"), kindsOf(kinds))
	case len(have) == 0:
		return nil, errNoSteps
	case len(out) == 0:
		return nil, fmt.Errorf("no step in %s; there is %s", v.sel.Value("steps"), few(have))
	}
	return out, nil
}

// kindsOf returns which kinds of steps there are.
func kindsOf(kinds []string) string {
	slices.Sort(kinds)
	if kinds = slices.DeleteFunc(kinds, func(k string) bool { return k == "" }); len(kinds) == 0 {
		return "the markers of the steps state no kind"
	}
	return "there is " + few(kinds)
}

// stepsAs returns a function that measures the lengths of steps. A step of the host that several
// devices have counts once.
func stepsAs(of func([]int64) Value) func(selection) (Value, error) {
	type host struct {
		input  int
		start  int64
		number int64
	}
	return func(v selection) (Value, error) {
		rows, err := v.stepRows()
		if err != nil {
			return Value{}, err
		}
		seen := make(map[host]bool)
		var ns []int64
		for _, st := range rows {
			at := host{st.Input, st.StartNS, st.Number}
			if !seen[at] {
				seen[at] = true
				ns = append(ns, st.WallNS)
			}
		}
		return of(ns), nil
	}
}

// A kernels is the sum of the selected kernels.
type kernels struct {
	count, total, longest int64
	all                   int64 // ns of all kernels of the devices
	steps                 int64 // number of steps of the devices
	unmarked              int64 // number of steps whose markers are missing
}

func (k kernels) perStep(n int64) (Value, error) {
	if k.steps == 0 {
		return Value{}, errNoSteps
	}
	if k.unmarked > 0 {
		return Value{}, fmt.Errorf("the markers of %d steps are missing, so the number of steps is not known (%s)",
			k.unmarked, StepsMissing)
	}
	return ratio(n, k.steps), nil
}

// kernelsAs returns a function that measures the selected kernels.
func kernelsAs(of func(kernels) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		if _, err := v.devices(); err != nil {
			return Value{}, err
		}
		var sum kernels
		categories := make(map[string]bool)
		for _, k := range v.Kernels {
			if !v.sel.hasDevice(k.Rank, k.Device) {
				continue
			}
			sum.all += k.TotalNS
			categories[k.Category] = true
			if v.sel.has("category", k.Category) && v.sel.has("class", k.Class) && v.sel.has("kernel", k.Name) &&
				v.sel.has("op", k.Op) {
				sum.count += k.Count
				sum.total += k.TotalNS
				sum.longest = max(sum.longest, k.MaxNS)
			}
		}
		if sum.count == 0 {
			return Value{}, fmt.Errorf("no such kernel; there are kernels of the categories %s", few(sorted(categories)))
		}
		for _, st := range v.Steps {
			if v.sel.hasDevice(st.Rank, st.Device) {
				sum.steps++
			}
		}
		if is := v.Issue(StepsMissing); is != nil {
			sum.unmarked = is.Count
		}
		return of(sum)
	}
}

// A copies is the sum of the selected copies.
type copies struct {
	count, total int64
	bytes        summary.Sum
	known        bool // the bytes of some copies are known
}

func (c copies) moved() (Value, error) {
	if !c.known {
		return Value{}, errors.New("no copy that tells its bytes")
	}
	if !c.bytes.Fits() {
		return Value{}, errTooLarge
	}
	return whole(int64(c.bytes)), nil
}

// copiesAs returns a function that measures the selected copies. Without a selector, a device that
// copies nothing has 0 copies, which is a measurement.
func copiesAs(of func(copies) (Value, error)) func(selection) (Value, error) {
	return func(v selection) (Value, error) {
		if _, err := v.devices(); err != nil {
			return Value{}, err
		}
		var sum copies
		names := make(map[string]bool)
		for _, c := range v.Copies {
			if !v.sel.hasDevice(c.Rank, c.Device) {
				continue
			}
			names[strconv.Quote(c.Name)] = true
			if !v.sel.has("class", c.Class) || !v.sel.has("copy", c.Name) {
				continue
			}
			sum.count += c.Count
			sum.total += c.TotalNS
			if c.Bytes != nil {
				sum.bytes, sum.known = sum.bytes.Plus(*c.Bytes), true
			}
		}
		if sum.count == 0 && v.sel.Value("copy")+v.sel.Value("class") != "" {
			if len(names) == 0 {
				return Value{}, errors.New("no copies")
			}
			return Value{}, fmt.Errorf("no such copy; there is %s", few(sorted(names)))
		}
		sum.known = sum.known || sum.count == 0
		return of(sum)
	}
}

// few lists the first of the distinct names.
func few(names []string) string {
	const most = 8
	var each []string
	for _, n := range names {
		if !slices.Contains(each, n) {
			each = append(each, n)
		}
		if len(each) > most {
			break
		}
	}
	if len(each) > most {
		each[most] = "…"
	}
	return strings.Join(each, ", ")
}

func sorted(set map[string]bool) []string {
	var out []string
	for s := range set {
		out = append(out, s)
	}
	slices.Sort(out)
	return out
}
