package analyze_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// A tally has numbers of a summary that add up over adjoining windows.
type tally map[string]int64

// add adds those of a summary.
func (t tally) add(s *summary.Summary) {
	sum := func(n int64, format string, args ...any) {
		if n != 0 {
			t[fmt.Sprintf(format, args...)] += n
		}
	}
	for _, d := range s.Devices {
		sum(d.Activity.Window(), "window of GPU %d", d.Device)
		for set, ns := range d.Activity {
			sum(ns, "cell %d of GPU %d", set, d.Device)
		}
		sum(d.Events, "events of GPU %d", d.Device)
		sum(d.Durations.Count(), "durations of GPU %d", d.Device)
	}
	for _, r := range s.Streams {
		sum(r.BusyNS, "busy time of stream %d.%d", r.Device, r.Stream)
		sum(r.WorkNS, "work of stream %d.%d", r.Device, r.Stream)
		sum(r.Kernels, "kernels of stream %d.%d", r.Device, r.Stream)
	}
	for _, r := range s.Kernels {
		sum(r.Count, "count of kernel %s of %d.%d in %s", r.Name, r.Device, r.Stream, r.Op)
		sum(r.TotalNS, "time of kernel %s of %d.%d in %s", r.Name, r.Device, r.Stream, r.Op)
	}
	for _, r := range s.Copies {
		sum(r.Count, "count of copy %s of %d.%d", r.Name, r.Device, r.Stream)
		sum(r.TotalNS, "time of copy %s of %d.%d", r.Name, r.Device, r.Stream)
	}
	for _, r := range s.Idle {
		sum(r.NS, "idle time of GPU %d by %s, %s, %s", r.Device, r.Owner, r.State, r.Name)
	}
	for _, r := range s.Ops {
		sum(r.Count, "count of operator %s", r.Name)
		sum(r.GPUSelfNS, "GPU time of operator %s", r.Name)
		sum(r.CPUSelfNS, "CPU time of operator %s", r.Name)
		sum(r.Launched, "launches of operator %s", r.Name)
	}
	for _, r := range s.Modules {
		sum(r.GPUSelfNS, "GPU time of module %s", r.Path)
	}
	for _, r := range s.Annotations {
		sum(r.Count, "count of annotation %s", r.Name)
		sum(r.GPUSelfNS, "GPU time of annotation %s", r.Name)
	}
	for _, r := range s.Calls {
		sum(r.Count, "count of call %s", r.Name)
		sum(r.TotalNS, "time of call %s", r.Name)
	}
	for _, r := range s.Launches {
		sum(r.Launched, "launched on GPU %d", r.Device)
		for _, q := range r.Queue {
			sum(q.NS, "queue of GPU %d from %d", r.Device, q.From)
		}
	}
	for _, r := range s.Phases {
		if r.Path == "" {
			continue // a window in which no phase is found has no row
		}
		sum(r.Activity.Window(), "phase %s on GPU %d", r.Path, r.Device)
		sum(r.Count, "count of phase %s on GPU %d", r.Path, r.Device)
		sum(r.HostOwnNS, "CPU time of phase %s on GPU %d", r.Path, r.Device)
	}
	for _, d := range s.Details {
		for part, row := range map[string][]int64{"compute": d.Cells.Compute, "comm": d.Cells.Comm, "copy": d.Cells.Copy, "hidden": d.Cells.Hidden} {
			for _, ns := range row {
				sum(ns, "%s in cells of GPU %d", part, d.Device)
			}
		}
		for _, l := range d.Lanes {
			for _, sp := range l.Spans {
				sum(sp.NS, "%s %s in lane %d.%d", sp.Class, d.Names[sp.Name], d.Device, l.Stream)
			}
		}
		for _, p := range d.Phases {
			sum(p.NS, "phase %s at depth %d of GPU %d", d.Names[p.Name], p.Depth, d.Device)
		}
	}
}

// windowed measures a trace in a window.
func windowed(tr *trace.Trace, start, end int64) *summary.Summary {
	return analyze.Trace(tr.Within(start, end), summary.Input{}, detailed(0))
}

// bounds returns a time before and one after all of a trace.
func bounds(tr *trace.Trace) (first, last int64) {
	first, last = 1<<62, -1<<62
	see := func(start, dur int64) { first, last = min(first, start), max(last, start+dur) }
	for a := range tr.Activities.All() {
		see(a.Start, a.Dur)
	}
	for o := range tr.Ops.All() {
		see(o.Start, o.Dur)
	}
	for c := range tr.Calls.All() {
		see(c.Start, c.Dur)
	}
	for p := range tr.Python.All() {
		see(p.Start, p.Dur)
	}
	for s := range tr.Spans.All() {
		see(s.Start, s.Dur)
	}
	return first, last + 1
}

// checkWindows cuts a trace at random times, and compares the windows with the whole.
func checkWindows(t *testing.T, tr *trace.Trace, seed uint64) { checkWindowsOf(t, tr, seed, false) }

// coarse adds up what is decided by more of a capture than a window has: the causes of idle
// time, of which "not recorded" needs the first work of a stream. It leaves out queues, whose
// length is not known where nothing is launched, the annotations and phases of work that
// other threads launched, and annotations of captures without device work, which are listed
// where there are operators. Where records of one stream overlap, it leaves out the lanes of
// streams: which record is drawn at a time depends on those before the window.
func (t tally) coarse(overlap bool) tally {
	out, device := tally{}, false
	for key := range t {
		device = device || strings.HasPrefix(key, "cell ")
	}
	for key, n := range t {
		switch {
		case overlap && strings.Contains(key, " in lane "), strings.HasPrefix(key, "queue of"), strings.HasPrefix(key, "GPU time of annotation"), strings.HasPrefix(key, "phase "),
			strings.HasPrefix(key, "count of annotation") && !device:
			continue
		case strings.HasPrefix(key, "idle time of"):
			key, _, _ = strings.Cut(key, " by ")
		}
		out[key] += n
	}
	return out
}

func checkWindowsOf(t *testing.T, tr *trace.Trace, seed uint64, coarse bool) {
	t.Helper()
	first, last := bounds(tr)
	from, to := last, first // of device work: outside of it phases have no rows
	for a := range tr.Activities.All() {
		from, to = min(from, a.Start), max(to, a.End())
	}
	if from >= to {
		from, to = first, last
	}
	random := rand.New(rand.NewPCG(seed, 1))
	cuts := []int64{first, last}
	for range 1 + random.IntN(4) {
		cuts = append(cuts, from+1+random.Int64N(to-from))
	}
	for a := range tr.Activities.All() { // in the middle of work too
		if random.IntN(tr.Activities.Len()) < 2 {
			cuts = append(cuts, a.Start, a.Start+a.Dur/2)
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(slices.DeleteFunc(cuts, func(at int64) bool { return at > first && at <= from || at < last && at >= to }))
	want, got := tally{}, tally{}
	whole := analyze.Trace(tr, summary.Input{}, detailed(0))
	if coarse && slices.ContainsFunc(whole.Issues, func(is summary.Issue) bool { return is.Code == "work-before-launch" }) {
		for i := range len(cuts) - 1 { // clocks that no offset makes fit: one may fit a part, whose work then is at other times
			windowed(tr.Within(cuts[i], cuts[i+1]), cuts[i], cuts[i+1])
		}
		return
	}
	want.add(whole)
	for i := range len(cuts) - 1 {
		part := windowed(tr, cuts[i], cuts[i+1])
		got.add(part)
		again, err := json.Marshal(windowed(tr.Within(cuts[i], cuts[i+1]), cuts[i], cuts[i+1]))
		if err != nil {
			t.Fatal(err)
		}
		if once, _ := json.Marshal(part); !bytes.Equal(once, again) {
			t.Errorf("window %d: the part of the part differs", i)
		}
	}
	if coarse {
		overlap := slices.ContainsFunc(whole.Issues, func(is summary.Issue) bool { return is.Code == "stream-overlap" && is.Count > 1000 })
		want, got = want.coarse(overlap), got.coarse(overlap)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("cut at %v: whole(-) sum of windows(+)\n%s", cuts, diff)
	}
}

// TestWindowsAddUp cuts generated traces at random times.
func TestWindowsAddUp(t *testing.T) {
	for i, p := range tracegen.Presets() {
		if i%test.Every(4) != 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(&b, p.Name, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			checkWindows(t, tr, 524)
		})
	}
	for i, p := range tracegen.Stories() {
		if i%test.Every(4) != 0 {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			story := p.Make()
			tr, err := trace.Read(bytes.NewReader(story.JSON), story.Name, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			// Without annotations, the thread with the most calls is the main thread of its process: in a window
			// of this story it is the other one.
			checkWindowsOf(t, tr, 524, story.Name == "two_devices")
		})
	}
}

// TestWindowsOfCorpus cuts real traces at random times. Large ones are cut only at full size.
func TestWindowsOfCorpus(t *testing.T) {
	for _, dir := range []string{"kineto", "formats", "ranks", "inputs"} {
		root := test.Corpus(t, dir)
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			info, statErr := os.Stat(path)
			if err != nil || statErr != nil || d.IsDir() || info.Size() > 20<<10 && !test.Long() {
				return nil
			}
			rel, _ := filepath.Rel(root, path)
			t.Run(filepath.Join(dir, rel), func(t *testing.T) { checkFile(t, path) })
			return nil
		})
	}
}

// checkFile cuts the trace in a file, if it has one of plausible times.
func checkFile(t *testing.T, path string) {
	f, err := ingest.Open(path, nil)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil || in.Trace == nil {
		t.Skip("no timeline: ", err)
	}
	if first, last := bounds(in.Trace); first >= last || last-first > 1<<60 || last-first < 0 {
		t.Skip("no plausible times")
	}
	checkWindowsOf(t, in.Trace, 77, true)
}
