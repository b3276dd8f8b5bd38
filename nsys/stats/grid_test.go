package stats

import (
	"fmt"
	"strings"
	"testing"
)

// TestGrid: a drawn table has the rows of the same table in text, with or without the lines of nsys
// before it and text around it. A "|" within a name stays.
func TestGrid(t *testing.T) {
	const table = `+----------+-----------------+-----------+----------------------+
| Time (%) | Total Time (ns) | Num Calls | Name                 |
+----------+-----------------+-----------+----------------------+
|     60.0 |           6,000 |         3 | cudaMemcpy           |
|     40.0 |           4,000 |         2 | cudaLaunch|Kernel    |
+----------+-----------------+-----------+----------------------+
`
	for _, text := range []string{
		table, "# Notes\n\n" + table + "The copies take 60 %.\n",
		"Processing [a.sqlite] with [/x/reports/cuda_api_sum.py]...\n\n ** CUDA API Summary (cuda_api_sum):\n\n" + table + "\n" + table,
	} {
		if !Sniff([]byte(text)) {
			t.Errorf("not recognized:\n%s", text)
		}
		out, err := Read(strings.NewReader(text), "notes.md", Limits{})
		if err != nil {
			t.Error(err)
			continue
		}
		if want := strings.Count(text, "Num Calls"); len(out.List) != want {
			t.Errorf("%d tables, want %d", len(out.List), want)
		}
		for _, table := range out.List {
			var rows []string
			for _, r := range table.Rows {
				rows = append(rows, fmt.Sprintf("%s %d %d", r.Name, r.Cells[0].Value, r.Cells[1].Value))
			}
			if got := strings.Join(rows, "; "); got != "cudaMemcpy 6000 3; cudaLaunch|Kernel 4000 2" {
				t.Errorf("rows %s", got)
			}
		}
		for _, is := range out.Issues {
			if is.Code != "report-assumed" {
				t.Errorf("issue %s: %s", is.Code, is.Help)
			}
		}
	}
	if Sniff([]byte("+------+-----+\n| name | age |\n+------+-----+\n| Anna | 31  |\n+------+-----+\n")) {
		t.Error("another table is taken for one of nsys")
	}
	f := NewFinder("run.log", Limits{})
	for i, line := range strings.Split("step 1\n"+table+"step 2\n", "\n") {
		if f.Open() || f.Hint([]byte(line)) {
			f.Line(i+1, line)
		}
	}
	if list := f.Tables().List; len(list) != 1 || len(list[0].Rows) != 2 {
		t.Errorf("in a log: %v", list)
	}
}
