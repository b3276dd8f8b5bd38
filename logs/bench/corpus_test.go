package bench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/internal/textscan"
	"assay/logs"
)

func readJSON(t testing.TB, path string) *logs.Log {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, _ := f.ReadAt(head, 0)
	if !Sniff(head[:n]) {
		t.Errorf("%s: Sniff says no", path)
	}
	log, err := Read(f, path, logs.Limits{})
	if err != nil {
		t.Errorf("%s: %v", path, err)
	}
	return log
}

func readText(t testing.TB, path string) *logs.Log {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	finder := NewFinder(path, logs.Limits{})
	if _, err := textscan.Scan(f, finder); err != nil {
		t.Fatal(err)
	}
	return finder.Log()
}

// near reports whether two numbers differ by 0.1 % at most.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b)+1e-9 }

// reported returns the number of a result by the name of its producer, in the unit of the
// producer.
func reported(b *logs.Benchmark, as string) (float64, bool) {
	p := producerNamed(b.Producer)
	for _, f := range b.Metrics {
		if f.As == as {
			t, _ := p.find(as)
			return f.Value / t.factor, true
		}
	}
	return 0, false
}

// compare compares a result with what another program read of it.
func compare(t *testing.T, file string, got *logs.Benchmark, want map[string]any) (n int) {
	t.Helper()
	for name, v := range want {
		var number float64
		switch v := v.(type) {
		case float64:
			number = v
		case string:
			var err error
			if number, err = strconv.ParseFloat(v, 64); err != nil {
				if s := got.Setting(name); s != "" && !strings.HasPrefix(s, v) {
					t.Errorf("%s: %s is %q, want %q", file, name, s, v)
				}
				continue
			}
		default:
			continue
		}
		if s := got.Setting(name); s != "" {
			if x, _ := strconv.ParseFloat(s, 64); x != number && !near(x, number) {
				t.Errorf("%s: setting %s is %s, want %v", file, name, s, number)
			}
			n++
			continue
		}
		x, ok := reported(got, name)
		if !ok {
			t.Errorf("%s: %s is missing; want %v", file, name, number)
		} else if !near(x, number) {
			t.Errorf("%s: %s is %v, want %v", file, name, x, number)
		}
		n++
	}
	return n
}

// TestRealFiles: every number that another program reads of the results in real files is
// read, and is the same.
func TestRealFiles(t *testing.T) {
	dir := test.Corpus(t)
	files, numbers := 0, 0
	for file, raw := range test.Expected(t, `"inf"`) {
		var want struct {
			Tables []map[string]any `json:"bench_tables"`
			Rows   []map[string]any
		}
		kind, _, _ := strings.Cut(file, "/")
		if !slices.Contains([]string{"sglang_bench", "vllm_bench", "sglang_server"}, kind) {
			continue
		}
		if err := json.Unmarshal(raw, &want); err != nil {
			t.Fatal(err)
		}
		files++
		path := filepath.Join(dir, "series", file)
		rows := append(want.Tables, want.Rows...)
		var log *logs.Log
		if ext := filepath.Ext(file); ext == ".json" || ext == ".jsonl" {
			log = readJSON(t, path)
			if kind == "vllm_bench" {
				var row map[string]any
				if err := json.Unmarshal(raw, &row); err != nil {
					t.Fatal(err)
				}
				rows = []map[string]any{row}
			}
		} else {
			log = readText(t, path)
		}
		if len(log.Benchmarks) != len(rows) || len(log.Issues) > 0 {
			t.Errorf("%s: %d results, want %d; %+v", file, len(log.Benchmarks), len(rows), log.Issues)
			continue
		}
		for i := range rows {
			numbers += compare(t, file, &log.Benchmarks[i], rows[i])
		}
	}
	t.Logf("%d files, %d numbers", files, numbers)
	if files < 18 || numbers < 500 {
		t.Errorf("%d files and %d numbers were compared", files, numbers)
	}
}
