package stats

import (
	"strings"
	"testing"

	"assay/internal/profile"
)

// FuzzRead: any input gives an error or consistent tables: every row has a cell
// for each column, no value is negative, the limits hold, and Sniff terminates.
func FuzzRead(f *testing.F) {
	f.Add("Time (%),Total Time (ns),Instances,Avg (ns),Name\n60.0,6,2,3.0,\"a, \"\"b\"\"\"\n40.0,4,1,4.0,\"c\nd\"\n")
	f.Add(" ** CUDA API Summary (cuda_api_sum):\n\n Time (%)  Total Time (ms)  Num Calls  Name\n --------  ---------------  ---------  ----\n    100.0            1,5          3  cuda…\n\n")
	f.Add("Processing [a.sqlite] with [/x/nvtx_sum.py:arg]... \nSKIPPED: a.sqlite does not contain NVTX data.\nERROR: no\n")
	f.Add("[3/8] Executing 'gpukernsum' stats report\nTime(%)\tTotal\tCalls\tName\n1\t2\t3\tx\n")
	f.Add("Start (ns),Duration (ns),Bytes (MB),SrcMemKd,DstMemKd,Name\n1,5,0.5,Pageable,Device,k\n2,,,,,k\n3,7,0.1,Pageable,Device,k\n")
	f.Add("2024 CUDA Kernel Statistics (nanoseconds)\nTime(%) Total Time Name\n------- ---------- ----\n")
	f.Add("\ufeffName,Projected Start (ns),Projected Duration (ns),Orig Duration (ns),Style\nr,None,None,1,PushPop\nr,1,2,3,\"P\r\n")
	f.Add("[{\"Time (%)\":60.0,\"Total Time (ns)\":6,\"Name\":\"a \"b\"\"},\n{\"Total Time (ns)\":null,\"Name\":\"\\\\\"}\n]\n")
	f.Fuzz(func(t *testing.T, in string) {
		Sniff([]byte(in))
		const rows = 8
		tables, err := Read(strings.NewReader(in), "in_osrt_sum.csv", Limits{Rows: rows})
		if err != nil {
			if !strings.HasPrefix(err.Error(), "in_osrt_sum.csv:") {
				t.Errorf("the error %q does not begin with a position", err)
			}
			return
		}
		kept := 0
		for _, table := range tables.List {
			if err := table.Check(); err != nil {
				t.Error(err)
			}
			kept += len(table.Rows)
			for _, r := range append(table.Rows, profile.Row{Cells: table.Rest}) {
				for _, c := range r.Cells {
					if c.Value < 0 || !c.Known && c.Value != 0 {
						t.Errorf("%s: row %q has cell %+v", table.Name, r.Name, c)
					}
				}
			}
		}
		if kept > rows || len(tables.List) > maxTables {
			t.Errorf("%d rows in %d tables were kept", kept, len(tables.List))
		}
		for _, is := range tables.Issues {
			if is.Count < 1 || is.Code == "" || is.Help == "" {
				t.Errorf("issue %+v", is)
			}
		}
	})
}

// FuzzFinder: any text can be searched for tables.
func FuzzFinder(f *testing.F) {
	f.Add("[\n-----  -----  ----\n[{\"Time (%)\": 1}\n")
	f.Add(" Time (%)  Total Time (ns)  Name\n --------  ---------------  ----\n[\n 75.0  300  a\n")
	f.Fuzz(func(t *testing.T, in string) {
		for _, table := range found(t, in).List {
			if err := table.Check(); err != nil {
				t.Error(err)
			}
		}
	})
}
