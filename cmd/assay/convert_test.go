package main

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"

	"assay/internal/test"
	"assay/summary"
)

// TestConvertTotals: the sums of a converted trace are those of its summary,
// whatever the stacks are.
func TestConvertTotals(t *testing.T) {
	gen := test.Files(t, filepath.Join("..", "..", "testdata", "gen", "*"))
	for _, file := range []string{"kineto/hta/trace_diff/control/control.json.gz", "formats/kineto/tracelens_h100_bert_small_memory_stack_modules.json.gz", "formats/kineto/tracelens_mi300_bert_small_memory_stack.json.gz"} {
		if path, ok := test.FindCorpus(t, file); ok {
			gen = append(gen, path)
		}
	}
	for _, path := range append(gen, filepath.Join("..", "..", "testdata", "torch113_cpu_mlp.json.gz")) {
		s, err := summary.Read(bytes.NewReader(outputOf(t, "summary", "--format", "json", path)), path)
		if err != nil {
			t.Fatal(err)
		}
		var count, ns, self int64
		for _, k := range s.Kernels {
			count, ns = count+k.Count, ns+k.TotalNS
		}
		for _, c := range s.Copies {
			count, ns = count+c.Count, ns+c.TotalNS
		}
		for _, sp := range s.Spans {
			self += sp.SelfNS
		}
		if len(s.Devices) > 0 {
			checkConverted(t, path, "gpu", count, ns)
			continue
		}
		checkConverted(t, path, "cpu", -1, self)
	}
}

// outputOf runs the command and returns what it prints.
func outputOf(t *testing.T, args ...string) []byte {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if status := run(env{strings.NewReader(""), &stdout, &stderr}, args); status != exitOK {
		t.Fatalf("%s: exit status %d: %s", args, status, stderr.String())
	}
	return stdout.Bytes()
}

// checkConverted reads both formats without our own readers. A count of -1 is
// not known.
func checkConverted(t *testing.T, path, value string, count, ns int64) {
	t.Helper()
	p, err := google.Parse(bytes.NewReader(outputOf(t, "convert", path, "--to", "pprof", "--value", value)))
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[string]int64)
	for _, s := range p.Sample {
		for i, v := range s.Value {
			sums[p.SampleType[i].Type+"/"+p.SampleType[i].Unit] += v
		}
	}
	if got := sums[value+"/nanoseconds"]; got != ns || ns == 0 {
		t.Errorf("%s: pprof has %d ns, the summary %d", path, got, ns)
	}
	if got := sums["count/count"]; got != count && count >= 0 {
		t.Errorf("%s: pprof has %d runs, the summary %d", path, got, count)
	}
	var folded int64
	for line := range strings.Lines(string(outputOf(t, "convert", path, "--to", "folded", "--value", value))) {
		number := line[strings.LastIndex(line, " ")+1:]
		n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
		if err != nil || n <= 0 {
			t.Fatalf("%s: %q", path, line)
		}
		folded += n
	}
	if folded != ns {
		t.Errorf("%s: folded stacks have %d ns, the summary %d", path, folded, ns)
	}
}

// FuzzConvert: any input is converted or refused; a profile is one to pprof's
// own reader, and text has a number in every line and steers no terminal.
func FuzzConvert(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > fuzzSize {
			return
		}
		for _, value := range []string{"gpu", "cpu"} {
			for _, to := range []string{"pprof", "folded"} {
				var out, talk bytes.Buffer
				status := run(env{bytes.NewReader(in), &out, &talk}, []string{"convert", "--to", to, "--value", value})
				checkTalk(t, status, out.String(), talk.String())
				switch {
				case status != exitOK:
				case to == "folded":
					checkFolded(t, out.String())
				default:
					if _, err := google.Parse(&out); err != nil {
						t.Errorf("%s: %v", value, err)
					}
				}
			}
		}
	})
}

func checkFolded(t *testing.T, text string) {
	t.Helper()
	if steers(text) {
		t.Errorf("control characters, or not UTF-8: %q", text)
	}
	for line := range strings.Lines(text) {
		i := strings.LastIndex(line, " ")
		if _, err := strconv.ParseInt(strings.TrimSuffix(line[i+1:], "\n"), 10, 64); err != nil || i <= 0 {
			t.Errorf("no folded stack: %q", line)
		}
	}
}
