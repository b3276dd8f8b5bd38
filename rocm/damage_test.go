package rocm

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"assay/internal/test/rocmgen"
	"assay/trace"
)

// damaged reads a database of rocprofv3 after statements have changed it. KERNELS, COPIES, REGIONS and AGENTS stand for the
// names of its tables.
func damaged(t *testing.T, in *trace.Trace, statements ...string) *trace.Trace {
	t.Helper()
	path := filepath.Join(t.TempDir(), "7_results.db")
	if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: in}); err != nil {
		t.Fatal(err)
	}
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	const suffix = "_00000001_0a0b_0c0d_0e0f_102030405060"
	tables := strings.NewReplacer("KERNELS", "rocpd_kernel_dispatch"+suffix, "COPIES", "rocpd_memory_copy"+suffix, "REGIONS", "rocpd_region"+suffix,
		"AGENTS", "rocpd_info_agent"+suffix)
	for _, statement := range append([]string{"PRAGMA writable_schema = ON"}, statements...) {
		if err := sqlitex.ExecuteTransient(conn, tables.Replace(statement), nil); err != nil {
			t.Fatal(statement, err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	tr, _, _, err := ReadSQLite(path, path, trace.SelectAll())
	if err != nil || tr == nil {
		t.Fatal(tr, err)
	}
	return tr
}

// story returns the program with the most work.
func story(t *testing.T) (in *trace.Trace) {
	for _, tr := range hipStories(t) {
		if in == nil || tr.Activities.Len() > in.Activities.Len() {
			in = tr
		}
	}
	return in
}

// codes returns the codes of the issues of a trace with their numbers.
func codes(tr *trace.Trace) string {
	var all []string
	for _, is := range tr.Issues {
		all = append(all, fmt.Sprintf("%s %d", is.Code, is.Count))
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// TestBadRows: a row with a time that cannot be true loses itself alone, and the issue says in which row of which table it
// is. If that is much of the work, the capture is said to be unusable.
func TestBadRows(t *testing.T) {
	in := story(t)
	whole := damaged(t, in)
	kernels := whole.Activities.Len()
	for _, test := range []struct {
		name, statement, code string
		work, calls           int // that are missing
		where                 string
	}{
		{"nothing", "", "", 0, 0, ""},
		{"the end of a kernel", `UPDATE KERNELS SET "end" = 9223372036854775807 WHERE id = 4`, "event-bad-time 1", 1, 0, "row 4 of rocpd_kernel_dispatch"},
		{"101 hours", `UPDATE KERNELS SET "end" = start + 101*3600*1000000000 WHERE id = 3`, "event-bad-time 1", 1, 0, "row 3 of rocpd_kernel_dispatch"},
		{"99 hours", `UPDATE KERNELS SET "end" = start + 99*3600*1000000000 WHERE id = 3`, "", 0, 0, ""},
		{"the start of a kernel", `UPDATE KERNELS SET start = -9223372036854775807 - 1 WHERE id = 2`, "event-bad-time 1", 1, 0, "row 2 of rocpd_kernel_dispatch"},
		{"the end of a call", `UPDATE REGIONS SET "end" = 9000000000000000000 WHERE id = 1`, "event-bad-time 1", 0, 1, "row 1 of rocpd_region"},
		{"a text", `UPDATE KERNELS SET start = '17abc' WHERE id = 5`, "event-bad-time 1", 1, 0, "row 5 of rocpd_kernel_dispatch"},
		{"a clock set back", `UPDATE KERNELS SET "end" = start - 1 WHERE id = 6`, "event-negative-duration 1", 1, 0, "row 6 of rocpd_kernel_dispatch"},
	} {
		var change []string
		if test.statement != "" {
			change = []string{test.statement}
		}
		tr := damaged(t, in, change...)
		if got := codes(tr); got != test.code {
			t.Errorf("%s: %q, want %q", test.name, got, test.code)
		}
		hosts := whole.Calls.Len() + whole.Spans.Len() - tr.Calls.Len() - tr.Spans.Len()
		if work := kernels - tr.Activities.Len(); work != test.work || hosts != test.calls {
			t.Errorf("%s: %d of work and %d of calls are missing", test.name, work, hosts)
		}
		if test.where != "" && (len(tr.Issues) == 0 || !strings.Contains(tr.Issues[0].Help, test.where) || !strings.Contains(tr.Issues[0].Help, "7_results.db")) {
			t.Errorf("%s: %+v", test.name, tr.Issues)
		}
	}
	for _, statement := range []string{`UPDATE KERNELS SET "end" = start - 7`, `UPDATE KERNELS SET start = 'soon'`, `UPDATE KERNELS SET "end" = '1e400'`} {
		if got := codes(damaged(t, in, statement)); !strings.Contains(got, "gpu-rows-unusable") {
			t.Errorf("%s: %q", statement, got)
		}
	}
}

// TestStrangers: work of an agent that the table of agents does not have is not that of GPU 0; without agents, their numbers
// are those of GPUs.
func TestStrangers(t *testing.T) {
	in := story(t)
	devices := func(tr *trace.Trace) (out []int64) {
		for a := range tr.Activities.All() {
			if a.Kind == trace.Kernel {
				out = append(out, tr.Tracks[a.Track].Device)
			}
		}
		slices.Sort(out)
		return slices.Compact(out)
	}
	known := devices(damaged(t, in))
	for _, test := range []struct {
		statement string
		want      []int64
		said      bool
	}{
		{"UPDATE KERNELS SET agent_id = 77", []int64{firstStranger}, true},
		{"UPDATE KERNELS SET agent_id = 70 + id % 2", []int64{firstStranger, firstStranger + 1}, true},
		{"UPDATE KERNELS SET agent_id = 88 WHERE id = 1", append(slices.Clone(known), firstStranger), true},
		{"UPDATE KERNELS SET agent_id = 1 WHERE id = 1", append(slices.Clone(known), firstStranger), true},
		{"DELETE FROM AGENTS WHERE type = 'GPU'", nil, true},
		{"DELETE FROM AGENTS", nil, false},
		{"UPDATE KERNELS SET region_name_id = 3", known, false},
	} {
		tr := damaged(t, in, test.statement)
		got := devices(tr)
		if test.want != nil && !slices.Equal(got, test.want) {
			t.Errorf("%s: GPUs %v, want %v", test.statement, got, test.want)
		}
		if said := strings.Contains(codes(tr), "agent-unknown"); said != test.said {
			t.Errorf("%s: issues %s", test.statement, codes(tr))
		}
	}
	many := damaged(t, in, "UPDATE KERNELS SET agent_id = 1000 + id")
	if n := len(devices(many)); n > mostStrangers || !strings.Contains(codes(many), "gpu-rows-unusable") {
		t.Errorf("%d GPUs, %s", n, codes(many))
	}
}

// TestSharedPages: a table that has the pages of another one has no rows of its own, and is said to be damaged.
func TestSharedPages(t *testing.T) {
	in := story(t)
	whole := damaged(t, in)
	var copies []string
	for i := range 5 {
		copies = append(copies, fmt.Sprintf(`INSERT INTO sqlite_master SELECT type, 'rocpd_kernel_dispatch_x%[1]d', 'rocpd_kernel_dispatch_x%[1]d', rootpage,
			replace(sql, 'KERNELS', 'rocpd_kernel_dispatch_x%[1]d') FROM sqlite_master WHERE name = 'KERNELS'`, i))
	}
	tr := damaged(t, in, copies...)
	if tr.Activities.Len() != whole.Activities.Len() || tr.Complete || codes(tr) != "device-table-damaged 5" {
		t.Errorf("%d of %d, %s", tr.Activities.Len(), whole.Activities.Len(), codes(tr))
	}
}

// TestUnreadRows: rows of GPU work that cannot be read count as rows without a time: of one in twenty and more nobody
// knows what they would have changed. Calls that cannot be read, and a last row that is cut, say nothing of the GPU.
func TestUnreadRows(t *testing.T) {
	const kernels = "Kind,Agent_Id,Queue_Id,Kernel_Name,Correlation_Id,Start_Timestamp,End_Timestamp"
	const calls = "Domain,Function,Process_Id,Thread_Id,Correlation_Id,Start_Timestamp,End_Timestamp"
	table := func(header, row string, every int, end string) string {
		text := header + "\n"
		for i := range 60 {
			line := fmt.Sprintf(row, i+1, 1_000_000+1000*i, 1_000_500+1000*i)
			if i%every == 7 {
				line = line[:len(line)-12]
			}
			text += line + "\n"
		}
		return text + end
	}
	const work, call = "KERNEL_DISPATCH,Agent 4,1,gemm,%d,%d,%d", "HIP_RUNTIME_API,hipLaunchKernel,9,9,%d,%d,%d"
	for _, tc := range []struct {
		name, text string
		unusable   bool
	}{
		{"every tenth kernel", table(kernels, work, 10, ""), true},
		{"one kernel of 60", table(kernels, work, 100, ""), false},
		{"the last kernel is cut", table(kernels, work, 100, "KERNEL_DISPATCH,Agent 4,1,ge"), false},
		{"every tenth call", table(calls, call, 10, ""), false},
	} {
		tr, err := ReadCSV([]Part{{"kernel_trace.csv", strings.NewReader(tc.text)}}, "run", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(codes(tr), "gpu-rows-unusable"); got != tc.unusable {
			t.Errorf("%s: %s", tc.name, codes(tr))
		}
	}
}
