package ascend_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
	"assay/trace"
	"assay/trace/ascend"
)

// cells returns the rows of the only table, each as its name and its values; "-" is unknown.
func cells(t *testing.T, tables *profile.Tables) (out []string) {
	t.Helper()
	if len(tables.List) != 1 {
		t.Fatalf("%d tables", len(tables.List))
	}
	for _, r := range tables.List[0].Rows {
		text := r.Name + ":"
		for _, c := range r.Cells {
			if c.Known {
				text += fmt.Sprintf(" %d", c.Value)
			} else {
				text += " -"
			}
		}
		out = append(out, text)
	}
	return out
}

const stepHeader = "Device_id,Step,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble,Communication(Not Overlapped and Exclude Receive),Preparing\n"

func TestSteps(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		want       []string
		issues     int
	}{
		{"of a rank", "\ufeff" + stepHeader + "3,7,100.5,20.25,5,25.25,9.25,130,2,20.25,1\n3,8,\"200\t\",0,0,0,1.0004,201,0,0,1\n",
			[]string{"step 7, NPU 3: 130000 100500 20250 9250 5000 2000", "step 8, NPU 3: 201000 200000 0 1000 0 0"}, 0},
		{"of a cluster", "Step,Type,Index,Computing,Communication(Not Overlapped),Overlapped,Communication,Free,Stage,Bubble\n" +
			",rank,0,10,5,1,6,85,100,0\n,rank,1,20,6,,6,74,100,\n,stage,\"(0, 1)\",20,6,1,6,85,100,0\n",
			[]string{"rank 0: 100000 10000 5000 85000 1000 0", "rank 1: 100000 20000 6000 74000 - -"}, 0},
		{"bad rows", stepHeader + "0,1,x,2,3,4,5,6,7,8,9\n0,2,1,-2,3,4,5,6,7,8,9\n0,3,1,2,3,5,4,7,0,2,0\n", []string{"step 3, NPU 0: 7000 1000 2000 4000 3000 0"}, 1},
	} {
		if !ascend.SniffSteps([]byte(tc.text)) {
			t.Errorf("%s: not recognized", tc.name)
		}
		got, err := ascend.ReadSteps(strings.NewReader(tc.text), "s.csv", 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, cells(t, got)); diff != "" || len(got.Issues) != tc.issues {
			t.Errorf("%s: %s %v", tc.name, diff, got.Issues)
		}
	}
	if _, err := ascend.ReadSteps(strings.NewReader(stepHeader), "s.csv", 0); err == nil {
		t.Error("a table without steps is no error")
	}
	if ascend.SniffSteps([]byte("Step,Computing,Free\n1,2,3\n")) {
		t.Error("another table is recognized")
	}
}

func TestCollectives(t *testing.T) {
	info := func(elapse, transit, wait, hccs, pcie, sdma, rdma float64) string {
		return fmt.Sprintf(`{"Communication Time Info":{"Start Timestamp(us)":1.5,"Elapse Time(ms)":%g,"Transit Time(ms)":%g,"Wait Time(ms)":%g},
			"Communication Bandwidth Info":{"HCCS":{"Transit Size(MB)":%g},"PCIE":{"Transit Size(MB)":%g},"SDMA":{"Transit Size(MB)":%g},"RDMA":{"Transit Size(MB)":%g}}}`,
			elapse, transit, wait, hccs, pcie, sdma, rdma)
	}
	ofRank := `{"step1":{"p2p":{},"collective":{"hcom_allReduce__501_0_1@77":` + info(2, 1, 0.5, 1, 0.5, 1.5, 2) + `,"hcom_allReduce__501_1_1@77":` + info(3, 1, 1, 0, 0, 0, 0.25) +
		`,"hcom_allGather__501_2_1@77":` + info(1, 0.5, 0.25, 0.5, 0.25, 0, 0) + `,"Total Op Info":` + info(6, 2.5, 1.75, 0, 0, 0, 0) + `}}}`
	ofCluster := `{"(0, 1)":{"step":{"hcom_broadcast__9_0@5":{"0":` + info(10, 1, 8, 0, 0, 0, 0) + `,"1":` + info(2, 1, 0, 0, 0, 0, 0) + `}}}}`
	for text, want := range map[string][]string{
		ofRank:    {"hcom_allReduce: 5000000 2 2000000 1500000 3750000", "hcom_allGather: 1000000 1 500000 250000 750000"},
		ofCluster: {"hcom_broadcast (rank 0): 10000000 1 1000000 8000000 0", "hcom_broadcast (rank 1): 2000000 1 1000000 0 0"},
	} {
		if !ascend.SniffCollectives([]byte(text)) {
			t.Errorf("%.40s: not recognized", text)
		}
		got, err := ascend.ReadCollectives(strings.NewReader(text), "communication.json", 0)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, cells(t, got)); diff != "" || !got.Complete || len(got.Issues) > 0 {
			t.Errorf("%s, %v", diff, got.Issues)
		}
		cut, err := ascend.ReadCollectives(strings.NewReader(text[:len(text)-3]), "communication.json", 0)
		if err != nil || cut.Complete {
			t.Errorf("cut: %v, %+v", err, cut)
		}
	}
	if _, err := ascend.ReadCollectives(strings.NewReader(`{"step":{"collective":{"a":{"Communication Time Info":{"Elapse Time(ms)":-1}}}}}`), "c", 0); err == nil {
		t.Error("negative times are no error")
	}
}

// tasks is a table of two steps of 100 µs, the second of which begins before the collective of the first has ended.
const tasks = "Step Id,Device_id,Name,Type,Accelerator Core,Start Time(us),Duration(us)\n" +
	"4,0,MatMul1,MatMulV3,AI_CORE,1000,60\n4,0,hcom_allReduce__5_0_1,hcom_allReduce_,HCCL,1050,60\n" +
	"5,0,MatMul2,MatMulV3,AI_CORE,1100,60\n5,0,hcom_allReduce__5_1_1,hcom_allReduce_,HCCL,1150,50\n"

// TestStepsOfTasks: rows name their step. A step ends where the next one begins.
func TestStepsOfTasks(t *testing.T) {
	got, err := ascend.ReadCSV(strings.NewReader(tasks), "kernel_details.csv", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	var steps []string
	for s := range got.Spans.All() {
		steps = append(steps, fmt.Sprint(got.Name(s.Name), " ", s.Start, " ", s.Dur))
	}
	if diff := cmp.Diff([]string{"ProfilerStep#4 1000000 100000", "ProfilerStep#5 1100000 100000"}, steps); diff != "" {
		t.Error(diff)
	}
}

// TestCompareSteps: the profiler's own sums are those of the tasks, or an issue says which differ. Steps that are a part of
// the capture are not compared.
func TestCompareSteps(t *testing.T) {
	for row, want := range map[string]string{
		"0,,120,80,30,110,0,200,0,80,0\n":                              "", // the tasks: 120 µs, of 110 µs of communication 30 are overlapped
		"0,,120,40,70,110,40,200,0,40,0\n":                             "Communication(Not Overlapped) 40 µs, where the tasks yield 80 µs",
		"0,4,60,40,10,50,0,100,0,40,0\n0,5,60,40,20,60,0,100,0,40,0\n": "",
		"0,4,60,10,10,20,0,70,0,10,0\n":                                "",
	} {
		tr, err := ascend.ReadCSV(strings.NewReader(tasks), "kernel_details.csv", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		ascend.CompareSteps(tr, strings.NewReader(stepHeader+row), "step_trace_time.csv")
		text := ""
		for _, is := range tr.Issues {
			text += is.Help
		}
		if want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s%q, want %q", row, text, want)
		}
	}
}

// TestCompareAnalysis: the table of a database is compared in µs or ms, whichever is as long as the timeline, and not at all
// if neither is or a cell has no number.
func TestCompareAnalysis(t *testing.T) {
	row := func(values ...any) []any { return append([]any{0, "4"}, values...) }
	for _, tc := range []struct {
		row  []any // computing, exposed, overlapped, communication, free, stage, bubble, preparing
		want string
	}{
		{row(120.0, 80.0, 30.0, 110.0, 0.0, 200.0, 0.0, 0.0), ""},
		{row(0.12, 0.08, 0.03, 0.11, 0.0, 0.2, 0.0, 0.0), ""},
		{row(120.0, 40.0, 70.0, 110.0, 40.0, 200.0, 0.0, 0.0), "Communication(Not Overlapped) 40 µs, where the tasks yield 80 µs"},
		{row(0.12, 0.04, 0.07, 0.11, 0.04, 0.2, 0.0, 0.0), "Communication(Not Overlapped) 40 µs, where the tasks yield 80 µs"},
		{row(60.0, 10.0, 10.0, 20.0, 0.0, 70.0, 0.0, 0.0), ""},
		{row(120.0, 40.0, "soon", 110.0, 40.0, 200.0, 0.0, 0.0), ""},
	} {
		tr, err := ascend.ReadCSV(strings.NewReader(tasks), "kernel_details.csv", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "analysis.db")
		if err := writeRows(path, []dbRow{{Table: "StepTraceTime", Values: tc.row}}); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := ascend.ReadAnalysis(path, "analysis.db", 0); !ok || !errors.Is(err, ascend.ErrNoCollectives) {
			t.Errorf("%v alone: %t, %v", tc.row, ok, err)
		}
		ascend.CompareAnalysis(tr, path)
		text := ""
		for _, is := range tr.Issues {
			text += is.Help
		}
		if tc.want == "" && text != "" || !strings.Contains(text, tc.want) {
			t.Errorf("%v: %q, want %q", tc.row, text, tc.want)
		}
	}
}

func FuzzTables(f *testing.F) {
	f.Add([]byte(stepHeader + "3,7,100.5,20.25,5,25.25,9.25,130,2,20.25,1\n"))
	f.Add([]byte(`{"s":{"c":{"hcom_a":{"Communication Time Info":{"Elapse Time(ms)":1}},"hcom_b":{"0":{"Communication Time Info":{"Elapse Time(ms)":1}}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func() (*profile.Tables, error){
			func() (*profile.Tables, error) { return ascend.ReadSteps(strings.NewReader(string(text)), "f", 100) },
			func() (*profile.Tables, error) {
				return ascend.ReadCollectives(strings.NewReader(string(text)), "f", 100)
			},
		} {
			got, err := read()
			if (got == nil) == (err == nil) {
				t.Fatal("neither tables nor an error")
			}
			if got != nil {
				for _, table := range got.List {
					if err := table.Check(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}
