package summary

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
)

// Read reads the JSON of one summary. It refuses other schemas, and summaries
// that break their promises: rows of inputs that do not exist, and cells that
// do not sum to their window. The name is that of the file, for error
// messages.
func Read(r io.Reader, name string) (*Summary, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var head struct {
		Schema *string `json:"schema"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, readError(name, err)
	}
	switch {
	case head.Schema == nil:
		return nil, fmt.Errorf("%s: not an assay summary: it has no schema, want %q", name, Schema)
	case *head.Schema != Schema:
		return nil, fmt.Errorf("%s: schema: got %q, want %q", name, *head.Schema, Schema)
	}
	s := new(Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, readError(name, err)
	}
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// readError puts the position that encoding/json knows in front of its error.
func readError(name string, err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("%s@%d: malformed JSON: %w", name, syntax.Offset, err)
	}
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		where := ""
		if shape.Field != "" {
			where = shape.Field + ": "
		}
		return fmt.Errorf("%s@%d: %swant %s, got %s", name, shape.Offset, where, jsonName(shape.Type), shape.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// jsonName returns what JSON calls the values of a Go type.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Int, reflect.Int64:
		return "whole number"
	}
	return t.Kind().String()
}

// check returns the first broken promise of s.
func (s *Summary) check() error {
	for i, d := range s.Devices {
		if err := d.Activity.check("window_ns", d.WindowNS); err != nil {
			return fmt.Errorf("devices[%d]: %w", i, err)
		}
		if err := d.Utilization.check(&d); err != nil {
			return fmt.Errorf("devices[%d]: %w", i, err)
		}
	}
	for i, st := range s.Steps {
		if err := st.check(); err != nil {
			return fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return cmp.Or(
		s.checkPhases(),
		s.checkTables(),
		s.checkCounters(),
		s.checkFlames(),
		s.checkSnapshots(),
		checkInputs(s, "devices", s.Devices, func(d Device) int { return d.Input }),
		checkInputs(s, "streams", s.Streams, func(r Stream) int { return r.Input }),
		checkInputs(s, "steps", s.Steps, func(r Step) int { return r.Input }),
		checkInputs(s, "phases", s.Phases, func(r Phase) int { return r.Input }),
		checkInputs(s, "kernels", s.Kernels, func(r Kernel) int { return r.Input }),
		checkInputs(s, "copies", s.Copies, func(r Copy) int { return r.Input }),
		checkInputs(s, "copy_calls", s.CopyCalls, func(r CopyCall) int { return r.Input }),
		checkInputs(s, "syncs", s.Syncs, func(r Sync) int { return r.Input }),
		checkInputs(s, "spans", s.Spans, func(r Span) int { return r.Input }),
		s.checkAttribution(),
	)
}

// checkAttribution returns the first row of an input that does not exist among
// those that say where work and idle time came from.
func (s *Summary) checkAttribution() error {
	return cmp.Or(
		checkInputs(s, "ops", s.Ops, func(r Op) int { return r.Input }),
		checkInputs(s, "modules", s.Modules, func(r Module) int { return r.Input }),
		checkInputs(s, "lines", s.Lines, func(r Line) int { return r.Input }),
		checkInputs(s, "annotations", s.Annotations, func(r Annotation) int { return r.Input }),
		checkInputs(s, "passes", s.Passes, func(r Pass) int { return r.Input }),
		checkInputs(s, "calls", s.Calls, func(r Call) int { return r.Input }),
		checkInputs(s, "launches", s.Launches, func(r Launches) int { return r.Input }),
		s.checkLosses(),
		checkInputs(s, "graphs", s.Graphs, func(r Graph) int { return r.Input }),
		checkInputs(s, "idle", s.Idle, func(r Idle) int { return r.Input }),
		checkInputs(s, "memory", s.Memory, func(r Memory) int { return r.Input }),
	)
}

// check returns an error if a cell of a is negative or the cells do not sum to
// the window, which the named field holds.
func (a Activity) check(field string, window int64) error {
	rest := window
	for set, ns := range a {
		if ns < 0 {
			return fmt.Errorf("activity: %q has %d ns, want 0 or more", Class(set), ns)
		}
		rest = Plus(rest, -ns)
	}
	if rest != 0 {
		more := ""
		if a.Window() == math.MaxInt64 {
			more = " or more"
		}
		return fmt.Errorf("activity sums to %d ns%s, %s is %d", a.Window(), more, field, window)
	}
	return nil
}

// checkInputs returns an error for the first row whose input does not exist.
func checkInputs[Row any](s *Summary, field string, rows []Row, input func(Row) int) error {
	for i, r := range rows {
		if in := input(r); in < 0 || in >= len(s.Inputs) {
			return fmt.Errorf("%s[%d].input: got %d, want 0 or more and under %d, the number of inputs", field, i, in, len(s.Inputs))
		}
	}
	return nil
}
