package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/pfgen"
	"assay/trace"
)

const (
	kernelsOfRocm = "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n" +
		"\"KERNEL_DISPATCH\",\"Agent 5\",\"2\",\"1\",\"axpy(int)\",\"31\",\"2000\",\"2600\"\n"
	callsOfRocm = "\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n" +
		"\"HIP_RUNTIME_API_EXT\",\"hipLaunchKernel\",\"77\",\"78\",\"31\",\"1500\",\"1800\"\n"
	agentsOfRocm = "\"Node_Id\",\"Agent_Type\",\"Wave_Front_Size\",\"Cu_Count\",\"Product_Name\"\n\"3\",\"GPU\",\"64\",\"104\",\"AMD Instinct MI210\"\n\"5\",\"GPU\",\"64\",\"104\",\"AMD Instinct MI210\"\n"
)

// TestRocmForms: of the forms of one capture in a directory the most complete is read; files of other captures are read
// as well.
func TestRocmForms(t *testing.T) {
	dir := t.TempDir()
	packets := string(pfgen.Packets(append([]pfgen.Message{pfgen.Track(1, "STREAM"), pfgen.End(9, 1)}, pfgen.Begin(5, 1, "k", "kernel_dispatch", nil))...))
	const json = `{"rocprofiler-sdk-tool":[{"metadata":{"pid":1}}]}`
	for name, text := range map[string]string{
		"7_results.db": "SQLite format 3\x00", "7_results.json": json, "7_kernel_trace.csv": kernelsOfRocm, "7_hip_api_trace.csv": callsOfRocm,
		"7_results.pftrace": packets, "8_results.json": json, "8_kernel_trace.csv": kernelsOfRocm, "9_results.pftrace": packets,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	got := Paths([]string{dir})
	for _, path := range got.Files {
		names = append(names, filepath.Base(path))
	}
	if want := []string{"7_results.db", "8_results.json", "9_results.pftrace"}; !slices.Equal(names, want) || got.Others > 0 {
		t.Errorf("%v, %d others, want %v", names, got.Others, want)
	}
	if named := Paths([]string{filepath.Join(dir, "7_results.json")}); len(named.Files) != 1 {
		t.Errorf("a form that is named is not read: %+v", named)
	}
}

// TestRocmTables: tables of one capture of rocprofv3 are one input, whichever of them is given, and those of another
// capture in the same folder are another one.
func TestRocmTables(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"host1/41_kernel_trace.csv": kernelsOfRocm, "host1/41_hip_api_trace.csv": callsOfRocm, "host1/41_agent_info.csv": agentsOfRocm,
		"host1/41_hip_api_stats.csv": "\"Name\",\"Calls\"\n", "host1/42_hip_api_trace.csv": callsOfRocm, "host1/142_kernel_trace.csv": kernelsOfRocm,
		"alone/kernel_trace.csv": kernelsOfRocm,
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	at := func(names ...string) (out []string) {
		for _, name := range names {
			out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return out
	}
	for _, tc := range []struct{ given, want []string }{
		{at("host1"), at("host1/41_kernel_trace.csv", "host1/42_hip_api_trace.csv", "host1/142_kernel_trace.csv")},
		{at("host1/41_hip_api_trace.csv", "host1/41_kernel_trace.csv", "host1/142_kernel_trace.csv"), at("host1/41_hip_api_trace.csv", "host1/142_kernel_trace.csv")},
		{at("alone/kernel_trace.csv"), at("alone/kernel_trace.csv")},
	} {
		if got := Paths(tc.given); !slices.Equal(got.Files, tc.want) || len(got.Failed) > 0 {
			t.Errorf("%v: %v (%v), want %v", tc.given, got.Files, got.Failed, tc.want)
		}
	}
	for _, name := range []string{"host1/41_hip_api_trace.csv", "host1/41_kernel_trace.csv"} {
		f, err := Open(at(name)[0], nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if tr := in.Trace; in.Format != "rocprofv3-csv" || tr.Activities.Len() != 1 || tr.Calls.Len() != 1 || tr.Meta.Devices[1] != "AMD Instinct MI210" ||
			tr.Tracks[tr.Activities.At(0).Track].Device != 1 || !strings.Contains(tr.Issues[0].Help, "41_agent_info.csv") {
			t.Errorf("%s: %s, %d kernels, %d calls, %v, %+v", name, in.Format, tr.Activities.Len(), tr.Calls.Len(), tr.Meta.Devices, tr.Issues)
		}
	}
	f, err := Open(at("host1/142_kernel_trace.csv")[0], nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := Load(f, trace.SelectAll())
	if err != nil || in.Trace.Calls.Len() != 0 || in.Trace.Tracks[in.Trace.Activities.At(0).Track].Device != 5 || len(in.Trace.Issues) > 0 {
		t.Errorf("%v, %+v", err, in)
	}
}

// TestNsysReports: reports of events of one capture are one input, whichever of them is given. Without the work of GPUs
// they are added up by name.
func TestNsysReports(t *testing.T) {
	const (
		gpu = "Start (ns),Duration (ns),CorrId,GrdX,BlkX,Strm,Device,Name\n100,50,7,1,1,3,L4 (0),k\n"
		api = "Start (ns),Duration (ns),Name,Result,CorrID,Pid,Tid,T-Pri,Thread Name\n90,5,cudaLaunchKernel,0,7,1,2,3,x\n"
	)
	dir := t.TempDir()
	for name, text := range map[string]string{"a_cuda_gpu_trace.csv": gpu, "a_cuda_api_trace.csv": api, "b_cuda_api_trace.csv": api} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	first, second := filepath.Join(dir, "a_cuda_gpu_trace.csv"), filepath.Join(dir, "b_cuda_api_trace.csv")
	if got := Paths([]string{dir}); !slices.Equal(got.Files, []string{first, second}) {
		t.Errorf("%+v", got)
	}
	for _, name := range []string{"a_cuda_gpu_trace.csv", "a_cuda_api_trace.csv"} {
		in, err := loadPath(t, filepath.Join(dir, name))
		if err != nil || in.Format != "nsys-csv" || in.Trace.Activities.Len() != 1 || in.Trace.Calls.Len() != 1 || len(in.Trace.Issues) != 1 {
			t.Errorf("%s: %+v, %v", name, in, err)
		}
	}
	if in, err := loadPath(t, second); err != nil || in.Format != "nsys-stats" || len(in.Tables.List) != 1 {
		t.Errorf("%+v, %v", in, err)
	}
}
