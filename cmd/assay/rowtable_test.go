package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/tabular"
	"assay/internal/test"
	"assay/summary"
	"assay/summary/columns"
)

// capturesOf returns the files below testdata and, where there is one, the corpus.
func capturesOf(t *testing.T) (files []string) {
	t.Helper()
	roots := []string{filepath.Join("..", "..", "testdata")}
	if corpus, ok := test.FindCorpus(t); ok {
		roots = append(roots, corpus)
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".go") {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestTablesAgree: every table of every capture has the rows of the JSON, and each column the numbers that the JSON has
// at its path, with their sums and how many there are.
func TestTablesAgree(t *testing.T) {
	kinds, every := map[string]bool{}, test.Every(5)
	for i, path := range capturesOf(t) {
		if i%every != 0 {
			continue
		}
		var out bytes.Buffer
		if run(env{nil, &out, io.Discard}, []string{"summary", path, "--format", "json", "--full"}) != exitOK {
			continue // malformed files are inputs of other tests
		}
		var all map[string]any
		if err := json.Unmarshal(out.Bytes(), &all); err != nil {
			t.Fatal(err)
		}
		var s summary.Summary
		if err := json.Unmarshal(out.Bytes(), &s); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, src := range columns.Sources() {
			rows := memberRows(all, src.Name)
			if len(rows) != src.Len(&s) {
				t.Errorf("%s: the table %s has %d rows, the JSON has %d", path, src.Name, src.Len(&s), len(rows))
			}
			if len(rows) > 0 {
				kinds[src.Name] = true
				checkTable(t, path, src.Table(&s), rows)
			}
		}
	}
	if len(kinds) < 20 {
		t.Errorf("only %d kinds of rows were compared: %v", len(kinds), slices.Sorted(maps.Keys(kinds)))
	}
}

// memberRows returns the rows of a table in the JSON.
func memberRows(all map[string]any, name string) []any {
	if rest, ok := strings.CutPrefix(name, "efficiency_"); ok {
		all, _ = all["efficiency"].(map[string]any)
		name = rest
	}
	rows, _ := all[name].([]any)
	return rows
}

// checkTable compares the numbers of a table with those of the JSON, column by column.
func checkTable(t *testing.T, path string, table tabular.Table, rows []any) {
	t.Helper()
	want := map[string][2]float64{} // count and sum of the numbers by path
	var collect func(v any, name string)
	collect = func(v any, name string) {
		switch v := v.(type) {
		case float64:
			w := want[name]
			want[name] = [2]float64{w[0] + 1, w[1] + v}
		case []any:
			for _, e := range v {
				collect(e, name)
			}
		case map[string]any:
			for key, e := range v {
				collect(e, strings.TrimPrefix(name+"_"+key, "_"))
			}
		}
	}
	for _, r := range rows {
		collect(r, "")
	}
	got := map[string][2]float64{}
	err := table.Each(func(row []tabular.Cell) bool {
		for i, c := range table.Columns {
			cells := row[i].List
			if !c.List {
				cells = row[i : i+1]
			}
			for _, cell := range cells {
				if cell.Known && (c.Type == tabular.Int || c.Type == tabular.Float) {
					name := strings.ReplaceAll(c.Name, "__", "_") // two columns may have one path
					g := got[name]
					got[name] = [2]float64{g[0] + 1, g[1] + float64(cell.Int) + cell.Float}
				}
			}
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range table.Columns {
		if c.Type != tabular.Int && c.Type != tabular.Float || strings.Contains(c.Name, "activity") || strings.HasPrefix(c.Name, "total_") || table.Name == "inputs" && c.Name == "input" {
			continue // the cells of activities have another form in the JSON, and inputs no number
		}
		name := strings.ReplaceAll(c.Name, "__", "_")
		w, g := want[name], got[name]
		if w[0] != g[0] || w[1] != g[1] && diffShare(w[1], g[1]) > 1e-9 {
			t.Errorf("%s: column %s of %s: %v numbers with the sum %v, the JSON has %v with %v", path, c.Name, table.Name, g[0], g[1], w[0], w[1])
		}
	}
}

func diffShare(a, b float64) float64 { return max(a-b, b-a) / max(a, -a, 1) }

// TestActivities: the cells of a window are in the columns of their classes, and add up to the window.
func TestActivities(t *testing.T) {
	d := summary.Device{WindowNS: 15}
	d.Activity[0], d.Activity[summary.ClassCompute], d.Activity[summary.ClassComm|summary.ClassCompute] = 8, 4, 3
	s := &summary.Summary{Devices: []summary.Device{d}, Steps: []summary.Step{{Source: summary.SourceLog, WallNS: 5}}}
	table := tableNamed("devices").Table(s)
	_ = table.Each(func(row []tabular.Cell) bool {
		for name, want := range map[string]int64{"activity_idle_ns": 8, "activity_compute_ns": 4, "activity_comm_compute_ns": 3, "activity_copy_ns": 0,
			"budget_compute_ns": 7, "budget_idle_ns": 8, "window_ns": 15} {
			if got := row[table.Find(name)]; !got.Known || got.Int != want {
				t.Errorf("%s is %+v, want %d", name, got, want)
			}
		}
		return true
	})
	logged := tableNamed("steps").Table(s)
	_ = logged.Each(func(row []tabular.Cell) bool {
		if row[logged.Find("activity_idle_ns")].Known || row[logged.Find("budget_idle_ns")].Known || row[logged.Find("wall_ns")].Int != 5 {
			t.Error("a step of a log has an activity")
		}
		return true
	})
}

func tableNamed(name string) columns.Source {
	all := columns.Sources()
	return all[slices.IndexFunc(all, func(s columns.Source) bool { return s.Name == name })]
}

// TestColumnNames: the columns of each table have different names, which SQL takes without quotes, and each table says
// what its rows are.
func TestColumnNames(t *testing.T) {
	for _, src := range columns.Sources() {
		seen := map[string]bool{}
		for _, c := range src.Columns() {
			if seen[c.Name] || strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz_0123456789") != "" || c.Name == "" {
				t.Errorf("%s: the column %q", src.Name, c.Name)
			}
			seen[c.Name] = true
		}
		if src.Says == "" || (src.Kind == nil) != (src.Plain != "") {
			t.Errorf("%s does not say what its rows are, or why they are not added up", src.Name)
		}
	}
}

// tableCSV runs the command and returns the lines that it prints.
func tableCSV(t *testing.T, args ...string) [][]string {
	t.Helper()
	var out, messages bytes.Buffer
	if got := run(env{nil, &out, &messages}, append([]string{"table"}, args...)); got != exitOK {
		t.Fatalf("%q: exit status %d: %s", args, got, messages.String())
	}
	lines, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

// TestWhereComplement: rows that meet a condition and those that do not are all rows, each once and in their order.
func TestWhereComplement(t *testing.T) {
	capture := filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz")
	for table, conditions := range map[string][]string{
		"kernels": {"category=gemm", "total_ns>500us and not op~mm", "count<=4 or name=*norm*", "stream=7*", "launched_by~mm"},
		"ops":     {"gpu_self_ns>=1", "cpu_total_ns<1ms, launched!=0"},
		"copies":  {"bytes>1MiB", "class=copy"},
		"steps":   {"number=3 or number=5"},
		"events":  {"kind=kernel and dur_ns>100us", "operator~mm", "step=3 or bytes>=0"},
	} {
		whole := tableCSV(t, capture, table)
		for _, condition := range conditions {
			some, others := tableCSV(t, capture, table, "--where", condition), tableCSV(t, capture, table, "--where", "not ("+condition+")")
			if len(some) == 1 || len(others) == 1 {
				t.Errorf("%s where %s: %d and %d rows, want both", table, condition, len(some)-1, len(others)-1)
			}
			i, j := 1, 1
			for _, line := range whole[1:] {
				switch {
				case i < len(some) && slices.Equal(line, some[i]):
					i++
				case j < len(others) && slices.Equal(line, others[j]):
					j++
				default:
					t.Fatalf("%s where %s: neither side has %q", table, condition, line)
				}
			}
			if i != len(some) || j != len(others) {
				t.Errorf("%s where %s: %d and %d rows are left over", table, condition, len(some)-i, len(others)-j)
			}
		}
	}
}

// TestTableGroups: sums by keys are those of "assay summary --by", and events add up to the rows of the summary.
func TestTableGroups(t *testing.T) {
	capture := filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz")
	column := func(lines [][]string, name string) (out []string) {
		at := slices.Index(lines[0], name)
		if at < 0 {
			t.Fatalf("no column %s in %q", name, lines[0])
		}
		for _, line := range lines[1:] {
			out = append(out, line[at])
		}
		slices.Sort(out)
		return out
	}
	for _, tc := range []struct{ table, by, where, measure string }{
		{"kernels", "category", "count>0", "total_ns"}, {"kernels", "op,stream", "category=gemm or category=softmax", "max_ns"},
		{"kernels", "name", "total_ns>100us", "mean_ns"}, {"ops", "operator", "gpu_self_ns>0", "gpu_total_ns"},
		{"idle", "owner,state", "ns>=0", "ns"}, {"calls", "kind", "not kind=sync", "idle_ns"}, {"passes", "pass", "gpu_ns>0", "mean_ns"},
		{"modules", "layer", "gpu_total_ns>0", "gpu_self_ns"}, {"copies", "copy", "total_ns>0", "min_ns"},
	} {
		got := tableCSV(t, capture, tc.table, "--by", tc.by, "--where", tc.where)
		var out bytes.Buffer
		by := kindOf(tc.table) + ":" + strings.ReplaceAll(tc.by, ",", ","+kindOf(tc.table)+":")
		if run(env{nil, &out, os.Stderr}, []string{"summary", capture, "--by", by, "--where", tc.where, "--format", "csv"}) != exitOK {
			t.Fatalf("summary --by %s --where %s", by, tc.where)
		}
		want, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if g, w := column(got, tc.measure), column(want, tc.measure); !slices.Equal(g, w) || len(g) == 0 {
			t.Errorf("%s by %s: %s is %q, summary has %q", tc.table, tc.by, tc.measure, g, w)
		}
	}
	kernels, work := tableCSV(t, capture, "kernels", "--by", "category,stream"), tableCSV(t, capture, "events", "--where", "kind=kernel", "--by", "category,stream")
	if g, w := column(work, "dur_ns"), column(kernels, "total_ns"); !slices.Equal(g, w) {
		t.Errorf("events of kernels have %q, the table of kernels %q", g, w)
	}
	if g, w := column(work, "rows"), column(kernels, "count"); !slices.Equal(g, w) {
		t.Errorf("there are %q events of kernels, the table of kernels has %q", g, w)
	}
	launched, ops := tableCSV(t, capture, "events", "--where", "kind=kernel", "--by", "operator"), tableCSV(t, capture, "kernels", "--by", "op")
	if g, w := column(launched, "dur_ns"), column(ops, "total_ns"); !slices.Equal(g, w) {
		t.Errorf("events by operator have %q, kernels %q", g, w)
	}
}

// TestEventsAgree: the events of kernels and copies of every trace add up to the rows of the summary, for each stream and
// category, and each with the operator that launched it.
func TestEventsAgree(t *testing.T) {
	compared := 0
	for i, path := range capturesOf(t) {
		if i%test.Every(12) != 0 {
			continue
		}
		for _, side := range []struct{ table, condition, by, rows string }{
			{"kernels", "kind=kernel", "rank,device,stream,class,category", "rank,device,stream,class,category"},
			{"kernels", "kind=kernel", "rank,operator", "rank,op"},
			{"copies", "kind=memcpy or kind=memset", "rank,device,stream,class", "rank,device,stream,class"},
		} {
			var single, sums bytes.Buffer
			if run(env{nil, &single, io.Discard}, []string{"table", path, "events", "--where", side.condition, "--by", side.by}) != exitOK ||
				run(env{nil, &sums, io.Discard}, []string{"table", path, side.table, "--by", side.rows}) != exitOK {
				break // no trace, or a malformed one
			}
			got, want := keyed(t, &single, "dur_ns", "rows"), keyed(t, &sums, "total_ns", "count")
			if !maps.Equal(got, want) {
				t.Errorf("%s: events of %s by %s: %v\nwant %v", path, side.table, side.by, got, want)
			}
			if len(want) > 0 {
				compared++
			}
		}
	}
	if compared < 5 {
		t.Errorf("only %d sums were compared", compared)
	}
}

// keyed returns two columns of a CSV by its first columns, up to the one of the name rows.
func keyed(t *testing.T, in io.Reader, columns ...string) map[string]string {
	t.Helper()
	lines, err := csv.NewReader(in).ReadAll()
	if err != nil || len(lines) == 0 {
		t.Fatalf("no table: %v", err)
	}
	out := map[string]string{}
	for _, line := range lines[1:] {
		var values []string
		for _, name := range columns {
			values = append(values, line[slices.Index(lines[0], name)])
		}
		out[strings.Join(line[:slices.Index(lines[0], "rows")], "|")] = strings.Join(values, " ")
	}
	return out
}

// kindOf returns the name of the description of a table.
func kindOf(table string) string { return tableNamed(table).Kind.Name }

// TestTableFile: --output with the extension of a format is the file of one table; a directory of that name and other
// extensions are directories.
func TestTableFile(t *testing.T) {
	capture, dir := filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz"), t.TempDir()
	is := filepath.Join(dir, "is.csv")
	if err := os.Mkdir(is, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		args  string
		file  string // that is written; "" if the arguments are wrong
		start string
	}{
		{"kernels -o k.csv", "k.csv", "name,"}, {"events -o new/ev.CSV", "new/ev.CSV", "input,"}, {"steps -o s.parquet", "s.parquet", "PAR1"},
		{"kernels -o k.json", "k.json", "{"}, {"kernels -o k.md", "k.md", "|"}, {"kernels -o k.csv --format csv", "k.csv", "name,"},
		{"kernels -o is.csv", "is.csv/kernels.csv", "name,"}, {"kernels -o tables.v2", "tables.v2/kernels.csv", "name,"},
		{"kernels,steps -o k.csv", "", "several"}, {"all -o k.csv", "", "several"}, {"kernels -o k.csv --format parquet", "", "--format is parquet"},
	} {
		args := append([]string{"table", capture}, strings.Fields(tc.args)...)
		args[slices.Index(args, "-o")+1] = filepath.Join(dir, args[slices.Index(args, "-o")+1])
		var messages bytes.Buffer
		status := run(env{nil, io.Discard, &messages}, args)
		if tc.file == "" {
			if status != exitUsage || !strings.Contains(messages.String(), tc.start) {
				t.Errorf("%s: exit status %d, %s", tc.args, status, messages.String())
			}
			continue
		}
		got, err := os.ReadFile(filepath.Join(dir, tc.file))
		if status != exitOK || err != nil || !bytes.HasPrefix(bytes.TrimSpace(got), []byte(tc.start)) {
			t.Errorf("%s: exit status %d, %v, %s\n%.80s", tc.args, status, err, messages.String(), got)
		}
	}
}

// TestTableLists: every table has one line, with its number of columns, and a run with traces has the table of events.
func TestTableLists(t *testing.T) {
	printed := func(args ...string) []string {
		var out bytes.Buffer
		if run(env{nil, &out, os.Stderr}, append([]string{"table"}, args...)) != exitOK {
			t.Fatalf("table %q failed", args)
		}
		return strings.Split(strings.TrimSpace(out.String()), "\n")
	}
	if lines := printed("--list"); len(lines) != len(columns.Sources())+1 {
		t.Errorf("%d lines for %d tables", len(lines), len(columns.Sources())+1)
	}
	if lines := printed("--list", "steps"); len(lines) != len(tableNamed("steps").Columns())+1 {
		t.Errorf("%d lines for the columns of steps:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	has := func(lines []string) bool {
		return slices.ContainsFunc(lines, func(l string) bool { return strings.Fields(l)[1] == "events" })
	}
	if !has(printed(filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz"))) {
		t.Error("a trace has no table of events")
	}
}
