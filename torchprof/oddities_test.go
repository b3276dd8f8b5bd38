package torchprof

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/diag"
	"assay/internal/profile"
)

// small is a table with placeholders for the changes of each case.
const small = `
------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
              Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA   Self CUDA %    CUDA total  CUDA time avg    # of Calls
------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
          aten::mm        60.00%      60.000us        60.00%      60.000us      60.000us     400.000us        80.00%     400.000us     400.000us             1
         aten::add        40.00%      40.000us        40.00%      40.000us      20.000us     100.000us        20.00%     100.000us      50.000us             2
       gemm_kernel         0.00%       0.000us         0.00%       0.000us       0.000us     400.000us        80.00%     400.000us     400.000us             1
        add_kernel         0.00%       0.000us         0.00%       0.000us       0.000us     100.000us        20.00%     100.000us      50.000us             2
------------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------
Self CPU time total: 100.000us
Self CUDA time total: 500.000us
`

// TestOddities changes one thing in a valid table and compares the result: the
// rows of each table, and the issues.
func TestOddities(t *testing.T) {
	lines := strings.Split(small, "\n")
	const sound = "2 rows, 2 rows"
	for _, tc := range []struct {
		name, old, new string
		rows, issues   string
	}{
		{"nothing", "", "", sound, ""},
		{"a share that no time explains", "        60.00%      60.000us        60.00%", "        70.00%      60.000us        60.00%", sound, "share-mismatch:5"},
		{"a total that is too small", "CUDA time total: 500.000us", "CUDA time total: 450.000us", sound, "share-mismatch:5 total-mismatch:11"},
		{"a total that is larger", "Self CPU time total: 100.000us", "Self CPU time total: 400.000us", sound, "share-mismatch:5 rows-not-printed:10"},
		{"a total without a unit", "Self CPU time total: 100.000us", "Self CPU time total: 100.000", sound, "cell-unreadable:10"},
		{"no totals", "Self CPU time total: 100.000us\nSelf CUDA time total: 500.000us\n", "", sound, ""},
		{"a time without a unit", "     40.000us        40.00%      40.000us", "     40.000         40.00%      40.000us", sound, "cell-unreadable:6 rows-not-printed:10"},
		{"a masked time", "     40.000us        40.00%      40.000us", "    xx.yyy us       40.00%      40.000us", sound, "cell-unreadable:6 rows-not-printed:10"},
		{"no shares", "        40.00%      40.000us        40.00%", "           NaN      40.000us           NaN", sound, ""},
		{"the share of work that overlaps the host", "        40.00%      40.000us        40.00%", "        40.00%      40.000us             0", sound, ""},
		{"a row that was broken", lines[5], lines[5][:60] + "\nINFO step\n" + lines[5][60:], "1 rows, 2 rows", "row-malformed:6 lines-between-rows:7 rows-not-printed:12"},
		{"a row with a cell too many", lines[5], lines[5] + "   3.000us", "1 rows, 2 rows", "row-malformed:6 rows-not-printed:10"},
		{"dots for rows", lines[5], "               ...", "1 rows, 2 rows", "rows-omitted:6 rows-not-printed:10"},
		{"no rule at the end", strings.Repeat("-", 18) + "  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  ------------\nSelf CPU", "Self CPU", sound, ""},
		{"no end", lines[8] + "\n" + lines[9] + "\n" + lines[10] + "\n", "", sound, "table-unfinished:2"},
		{"a header that nobody knows", "  CUDA time avg    # of Calls", "  CUDA time avg      Mystery", sound, ""},
		{"a range of a step on the device", "       gemm_kernel", "     ProfilerStep*", "2 rows, 1 rows, 1 rows", ""},
		{"a range of the name of an operator", "       gemm_kernel", "          aten::mm", "2 rows, 1 rows, 1 rows", ""},
		{"a range of more than all work", "       gemm_kernel         0.00%       0.000us         0.00%       0.000us       0.000us     400.000us        80.00%", "       gemm_kernel         0.00%       0.000us         0.00%       0.000us       0.000us     501.000us       100.20%", "2 rows, 1 rows, 1 rows", "rows-not-printed:11"},
		{"a time over 64 bits", "     40.000us        40.00%", " 999999999999s        40.00%", sound, "cell-unreadable:6 rows-not-printed:10"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			text := strings.Replace(small, tc.old, tc.new, 1)
			if text == small && tc.old != "" {
				t.Fatal("the case changes nothing")
			}
			got := read(t, text)
			if rows := rowsOf(got); rows != tc.rows {
				t.Errorf("%s; want %s", rows, tc.rows)
			}
			var issues []string
			for _, is := range got.Issues {
				issues = append(issues, fmt.Sprintf("%s:%d", is.Code, is.First.Line))
			}
			want := strings.Fields(tc.issues)
			slices.Sort(issues)
			slices.Sort(want)
			if !slices.Equal(issues, want) {
				t.Errorf("issues are %v, want %v", issues, want)
			}
		})
	}
}

func rowsOf(tables *profile.Tables) string {
	var rows []string
	for _, table := range tables.List {
		rows = append(rows, fmt.Sprintf("%d rows", len(table.Rows)))
	}
	return strings.Join(rows, ", ")
}

// TestTriton: Inductor marks each of its kernels with a range of the same name;
// the kernel is still read as a kernel.
func TestTriton(t *testing.T) {
	text := strings.ReplaceAll(strings.ReplaceAll(small, "          aten::mm", "  triton_poi_fused"), "       gemm_kernel", "  triton_poi_fused")
	if got := rowsOf(read(t, text)); got != "2 rows, 2 rows" {
		t.Errorf("%s", got)
	}
}

// TestWideRows: values that are wider than their columns shift the values after
// them.
func TestWideRows(t *testing.T) {
	const text = `
---------------  ------------  ------------  ------------
           Name      Self CPU    Self CPU Mem    # of Calls
---------------  ------------  ------------  ------------
       aten::mm  123456789012.345ms   -1023.50 Gb             3
      aten::add       1.000us           0 b             1
---------------  ------------  ------------  ------------
`
	got := read(t, text)
	cells := got.List[0].Rows[0].Cells
	if len(got.List[0].Rows) != 2 || cells[0].Value != 123456789012345000 || cells[1].Value != -1023<<30-1<<29 || cells[2].Value != 3 {
		t.Errorf("cells are %v", cells)
	}
}

// TestDevices: if a table has two devices, as some versions print, the first is
// the device, and the columns of the other contain its name.
func TestDevices(t *testing.T) {
	const text = `
------------  ------------  ------------  ------------  ------------
        Name      Self CPU     Self CUDA      Self XPU    # of Calls
------------  ------------  ------------  ------------  ------------
    aten::mm       1.000us       2.000us       3.000us             1
------------  ------------  ------------  ------------  ------------
`
	table := read(t, text).List[0]
	want := map[string]int64{"self_cpu": 1000, "self_device": 2000, "self_xpu": 3000, "count": 1}
	for i, h := range table.Columns {
		if table.Rows[0].Cells[i].Value != want[h.Name] || h.Adds != profile.Self {
			t.Errorf("%s is %v", h.Name, table.Rows[0].Cells[i])
		}
	}
	if len(table.Columns) != len(want) {
		t.Errorf("columns are %v", table.Columns)
	}
}

// TestLimits: rows over the limit are included in every sum.
func TestLimits(t *testing.T) {
	got, err := Read(strings.NewReader(small), "in", Limits{Rows: 3})
	if err != nil {
		t.Fatal(err)
	}
	host, device := got.List[0], got.List[1]
	at, _ := device.Column("total")
	if len(host.Rows) != 2 || len(device.Rows) != 1 || device.Left != 1 || device.Sum(at).Value != 500_000 {
		t.Errorf("got %+v and %+v", host, device)
	}
	if i := slices.IndexFunc(got.Issues, func(is diag.Issue) bool { return is.Code == "table-rows-pooled" }); i < 0 || got.Issues[i].Count != 1 {
		t.Errorf("issues are %v", got.Issues)
	}
	got, err = Read(strings.NewReader(strings.Repeat(small, maxTables+7)), "in", Limits{})
	if err != nil || len(got.List) != 2*maxTables || !slices.ContainsFunc(got.Issues, func(is diag.Issue) bool { return is.Code == "too-many-tables" && is.Count == 7 }) {
		t.Errorf("%d tables, %v", len(got.List), err)
	}
}

// TestSniff: a table is recognized at any position in the prefix, and other
// rules of dashes are not recognized as one.
func TestSniff(t *testing.T) {
	for text, want := range map[string]bool{
		small: true, "INFO a\nINFO b" + small: true, strings.Join(plain(t, "SYNTHETIC_interleaved_log.txt"), "\n"): true,
		"": false, "Name  Self CPU\n": false, "-----  -----\nName  Size\n-----  -----\na  1\n": false,
		" Time (%)  Total Time (ns)  Name\n --------  ---------------  ----\n    100.0              12  k\n": false,
	} {
		if got := Sniff([]byte(text)); got != want {
			t.Errorf("%v for %.60q", got, text)
		}
	}
}

// TestByHand: a person has removed columns, put the rest of a long name on the
// next line, and emptied the blank line after a stack; with and without a
// prefix.
func TestByHand(t *testing.T) {
	const text = `
-----------------  ------------  ------------  ------------------------
             Name      Self CPU  Self CPU Mem  Source Location
-----------------  ------------  ------------  ------------------------
     MASK INDICES        5.006s    -476.84 Mb  a.py(10): forward
                                               b.py(9): <module>

    aten::_local        268.650us           0 b  a.py(11): forward
      _scalar_dense                            b.py(9): <module>
                                               c.py(1): f

-----------------  ------------  ------------  ------------------------
Self CPU time total: 5.347s`
	for _, prefix := range []string{"", "#   ", "[rank0]: "} {
		got := read(t, strings.ReplaceAll(text, "\n", "\n"+prefix))
		if len(got.List) != 1 || len(got.List[0].Rows) != 2 {
			t.Fatalf("%q: %+v", prefix, got)
		}
		first, second := got.List[0].Rows[0], got.List[0].Rows[1]
		if first.Labels[0].Text != "a.py(10): forward; b.py(9): <module>" || first.Cells[1].Value != -500002980 {
			t.Errorf("%q: %+v", prefix, first)
		}
		if second.Name != "aten::_local_scalar_dense" || second.Labels[0].Text != "a.py(11): forward; b.py(9): <module>; c.py(1): f" || second.Cells[0].Value != 268650 {
			t.Errorf("%q: %+v", prefix, second)
		}
	}
}

// TestRangeWithoutTime: a range of the device that has only a total is a range,
// whatever its name.
func TestRangeWithoutTime(t *testing.T) {
	text := strings.Replace(small, "       gemm_kernel         0.00%       0.000us         0.00%       0.000us       0.000us     400.000us        80.00%", "           forward         0.00%       0.000us         0.00%       0.000us       0.000us       0.000us         0.00%", 1)
	got := read(t, text)
	if rowsOf(got) != "2 rows, 1 rows, 1 rows" || got.List[2].Of != profile.OfRange || got.List[2].Rows[0].Cells[0].Value != 400_000 {
		t.Errorf("%s: %+v", rowsOf(got), got.List)
	}
}

// TestWithoutCPU: if the columns of the CPU were left out, names distinguish
// operators from kernels.
func TestWithoutCPU(t *testing.T) {
	const text = `
Profile stats for: training_step
--------------------  ------------  ------------
                Name      Self XPU    # of Calls
--------------------  ------------  ------------
     model_inference       0.000us             1
        aten::conv2d     100.000us             1
gen_conv<float>::run      60.000us             1
        conv_reorder      40.000us             1
--------------------  ------------  ------------
Self XPU time total: 100.000us
`
	got := read(t, text)
	if rowsOf(got) != "2 rows, 2 rows" || got.List[1].Name != "key_averages.xpu" || got.List[1].Rows[0].Name != "gen_conv<float>::run" {
		t.Errorf("%s: %+v", rowsOf(got), got.List)
	}
	if title := got.List[0].Title; title != "Profile stats for: training_step: operators" {
		t.Errorf("the title is %q", title)
	}
}

// TestPatience: a rule without a header and a table without an end do not keep
// the Finder open for the rest of a log.
func TestPatience(t *testing.T) {
	f := NewFinder("in", Limits{})
	n := 0
	lines := func(text string) {
		for line := range strings.Lines(text) {
			n++
			f.Line(n, strings.TrimSuffix(line, "\n"))
		}
	}
	lines("----  ----\n")
	if !f.Open() {
		t.Error("it does not wait for a header")
	}
	lines(strings.Repeat("step\n", patience+1))
	if f.Open() {
		t.Error("it still waits for a header")
	}
	lines(strings.Join(strings.Split(small, "\n")[:5], "\n") + "\n")
	if !f.Open() {
		t.Error("it does not wait for rows")
	}
	lines(strings.Repeat("step\n", patience+1))
	if f.Open() {
		t.Error("it still waits for rows")
	}
	got := f.Tables()
	if rowsOf(got) != "1 rows" || got.Issues[0].Code != "table-unfinished" {
		t.Errorf("%s, %+v", rowsOf(got), got.Issues)
	}
}
