package torchprof

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

// TestCorpus compares rows and sums with those of a script that splits the
// lines between rules at two spaces and adds decimals. For each printed table
// it has rows, self CPU time, CPU total and the device's self time of all rows,
// in nanoseconds.
func TestCorpus(t *testing.T) {
	dir := test.Corpus(t, "formats", "torch_tables")
	want := map[string]string{
		"SYNTHETIC_2.7_cuda_mem_Kb.txt":                                     "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_2.9_cuda_mem_KB_annotation_over_100pct.txt":              "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_2.9_shapes_stack_flops_column_swap.txt":                  "2 rows 11448000 38513000 42453000",
		"SYNTHETIC_2.9_time_unit_ms_overload.txt":                           "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_NaN_percent.txt":                                         "1 rows 0 0 0",
		"SYNTHETIC_device_HPU.txt":                                          "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_device_MTIA.txt":                                         "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_device_NPU.txt":                                          "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_device_PRIVATEUSEONE.txt":                                "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_device_XPU.txt":                                          "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_header_top_level.txt":                                    "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_interleaved_log.txt":                                     "8 rows 68072000 205333000 547283000",
		"SYNTHETIC_two_tables_one_file.txt":                                 "3 rows 3948000 117747000 404830000; 3 rows 3948000 117747000 0",
		"gpumode_lecture4_cuda_only_1.txt":                                  "3 rows 252034000 252034000 269413000",
		"gpumode_lecture4_cuda_only_2.txt":                                  "3 rows 52203000 52203000 30000000",
		"lightning_left_aligned_profiler_report_v1.5_rank0.txt":             "7 rows 1628220 1745177 0",
		"pytorch_tutorials_profiler_stack_mem_handedited_wrapped_names.txt": "3 rows 5345027650 0 0",
		"pytorch_tutorials_recipe_shapes_handedited_missing_unit.txt":       "3 rows 5990000 121134000 0; 4 rows 0 79799000 0",
		"pytorch_tutorials_recipe_xpu_columns_omitted_indented.txt":         "10 rows 0 0 4174520",
		"pytorch_tutorials_rpc_node_id_left_aligned_v1.6.txt":               "8 rows 412286 26700007 0",
		"t1.13_cpu_default.txt":                                             "15 rows 1901000 7430000 0",
		"t1.13_cpu_header_toplevel.txt":                                     "4 rows 140000 2366000 0",
		"t1.13_cpu_mem_flops.txt":                                           "20 rows 660000 1433000 0",
		"t1.13_cpu_shapes_mem_flops.txt":                                    "20 rows 635000 1164000 0",
		"t1.13_cpu_stack.txt":                                               "6 rows 1199000 2359000 0",
		"t1.13_cpu_stack_flops_COLUMN_SWAP.txt":                             "6 rows 1128000 2282000 0",
		"t1.13_no_truncation.txt":                                           "8 rows 1260000 2420000 0",
	}
	files := test.Files(t, filepath.Join(dir, "*.txt"))
	if len(files) != len(want)+1 { // one is empty
		t.Fatalf("%d samples, want %d", len(files), len(want)+1)
	}
	for _, file := range files {
		name := filepath.Base(file)
		in, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		tables, err := Read(in, name, Limits{})
		in.Close()
		if name == "SYNTHETIC_empty_table.txt" {
			if err == nil || !strings.Contains(err.Error(), "no table of torch.profiler") {
				t.Errorf("an empty profile: %v, %v", tables, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := strings.Join(counted(tables), "; "); got != want[name] {
			t.Errorf("%s:\n got %s\nwant %s", name, got, want[name])
		}
		for _, is := range tables.Issues {
			if is.Severity > 1 { // suspect: these files have no such issue
				t.Errorf("%s: %s: %s", name, is.Code, is.Help)
			}
		}
	}
}

// counted combines the tables of one printed table again.
func counted(tables *profile.Tables) (out []string) {
	for i := 0; i < len(tables.List); {
		line := tables.List[i].Line
		rows, self, total, device := 0, int64(0), int64(0), int64(0)
		for ; i < len(tables.List) && tables.List[i].Line == line; i++ {
			t := tables.List[i]
			rows += len(t.Rows)
			sum := func(column string) int64 {
				if at, ok := t.Column(column); ok {
					return t.Sum(at).Value
				}
				return 0
			}
			if t.Of == profile.OfOp {
				self, total, device = sum("self_cpu"), sum("cpu_total"), device+sum("self_device")
				continue
			}
			device += sum("total")
		}
		out = append(out, fmt.Sprintf("%d rows %d %d %d", rows, self, total, device))
	}
	return out
}
