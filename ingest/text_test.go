package ingest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/logs"
	"assay/trace"
)

// nsysTable is what nsys prints behind a run with --stats=true.
const nsysTable = `Processing [report1.sqlite] with [/opt/nsys/reports/cuda_gpu_kern_sum.py]...

 ** CUDA GPU Kernel Summary (cuda_gpu_kern_sum):

 Time (%)  Total Time (ns)  Instances  Avg (ns)  Med (ns)  Min (ns)  Max (ns)  StdDev (ns)   Name
 --------  ---------------  ---------  --------  --------  --------  --------  -----------  ------
     75.0              300          3     100.0     100.0       100       100          0.0  gemm_kernel
     25.0              100          1     100.0     100.0       100       100          0.0  add_kernel

`

func logged(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "2025-01-22 15:37:%02d INFO step %d loss 2.31 ERROR: not really - but - dashes --- here\n", i%60, i)
	}
	return b.String()
}

func loadString(t *testing.T, text string) (*Input, error) {
	t.Helper()
	f, err := Open(Stdin, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return Load(f, trace.SelectAll())
}

// TestText: tables are found wherever they are, those of several tools in one
// pass, and each knows its line.
func TestText(t *testing.T) {
	torch, err := os.ReadFile("../testdata/torchprof/cuda.txt")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text, format string
		tables       string
	}{
		"torch":          {string(torch), "torch-tables", "torch key_averages 1 6, torch key_averages.cuda 1 4"},
		"torch in a log": {logged(9000) + string(torch) + "\n" + logged(9000), "torch-tables", "torch key_averages 9001 6, torch key_averages.cuda 9001 4"},
		"nsys in a log":  {logged(9000) + nsysTable + logged(3), "nsys-stats", "nsys cuda_gpu_kern_sum 0 2"},
		"both":           {logged(100) + string(torch) + "\n" + logged(500) + nsysTable, "text", "torch key_averages 101 6, torch key_averages.cuda 101 4, nsys cuda_gpu_kern_sum 0 2"},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := loadString(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, table := range in.Tables.List {
				tool := table.Tool
				if tool == "" {
					tool = in.Tables.Tool
				}
				got = append(got, fmt.Sprintf("%s %s %d %d", tool, table.Name, table.Line, len(table.Rows)))
			}
			if s := strings.Join(got, ", "); s != tt.tables || in.Format != tt.format || in.Bytes != int64(len(tt.text)) || !in.Tables.Complete {
				t.Errorf("%s: %s, %+v; want %s: %s", in.Format, s, in, tt.format, tt.tables)
			}
			for _, is := range in.Tables.Issues {
				if is.Code != "names-cut" {
					t.Errorf("issue %+v", is)
				}
			}
		})
	}
}

// TestTextWithout: a text without any table is refused, however long it is, with what would make its values readable.
func TestTextWithout(t *testing.T) {
	for name, text := range map[string]string{
		"a log": logged(20000), "rules": strings.Repeat("----  ----\nName  Size\n----  ----\na  1\n", 1000), "one line": strings.Repeat("x", 3<<20),
	} {
		_, err := loadString(t, text)
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "--series-forms") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTextBroken: what was read before an input broke off stands, and a limit
// ends it.
func TestTextBroken(t *testing.T) {
	torch, err := os.ReadFile("../testdata/torchprof/cuda.txt")
	if err != nil {
		t.Fatal(err)
	}
	text := string(torch) + logged(5000)
	for name, tt := range map[string]struct {
		code string
		open func() (*File, error)
		sel  func(*trace.Select)
	}{
		"gzip cut": {"input-truncated", func() (*File, error) {
			stored := gz(t, text)
			return Open(Stdin, strings.NewReader(string(stored[:len(stored)-20])))
		}, nil},
		"garbage behind gzip": {"trailing-data", func() (*File, error) {
			return Open(Stdin, strings.NewReader(string(gz(t, text))+"<garbage>"))
		}, nil},
		"a limit": {"input-limit", func() (*File, error) { return Open(Stdin, strings.NewReader(text)) }, func(s *trace.Select) { s.Limits.Input = int64(len(torch)) + 50 }},
	} {
		t.Run(name, func(t *testing.T) {
			f, err := tt.open()
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			sel := trace.SelectAll()
			if tt.sel != nil {
				tt.sel(&sel)
			}
			in, err := Load(f, sel)
			if err != nil {
				t.Fatal(err)
			}
			codes := ""
			for _, is := range in.Tables.Issues {
				codes += is.Code + " "
			}
			if len(in.Tables.List) != 2 || in.Tables.Complete != (tt.code == "trailing-data") || !strings.Contains(codes, tt.code) {
				t.Errorf("%d tables, complete %v, issues %s", len(in.Tables.List), in.Tables.Complete, codes)
			}
		})
	}
}

// TestTextInDirectory: a file that begins with a table is meant, a log is not.
func TestTextInDirectory(t *testing.T) {
	torch, err := os.ReadFile("../testdata/torchprof/SYNTHETIC_interleaved_log.txt")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"profiler_out_0.txt": string(torch), "train.log": logged(100), "notes.txt": "----  ----\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got := Paths([]string{dir})
	if len(got.Files) != 1 || filepath.Base(got.Files[0]) != "profiler_out_0.txt" || got.Others != 2 {
		t.Errorf("%+v", got)
	}
}

// TestMixedLines: the lines of tables, monitors and logs in a random order, among brackets, dashes and blank lines, are
// read to their end: no reader of a text relies on what follows a line that it knows.
func TestMixedLines(t *testing.T) {
	lines := strings.Split(nsysTable, "\n")
	files := test.Files(t, "../testdata/torchprof/*.txt", "../logs/bench/testdata/*", "../logs/monitor/testdata/*")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := strings.Split(string(text), "\n")
		lines = append(lines, all[:min(40, len(all))]...)
	}
	for range len(lines) / 20 {
		lines = append(lines, "[", "[{", "]", "{", "}", "", "-----  ----  ---", "+----+----+", "[{\"a\": 1},")
	}
	rnd := rand.New(rand.NewPCG(test.Seed(t), 1))
	for range 300 / test.Every(5) {
		var text strings.Builder
		for range 400 {
			text.WriteString(lines[rnd.IntN(len(lines))] + "\n")
		}
		if in, err := loadString(t, "log:\n"+text.String()); (in == nil) == (err == nil) {
			t.Errorf("%v, %+v", err, in)
		}
	}
}

// TestLoneBar: a log of nothing but a progress bar without a text has its updates as steps. In a log with results of a
// benchmark the same bar counts requests, and has none; bars of downloads alone are refused with their names.
func TestLoneBar(t *testing.T) {
	var bar strings.Builder
	for n := range 101 {
		fmt.Fprintf(&bar, "\r%3d%%|%-10s| %d/100 [%02d:%02d<%02d:%02d,  3.00s/it]", n, strings.Repeat("#", n/10), n, 3*n/60, 3*n%60, (300-3*n)/60, (300-3*n)%60)
	}
	const result = "\n============ Serving Benchmark Result ============\nSuccessful requests:                     100\nBenchmark duration (s):                  300.00\n" +
		"Request throughput (req/s):              0.33\nOutput token throughput (tok/s):         85.00\nMean TTFT (ms):                          900.00\n" +
		"==================================================\n"
	for name, tc := range map[string]struct {
		text  string
		steps bool
		err   string
	}{
		"alone.log":     {bar.String() + "\n", true, ""},
		"benchmark.log": {bar.String() + result, false, ""},
		"download.log":  {strings.ReplaceAll(bar.String(), "\r", "\rDownloading shards: ") + "\n", false, "progress bars (Downloading shards)"},
	} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(tc.text), 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in, err := Load(f, trace.Select{})
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		steps := slices.ContainsFunc(in.Series.Series, func(s logs.Series) bool { return s.Metric.Name == "step.time" })
		if steps != tc.steps || len(in.Series.Course.Beats) > 0 != tc.steps {
			t.Errorf("%s: steps %v, want %v", name, steps, tc.steps)
		}
	}
}
