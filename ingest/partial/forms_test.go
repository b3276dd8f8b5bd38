package partial

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/summary"
	"assay/summary/view"
)

// kinetoTrace is a trace of three kernels, the first of which begins at a time in µs, and one of which takes longer
// or shorter by some µs.
func kinetoTrace(start, longer float64) string {
	var b strings.Builder
	b.WriteString(`{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA L4"}],"traceEvents":[`)
	for i, ns := range []float64{100, 40 + longer, 7} {
		at := start + 200*float64(i)
		fmt.Fprintf(&b, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":%.3f,"dur":2,"args":{"correlation":%d}},`, at-10, i+1)
		fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"args":{"device":0,"stream":7,"correlation":%d}},`, i, at, ns, i+1)
	}
	return strings.TrimSuffix(b.String(), ",") + "]}"
}

func gzipped(text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	z.Close()
	return b.Bytes()
}

// notCounted measures files and returns the names of those that are not counted, and the summary.
func notCounted(t *testing.T, files map[string][]byte) ([]string, *summary.Summary) {
	t.Helper()
	dir := t.TempDir()
	var all []Part
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, files[name], 0o600); err != nil {
			t.Fatal(err)
		}
		all = append(all, measuredFile(t, path))
	}
	s := Join(all)
	var out []string
	for _, in := range s.Inputs {
		if in.SameAs != "" {
			out = append(out, filepath.Base(in.Path))
		}
	}
	return out, s
}

// TestFormsOfTraces: a trace and its compressed file are one capture. Two captures of one program are two, also
// where one is compressed and they differ in one kernel or in the time only.
func TestFormsOfTraces(t *testing.T) {
	text := kinetoTrace(5000, 0)
	for _, c := range []struct {
		name  string
		files map[string][]byte
		want  []string
	}{
		{"packed", map[string][]byte{"a.json": []byte(text), "a.json.gz": gzipped(text)}, []string{"a.json.gz"}},
		{"packed elsewhere", map[string][]byte{"x/a.json": []byte(text), "y/b.json.gz": gzipped(text)}, []string{"b.json.gz"}},
		{"another step", map[string][]byte{"a.json": []byte(text), "a.json.gz": gzipped(kinetoTrace(9000, 0))}, nil},
		{"a kernel takes 1 µs more", map[string][]byte{"a.json": []byte(text), "a.json.gz": gzipped(kinetoTrace(5000, 1))}, nil},
		{"another rank", map[string][]byte{"rank0.json": []byte(text), "rank1.json.gz": gzipped(text)}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, s := notCounted(t, c.files)
			if !slices.Equal(got, c.want) {
				t.Fatalf("not counted are %q, want %q", got, c.want)
			}
			if gpus := len(c.files) - len(c.want); len(s.Devices) != gpus {
				t.Errorf("%d GPUs, want %d", len(s.Devices), gpus)
			}
			if g := view.Runs(view.Captures(s)); len(g.Copies) != len(c.want) {
				t.Errorf("%d copies, want %d", len(g.Copies), len(c.want))
			}
		})
	}
}

// xlaForms are the three forms of a capture of JAX.
func xlaForms(t *testing.T) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	for _, name := range []string{"perfetto_trace.json.gz", "vm.trace.json.gz", "vm.xplane.pb"} {
		b, err := os.ReadFile(filepath.Join("../../testdata/h200/jax_step", name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = b
	}
	return out
}

// TestFormsOfXLA: the XSpace file counts, and the traces that JAX made of it do not; without it one of the traces
// counts. The first kernels alone, as in a trace that was cut at its limit, are the same capture under its name only.
func TestFormsOfXLA(t *testing.T) {
	forms := xlaForms(t)
	got, s := notCounted(t, forms)
	if want := []string{"perfetto_trace.json.gz", "vm.trace.json.gz"}; !slices.Equal(got, want) || len(s.Devices) != 1 || s.Devices[0].Events != 30 {
		t.Errorf("not counted are %q, want %q, and one GPU with 30 operations in %v", got, want, s.Devices)
	}
	kernels := int64(0)
	for _, k := range s.Kernels {
		kernels += k.Count
	}
	if kernels != 30 {
		t.Errorf("%d launches, want 30", kernels)
	}
	delete(forms, "vm.xplane.pb")
	if got, s = notCounted(t, forms); len(got) != 1 || len(s.Devices) != 1 {
		t.Errorf("not counted are %q of the traces, want one", got)
	}
	cut := func(s *summary.Summary, path string) *summary.Summary {
		d := s.Devices[0]
		d.Events, d.WindowNS = d.Events-10, d.WindowNS/2
		d.Activity[0] = max(0, d.WindowNS-1000)
		return &summary.Summary{Inputs: []summary.Input{{Path: path, Format: summary.FormatXLA}}, Devices: []summary.Device{d}}
	}
	whole := &summary.Summary{Inputs: []summary.Input{{Path: "run/vm.xplane.pb", Format: summary.FormatXPlane}}, Devices: s.Devices}
	for path, want := range map[string]bool{"run/vm.trace.json.gz": true, "run/perfetto_trace.json.gz": true,
		"run/vm2.trace.json.gz": false, "other/vm.trace.json.gz": false} {
		if got := sameCapture(whole, cut(s, path)); got != want {
			t.Errorf("the first kernels in %s: the same capture is %v, want %v", path, got, want)
		}
	}
}

// TestFormsMerged: a plan, which sees only outlines of parts, leaves the same parts out.
func TestFormsMerged(t *testing.T) {
	dir := t.TempDir()
	var outlines []Outline
	for name, b := range xlaForms(t) {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		p := measuredFile(t, path)
		if _, err := p.Encode("test"); err != nil {
			t.Fatal(err)
		}
		outlines = append(outlines, p.Outline())
	}
	var left []string
	var parts []Part
	for _, o := range outlines {
		parts = append(parts, Part{Summary: o.Summary, name: o.Name, saved: true})
	}
	for _, p := range once(parts) {
		if p.isCopy() {
			left = append(left, filepath.Base(p.Summary.Inputs[0].Path))
		}
	}
	if slices.Sort(left); !slices.Equal(left, []string{"perfetto_trace.json.gz", "vm.trace.json.gz"}) {
		t.Errorf("left out are %q", left)
	}
}

// TestFormsOfCounters: pages of one report agree in all that both print, to two decimals; a second run of the
// program does not.
func TestFormsOfCounters(t *testing.T) {
	num := func(v float64) *float64 { return &v }
	page := func(ns int64, compute, memory, occupancy float64) []summary.Counter {
		return []summary.Counter{
			{Kernel: "axpy(int, float)", Launches: 2, Timed: 2, TotalNS: ns, ComputePct: num(compute), MemoryPct: num(memory), OccupancyPct: num(occupancy)},
			{Kernel: "dot<float>", Launches: 1, Timed: 1, TotalNS: 1_700, MemoryPct: num(70.5)},
		}
	}
	exact := page(85_374, 73.2406, 15.5355, 50.582)
	for _, c := range []struct {
		name string
		with []summary.Counter
		want bool
	}{
		{"rounded", page(85_380, 73.24, 15.54, 50.58), true},
		{"a few ns more than rounding gives", page(85_390, 73.24, 15.54, 50.58), false},
		{"another share", page(85_380, 73.26, 15.54, 50.58), false},
		{"a kernel less", page(85_380, 73.24, 15.54, 50.58)[:1], false},
	} {
		if got := sameCounters(exact, c.with); got != c.want {
			t.Errorf("%s: the same is %v, want %v", c.name, got, c.want)
		}
	}
	alone := []summary.Counter{{Kernel: "k", Launches: 1, Timed: 1, TotalNS: 1_696}}
	if sameCounters(alone, slices.Clone(alone)) {
		t.Error("one duration is not enough to recognize a report")
	}
}
