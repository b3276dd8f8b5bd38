package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/nsysgen"
)

// A field is one text of a document: the keys that lead to it, "[]" for the elements of lists. The text
// after the last "=" is a key itself.
type field string

// texts calls each for every text of a document and returns the document with the results.
func eachText(v any, at field, each func(field, string) string) any {
	switch v := v.(type) {
	case string:
		return each(at, v)
	case []any:
		for i := range v {
			v[i] = eachText(v[i], at+"[]", each)
		}
	case map[string]any:
		for key, value := range v {
			v[key] = eachText(value, at+"."+field(key), each)
		}
	}
	return v
}

// planter plants secrets into the texts of a document.
type planter struct {
	t   *testing.T
	rnd *rand.Rand
	all []planted
}

// into returns the document with a secret at the end of each text of the fields.
func (p planter) into(document []byte, fields map[field]bool) []byte {
	var v map[string]any
	if err := json.Unmarshal(document, &v); err != nil {
		p.t.Fatal(err)
	}
	schema := v["schema"]
	delete(v, "schema") // it comes first
	eachText(v, "", func(at field, text string) string {
		if fields[at] {
			text += " " + p.all[p.rnd.IntN(len(p.all))].text
		}
		return text
	})
	out, err := json.Marshal(v)
	if err != nil {
		p.t.Fatal(err)
	}
	return append(fmt.Appendf(nil, `{"schema": %q, `, schema), out[1:]...)
}

// withinText leaves out lines of .pgpass with patterns, which are secrets only as lines of their own.
func withinText(all []planted) []planted {
	return slices.DeleteFunc(all, func(p planted) bool { return strings.Contains(p.text, ":*:") && !strings.Contains(p.text, ".") })
}

// fieldsOf returns the fields of a document that have text.
func fieldsOf(t *testing.T, document []byte) (fields []field) {
	var v any
	if err := json.Unmarshal(document, &v); err != nil {
		t.Fatal(err)
	}
	seen := map[field]bool{}
	eachText(v, "", func(at field, text string) string { seen[at] = true; return text })
	for at := range seen {
		fields = append(fields, at)
	}
	slices.Sort(fields)
	return fields
}

// everywhere runs all commands that show what an input has, and looks at all that they print and write.
func (s *search) everywhere(path string) {
	dir := s.t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, args := range [][]string{
		{"summary", path}, {"summary", path, "-f", "md"}, {"summary", path, "-f", "md", "--brief"}, {"summary", path, "-f", "json"}, {"summary", path, "-f", "json", "--full"},
		{"report", path, "-o", in("report")}, {"report", path, "-o", in("svg"), "--picture-format", "svg"}, {"doctor", path}, {"doctor", path, "-f", "json"},
		{"diff", path, path}, {"diff", path, path, "-f", "json"}, {"diff", path, path, "-o", in("diff")}, {"check", path, "--baseline", path}, {"check", path, "--baseline", path, "-f", "junit"},
		{"merge", path, "-o", in("merged")}, {"convert", path, "--to", "folded"}, {"convert", path, "--to", "timeline"}, {"inspect", path, "--kernel", "*"},
		{"whatif", path, "--all"}, {"whatif", path, "-f", "json"},
		{"table", path, "all", "-f", "json", "-o", in("tables")},
		{"summary", path, "--by", "kernel"}, {"summary", path, "--table", "cuda_gpu_kern_sum,nvtx_sum", "-f", "csv"}, {"summary", path, "--save", in("saved")},
	} {
		s.run(args...)
	}
	s.files(dir)
}

// unplanted returns the summary of inputs as JSON.
func unplanted(t *testing.T, inputs ...string) string {
	t.Helper()
	s := newSearch(t, nil)
	status, out := s.run(append([]string{"summary", "-f", "json", "--full"}, inputs...)...)
	if status != exitOK {
		t.Fatalf("%q: exit status %d", inputs, status)
	}
	return out
}

// TestNoFieldOfSavedSummaries: no text of a summary that another program wrote, or a version that knew
// fewer forms of secrets, leads to a secret in an output.
func TestNoFieldOfSavedSummaries(t *testing.T) {
	seed := test.Seed(t)
	p := planter{t, rand.New(rand.NewPCG(seed, 11)), nil}
	p.all = withinText(plants(p.rnd))
	s := newSearch(t, p.all)
	testdata := func(parts ...string) string {
		return filepath.Join(append([]string{"..", "..", "testdata"}, parts...)...)
	}
	export := filepath.Join(t.TempDir(), "run.sqlite")
	if err := nsysgen.Write(export, nsysgen.Plan{Kernels: 500, Calls: true, Ranges: 3}); err != nil {
		t.Fatal(err)
	}
	kinds := map[string][]string{
		"trace": {testdata("gen", "llm_train_step.json.gz")}, "two": {testdata("gen", "comm_bound.json.gz"), testdata("gen", "host_bound.json.gz")}, "export": {export},
		"table": {testdata("torchprof", "SYNTHETIC_2.9_shapes_stack_flops_column_swap.txt")}, "stacks": {testdata("profilers", "cprofile.prof")}, "memory": {testdata("memory", "leak_oom.pickle.gz")},
		"serving": {testdata("guides", "sglang_serving.jsonl")}, "steps": {testdata("guides", "verl_train.log")}, "monitor": {testdata("guides", "dmon.txt")},
		"nccl": {testdata("guides", "nccl_info.log")}, "server": {testdata("guides", "sglang_server.log")},
	}
	tried := 0
	for kind, inputs := range kinds {
		document := []byte(unplanted(t, inputs...))
		path := filepath.Join(t.TempDir(), kind+".json")
		// A field of fixed words refuses others, so each is tried alone first.
		good := map[field]bool{}
		for i, at := range fieldsOf(t, document) {
			if i%test.Every(3) != 0 {
				continue
			}
			if err := os.WriteFile(path, p.into(document, map[field]bool{at: true}), 0o666); err != nil {
				t.Fatal(err)
			}
			if status, _ := s.run("summary", path, "-f", "json", "--full"); status == exitOK {
				good[at] = true
			}
		}
		if len(good) < 8/test.Every(3) {
			t.Errorf("%s: only %d fields may have any text", kind, len(good))
		}
		tried += len(good)
		if err := os.WriteFile(path, p.into(document, good), 0o666); err != nil {
			t.Fatal(err)
		}
		if status, out := s.run("summary", path, "-f", "json"); status != exitOK || !strings.Contains(out, "secrets-masked") {
			_, _, why := s.said("summary", path)
			t.Errorf("%s: exit status %d, or nothing was masked: %s", kind, status, why)
		}
		s.everywhere(path)
	}
	t.Logf("%d fields", tried)
}

// TestNoFieldOfInputs: no text of an input leads to a secret in an output, although readers cut, split
// and shorten what they read.
func TestNoFieldOfInputs(t *testing.T) {
	seed := test.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 12))
	all := withinText(plants(rnd))
	inJSON := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Trim(string(b), `"`)
	}
	oneLine := func(s string) string { return strings.ReplaceAll(s, "\n", " ") }
	label := func(s string) string { return strings.NewReplacer("\\", `\\`, "\n", `\n`, `"`, `\"`).Replace(s) }
	forms := map[string]struct {
		write  func(string) string
		shapes []string
	}{
		"frames.json":   {inJSON, []string{`{"traceEvents": [{"ph": "X", "cat": "python_function", "name": "/home/u/%s(12): fwd", "pid": 1, "tid": 1, "ts": 0, "dur": 100, "args": {"Python id": 1}}, {"ph": "X", "cat": "kernel", "name": "a/b::%s", "pid": 0, "tid": 7, "ts": 30, "dur": 25, "args": {"device": 0, "stream": 7}}]}`}},
		"timers.jsonl":  {inJSON, []string{`{"step": 1, "loss": 1.0, "timing/step": 9.0, "timing/%s": 3.0, "perf/%s/x": 2.0, "timing_s/%s": 1.0}`}},
		"serving.jsonl": {inJSON, []string{`{"backend": "vllm", "model_id": "%s", "tag": "%s", "dataset_name": "%s", "duration": 9.0, "completed": 10, "request_throughput": 1.1, "mean_ttft_ms": 4.5, "median_ttft_ms": 4.0, "p99_ttft_ms": 9.0, "mean_tpot_ms": 9.0}`}},
		"metrics.prom":  {label, []string{"# TYPE g gauge\ng{a=\"%s\"} 4.5\n# TYPE DCGM_FI_DEV_GPU_UTIL gauge\nDCGM_FI_DEV_GPU_UTIL{gpu=\"0\",Hostname=\"%s\",pod=\"%s\"} 55"}},
		"train.log": {oneLine, []string{"step:1 - timing_s/gen:3.0 - timing_s/%s:1.0 - timing_s/step:9.0", "%s", "INFO [%s] x",
			"INFO 01-02 03:04:05 [utils.py:233] non-default args: {'model': 'm', 'x': '%s', 'seed': 1}", "server_args=ServerArgs(model_path='m', tag='%s', tp_size=2)",
			"Namespace(model='m', x='%s', y=%s)", "{'loss': 1.0, '%s': 2.0}", "trainer.%s=4 data.x=%s", "  x ........ %s", "iteration 1/ 10 | %s: 2.0 | lm loss: 1.0 |", "[Step 3] %s: 2.0 time: 3.0 s"}},
		"out.folded": {func(s string) string { return strings.ReplaceAll(oneLine(s), ";", ":") }, []string{"main;%s;leaf 5"}},
	}
	s := newSearch(t, all)
	for name, form := range forms {
		var text strings.Builder
		for i, p := range all {
			if i%test.Every(4) != 0 && strings.HasSuffix(name, ".json") {
				continue
			}
			if written := form.write(p.text); !strings.Contains(p.text, "\n") || strings.Contains(written, `\n`) {
				for _, shape := range form.shapes {
					fmt.Fprintln(&text, strings.ReplaceAll(shape, "%s", written))
				}
			}
			if strings.HasSuffix(name, ".json") {
				path := filepath.Join(t.TempDir(), name)
				if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
					t.Fatal(err)
				}
				s.run("summary", path, "-f", "json")
				text.Reset()
			}
		}
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		if text.Len() > 0 {
			s.everywhere(path)
		}
	}
}

// TestNoFlagShowsItsValue: no message on a wrong value of a flag shows a secret that the user typed.
func TestNoFlagShowsItsValue(t *testing.T) {
	seed := test.Seed(t)
	rnd := rand.New(rand.NewPCG(seed, 13))
	all := slices.DeleteFunc(withinText(plants(rnd)), func(p planted) bool { return strings.ContainsAny(p.text, "\x00") })
	s := newSearch(t, all)
	flag := regexp.MustCompile(`(?m)^ +(?:-\w, )?(--[a-z-]+)`)
	input, err := filepath.Abs(filepath.Join("..", "..", "testdata", "gen", "cpu_only.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, args := range [][]string{ // a list is split before its parts are quoted in an error
		{"summary", input, "--where", "metadata=(('authorization','SkVTPzu99q4V3VAC'),)"}, {"report", input, "--set-peak", `{"d": "SkVTPzu99q4V3VAC", "kty": "RSA"}`},
		{"report", input, "--set-peak", "password=SkVTPz,u99q4V3VAC"}, {"summary", input, "--save", "https://bob:p/u99q4V3VAC/1@h/x", "--jobs", "x"}, {"report", input, "-o", "/dev/null/password:\n  u99q4V3VAC/x"}, {"check", input, "--software", `password: 'SkV"TPzu99q4V3VAC'`},
	} {
		if status, _, stderr := newSearch(t, nil).said(args...); status != exitUsage && status != exitTrouble || strings.Contains(stderr, "u99q4V3VAC") {
			t.Errorf("%q: exit status %d, %s", args, status, stderr)
		}
	}
	tried := 0
	for _, c := range commands() {
		if c.name == "open" { // it waits for a browser
			continue
		}
		_, help := s.run("help", c.name)
		for _, m := range flag.FindAllStringSubmatch(help, -1) {
			for range 4 {
				value := all[rnd.IntN(len(all))].text
				s.run(c.name, input, m[1], value)
				s.run(c.name, input, m[1]+"=x="+value)
				s.run(c.name, input, m[1], "kernels."+value)
				tried++
			}
		}
	}
	if tried < 200 {
		t.Errorf("only %d values were tried", tried)
	}
}
