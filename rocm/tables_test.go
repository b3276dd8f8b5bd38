package rocm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
)

const statsHead = "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\"\n"

// TestStats: what the rows of a table of totals are follows from their names and, for names that programs choose, from
// that of the file.
func TestStats(t *testing.T) {
	for file, tt := range map[string]struct{ rows, of string }{
		"run_kernel_stats.csv":       {"\"void f<1, 2>(int)\",4,1000,250,40\n\"g.kd\",1,1500,1500,60\n", profile.OfKernel},
		"any.csv":                    {"\"hipLaunchKernel\",4,1000,250,40\n\"hipMemcpyAsync\",1,1500,1500,60\n", profile.OfCall},
		"run_rccl_api_stats.csv":     {"\"ncclAllReduce\",4,1000,250,40\n\"ncclGroupEnd\",1,1500,1500,60\n", profile.OfCall},
		"results.copy_stats.csv":     {"\"CopyHostToDevice\",4,1000,250,40\n\"MEMORY_COPY_DEVICE_TO_HOST\",1,1500,1500,60\n", profile.OfCopy},
		"run_domain_stats.csv":       {"\"KERNEL_DISPATCH\",4,1000,250,40\n\"HIP_RUNTIME_API\",1,1500,1500,60\n", profile.OfRow},
		"a/run_MARKER_api_stats.csv": {"\"train step\",4,1000,250,40\n\"load\",1,1500,1500,60\n", profile.OfRange},
	} {
		if SniffTable([]byte(statsHead)) != FormatStats {
			t.Fatal("not recognized")
		}
		got, err := ReadStats(strings.NewReader(statsHead+tt.rows), file, 0)
		if err != nil || got.List[0].Of != tt.of || len(got.Issues) > 0 || len(got.List[0].Rows) != 2 {
			t.Errorf("%s: %+v, %v; want %s", file, got, err, tt.of)
			continue
		}
		if sum := got.List[0].Sum(0); sum != profile.Known(2500) || got.List[0].Rows[0].Cells[1] != profile.Known(4) || got.List[0].Rows[1].Cells[2] != profile.Known(1500) {
			t.Errorf("%s: %+v", file, got.List[0])
		}
		if strings.HasSuffix(got.List[0].Rows[1].Name, ".kd") {
			t.Errorf("%s: %s", file, got.List[0].Rows[1].Name)
		}
	}
	got, err := ReadStats(strings.NewReader(statsHead+"\"a\",4,1000,250,40\n\"b\",x,10\n\"c\",-1,5,5,0.1\n"), "x", 0)
	codes := ""
	for _, is := range got.Issues {
		codes += fmt.Sprint(is.Code, " ", is.Count, ";")
	}
	if err != nil || !strings.Contains(codes, "row-malformed 1;") || !strings.Contains(codes, "value-malformed 1;") || !strings.Contains(codes, "rows-not-printed 1;") {
		t.Error(codes, err)
	}
}

// TestCounters: rows of one launch count it once; KiB are bytes, shares are weighted by time, and all else adds up.
func TestCounters(t *testing.T) {
	const head = "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Process_Id\",\"Kernel_Name\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n"
	row := func(id int, kernel, counter, value string, ns int) string {
		return fmt.Sprintf("\"%d\",\"%d\",\"Agent 4\",\"77\",%q,%q,%q,\"1000\",\"%d\"\n", id, id, kernel, counter, value, 1000+ns)
	}
	text := head + row(1, "gemm.kd", "FETCH_SIZE", "8.0", 1000) + row(1, "gemm.kd", "VALUBusy", "90", 1000) + row(1, "gemm.kd", "SQ_WAVES_sum", "64", 1000) + row(1, "gemm.kd", "GRBM_EA_BUSY", "900", 1000) +
		row(2, "gemm.kd", "FETCH_SIZE", "4.0", 3000) + row(2, "gemm.kd", "VALUBusy", "10", 3000) + row(2, "gemm.kd", "SQ_WAVES_sum", "36", 3000) + row(3, "copy", "VALUBusy", "1", 100)
	if SniffTable([]byte(text)) != FormatCounters {
		t.Error("not recognized")
	}
	got, err := ReadCounters(strings.NewReader(text), "x.csv", 0)
	if err != nil || len(got.Issues) > 0 || got.Records != 8 {
		t.Fatal(got, err)
	}
	table := got.List[0]
	want := map[string]int64{"total": 4000, "count": 2, "mean": 2000, "read rate": 3, "read from memory": 12288, "VALUBusy": 30, "SQ_WAVES": 100, "GRBM_EA_BUSY": 900}
	for name, v := range want {
		if i, ok := table.Column(name); !ok || table.Rows[0].Cells[i] != profile.Known(v) {
			t.Errorf("%s: %+v, want %d", name, table.Rows[0], v)
		}
	}
	if table.Rows[0].Name != "gemm" || len(table.Columns) != len(want) {
		t.Errorf("%+v", table)
	}
	// Nothing is known of a kernel whose counter was not measured.
	if i, _ := table.Column("read rate"); table.Rows[1].Cells[i].Known {
		t.Errorf("%+v", table.Rows[1])
	}

	wide := "Index,KernelName,gpu-id,queue-id,pid,tid,grd,wgr,lds,sgpr,sig,obj,SQ_WAVES,L2CacheHit\n0,\"void f<1, 2>(int) [clone .kd]\",2,0,7,8,64,64,0,16,0x0,0x1,5,40.0\n1,\"void f<1, 2>(int) [clone .kd]\",2,0,7,8,64,64,0,16,0x0,0x1,6,60.0\n"
	if SniffTable([]byte(wide)) != FormatCounters {
		t.Error("not recognized")
	}
	got, err = ReadCounters(strings.NewReader(wide), "x.csv", 0)
	if err != nil || len(got.List[0].Columns) != 3 || fmt.Sprint(got.List[0].Rows[0].Cells) != "[{2 true} {50 true} {11 true}]" {
		t.Error(got.List[0], err)
	}
}

// TestNoTables: tables with a timeline and other tables are none of these.
func TestNoTables(t *testing.T) {
	for _, head := range []string{
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n", "Index,KernelName,gpu-id,BeginNs,EndNs,SQ_WAVES\n",
		"Index,KernelName,gpu-id,queue-id,pid,tid\n", "Name,Calls,Total\n", "name,calls\n", "",
	} {
		if got := SniffTable([]byte(head)); got != "" {
			t.Errorf("%q is %s", head, got)
		}
	}
}

// TestTablesCorpus: sums of others' files, of a script that shares no code with this.
func TestTablesCorpus(t *testing.T) {
	dir := test.Corpus(t, "inputs")
	for name, want := range map[string]int64{"hip_stats": 285689160, "stats": 5280, "copy_stats": 686681} {
		file := filepath.Join(dir, "rocprof_v1", "rocmblogs_hip_results."+name+".csv")
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadStats(f, file, 0)
		f.Close()
		if err != nil || got.List[0].Sum(0) != profile.Known(want) {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func FuzzTables(f *testing.F) {
	f.Add([]byte(statsHead + "\"a\",4,1000,250,40\n"))
	f.Add([]byte("Index,KernelName,gpu-id,SQ_WAVES\n0,f,1,3\n"))
	f.Add([]byte("Dispatch_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n1,f,FETCH_SIZE,3,1,5\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(string) (*profile.Tables, error){
			func(s string) (*profile.Tables, error) { return ReadStats(strings.NewReader(s), "x", 10) },
			func(s string) (*profile.Tables, error) { return ReadCounters(strings.NewReader(s), "x", 10) },
		} {
			if got, err := read(string(text)); err == nil && got.List[0].Check() != nil {
				t.Fatal(got.List[0].Check())
			}
		}
	})
}

// TestSharesAndCycles: a derived metric without an underscore is a share; the counter of a hardware block with the same
// ending counts cycles, which add up.
func TestSharesAndCycles(t *testing.T) {
	const header = "Dispatch_Id,Process_Id,Kernel_Name,Counter_Name,Counter_Value,Start_Timestamp,End_Timestamp\n"
	rows := ""
	for i, name := range []string{"MemUnitBusy", "GRBM_EA_BUSY", "TA_TA_BUSY_sum", "VALUUtilization", "SQ_LDS_BANK_CONFLICT"} {
		for launch := range 2 {
			rows += fmt.Sprintf("%d,1,k,%s,%d,%d,%d\n", launch, name, 10*(i+1), 1000*launch, 1000*launch+500)
		}
	}
	got, err := ReadCounters(strings.NewReader(header+rows), "c.csv", 0)
	if err != nil {
		t.Fatal(err)
	}
	table := got.List[0]
	for name, want := range map[string]string{"MemUnitBusy": "% 10", "GRBM_EA_BUSY": "count 40", "TA_TA_BUSY": "count 60", "VALUUtilization": "% 40",
		"SQ_LDS_BANK_CONFLICT": "count 100"} {
		at := slices.IndexFunc(table.Columns, func(h profile.Heading) bool { return h.Name == name })
		if at < 0 {
			t.Fatal(name)
		}
		if got := fmt.Sprint(table.Columns[at].Unit, " ", table.Rows[0].Cells[at].Value); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}
