package compile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"assay/internal/test"
)

// line returns a record of a log, with the lines of its payload.
func line(object string, payload ...string) string {
	out := "V0302 10:20:30.123000 42 torch/_dynamo/utils.py:9] " + object + "\n"
	for _, p := range payload {
		out += "\t" + p + "\n"
	}
	return out
}

func of(frame, again int, members string) string {
	return fmt.Sprintf(`{%s, "frame_id": %d, "frame_compile_id": %d, "attempt": 0}`, members, frame, again)
}

func measured(name string, file string, at int, more string) string {
	return fmt.Sprintf(`"compilation_metrics": {"co_name": %q, "co_filename": %q, "co_firstlineno": %d, %s}`, name, file, at, more)
}

const start = `"dynamo_start": {"stack": [{"line": 1, "name": "<module>", "filename": 0}, {"line": 30, "name": "step", "filename": 0}]}`

func logText() string {
	return line(`{"str": ["/srv/app.py", 0]}`) +
		line(of(0, 0, start)) +
		line(of(0, 0, `"artifact": {"name": "dynamo_graph_break_reason", "encoding": "string"}`),
			"Graph break in user code at /srv/app.py:33", "Graph Break Reason: Data-dependent branching", "  Explanation: x", "User code traceback:") +
		line(of(0, 0, `"artifact": {"name": "fx_graph_cache_miss", "encoding": "json"}`), `{"key": "x"}`) +
		line(of(0, 0, `"inductor_output_code": {}`), "import torch", `V0302 10:20:30.123000 42 a.py:9] {"dynamo_start": {}}`) +
		line(of(0, 0, measured("step", "/srv/app.py", 30, `"start_time_us": 1700000000000000, "entire_frame_compile_time_s": 1.5, "inductor_compile_time_s": 0.5, "triton_compile_time_us": 250000`))) +
		line(of(0, 1, `"artifact": {"name": "recompile_reasons", "encoding": "json"}`), "[", `"0/0: tensor 'x' size mismatch at index 0. expected 8, actual 16",`, `"another"`, "]") +
		line(of(0, 1, start)) +
		line(of(0, 1, `"artifact": {"name": "aotautograd_cache_hit", "encoding": "json"}`)) +
		line(of(0, 1, measured("step", "/srv/app.py", 30, `"start_time": 1700000002.5, "entire_frame_compile_time_s": 0.25`))) +
		line(of(3, 0, start)) +
		line(of(4, 0, measured("bad", "/srv/b.py", 2, `"fail_type": "Unsupported", "dynamo_cumulative_compile_time_us": 7, "entire_frame_compile_time_s": null`)))
}

func read(t *testing.T, text string) *Log {
	t.Helper()
	l, err := Read(strings.NewReader(text), "x.log", Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestRead(t *testing.T) {
	if !Sniff([]byte(logText())) || Sniff([]byte("V0302 10:20:30.123 42 x.cc:9] hello\n")) || Sniff([]byte("[2026] {\"str\"")) {
		t.Error("logs are not recognized")
	}
	l := read(t, logText())
	var got []string
	for _, c := range l.Compilations {
		got = append(got, fmt.Sprintf("%d/%d %s %s:%d at %d for %d (%d, %d) breaks %v caches %d %d reason %q fails %q ended %v",
			c.Frame, c.Again, c.Function, c.File, c.Line, c.StartNS, c.WallNS, c.Inductor, c.Triton, c.Breaks, c.Hits, c.Misses, c.Reason, c.Fails, c.Ended))
	}
	want := []string{
		`0/0 step /srv/app.py:30 at 1700000000000000000 for 1500000000 (500000000, 250000000) breaks [{Data-dependent branching /srv/app.py 33}] caches 0 1 reason "" fails "" ended true`,
		`0/1 step /srv/app.py:30 at 1700000002500000000 for 250000000 (0, 0) breaks [] caches 1 0 reason "tensor 'x' size mismatch at index 0. expected 8, actual 16" fails "" ended true`,
		`3/0 step :30 at 0 for 0 (0, 0) breaks [] caches 0 0 reason "" fails "" ended false`,
		`4/0 bad /srv/b.py:2 at 0 for 7000 (0, 0) breaks [] caches 0 0 reason "" fails "Unsupported" ended true`,
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if l.Rank != -1 || !l.Complete || len(l.Issues) > 0 || l.Records != 12 {
		t.Errorf("%+v", l)
	}
	if l := read(t, line(`{"compilation_metrics": {"co_name": "f"}, "rank": 3, "frame_id": 0, "frame_compile_id": 0}`)); l.Rank != 3 {
		t.Errorf("the rank is %d, want 3", l.Rank)
	}
}

// TestDamaged: what can be read counts; a log without compilations, and numbers that cannot be true, do not.
func TestDamaged(t *testing.T) {
	l, err := Read(io.MultiReader(strings.NewReader(logText()), iotest.ErrReader(errors.New("no more"))), "x", Limits{Rows: 1})
	if err != nil || l.Complete || len(l.Compilations) != 1 || len(l.Issues) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
	l = read(t, logText()+line(of(5, 0, measured("f", "a", 1, `"entire_frame_compile_time_s": -4, "start_time": 1e300`)))+line(of(6, 0, `"dynamo_start": {`)))
	last := l.Compilations[len(l.Compilations)-1]
	if last.WallNS != 0 || last.StartNS != 0 || len(l.Issues) != 1 || l.Issues[0].Count != 3 {
		t.Errorf("%+v, %v", last, l.Issues)
	}
	for _, text := range []string{"", "hello\n", line(`{"str": ["a", 0]}`), line(`{"dynamo_start": {}, "frame_id": -1}`)} {
		if l, err := Read(strings.NewReader(text), "x", Limits{}); err == nil {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

// TestCapture: the log of a program that compiles a function with a branch on data for three sizes.
func TestCapture(t *testing.T) {
	f, err := os.Open("../../testdata/h200/compile_logs/dedicated_log_torch_trace.log.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	again, breaks, ns := 0, 0, int64(0)
	for _, c := range read(t, string(b)).Compilations {
		ns += c.WallNS
		if breaks += len(c.Breaks); c.Again > 0 {
			if again++; !strings.Contains(c.Reason, "size mismatch") {
				t.Errorf("compiled again for %q", c.Reason)
			}
		}
	}
	// The sum of entire_frame_compile_time_s of the six records.
	if again != 4 || breaks != 3 || ns != 3220927000+262729000+820295000+263652000+826754000+274613000 {
		t.Errorf("%d compilations again, %d breaks, %d ns", again, breaks, ns)
	}
}

// TestCorpus: the compilations of the README of the corpus.
func TestCorpus(t *testing.T) {
	for name, want := range map[string]int{"artifacts": 1, "chromium_events": 1, "comp_metrics": 3, "links": 1} {
		b, err := os.ReadFile(filepath.Join(test.Corpus(t, "inputs", "torch_trace_log"), "tlparse_"+name+".log"))
		if err != nil {
			t.Fatal(err)
		}
		if l := read(t, string(b)); len(l.Compilations) != want || !l.Compilations[0].Ended || !Sniff(b[:4096]) {
			t.Errorf("%s: %d compilations, want %d", name, len(l.Compilations), want)
		}
	}
}

// TestOlderBreaks: a compilation that began again broke where its rest begins. One without a rest began again for another
// reason.
func TestOlderBreaks(t *testing.T) {
	metrics := func(frame int, name, restarts string) string {
		return fmt.Sprintf(`V0403 07:28:48.051000 1 torch/_dynamo/utils.py:9] {"compilation_metrics":{"co_name":"%s","co_filename":"m.py","co_firstlineno":4,"start_time":1.0,"entire_frame_compile_time_s":0.5,"restart_reasons":[%s]},"frame_id":%d,"frame_compile_id":0}`+"\n", name, restarts, frame)
	}
	l := read(t, metrics(0, "step", `"'skip function print'"`)+metrics(1, "torch_dynamo_resume_in_step_at_7", `"call to item"`)+
		metrics(2, "torch_dynamo_resume_in_step_at_12", ``)+metrics(3, "other", `"tensorify"`))
	var got []Break
	for _, c := range l.Compilations {
		got = append(got, c.Breaks...)
	}
	want := []Break{{Reason: "skip function print", File: "m.py", Line: 7}, {Reason: "call to item", File: "m.py", Line: 12}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(logText())
	f.Fuzz(func(t *testing.T, text string) {
		Sniff([]byte(text))
		l, err := Read(strings.NewReader(text), "x", Limits{Rows: 20})
		if err != nil {
			return
		}
		for _, c := range l.Compilations {
			if c.WallNS < 0 || c.StartNS < 0 || len(c.Reason) > maxText || len(c.Breaks) > maxBreaks {
				t.Errorf("%+v", c)
			}
		}
	})
}
