package tracegen

import (
	"encoding/json"
	"maps"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// checkTruth generates a trace and reads it back by brute force.
func checkTruth(t *testing.T, sc Scenario, rank int) {
	t.Helper()
	truth, text := generated(t, sc, rank)
	events := parse(t, text)
	if int64(len(events)) != truth.Events {
		t.Errorf("%d events, the truth has %d", len(events), truth.Events)
	}
	checkHeader(t, sc, rank, truth, text)
	if got := stepsOf(t, events); !reflect.DeepEqual(got, truth.Steps) {
		t.Fatalf("steps are\n%v, the truth has\n%v", got, truth.Steps)
	}
	devices, sizes := map[string][]event{}, map[string]json.RawMessage{}
	for _, e := range events {
		if size, ok := e.Args["size"]; ok { // HIP's calls have a copy's size, as text
			sizes[e.arg("correlation")] = size[1 : len(size)-1]
		}
	}
	for _, e := range events {
		if size, ok := sizes[e.arg("correlation")]; ok && classOf(e) == "copy" {
			e.Args["bytes"] = size
		}
		if classOf(e) != "" {
			devices[e.arg("device")] = append(devices[e.arg("device")], e)
			if e.arg("device") != string(e.PID) || e.arg("stream") != string(e.TID) {
				t.Fatalf("%s: device %s on process %s, stream %s on thread %s", e.Name, e.arg("device"), e.PID, e.arg("stream"), e.TID)
			}
		}
	}
	if len(devices) != len(truth.Devices) {
		t.Errorf("%d devices, the truth has %d", len(devices), len(truth.Devices))
	}
	for _, d := range truth.Devices {
		checkDevice(t, devices[jsonInt(int64(d.Device))], truth, d)
	}
}

func checkHeader(t *testing.T, sc Scenario, rank int, truth Truth, text []byte) {
	t.Helper()
	if sc.Dialect.Layout == Array {
		return
	}
	var head struct {
		DistributedInfo     struct{ Rank *int }
		BaseTimeNanoseconds int64
	}
	if err := json.Unmarshal(text, &head); err != nil {
		t.Fatal(err)
	}
	if head.BaseTimeNanoseconds != truth.BaseNS || head.DistributedInfo.Rank == nil || *head.DistributedInfo.Rank != rank {
		t.Errorf("header says %+v, the truth has base %d, rank %d", head, truth.BaseNS, rank)
	}
	before := strings.Index(string(text), "baseTimeNanoseconds") < strings.Index(string(text), "traceEvents")
	if truth.BaseNS != 0 && before == sc.Dialect.BaseLast {
		t.Errorf("the base comes before the events: %v; asked for last: %v", before, sc.Dialect.BaseLast)
	}
}

func checkDevice(t *testing.T, events []event, truth Truth, d DeviceTruth) {
	t.Helper()
	first, last, spans := ns(t, events[0].start()), int64(0), []span{}
	for _, e := range events {
		s := span{ns(t, e.start()), ns(t, e.end()), classOf(e)}
		first, last, spans = min(first, s.start), max(last, s.end), append(spans, s)
	}
	if first != d.StartNS || last-first != d.WindowNS {
		t.Errorf("device %d: window from %d is %d long, the truth has %d and %d", d.Device, first, last-first, d.StartNS, d.WindowNS)
	}
	if got := sweep(spans, first, last); !maps.Equal(got, d.Cells) || d.Cells.Sum() != d.WindowNS {
		t.Errorf("device %d: cells %v, the truth has %v", d.Device, got, d.Cells)
	}
	for i, step := range truth.Steps {
		if got := sweep(spans, step.StartNS, step.StartNS+step.WallNS); !maps.Equal(got, d.Steps[i]) {
			t.Errorf("device %d: %s has %v, the truth has %v", d.Device, step.Name, got, d.Steps[i])
		}
	}
	for _, tc := range []struct {
		classes string
		want    []Row
	}{{"comm compute", d.Kernels}, {"copy", d.Copies}, {"memset", d.Memsets}} {
		if got := rowsOf(t, events, tc.classes); !reflect.DeepEqual(got, tc.want) {
			t.Errorf("device %d: rows of %s are\n%v, the truth has\n%v", d.Device, tc.classes, got, tc.want)
		}
	}
}

// A span is the time and class of a device event.
type span struct {
	start, end int64
	class      string
}

// sweep examines every interval between two boundaries of any event. It is
// quadratic and simple enough to be obviously correct.
func sweep(spans []span, from, to int64) Cells {
	edges := []int64{from, to}
	for _, s := range spans {
		edges = append(edges, min(max(s.start, from), to), min(max(s.end, from), to))
	}
	slices.Sort(edges)
	edges = slices.Compact(edges)
	cells := Cells{}
	for i := 1; i < len(edges); i++ {
		var running []string
		for _, s := range spans {
			if s.start <= edges[i-1] && s.end >= edges[i] && !slices.Contains(running, s.class) {
				running = append(running, s.class)
			}
		}
		slices.Sort(running)
		cells.add(strings.Join(running, "+"), edges[i]-edges[i-1])
	}
	return cells
}

// classOf returns the class of an event from its category and name.
func classOf(e event) string {
	switch strings.ToLower(e.Cat) {
	case "kernel":
		if strings.HasPrefix(e.Name, "nccl") {
			return "comm"
		}
		return "compute"
	case "gpu_memcpy", "memcpy":
		return "copy"
	case "gpu_memset", "memset":
		return "memset"
	}
	return ""
}

// ns converts microseconds and fails if they are not whole nanoseconds.
func ns(t *testing.T, micros *big.Rat) int64 {
	t.Helper()
	n := new(big.Rat).Mul(micros, big.NewRat(1000, 1))
	if !n.IsInt() {
		t.Fatalf("%v µs is not a whole number of nanoseconds", micros)
	}
	return n.Num().Int64()
}

// rowsOf counts the events of the classes, and reads bytes from the field that
// the dialect uses.
func rowsOf(t *testing.T, events []event, classes string) (rows []Row) {
	t.Helper()
	for _, e := range events {
		if !slices.Contains(strings.Fields(classes), classOf(e)) {
			continue
		}
		var stream int
		if err := json.Unmarshal(e.TID, &stream); err != nil {
			t.Fatal(err)
		}
		dur := ns(t, rat(e.Dur))
		i := slices.IndexFunc(rows, func(r Row) bool { return r.Stream == stream && r.Name == e.Name })
		if i < 0 {
			i = len(rows)
			rows = append(rows, Row{Stream: stream, Name: e.Name, MinNS: dur, MaxNS: dur})
		}
		r := &rows[i]
		r.Count++
		r.TotalNS += dur
		r.MinNS, r.MaxNS = min(r.MinNS, dur), max(r.MaxNS, dur)
		if b, ok := e.Args["bytes"]; ok {
			var n int64
			if err := json.Unmarshal(b, &n); err != nil {
				t.Fatal(err)
			}
			r.Bytes += n
		}
	}
	slices.SortFunc(rows, func(a, b Row) int {
		if a.Stream != b.Stream {
			return a.Stream - b.Stream
		}
		return strings.Compare(a.Name, b.Name)
	})
	return rows
}

func stepsOf(t *testing.T, events []event) (steps []Step) {
	t.Helper()
	for _, e := range events {
		if strings.HasPrefix(e.Name, "ProfilerStep#") && e.Cat == "user_annotation" {
			steps = append(steps, Step{e.Name, ns(t, e.start()), ns(t, rat(e.Dur))})
		}
	}
	return steps
}

func jsonInt(n int64) string {
	b, _ := json.Marshal(n)
	return string(b)
}
