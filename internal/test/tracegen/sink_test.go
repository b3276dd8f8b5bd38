package tracegen

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// A listener stores the received events as lines, and fails after a given
// number of events.
type listener struct {
	t     *testing.T
	run   Run
	lines []string
	most  int // 0 for no limit
}

var errListener = errors.New("enough")

func (l *listener) Begin(r Run) error { l.run = r; return nil }

func (l *listener) Host(e HostEvent) error {
	category := map[HostKind]string{Range: "user_annotation", Operator: "cpu_op", APICall: "cuda_runtime"}[e.Kind]
	if e.Driver {
		category = "cuda_driver"
	}
	more := ""
	if e.Kind == APICall {
		more = fmt.Sprint(" correlation ", e.Correlation)
	}
	if e.Kind == Operator {
		more = fmt.Sprint(" external ", e.External)
		if e.Sequence != 0 {
			more += fmt.Sprint(" sequence ", e.Sequence)
		}
		if e.Dims != nil {
			more += fmt.Sprint(" dims ", len(e.Dims))
		}
	}
	return l.add(category, e.Name, e.Process, e.Thread, e.Start, e.Dur, more)
}

func (l *listener) Device(e DeviceEvent) error {
	category := map[Kind]string{Compute: "kernel", Comm: "kernel", Copy: "gpu_memcpy", Memset: "gpu_memset"}[e.Kind]
	return l.add(category, e.Name, int64(e.Device), int64(e.Stream), e.Start, e.Dur, fmt.Sprint(" correlation ", e.Correlation))
}

func (l *listener) add(category, name string, pid, tid, start, dur int64, more string) error {
	if start < l.run.BeginNS {
		l.t.Errorf("%s starts at %d, before the run at %d", name, start, l.run.BeginNS)
	}
	l.lines = append(l.lines, fmt.Sprintf("%s %s %d %d %d %d%s", category, name, pid, tid, start, dur, more))
	if len(l.lines) == l.most {
		return errListener
	}
	return nil
}

// written returns the lines that a listener should have for a trace.
func written(events []event) (lines []string) {
	old := map[string]string{"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Operator": "cpu_op"}
	for _, e := range events {
		category := cmpOr(old[e.Cat], e.Cat)
		if e.Cat == "Runtime" {
			category = "cuda_runtime"
			if !strings.HasPrefix(e.Name, "cuda") && !strings.HasPrefix(e.Name, "hip") {
				category = "cuda_driver"
			}
		}
		more := ""
		switch category {
		case "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver":
			more = " correlation " + e.arg("correlation")
		case "cpu_op":
			more = " external " + e.arg("External id")
			if e.arg("Sequence number") != "" {
				more += " sequence " + e.arg("Sequence number")
			}
			if dims := e.arg("Input Dims"); dims != "" {
				more += fmt.Sprint(" dims ", strings.Count(dims, "[")-2) // without the list and the number that has none
			}
		case "user_annotation":
		default:
			continue
		}
		ns := func(r interface{ FloatString(int) string }) string { return r.FloatString(0) }
		lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s%s", category, e.Name, e.PID, e.TID,
			ns(e.start().Mul(e.start(), rat("1000"))), ns(rat(e.Dur).Mul(rat(e.Dur), rat("1000"))), more))
	}
	return lines
}

// TestSink compares the events that a sink receives with the parsed JSON: the
// same events with the same nanoseconds.
func TestSink(t *testing.T) {
	for _, sc := range dialects() {
		l := &listener{t: t}
		var text strings.Builder
		truth, err := Record(&text, l, sc, 0)
		if err != nil {
			t.Fatal(err)
		}
		want := written(parse(t, []byte(text.String())))
		slices.Sort(want)
		slices.Sort(l.lines)
		if !slices.Equal(want, l.lines) {
			i := 0
			for i < min(len(want), len(l.lines)) && want[i] == l.lines[i] {
				i++
			}
			t.Errorf("%s %+v: told of %d events, %d are written; from the %dth on told %.300q, written %.300q",
				sc.Name, sc.Dialect, len(l.lines), len(want), i, l.lines[i:min(i+1, len(l.lines))], want[i:min(i+1, len(want))])
		}
		if len(l.run.Devices) != len(truth.Devices) || sc.Dialect.Layout != Array && l.run.BaseNS != truth.BaseNS {
			t.Errorf("told of %+v, want %d devices and base %d", l.run, len(truth.Devices), truth.BaseNS)
		}
	}
	// A sink does not change the JSON.
	var with, without strings.Builder
	if _, err := Record(&with, &listener{t: t}, Graphs(), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := Generate(&without, Graphs(), 0); err != nil || with.String() != without.String() {
		t.Errorf("the JSON differs where a sink listens (%v)", err)
	}
}

// TestSinkError: the first error of a sink ends the run.
func TestSinkError(t *testing.T) {
	l := &listener{t: t, most: 10}
	if _, err := Record(io.Discard, l, Big(1<<40), 0); err != errListener {
		t.Errorf("got error %v, want %v", err, errListener)
	}
}
