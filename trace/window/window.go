// Package window parses the flags with which a user selects a part of a capture (times, steps,
// a phase), and finds that part in a capture.
//
// A [Request] holds the flags. It is resolved in two passes: the whole capture is measured
// first, because only then its steps and phases are known; [Request.Of] returns the times of
// the selected part, and [assay/trace.Trace.Within] takes them. numbers.go parses lists of
// ranks, GPUs and streams.
package window

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"assay/internal/unit"
)

// A Request selects a part of a capture: the part that meets all conditions. The zero Request
// selects the whole capture.
type Request struct {
	From, To    Time
	First, Last int64  // numbers of steps
	Steps       bool   // First and Last are set
	Phase       string // the name of a phase, as in the table of phases
	Steady      bool   // only steps that are neither warm-up nor partial
	Skip        int    // number of first steps to leave out
}

// All reports whether a request selects the whole capture.
func (r *Request) All() bool {
	return !r.From.Given() && !r.To.Given() && !r.Steps && r.Phase == "" && !r.Steady && r.Skip == 0
}

// OnlySkips reports whether a request leaves out first steps and has no other condition. Such
// a request can also be met for inputs without a timeline.
func (r *Request) OnlySkips() bool {
	rest := *r
	rest.Skip = 0
	return r.Skip > 0 && rest.All()
}

// OfSteps reports whether a request has a condition on steps.
func (r *Request) OfSteps() bool { return r.Steps || r.Steady || r.Skip > 0 }

// MarksNeeded reports whether a request has a condition on steps or phases. The capture must
// be measured before such a request can be resolved.
func (r *Request) MarksNeeded() bool { return r.OfSteps() || r.Phase != "" }

// String returns the request in the words of the flags.
func (r *Request) String() string {
	var parts []string
	if r.Steps && r.First == r.Last {
		parts = append(parts, fmt.Sprintf("step %d", r.First))
	} else if r.Steps {
		parts = append(parts, fmt.Sprintf("steps %d to %d", r.First, r.Last))
	}
	if r.Steady {
		parts = append(parts, "steady steps")
	}
	if r.Skip == 1 {
		parts = append(parts, "without the first step")
	} else if r.Skip > 1 {
		parts = append(parts, fmt.Sprintf("without the first %d steps", r.Skip))
	}
	if r.Phase != "" {
		parts = append(parts, "phase "+r.Phase)
	}
	if r.From.Given() {
		parts = append(parts, "from "+r.From.text)
	}
	if r.To.Given() {
		parts = append(parts, "to "+r.To.text)
	}
	return strings.Join(parts, ", ")
}

// A Time is a moment of a capture, in one of three forms.
type Time struct {
	text string
	kind kind
	ns   int64
}

type kind int

const (
	none    kind = iota
	elapsed      // since the start of the capture
	unix         // since 1970
	clock        // on the clock of the trace
)

// Given reports whether the user gave this time.
func (t Time) Given() bool { return t.kind != none }

// onClock is the prefix of a time on the clock of the trace.
const onClock = "ts:"

// ParseTime reads a time: 1.2s (since the start of the capture), ts:4904305.219 (the ts of an
// event, in µs) or 2026-01-31T12:00:00.5Z.
func ParseTime(text string) (Time, error) {
	if µs, ok := strings.CutPrefix(text, onClock); ok {
		ns, err := microseconds(µs)
		if err != nil {
			return Time{}, fmt.Errorf("%q: the ts of an event is a number of µs", text)
		}
		return Time{text, clock, ns}, nil
	}
	if at, err := time.Parse(time.RFC3339Nano, text); err == nil {
		if y := at.Year(); y < firstYear || y > lastYear {
			return Time{}, fmt.Errorf("%q: the year is not from %d to %d", text, firstYear, lastYear)
		}
		return Time{text, unix, at.UnixNano()}, nil
	}
	d, err := unit.ParseDuration(text)
	if err != nil {
		return Time{}, fmt.Errorf("%q is not a time; want a time since the start of the capture (1.2s, 350ms), the ts of an event (%s4904305.219) or a date (2026-01-31T12:00:00Z)", text, onClock)
	}
	return Time{text, elapsed, d}, nil
}

// The first and last whole year whose times fit into int64 nanoseconds since 1970.
const firstYear, lastYear = 1678, 2261

// microseconds parses a number of µs and returns nanoseconds. Decimals after the third are
// dropped. A float64 would not be exact.
func microseconds(text string) (ns int64, err error) {
	whole, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 3 {
		decimals = decimals[:3]
	}
	if whole == "" {
		return 0, strconv.ErrSyntax
	}
	ns, err = strconv.ParseInt(whole+decimals+strings.Repeat("0", 3-len(decimals)), 10, 64)
	return ns, err
}

// ParseSteps reads numbers of steps: 3 or 3-5.
func ParseSteps(text string) (first, last int64, err error) {
	a, b, ranged := strings.Cut(text, "-")
	first, err = strconv.ParseInt(a, 10, 64)
	if last = first; err == nil && ranged {
		last, err = strconv.ParseInt(b, 10, 64)
	}
	switch {
	case strings.EqualFold(text, "steady"):
		return 0, 0, errors.New("want numbers; use --steady for the steps that are neither warm-up nor partial")
	case err != nil || first < 0 || last < first:
		return 0, 0, fmt.Errorf("%q is not a step; want a number as in 3, or a range as in 3-5", text)
	}
	return first, last, nil
}

// A Span is the time from Start to before End, in ns on the clock of a trace.
type Span struct{ Start, End int64 }

// A Mark is a step or a phase of a capture. Its Span is that of the device work launched
// within the marker, or that of the marker if no work was launched.
type Mark struct {
	Span
	Number int64  // of a step
	Phase  string // "" for a step
	Steady bool   // a step that is neither warm-up nor partial
}

// A Capture has what [Request.Of] needs to know of a capture.
type Capture struct {
	Span          // of all events
	BaseNS *int64 // Unix time minus the time on the clock of the trace, in ns; nil if unknown
	Marks  []Mark // by start
	Name   string // for messages
}

// Of returns the requested part of a capture. The error is an [*Absence] if the capture does
// not have it.
func (r *Request) Of(c Capture) (Span, error) {
	out := Span{math.MinInt64, math.MaxInt64}
	if r.OfSteps() {
		span, err := r.steps(c)
		if err != nil {
			return Span{}, err
		}
		out = span
	}
	if r.Phase != "" {
		span, err := r.phase(c, out)
		if err != nil {
			return Span{}, err
		}
		out = span
	}
	for _, t := range []struct {
		Time
		to bool
	}{{r.From, false}, {r.To, true}} {
		if !t.Given() {
			continue
		}
		at, err := t.On(c)
		if err != nil {
			return Span{}, err
		}
		if t.to {
			out.End = min(out.End, at)
		} else {
			out.Start = max(out.Start, at)
		}
	}
	if r.From.Given() && r.To.Given() {
		from, err := r.From.On(c)
		if to, _ := r.To.On(c); err == nil && from >= to {
			return Span{}, c.lacks("--to %s is not after --from %s", r.To.text, r.From.text)
		}
	}
	if out.Start >= out.End || out.End <= c.Start || out.Start >= c.End {
		return Span{}, c.lacks("nothing of the capture is in the window (%s); the capture takes %s",
			r, unit.Duration(c.End-c.Start))
	}
	return Span{max(out.Start, c.Start), min(out.End, c.End)}, nil
}

// On returns the time in ns on the clock of a capture.
func (t Time) On(c Capture) (int64, error) {
	switch t.kind {
	case elapsed:
		return unit.Plus(c.Start, t.ns), nil
	case clock:
		return t.ns, nil
	}
	switch {
	case c.BaseNS != nil:
		return unit.Plus(t.ns, -max(*c.BaseNS, -math.MaxInt64)), nil
	case c.Start > unixLike:
		return t.ns, nil
	}
	return 0, c.lacks("the date of the capture is unknown; give a time since its start, as in 1.2s")
}

// unixLike is 2001 in ns since 1970. A trace that starts later has Unix time as its clock.
const unixLike = 1_000_000_000 * 1_000_000_000

// steps returns the time from the first start to the last end of the requested steps.
func (r *Request) steps(c Capture) (out Span, err error) {
	found, least, most := false, int64(math.MaxInt64), int64(math.MinInt64)
	ends := map[int64]bool{} // First and Last, if the capture has them
	skipped := firstSteps(c.Marks, r.Skip)
	for _, m := range c.Marks {
		if m.Phase != "" {
			continue
		}
		least, most = min(least, m.Number), max(most, m.Number)
		if m.Number == r.First || m.Number == r.Last {
			ends[m.Number] = true
		}
		if r.Steps && (m.Number < r.First || m.Number > r.Last) || r.Steady && !m.Steady || skipped[m.Number] {
			continue
		}
		if !found {
			out = m.Span
		}
		found = true
		out = Span{min(out.Start, m.Start), max(out.End, m.End)}
	}
	switch {
	case found && (!r.Steps || ends[r.First] && ends[r.Last]):
		return out, nil
	case least > most:
		return out, c.lacks("the capture has no steps; give --from and --to")
	case len(skipped) > 0 && (!r.Steps || ends[r.First] && ends[r.Last]):
		return out, c.lacks("no step is left (%s); it has %s", r, stepsText(least, most))
	case r.Steps:
		return out, c.lacks("the capture does not have %s; it has %s", r, stepsText(least, most))
	}
	return out, c.lacks("no step is steady; give --step")
}

// stepsText describes the steps from first to last.
func stepsText(first, last int64) string {
	if first == last {
		return fmt.Sprintf("step %d only", first)
	}
	return fmt.Sprintf("steps %d to %d", first, last)
}

// An Absence is the error for a capture that does not have the requested part. Name is apart
// from Text because the captures of one job mostly have the same text, which is then printed
// only once.
type Absence struct {
	Name string // of the capture
	Text string // what the capture does not have, and what it has instead
}

func (a *Absence) Error() string { return a.Name + ": " + a.Text }

func (c *Capture) lacks(format string, args ...any) error {
	return &Absence{c.Name, fmt.Sprintf(format, args...)}
}

// firstSteps returns the numbers of the first n steps. A step has a mark for each device.
func firstSteps(marks []Mark, n int) map[int64]bool {
	starts := map[int64]int64{}
	for _, m := range marks {
		if at, ok := starts[m.Number]; m.Phase == "" && (!ok || m.Start < at) {
			starts[m.Number] = m.Start
		}
	}
	numbers := slices.SortedFunc(maps.Keys(starts), func(a, b int64) int {
		return cmp.Or(cmp.Compare(starts[a], starts[b]), cmp.Compare(a, b))
	})
	out := map[int64]bool{}
	for _, number := range numbers[:min(n, len(numbers))] {
		out[number] = true
	}
	return out
}

// phase returns the time of the requested phase. If it occurs several times within the given
// span, it returns the longest occurrence.
func (r *Request) phase(c Capture, within Span) (out Span, err error) {
	var names []string
	seen := map[string]bool{}
	found := false
	for _, m := range c.Marks {
		if m.Phase != "" && !seen[m.Phase] {
			seen[m.Phase] = true
			names = append(names, m.Phase)
		}
		part := Span{max(m.Start, within.Start), min(m.End, within.End)}
		if m.Phase != r.Phase || part.Start >= part.End {
			continue
		}
		if !found || part.End-part.Start > out.End-out.Start {
			out, found = part, true
		}
	}
	switch {
	case found:
		return out, nil
	case len(names) == 0:
		return out, c.lacks("the capture has no phases; give --step, or --from and --to")
	}
	const shown = 8
	more := ""
	if len(names) > shown {
		names, more = names[:shown], ", ..."
	}
	return out, c.lacks("there is no phase %q in the window; its phases are %s%s", r.Phase, strings.Join(names, ", "), more)
}
