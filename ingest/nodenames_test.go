package ingest

import (
	"os"
	"path/filepath"
	"testing"

	"assay/trace"
)

// graphTrace has three kernels of a graph. The last one has a name of its own.
const graphTrace = `{"traceEvents":[
{"ph":"X","cat":"kernel","name":"gemm_a","pid":0,"tid":7,"ts":100,"dur":50,"args":{"device":0,"stream":7,"correlation":1,"graph node id":8589934593}},
{"ph":"X","cat":"kernel","name":"ncclDevKernel_Generic_1","pid":0,"tid":7,"ts":200,"dur":50,"args":{"device":0,"stream":7,"correlation":1,"graph node id":8589934594}},
{"ph":"X","cat":"kernel","name":"gemm_b","pid":0,"tid":7,"ts":300,"dur":50,"args":{"device":0,"stream":7,"correlation":1,"graph node id":8589934595,"name":"head"}},
{"ph":"X","cat":"kernel","name":"gemm_c","pid":0,"tid":7,"ts":400,"dur":50,"args":{"device":0,"stream":7,"correlation":1}}]}`

// namesOf returns the names of the nodes of the kernels of a trace, by kernel, with other files in its folders.
func namesOf(t *testing.T, path string, files map[string]string) map[string]string {
	t.Helper()
	root := t.TempDir()
	files[path] = graphTrace
	for name, text := range files {
		name = filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := Open(filepath.Join(root, path), nil)
	if err != nil {
		t.Fatal(err)
	}
	in, err := Load(f, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for a := range in.Trace.Activities.All() {
		d := in.Trace.Detail(a.Detail)
		out[in.Trace.Name(a.Name)] = in.Trace.Name(d.Annotation) + "/" + in.Trace.Name(d.Collective.Name)
	}
	return out
}

const annotations = `{"8589934593": ["outer", {"name": "layers.0.mlp", "stream": 7}], "8589934594": [{"str": "tp", "Collective name": "allreduce"}], "8589934595": ["other"], "no": ["x"]}`

// TestNodeNames: names of the file of the rank are joined where the trace has none; later ones of a list replace earlier ones.
func TestNodeNames(t *testing.T) {
	want := map[string]string{"gemm_a": "layers.0.mlp/", "ncclDevKernel_Generic_1": "tp/allreduce", "gemm_b": "head/", "gemm_c": "/"}
	none := map[string]string{"gemm_a": "/", "ncclDevKernel_Generic_1": "/", "gemm_b": "head/", "gemm_c": "/"}
	const other = `{"8589934593": ["of another rank"]}`
	for name, tc := range map[string]struct {
		path  string
		files map[string]string
		want  map[string]string
	}{
		"beside":                       {"rank1.json", map[string]string{"kernel_annotations_rank1_77.json": annotations, "kernel_annotations_rank0_76.json": other}, want},
		"above, by the leading number": {"step_14/000001.9.pt.trace.json", map[string]string{"kernel_annotations_rank1_77.json": annotations, "kernel_annotations_rank0_76.json": other}, want},
		"the only one":                 {"trace.json", map[string]string{"kernel_annotations_rank0.json": annotations}, want},
		"of another rank":              {"rank1.json", map[string]string{"kernel_annotations_rank0.json": annotations}, none},
		"two for an unknown rank":      {"trace.json", map[string]string{"kernel_annotations_rank0.json": annotations, "kernel_annotations_rank1.json": other}, none},
		"two of one rank":              {"rank0.json", map[string]string{"kernel_annotations_rank0_1.json": annotations, "kernel_annotations_rank0_2.json": other}, none},
		"broken":                       {"rank0.json", map[string]string{"kernel_annotations_rank0.json": annotations[:40]}, none},
		"no file":                      {"rank0.json", map[string]string{}, none},
	} {
		got := namesOf(t, tc.path, tc.files)
		for kernel, w := range tc.want {
			if got[kernel] != w {
				t.Errorf("%s: %s is %q, want %q", name, kernel, got[kernel], w)
			}
		}
	}
}
