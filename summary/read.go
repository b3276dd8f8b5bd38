package summary

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime/debug"
	"strconv"
	"strings"
)

// Read reads the JSON of one summary. It refuses other schemas, and summaries that violate a constraint,
// for example rows of inputs that do not exist, cells that do not sum to their window, and numbers that are
// negative or add up to more than any job can have, so that the sums of its rows cannot overflow. name is the
// file name for error messages.
func Read(r io.Reader, name string) (*Summary, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var head struct {
		Schema *string `json:"schema"`
		Assay  any     `json:"assay"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, readError(name, err)
	}
	switch {
	case head.Schema == nil:
		return nil, fmt.Errorf("%s: not an assay summary: it has no schema, want %q", name, Schema)
	case *head.Schema != Schema:
		return nil, otherSchema(name, *head.Schema, head.Assay)
	}
	s := new(Summary)
	if err := json.Unmarshal(text, s); err != nil {
		return nil, readError(name, err)
	}
	s.Efficiency.Sums = nil // recomputed from the devices, so that the two cannot contradict each other
	if err := s.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	s.CutWindows() // versions before the bounds wrote them
	if err := newBounds(mostRead, false).Take(s); err != nil {
		return nil, fmt.Errorf("%s: %w; a summary of assay has no such number, so write it again from the capture", name, err)
	}
	for i := range s.Efficiency.Rows {
		r := &s.Efficiency.Rows[i]
		r.Dims, r.Types = compact(r.Dims), compact(r.Types)
	}
	for i := range s.Efficiency.Replays {
		r := &s.Efficiency.Replays[i]
		r.Dims, r.Types = compact(r.Dims), compact(r.Types)
	}
	for i := range s.Efficiency.Captures {
		for j := range s.Efficiency.Captures[i].Rows {
			r := &s.Efficiency.Captures[i].Rows[j]
			r.Dims, r.Types = compact(r.Dims), compact(r.Types)
		}
	}
	return s, nil
}

// otherSchema returns the error for a summary of another schema. It names the programs, because a file of a
// newer one is read by updating this one.
func otherSchema(name, schema string, by any) error {
	number := func(schema string) int {
		n, err := strconv.Atoi(strings.TrimPrefix(schema, "assay/summary/"))
		if err != nil {
			return 0
		}
		return n
	}
	wrote := "another version of assay wrote it"
	if v, ok := by.(string); ok && v != "" {
		wrote = fmt.Sprintf("assay %.40q wrote it", v)
	}
	err := fmt.Errorf("%s: schema: got %q, want %q", name, schema, Schema)
	if number(schema) > number(Schema) {
		err = fmt.Errorf("%w: %s, and this is assay %q; read it with that version or a newer one", err, wrote, version())
	}
	return err
}

// version returns the version of this program.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

// compact returns JSON without white space, so that rows with equal values have equal keys.
func compact(raw json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if json.Compact(&out, raw) != nil {
		return raw // absent
	}
	return out.Bytes()
}

// readError adds the position that encoding/json reports to its error.
func readError(name string, err error) error {
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		return fmt.Errorf("%s@%d: malformed JSON: %w", name, syntax.Offset, err)
	}
	if shape := (*json.UnmarshalTypeError)(nil); errors.As(err, &shape) {
		where := ""
		if shape.Field != "" {
			where = strings.ReplaceAll(shape.Field, embedded+".", "") + ": "
		}
		return fmt.Errorf("%s@%d: %swant %s, got %s", name, shape.Offset, where, jsonName(shape.Type), shape.Value)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// embedded is the type that rows embed. encoding/json names it in the paths of its errors, although JSON
// does not.
const embedded = "EfficiencySums"

// jsonName returns the JSON term for the values of a Go type.
func jsonName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	case reflect.Int, reflect.Int64:
		return "whole number"
	case reflect.Float64:
		return "number"
	}
	return t.Kind().String()
}

// check returns the first violated constraint of s, kind by kind.
func (s *Summary) check() error {
	for _, k := range members {
		if err := k.check(s); err != nil {
			return err
		}
	}
	return nil
}

// rowError returns an error about a row: about one of its fields if format
// begins with a period, otherwise about the whole row.
func rowError(kind string, i int, format string, args ...any) error {
	err := fmt.Errorf(format, args...)
	if !strings.HasPrefix(err.Error(), ".") {
		err = fmt.Errorf(": %w", err)
	}
	return fmt.Errorf("%s[%d]%w", kind, i, err)
}

// check returns an error if a cell of a is negative or the cells do not sum to
// the window, which is the value of the named field.
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

// checkTotal returns an error if some operations take longer together than as many of the longest, if that
// is known.
func checkTotal(count, total, longest int64) error {
	if longest > 0 && float64(total) > float64(count)*float64(longest) {
		return fmt.Errorf(".total_ns: got %d for %d operations of at most %d ns", total, count, longest)
	}
	return nil
}

// checkLongest returns an error if a kernel takes longer than the window of its device. It knows
// nothing of kernels that a window chosen by the user cuts, nor of implausible clocks.
func (s *Summary) checkLongest() error {
	if s.Issue(ClocksImplausible) != nil {
		return nil
	}
	windows := make(map[GPU]int64)
	for _, d := range s.Devices {
		windows[GPU{d.Input, d.Rank, d.Device}] = d.WindowNS
	}
	for i, k := range s.Kernels {
		window, ok := windows[GPU{k.Input, k.Rank, k.Device}]
		if cut := k.Input < len(s.Inputs) && s.Inputs[k.Input].Window != nil; ok && !cut && k.MaxNS > window {
			return fmt.Errorf("kernels[%d].max_ns: got %d, the window of its device is %d ns", i, k.MaxNS, window)
		}
	}
	return nil
}
