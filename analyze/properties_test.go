package analyze_test

import (
	"bytes"
	"crypto/sha256"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// A sample is a trace to hold properties on, with what was measured of it.
type sample struct {
	name string
	t    *trace.Trace
	s    *summary.Summary
}

// eachSample calls f with all generated scenarios and, where there is one, all
// traces of PyTorch's profiler in the corpus.
func eachSample(t *testing.T, f func(t *testing.T, x sample)) {
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
			tr, err := trace.Read(&b, p.Name, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			f(t, sample{p.Name, tr, analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())})
		})
	}
	for i, path := range kinetoTraces(t) {
		if i%test.Every(4) != 0 {
			continue
		}
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			in := load(t, path)
			f(t, sample{path, in.Trace, analyze.Trace(in.Trace, summary.Input{Rank: in.Rank}, analyze.DefaultOptions())})
		})
	}
}

// kinetoTraces returns the real traces, each once, none where the corpus is
// absent.
func kinetoTraces(t *testing.T) (paths []string) {
	t.Helper()
	seen := make(map[[sha256.Size]byte]bool)
	for _, folder := range []string{"kineto", "formats/kineto"} {
		root, ok := test.FindCorpus(t, folder)
		if !ok {
			continue
		}
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimSuffix(filepath.Base(path), ".gz")
			if err == nil && strings.HasSuffix(name, ".json") && name != "execution_details.json" && !strings.Contains(name, "execution_trace_ET") {
				text, err := os.ReadFile(path)
				if sum := sha256.Sum256(text); err != nil || seen[sum] {
					return err
				} else {
					seen[sum] = true
				}
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return paths
}

// TestAttributionAddsUp holds the sums that the rows promise.
func TestAttributionAddsUp(t *testing.T) {
	eachSample(t, func(t *testing.T, x sample) {
		for _, d := range x.s.Devices {
			checkDevice(t, x, d)
		}
		checkRows(t, x)
		checkWaiting(t, x)
		checkLinked(t, x)
		checkSteps(t, x)
		for _, o := range x.s.Ops {
			if o.GPUTotalNS < o.GPUSelfNS || o.CPUTotalNS < 0 || o.CPUSelfNS < 0 || int64(len(o.TopShapes)) > o.Shapes {
				t.Errorf("%+v", o)
			}
		}
		for _, m := range x.s.Modules {
			if m.GPUTotalNS < m.GPUSelfNS || m.BackwardNS > m.GPUTotalNS {
				t.Errorf("%+v", m)
			}
		}
		for _, n := range x.s.Annotations {
			if n.GPUTotalNS < n.GPUSelfNS {
				t.Errorf("%+v", n)
			}
		}
		for _, l := range x.s.Lines {
			if l.GPUTotalNS < l.GPUSelfNS {
				t.Errorf("%+v", l)
			}
		}
	})
}

// checkDevice: idle rows sum to the idle cell, queue times to the window, passes
// to all work, delays and launches to the pieces.
func checkDevice(t *testing.T, x sample, d summary.Device) {
	t.Helper()
	var work, pieces int64
	for a := range x.t.Activities.All() {
		if x.t.Tracks[a.Track].Device == d.Device {
			work, pieces = work+a.Dur, pieces+1
		}
	}
	var idle, longest int64
	seen := make(map[string]bool)
	for _, r := range x.s.Idle {
		if r.Device != d.Device {
			continue
		}
		idle += r.NS
		longest = max(longest, r.MaxNS)
		key := r.Owner + "\x00" + r.State + "\x00" + r.Name
		if seen[key] || r.NS <= 0 || r.Count <= 0 || r.MaxNS > r.NS || r.MaxNS*r.Count < r.NS || (r.State != "") != (r.Owner == summary.OwnerHost) {
			t.Errorf("%+v", r)
		}
		seen[key] = true
	}
	if idle != d.Activity.Idle() {
		t.Errorf("device %d: owners have %d ns of idle time, there are %d", d.Device, idle, d.Activity.Idle())
	}
	if len(d.LargestGaps) > 0 && longest > d.LargestGaps[0].NS {
		t.Errorf("device %d: a piece of %d ns, the largest gap has %d", d.Device, longest, d.LargestGaps[0].NS)
	}
	for _, l := range x.s.Launches {
		if l.Device != d.Device {
			continue
		}
		var queued int64
		for _, q := range l.Queue {
			queued += q.NS
		}
		if l.Launched+l.Without != pieces || l.Delays.Count() != l.Launched || l.Calls > l.Launched || l.Launched > 0 && queued != d.WindowNS {
			t.Errorf("device %d: %d pieces, %d launched by %d calls, %d not, %d delays; the queue has %d ns of %d",
				d.Device, pieces, l.Launched, l.Calls, l.Without, l.Delays.Count(), queued, d.WindowNS)
		}
		checkQueueStrip(t, d, l)
	}
	var passed, passedPieces int64
	known := false
	for _, p := range x.s.Passes {
		if p.Device == d.Device {
			passed, passedPieces, known = passed+p.GPUNS, passedPieces+p.Count, true
		}
	}
	if known && (passed != work || passedPieces != pieces) {
		t.Errorf("device %d: passes have %d ns in %d pieces, the work is %d in %d", d.Device, passed, passedPieces, work, pieces)
	}
}

// checkQueueStrip: the mean depths, weighted by the lengths of the bins, are
// within what the depths of the histogram allow.
func checkQueueStrip(t *testing.T, d summary.Device, l summary.Launches) {
	t.Helper()
	if len(l.QueueStrip) == 0 {
		return
	}
	bin := d.Strip.BinNS
	var area, least, most float64
	for _, mean := range l.QueueStrip {
		area += float64(mean) / 1000 * float64(bin)
	}
	for _, q := range l.Queue {
		least += float64(q.From) * float64(q.NS)
		most += float64(max(2*q.From-1, q.From)) * float64(q.NS)
	}
	rounding := float64(len(l.QueueStrip)) * float64(bin) / 1000
	if area < least-rounding || area > most {
		t.Errorf("device %d: the strip of the queue has %.0f, want %.0f to %.0f", d.Device, area, least, most)
	}
}
