package nsys

import (
	"path/filepath"
	"testing"

	"assay/internal/test/nsysgen"
	"assay/trace"
)

// TestGenerated reads a database whose sums are known from how it was made.
func TestGenerated(t *testing.T) {
	const kernels, devices = 1001, 2
	path := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.Write(path, nsysgen.Plan{Kernels: kernels, Devices: devices, Calls: true, Ranges: 10}); err != nil {
		t.Fatal(err)
	}
	tr, err := ReadSQLite(path, path, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	byName, byDevice := make(map[string]int64), make(map[int64]int64)
	i := 0
	for a := range tr.Activities.All() {
		if a.Start != nsysgen.Start(i) || a.Dur != nsysgen.Duration(i) || a.Correlation != trace.IDOf(int64(i)+1) {
			t.Fatalf("kernel %d: %+v", i, a)
		}
		byName[tr.Name(a.Name)]++
		byDevice[tr.Tracks[a.Track].Device] += a.Dur
		i++
	}
	if i != kernels {
		t.Errorf("%d kernels, want %d", i, kernels)
	}
	for n, name := range nsysgen.Names {
		if want := int64((kernels + len(nsysgen.Names) - 1 - n) / len(nsysgen.Names)); byName[name] != want {
			t.Errorf("%q: %d, want %d", name, byName[name], want)
		}
	}
	for d := range int64(devices) {
		want := int64(0)
		for i := int(d); i < kernels; i += devices {
			want += nsysgen.Duration(i)
		}
		if byDevice[d] != want {
			t.Errorf("device %d: %d ns, want %d", d, byDevice[d], want)
		}
	}
	if tr.Calls.Len() != kernels || tr.Spans.Len() != 10 || len(tr.Issues) != 0 {
		t.Errorf("%d calls, %d ranges, issues %v; want %d, 10 and none", tr.Calls.Len(), tr.Spans.Len(), tr.Issues, kernels)
	}
}
