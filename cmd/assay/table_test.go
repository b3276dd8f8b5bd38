package main

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze/nsysstats"
	"assay/internal/test"
	"assay/nsys/stats"
	"assay/report/nsystables"
	"assay/trace"
)

// printedTable takes a table that nsys stats printed apart. The dashes say where
// its columns are.
func printedTable(t *testing.T, lines []string) nsysstats.Table {
	t.Helper()
	banner := regexp.MustCompile(`^ \*\* (.*) \((\w+)\):$`).FindStringSubmatch(lines[0])
	if banner == nil || lines[1] != "" {
		t.Fatalf("no banner: %q", lines[:2])
	}
	table := nsysstats.Table{Title: banner[1], Name: banner[2]}
	dashes := regexp.MustCompile(`-+`).FindAllStringIndex(lines[3], -1)
	cells := func(line string) (out []string) {
		runes := []rune(line)
		for _, at := range dashes {
			out = append(out, string(runes[at[0]:at[1]]))
		}
		return out
	}
	for i, head := range cells(lines[2]) {
		c := nsysstats.Column{Head: strings.TrimSpace(head)}
		c.Text = slices.Contains([]string{"Name", "Operation", "Style", "Range"}, c.Head)
		if left := len(head) - len(strings.TrimLeft(head, " ")); i == 0 && left > 0 {
			t.Errorf("%s: title of the first column %q", table.Name, head)
		}
		table.Columns = append(table.Columns, c)
	}
	for _, line := range lines[4:] {
		row := cells(line)
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// corpusFiles returns the files of the corpus that match, or skips the test.
func corpusFiles(t *testing.T, pattern string) []string {
	t.Helper()
	return test.Files(t, filepath.Join(test.Corpus(t, "nsight"), pattern))
}

// printedTables returns the tables of what nsys stats printed, by name, and their
// lines.
func printedTables(t *testing.T, text string) (tables []nsysstats.Table, lines [][]string) {
	t.Helper()
	all := strings.Split(text, "\n")
	for i, line := range all {
		if !strings.HasPrefix(line, " ** ") {
			continue
		}
		end := i + 4
		for all[end] != "" {
			end++
		}
		tables, lines = append(tables, printedTable(t, all[i:end])), append(lines, all[i:end])
	}
	return tables, lines
}

// TestTextAsPrinted writes tables that nsys stats printed again: titles, dashes,
// gaps and padding are the same to the byte.
func TestTextAsPrinted(t *testing.T) {
	files := corpusFiles(t, "*/nsys_stats*.txt")
	seen := 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tables, lines := printedTables(t, string(b))
		for i, table := range tables {
			var out bytes.Buffer
			nsystables.WriteText(&out, &table)
			if diff := cmp.Diff(strings.Join(lines[i], "\n")+"\n", out.String()); diff != "" {
				t.Errorf("%s: %s: nsys(-) assay(+)\n%s", filepath.Base(file), table.Name, diff)
			}
			ours, ok := nsysstats.Find(table.Name)
			if !ok {
				t.Errorf("%s: %s is not known", filepath.Base(file), table.Name)
			}
			for _, made := range nsysstats.Tables(emptyTrace(t), []string{ours}, 1) {
				if made.Title != table.Title || !slices.Equal(made.Columns, table.Columns) {
					t.Errorf("%s: %q %v, want %q %v", ours, made.Title, made.Columns, table.Title, table.Columns)
				}
			}
			seen++
		}
	}
	if seen < 11 {
		t.Errorf("%d tables, want all 11", seen)
	}
}

// TestAgainstPrinted compares the reports on an export with those that nsys stats
// printed of another run of the same program, without NVTX: whatever does not
// depend on time is the same.
func TestAgainstPrinted(t *testing.T) {
	export := corpusFiles(t, "zx3xyy_assignment2-systems/result_2_7B_nvtx.sqlite")[0]
	b, err := os.ReadFile(filepath.Join(filepath.Dir(export), "nsys_stats.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	names := "cuda_api_sum,cuda_gpu_kern_sum,cuda_gpu_mem_time_sum,cuda_gpu_mem_size_sum"
	if got := run(env{strings.NewReader(""), &out, io.Discard}, []string{"summary", export, "--table", names}); got != exitOK {
		t.Fatalf("exit status %d", got)
	}
	facts := func(text string) (out []string) {
		tables, lines := printedTables(t, text)
		for i, table := range tables {
			switch table.Name {
			case "osrt_sum": // what the operating system does is never the same
			case "cuda_gpu_mem_size_sum":
				out = append(out, lines[i]...)
			default:
				for _, row := range table.Rows {
					out = append(out, table.Name+" "+row[2]+" "+row[8])
				}
			}
		}
		slices.Sort(out)
		return out
	}
	if diff := cmp.Diff(facts(string(b)), facts(out.String())); diff != "" {
		t.Errorf("nsys(-) assay(+)\n%s", diff)
	}
}

// TestTablesReadBack: what is printed is read as what nsys stats prints, with the
// same cells in each format.
func TestTablesReadBack(t *testing.T) {
	names := strings.Join(nsysstats.Names(), ",")
	input := filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz")
	rows := make(map[string]map[string][]string)
	for _, format := range []string{"text", "csv"} {
		var out bytes.Buffer
		if got := run(env{strings.NewReader(""), &out, io.Discard}, []string{"summary", input, "--table", names, "--format", format}); got != exitOK {
			t.Fatalf("%s: exit status %d", format, got)
		}
		tables, err := stats.Read(&out, "out", stats.Limits{})
		if err != nil {
			t.Fatal(format, err)
		}
		rows[format] = make(map[string][]string)
		for _, table := range tables.List {
			for _, r := range table.Rows {
				cells := []string{nsystables.Clip(r.Name)}
				for _, c := range r.Cells {
					cells = append(cells, fmt.Sprint(c))
				}
				rows[format][table.Name] = append(rows[format][table.Name], strings.Join(cells, " "))
			}
		}
		for _, name := range []string{"cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum", "nvtx_sum"} {
			if len(rows[format][name]) == 0 {
				t.Errorf("%s: no rows of %s; issues %v", format, name, tables.Issues)
			}
		}
		for _, is := range tables.Issues {
			if is.Code == "names-cut" && format == "text" {
				continue // as those of nsys are
			}
			t.Errorf("%s: %s: %s", format, is.Code, is.Help)
		}
	}
	if diff := cmp.Diff(rows["text"], rows["csv"]); diff != "" {
		t.Errorf("text(-) csv(+)\n%s", diff)
	}
}

// TestTableCSV: a single table is nothing but CSV, and whole: names are not cut.
func TestTableCSV(t *testing.T) {
	long := strings.Repeat("n", 150)
	in := `[{"ph":"X","cat":"kernel","name":"k<1, 2>(\"` + long + `\")","pid":0,"tid":7,"ts":0,"dur":5,"args":{"device":0,"stream":7}}]`
	var out bytes.Buffer
	if got := run(env{strings.NewReader(in), &out, io.Discard}, []string{"summary", "--table", "gpukernsum", "-f", "csv"}); got != exitOK {
		t.Fatalf("exit status %d", got)
	}
	rows, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := [][]string{
		{"Time (%)", "Total Time (ns)", "Instances", "Avg (ns)", "Med (ns)", "Min (ns)", "Max (ns)", "StdDev (ns)", "Name"},
		{"100.0", "5000", "1", "5000.0", "5000.0", "5000", "5000", "0.0", `k<1, 2>("` + long + `")`},
	}
	if diff := cmp.Diff(want, rows); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}

func emptyTrace(t *testing.T) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader("[]"), "empty", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}
