package analyze_test

import (
	"cmp"
	"encoding/json"
	"maps"
	"math/bits"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/interval"
	"assay/internal/test"
	"assay/summary"
)

// An htaWork is one piece of device work with its launch, from the JSON alone.
type htaWork struct {
	start, end   int64
	called, over int64 // of the call; -1 if there is none
}

// htaWorks returns the work of a trace of one device and its calls that wait.
func htaWorks(t *testing.T, text []byte) (list []htaWork, waits map[string][]interval.Span) {
	t.Helper()
	var doc struct{ TraceEvents []htaEvent }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	events := doc.TraceEvents
	calls := make(map[int64]interval.Span)
	waits = make(map[string][]interval.Span)
	for i := range events {
		e := &events[i]
		if e.Ph != "X" || !strings.HasPrefix(strings.ToLower(e.Cat), "cuda_r") && e.Cat != "cuda_driver" && e.Cat != "Runtime" {
			continue
		}
		s := interval.Span{Start: nanos(t, e.TS), End: nanos(t, e.TS) + nanos(t, e.Dur)}
		if e.Args.Correlation != nil && *e.Args.Correlation != 0 {
			calls[*e.Args.Correlation] = s
		}
		if strings.Contains(e.Name, "Synchronize") {
			waits[e.Name] = append(waits[e.Name], s)
		}
	}
	for i := range events {
		e := &events[i]
		switch strings.ToLower(e.Cat) {
		case "kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset":
		default:
			continue
		}
		w := htaWork{nanos(t, e.TS), nanos(t, e.TS) + nanos(t, e.Dur), -1, -1}
		if c, ok := calls[*e.Args.Correlation]; ok {
			w.called, w.over = c.Start, c.End
		}
		list = append(list, w)
	}
	slices.SortFunc(list, func(a, b htaWork) int { return cmp.Compare(a.start, b.start) })
	return list, waits
}

// TestHTADefinitions makes the numbers of HTA's analyses of launches, queues and
// idle time again from the JSON of every trace of one device, by its
// definitions in whole ns.
func TestHTADefinitions(t *testing.T) {
	root := test.Corpus(t, "kineto") // as kinetoTraces spells it
	tested := 0
	for i, path := range kinetoTraces(t) {
		if !strings.HasPrefix(path, root) || i%test.Every(4) != 0 {
			continue
		}
		name, _ := filepath.Rel(root, path)
		t.Run(name, func(t *testing.T) {
			text := test.Unpacked(t, path)
			if testing.Short() && len(text) > 4<<20 {
				t.Skip("too large to be read three times")
			}
			s := summed(t, text)
			if len(s.Devices) != 1 {
				t.Skipf("%d devices", len(s.Devices))
			}
			tested++
			list, waits := htaWorks(t, text)
			checkDelays(t, s, list)
			checkQueue(t, s, list)
			checkIdle(t, s, list)
			checkWaits(t, s, list, waits)
		})
	}
	if tested < 18/test.Every(4) && !testing.Short() {
		t.Errorf("only %d traces", tested)
	}
}

// checkDelays: launch_delay = max(0, start of the work - end of the call).
func checkDelays(t *testing.T, s *summary.Summary, list []htaWork) {
	t.Helper()
	var want summary.Histogram
	without := int64(0)
	for _, w := range list {
		if w.called < 0 {
			without++
			continue
		}
		want.Add(max(0, w.start-w.over))
	}
	l := s.Launches[0]
	if !slices.Equal(l.Delays.Buckets, want.Buckets) || l.Without != without || l.Launched != want.Count() {
		t.Errorf("delays %+v of %d, %d without; want %+v, %d", l.Delays, l.Launched, l.Without, want, without)
	}
}

// checkQueue: the queue is one longer from the start of a call on and one
// shorter from the start of its work on. It is looked at at each such moment.
func checkQueue(t *testing.T, s *summary.Summary, list []htaWork) {
	t.Helper()
	type change struct{ at, by int64 }
	var changes []change
	d := s.Devices[0]
	for _, w := range list {
		if w.called >= 0 && w.called < w.start {
			changes = append(changes, change{w.called, 1}, change{w.start, -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	begin, end := d.StartNS, d.StartNS+d.WindowNS
	want := make(map[int64]int64)
	depth, last := int64(0), begin
	see := func(to int64) {
		if to = min(to, end); to > last {
			want[int64(1)<<bits.Len64(uint64(depth))>>1] += to - last
			last = to
		}
	}
	for _, c := range changes {
		see(c.at)
		depth += c.by
	}
	see(end)
	got := make(map[int64]int64)
	for _, q := range s.Launches[0].Queue {
		got[q.From] = q.NS
	}
	for from, ns := range want {
		if got[from] != ns {
			t.Errorf("queue of %d and more: %d ns, want %d", from, got[from], ns)
		}
	}
	if len(got) != len(want) {
		t.Errorf("depths %v, want %v", got, want)
	}
}

// checkIdle: HTA calls a gap "host_wait" if the call of what runs next began
// after it. Of such a gap the host owns the part before the call, and of no
// other any. What is left is launching, unless the work starts over 20 us after
// its call: then something else held it.
func checkIdle(t *testing.T, s *summary.Summary, list []htaWork) {
	t.Helper()
	for _, g := range s.Graphs {
		if g.Opaque {
			t.Skip("work inside of graphs was not recorded")
		}
	}
	got, want := make(map[string]int64), make(map[string]int64)
	busy := list[0].end
	for i, w := range list {
		if w.start <= busy {
			busy = max(busy, w.end)
			continue
		}
		called, over := int64(-1), int64(0) // the first call of all that starts with w
		for _, next := range list[i:] {
			if next.start == w.start && next.called >= 0 && (called < 0 || next.called < called) {
				called, over = next.called, next.over
			}
		}
		if called < 0 || called >= w.start {
			want[summary.OwnerUnknown] += w.start - busy
		} else {
			queued := over <= busy // its launch was over before the gap began
			called, over = max(called, busy), max(min(over, w.start), busy)
			want[summary.OwnerHost] += called - busy // host_wait
			want[summary.OwnerLaunch] += over - called
			if held := w.start - over; held > 20_000 {
				want[summary.OwnerDependency] += held
			} else if queued {
				want[summary.OwnerBetween] += held
			} else {
				want[summary.OwnerLaunch] += held
			}
		}
		busy = max(busy, w.end)
	}
	for _, r := range s.Idle {
		owner := r.Owner
		if owner == summary.OwnerNothing { // the host was late, and that was the profiler
			owner = summary.OwnerHost
		}
		if owner == summary.OwnerNotRecorded { // a dependency of work that was not recorded
			owner = summary.OwnerDependency
		}
		got[owner] += r.NS
	}
	for owner, ns := range want {
		if ns == 0 {
			delete(want, owner)
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("owners of idle time %v, want %v", got, want)
	}
}

// checkWaits: of a call that waits that part is lost in which nothing ran.
func checkWaits(t *testing.T, s *summary.Summary, list []htaWork, waits map[string][]interval.Span) {
	t.Helper()
	for name, calls := range waits {
		var want int64
		for _, c := range calls {
			var b interval.Builder
			for _, w := range list {
				if w.start < c.End && w.end > c.Start {
					b.Add(interval.Span{Start: max(w.start, c.Start), End: min(w.end, c.End)})
				}
			}
			want += c.Len() - b.Set().Len()
		}
		if c := callNamed(s, name); c.Count != int64(len(calls)) || c.IdleNS != want {
			t.Errorf("%+v, want %d calls with %d ns of idle time", c, len(calls), want)
		}
	}
}
