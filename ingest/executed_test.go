package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// TestExecuted: operators without shapes have those of the execution trace in their folder, if it is of the same process and
// has the same operator under the number of the record function.
func TestExecuted(t *testing.T) {
	op := func(name, args string) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"%s","pid":77,"tid":77,"ts":5,"dur":2,"args":{%s}}`, name, args)
	}
	node := `{"schema":"1.0.1","pid":%d,"nodes":[{"name":"aten::mm","rf_id":9,"inputs":[1,2],"input_shapes":[[4,8],[8,2]],"input_types":["Tensor(float)","Tensor(float)"]}]}`
	mm := fmt.Sprintf(node, 77)
	const want = `[[4,8],[8,2]]`
	for _, tc := range []struct {
		name, event string
		files       map[string]string
		want        string
	}{
		{"before 2024", op("aten::mm", `"External id":9`), map[string]string{"run_et.json": mm}, want},
		{"since 2024", op("aten::mm", `"External id":3,"Record function id":9`), map[string]string{"execution_trace.json": mm}, want},
		{"External id of another operator", op("aten::mm", `"External id":9,"Record function id":4`), map[string]string{"run_et.json": mm}, ""},
		{"another process", op("aten::mm", `"External id":9`), map[string]string{"run_et.json": fmt.Sprintf(node, 78)}, ""},
		{"another operator", op("aten::add", `"External id":9`), map[string]string{"run_et.json": mm}, ""},
		{"the trace has shapes", op("aten::mm", `"External id":9,"Input Dims":[[1,1],[1,1]]`), map[string]string{"run_et.json": mm}, "[[1,1],[1,1]]"},
		{"two files", op("aten::mm", `"External id":9`), map[string]string{"a_et.json": mm, "b_et.json": mm}, ""},
		{"of another rank", op("aten::mm", `"External id":9`), map[string]string{"rank1_et.json": mm}, ""},
		{"of each rank", op("aten::mm", `"External id":9`), map[string]string{"rank1_et.json": strings.ReplaceAll(mm, "4,8", "6,6"), "rank0_et.json": mm}, want},
		{"no execution trace", op("aten::mm", `"External id":9`), map[string]string{"run_et.json": `{"a":1}`}, ""},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "rank0_trace.json")
		tc.files["rank0_trace.json"] = `{"deviceProperties":[],"traceEvents":[` + tc.event + `]}`
		for name, text := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for o := range in.Trace.Ops.All() {
			got = in.Trace.Name(in.Trace.Shape(o.Shape).Dims)
		}
		said := false
		for _, is := range in.Trace.Issues {
			said = said || is.Code == "tables-joined"
		}
		if got != tc.want || tc.want == want && !said {
			t.Errorf("%s: %q, want %q; said %t", tc.name, got, tc.want, said)
		}
	}
}

// TestExecutedCorpus: all operators of a public pair have the shapes of the other file.
func TestExecutedCorpus(t *testing.T) {
	folder := test.Corpus(t, "formats", "kineto")
	in, err := loadPath(t, filepath.Join(folder, "hta_simple_add_trace.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	without := 0
	for o := range in.Trace.Ops.All() {
		if in.Trace.Name(in.Trace.Shape(o.Shape).Dims) == "" {
			without++
		}
	}
	if without > 0 || in.Trace.Ops.Len() != 28 {
		t.Errorf("%d of %d operators have no shapes", without, in.Trace.Ops.Len())
	}
}

// TestExecutionTraceInDirectory: it is read where a directory has nothing with times, and is left out beside a trace.
func TestExecutionTraceInDirectory(t *testing.T) {
	const node = `{"schema":"1.0.1","pid":77,"nodes":[{"name":"aten::mm","rf_id":9,"inputs":[1,2],"input_shapes":[[4,8],[8,2]],"input_types":["Tensor(float)","Tensor(float)"]}]}`
	const events = `{"deviceProperties":[],"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":77,"tid":77,"ts":5,"dur":2}]}`
	dir := t.TempDir()
	executed, timed := filepath.Join(dir, "run_et.json"), filepath.Join(dir, "trace.json")
	if err := os.WriteFile(executed, []byte(node), 0o644); err != nil {
		t.Fatal(err)
	}
	if c := Paths([]string{dir}); !slices.Equal(c.Files, []string{executed}) || len(c.Left) > 0 {
		t.Errorf("alone: %v, left out %v", c.Files, c.Left)
	}
	if err := os.WriteFile(timed, []byte(events), 0o644); err != nil {
		t.Fatal(err)
	}
	if c := Paths([]string{dir}); !slices.Equal(c.Files, []string{timed}) || c.Others > 0 ||
		!slices.Equal(c.Left, []summary.LeftOutFile{{Path: executed, Why: summary.LeftUntimed}}) {
		t.Errorf("beside a trace: %v, left out %v", c.Files, c.Left)
	}
}
