package rocm

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// sums are the numbers of a capture that its README has.
type sums struct {
	kernels, kernelNS, copies, copyNS, calls, callNS, linked int64
}

func sumsOf(t *trace.Trace) (s sums) {
	ids := map[trace.ID]bool{}
	for c := range t.Calls.All() {
		s.calls++
		s.callNS += c.Dur
		ids[c.Correlation] = true
	}
	for h := range t.Spans.All() {
		if h.Kind == trace.OtherKind {
			s.calls++
			s.callNS += h.Dur
		}
	}
	for a := range t.Activities.All() {
		if a.Kind == trace.Memcpy {
			s.copies++
			s.copyNS += a.Dur
		} else {
			s.kernels++
			s.kernelNS += a.Dur
		}
		if a.Correlation != 0 && ids[a.Correlation] {
			s.linked++
		}
	}
	return s
}

// readAny reads a capture of any form.
func readAny(t *testing.T, path string) *trace.Trace {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(content))
		if err != nil {
			t.Fatal(err)
		}
		if content, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
		path = filepath.Join(t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"))
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var tr *trace.Trace
	switch ext := filepath.Ext(path); {
	case ext == ".db" || ext == ".rpd":
		tr, _, _, err = ReadSQLite(path, path, trace.SelectAll())
	case ext == ".csv":
		tr, err = ReadCSV([]Part{{path, bytes.NewReader(content)}}, path, trace.SelectAll())
	case SniffJSON(content[:4096]):
		tr, _, err = ReadJSON(bytes.NewReader(content), path, trace.SelectAll())
	default:
		tr, err = ReadChrome(bytes.NewReader(content), path, trace.SelectAll())
	}
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestCorpus compares public captures with what SQL, Python and their authors' tools say of them.
func TestCorpus(t *testing.T) {
	for file, want := range map[string]sums{
		"rocpd_sqlite/hgliu_batched_gemm_mi300x_28_results.db": {151, 2604546, 0, 0, 629, 0, 151},
		"rocpd_sqlite/SYNTHETIC_2gpu_results.db":               {340, 5658147 + 4842362, 12, 248050 + 140434, 160, 0, 352},
		"rpd_sqlite/rpd_mytrace_vllm.rpd.gz":                   {1228 + 7720, 316231882 + 90905793, 804 + 22 + 350, 6169262 + 747692 + 2570452, 0, 0, 10124},
		"rpd_sqlite/rpd_matmul_result.rpd":                     {1 + 29, 5440 + 26399795, 55, 334758 + 157178063, 0, 0, 85},
		"rpd_sqlite/rpd_matmul_result.json":                    {30, 0, 55, 0, 0, 0, 85},
		"rocprof_v1/rocmblogs_hip_results.db":                  {1, 5280, 6, 686681, 135, 285689160, 7},
		"rocprof_v1/rocmblogs_hip_results.json":                {1, 5280, 6, 686681, 135, 285689160, 7},
		"rocprof_v1/rocmblogs_hsa_results.csv":                 {1, 7840, 0, 0, 0, 0, 0},
		"rocprofv3_csv/jimw567_decode_kernel_trace.csv":        {144, 1857381, 0, 0, 0, 0, 0},
		"rocprofv3_csv/jimw567_prefill_kernel_trace.csv":       {1128, 66066571, 0, 0, 0, 0, 0},
		"rocprofv3_csv/jimw567_decode_hip_api_trace.csv":       {0, 0, 0, 0, 920, 4449331, 0},
		"rocprofv3_csv/jimw567_prefill_hip_api_trace.csv":      {0, 0, 0, 0, 5, 1411305, 0},
		"rocprofv3_json/tracelens_908_results.json.gz":         {43915, 4441741378, 0, 0, 0, 0, 0},
	} {
		tr := readAny(t, test.Corpus(t, "inputs", filepath.FromSlash(file)))
		got := sumsOf(tr)
		for _, unknown := range []struct{ want, got *int64 }{{&want.kernelNS, &got.kernelNS}, {&want.copyNS, &got.copyNS}, {&want.calls, &got.calls}, {&want.callNS, &got.callNS}} {
			if *unknown.want == 0 {
				*unknown.got = 0 // the README does not state it
			}
		}
		if got != want || !tr.Complete {
			t.Errorf("%s: %+v, want %+v; complete %t", file, got, want, tr.Complete)
		}
	}
}

// TestSameCapture: one capture of rocprof v1 says the same in both of its forms, and one of rocmProfileData the same in
// whole microseconds.
func TestSameCapture(t *testing.T) {
	a := said(readAny(t, test.Corpus(t, "inputs", "rocprof_v1", "rocmblogs_hip_results.db")), 0)
	b := said(readAny(t, test.Corpus(t, "inputs", "rocprof_v1", "rocmblogs_hip_results.json")), 0)
	strip := func(lines []string) (out string) { // numbers of calls are those of the form
		for _, line := range lines {
			words := strings.Fields(line)
			out += strings.Join(words[:4], " ") + "\n"
		}
		return out
	}
	if strip(a) != strip(b) {
		t.Errorf("the database has %d rows, the JSON %d, or some differ", len(a), len(b))
	}
	db := readAny(t, test.Corpus(t, "inputs", "rpd_sqlite", "rpd_matmul_result.rpd"))
	text := readAny(t, test.Corpus(t, "inputs", "rpd_sqlite", "rpd_matmul_result.json"))
	starts := map[int64]int{}
	for a := range db.Activities.All() {
		starts[a.Start/1000]++
	}
	for a := range text.Activities.All() {
		starts[a.Start/1000]--
	}
	for at, n := range starts {
		if n != 0 {
			t.Errorf("%d more operations start at %d µs in the database", n, at)
		}
	}
}

// TestSyntheticGPUs compares the work of each GPU of a capture with what was written into it.
func TestSyntheticGPUs(t *testing.T) {
	tr := readAny(t, test.Corpus(t, "inputs", "rocpd_sqlite", "SYNTHETIC_2gpu_results.db"))
	type work struct{ kernels, kernelNS, copies, copyNS, copyBytes int64 }
	got := map[int64]work{}
	for a := range tr.Activities.All() {
		w := got[tr.Tracks[a.Track].Device]
		if a.Kind == trace.Memcpy {
			w.copies++
			w.copyNS += a.Dur
			w.copyBytes += tr.Detail(a.Detail).Bytes
		} else {
			w.kernels++
			w.kernelNS += a.Dur
		}
		got[tr.Tracks[a.Track].Device] = w
	}
	for gpu, want := range map[int64]work{0: {172, 5658147, 8, 248050, 6901760}, 1: {168, 4842362, 4, 140434, 5529600}} {
		if got[gpu] != want {
			t.Errorf("GPU %d: %+v, want %+v", gpu, got[gpu], want)
		}
	}
	steps := 0
	for s := range tr.Spans.All() {
		if s.Kind == trace.Annotation && tr.Name(s.Name) == "train_step" {
			steps++
		}
	}
	if steps != 4 {
		t.Errorf("%d steps", steps)
	}
}
