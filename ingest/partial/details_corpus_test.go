package partial

import (
	"io/fs"
	"path/filepath"
	"testing"

	"assay/analyze"
	"assay/analyze/detail"
	"assay/ingest"
	"assay/internal/test"
	"assay/summary"
)

// TestDetailsOfCorpus: the details of real captures sum to the breakdown of the windows, to
// the number of operations and to the time of each stream, with room for all operations and with room
// for few.
func TestDetailsOfCorpus(t *testing.T) {
	files, gpus := 0, 0
	for _, folder := range []string{"kineto", "nsight", "inputs", "ranks"} {
		root := test.Corpus(t, folder)
		err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() {
				return err
			}
			info, err := e.Info()
			if err != nil || info.Size() > int64(40<<20/test.Every(100)) {
				return err
			}
			in := loaded(path)
			if in == nil {
				return nil
			}
			files++
			for _, spans := range []int{0, 500} {
				gpus += checkCaptured(t, path, in, spans)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d traces, details of %d GPUs", files, gpus/2)
	if files < 50/test.Every(2) {
		t.Errorf("%d traces were read", files)
	}
}

// loaded returns the input of a file, or nil if it is not a trace.
func loaded(path string) *ingest.Input {
	f, err := ingest.Open(path, nil)
	if err != nil {
		return nil
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil || in.Trace == nil {
		return nil
	}
	return in
}

// checkCaptured checks the details of a trace, and returns how many it has.
func checkCaptured(t *testing.T, path string, in *ingest.Input, spans int) int {
	t.Helper()
	opt := analyze.DefaultOptions()
	opt.Detail = &detail.Request{Spans: spans}
	s := analyze.Trace(in.Trace, summary.Input{}, opt)
	type place struct{ device, stream int64 }
	work, events := map[place]int64{}, map[int64]int64{}
	for _, r := range s.Streams {
		work[place{r.Device, r.Stream}] = r.WorkNS
		events[r.Device] += r.Kernels + r.Others
	}
	at := map[int64]*summary.Device{}
	for i := range s.Devices {
		at[s.Devices[i].Device] = &s.Devices[i]
	}
	for i := range s.Details {
		d := &s.Details[i]
		a, c := at[d.Device].Activity, &d.Cells
		sums := [4]int64{d.WindowNS}
		for n := range c.Compute {
			for part, row := range [][]int64{c.Compute, c.Comm, c.Copy} {
				sums[part+1] += row[n]
				sums[0] -= row[n]
			}
		}
		if want := [4]int64{a.Idle(), a.Compute(), a.ExposedComm(), a.ExposedCopy()}; sums != want {
			t.Errorf("%s GPU %d: idle, compute, comm and copies of cells are %v, want %v", path, d.Device, sums, want)
		}
		n := d.SpansLeft
		for _, l := range d.Lanes {
			ns := int64(0)
			for _, sp := range l.Spans {
				ns += sp.NS
			}
			n += int64(len(l.Spans))
			if spans == 0 && d.SpansLeft == 0 && ns != work[place{d.Device, l.Stream}] {
				t.Errorf("%s GPU %d stream %d: operations take %d ns, want %d", path, d.Device, l.Stream, ns, work[place{d.Device, l.Stream}])
			}
		}
		if n != events[d.Device] {
			t.Errorf("%s GPU %d: %d operations, want %d", path, d.Device, n, events[d.Device])
		}
	}
	return len(s.Details)
}
