package summary

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// What the numbers of one unit may add up to. No job comes near: 2^60 ns are 36 years, which a
// thousand GPUs with ten hours of rows each do not fill. [Summary.RollUp] adds the sums over ranks
// to what is merged, at most three times as much, so a summary that was written can be read again.
const (
	mostMerged = 1 << 60
	mostRead   = 1<<62 - 1
)

// A Bounds is what is left for the numbers of several summaries that are merged. Because all that
// adds up comes from it, the sums of what was merged need no check of their own: each number may
// be in a sum twice.
type Bounds struct {
	most int64
	left [units]int64
	// signed accepts numbers that no measurement has, which [Read] refuses: below 0.
	signed bool
}

// The units that have a sum of their own.
const (
	ofTime = iota
	ofBytes
	ofCounts
	units
)

// NewBounds returns the bounds of one job.
func NewBounds() *Bounds { return newBounds(mostMerged, true) }

func newBounds(most int64, signed bool) *Bounds {
	b := &Bounds{most: most, signed: signed}
	for i := range b.left {
		b.left[i] = most
	}
	return b
}

// MaxWindow is the longest plausible window of a capture, in ns: 100 hours.
const MaxWindow = 100 * int64(time.Hour)

// CutWindows cuts the idle time of implausible windows, which means nothing, to what the longest
// plausible window has. A time of 0 beside those of the clock makes idle time of 50 years, on
// every rank of a job if one profiler writes it, and two of them would fill the bounds. The issue
// [ClocksImplausible] says that the window is wrong.
func (s *Summary) CutWindows() {
	for i := range s.Devices {
		d := &s.Devices[i]
		cut := min(Plus(d.WindowNS, -MaxWindow), d.Activity[0])
		if cut <= 0 {
			continue
		}
		d.WindowNS, d.Activity[0] = d.WindowNS-cut, d.Activity[0]-cut
		d.UncertainNS = min(d.UncertainNS, d.WindowNS)
		for j := range s.Efficiency.Devices {
			if e := &s.Efficiency.Devices[j]; e.Input == d.Input && e.Rank == d.Rank && e.Device == d.Device {
				e.WallNS = min(e.WallNS, d.WindowNS)
			}
		}
	}
}

// Take takes the numbers of a summary from what is left. If they do not fit it takes
// nothing, and the error names the number that did not fit.
func (b *Bounds) Take(s *Summary) error {
	rest := *b
	if err := rest.take(reflect.ValueOf(s).Elem(), field{}); err != nil {
		return err
	}
	*b = rest
	return nil
}

// A boundsError is about a number. Its path is made from the inside out.
type boundsError struct{ path, text string }

func (e *boundsError) Error() string { return strings.TrimPrefix(e.path, ".") + ": " + e.text }

func (e *boundsError) in(name string) *boundsError {
	e.path = name + e.path
	return e
}

// take takes all numbers in a value, which is that of a field.
func (b *Bounds) take(v reflect.Value, f field) *boundsError {
	switch v.Kind() {
	case reflect.Int64:
		return b.number(v.Int(), f)
	case reflect.Float64:
		if n := v.Float(); math.IsNaN(n) || math.IsInf(n, 0) {
			return &boundsError{text: fmt.Sprintf("got %v, want a number", n)}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			return b.take(v.Elem(), f)
		}
	case reflect.Struct:
		for _, f := range fieldsOf(v.Type()) {
			if err := b.take(v.Field(f.at), f); err != nil {
				return err.in(f.name)
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if err := b.take(v.Index(i), f); err != nil {
				return err.in(fmt.Sprintf("[%d]", i))
			}
		}
	case reflect.Map:
		for i := v.MapRange(); i.Next(); {
			if err := b.take(i.Value(), f); err != nil {
				return err.in(fmt.Sprintf("[%q]", i.Key()))
			}
		}
	}
	return nil
}

// number takes one number, or only checks it if it does not add up.
func (b *Bounds) number(n int64, f field) *boundsError {
	size := n
	switch {
	case n < 0 && !f.signed && !b.signed:
		return &boundsError{text: fmt.Sprintf("got %d, want 0 or more", n)}
	case n == math.MinInt64:
		size = math.MaxInt64
	case n < 0:
		size = -n
	}
	left := &b.left[f.unit]
	if !f.adds {
		left = &b.most
	}
	if size > *left {
		return &boundsError{text: fmt.Sprintf("got %d; all %s of a summary add up to at most %d", n, unitNames[f.unit], b.most)}
	}
	if f.adds {
		*left -= size
	}
	return nil
}

var unitNames = [units]string{"times in ns", "sizes in bytes", "counts"}

// A field is a field of a struct that has numbers.
type field struct {
	at   int
	name string // of the JSON, with a period before it; "" if the fields of its struct are those of the outer one
	unit int
	adds bool
	// signed: numbers below 0 have a meaning, as -1 for "not known yet" in lists that are
	// drawn, and differences.
	signed bool
}

// fieldsByType has what fieldsOf has found, by reflect.Type.
var fieldsByType sync.Map

// fieldsOf returns the fields of a type that have bounded numbers.
func fieldsOf(t reflect.Type) []field {
	if list, ok := fieldsByType.Load(t); ok {
		return list.([]field)
	}
	var list []field
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		for slices.Contains([]reflect.Kind{reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map}, inner.Kind()) {
			inner = inner.Elem()
		}
		switch {
		case inner.Kind() == reflect.Struct:
			if f.Anonymous {
				list = append(list, field{at: i})
			} else {
				list = append(list, field{at: i, name: "." + name})
			}
		case inner.Kind() == reflect.Float64, inner == reflect.TypeFor[int64]() && !unbounded(t.Name(), name, f.Type):
			list = append(list, field{at: i, name: "." + name, unit: unitOf(name, f.Type), adds: !extreme(name),
				signed: f.Type.Kind() == reflect.Slice || t.Name() == "MemoryGrowth"})
		}
	}
	fieldsByType.Store(t, list)
	return list
}

func unitOf(name string, of reflect.Type) int {
	switch {
	case name == "ns", strings.HasSuffix(name, "_ns"), of == reflect.TypeFor[Activity]():
		return ofTime
	case strings.HasSuffix(name, "bytes"), slices.Contains(memoryNames, name):
		return ofBytes
	}
	return ofCounts
}

// memoryNames are the sizes without "bytes" in their name.
var memoryNames = []string{
	"start_allocated", "peak_allocated", "peak_reserved", "capacity", "allocated", "reserved", "waiting", "split",
	"cached", "largest_free", "rounding", "requested", "private", "private_free", "start", "peak", "live",
	"wanted", "free", "older", "at_peak", "highest",
}

// extreme reports whether a field is a minimum, maximum or average. It is bounded, but adding it
// to that of another row would mean nothing.
func extreme(name string) bool {
	return slices.Contains(extremeNames, name)
}

var extremeNames = []string{
	"min_ns", "max_ns", "median_ns", "longest_ns", "rank_min_ns", "rank_max_ns", "rank_min_cpu_ns",
	"rank_max_cpu_ns", "bin_ns", "chunk_ns", "capture_ns",
}

// unbounded reports whether a field is a moment, the number of something or read from a name, which are not added
// up, or of FLOPs and the bytes that operators need, whose sums are a [Sum].
func unbounded(row, name string, of reflect.Type) bool {
	if name == "ns" && of.Kind() == reflect.Pointer {
		return true // a moment that may be unknown
	}
	for _, moment := range momentNames {
		if name == moment || strings.HasSuffix(name, "_"+moment) {
			return true
		}
	}
	return strings.HasSuffix(name, "flops") || row == "EfficiencyRow" && strings.HasPrefix(name, "bytes") || row == "LateSteps" ||
		slices.Contains(unboundedNames, name)
}

// unboundedNames are members whose numbers do not add up.
var unboundedNames = []string{
	"peak_ns", "highest_reserved_ns", "device", "stream", "number", "id", "line", "step", "first_step",
	"last_step", "seq", "from", "x", "entry", "grid", "block", "last_enqueued", "last_completed",
	"peak_dram_rate", "flops_min", "flops_max", "batch", "tokens", "keys", "size",
}

// momentNames are members that are a time of the clock, and ends of the names of others.
var momentNames = []string{
	"start_ns", "end_ns", "first_ns", "last_ns", "at_ns", "created_ns", "time_ns", "offset_ns", "shift_ns",
	"residual_ns", "from_ns",
}
