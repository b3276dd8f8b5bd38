package agent

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// reply returns the text of an answer, and whether it is an error.
func reply(r *mcp.CallToolResult) (string, bool) {
	var texts []string
	for _, c := range r.Content {
		texts = append(texts, c.(*mcp.TextContent).Text)
	}
	return strings.Join(texts, "\n"), r.IsError
}

// serving returns a server of a folder with a file, which runs what is given instead of commands.
func serving(t *testing.T, run func(ctx context.Context, args []string) (Output, error)) (s *Server, dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := New(Config{
		Folders: []string{dir}, Timeout: time.Minute, Jobs: 2, Cache: 1 << 20,
		Run:         func(ctx context.Context, _ string, args []string) (Output, error) { return run(ctx, args) },
		CheckFields: func([]string, string) string { return "" },
		Changes:     []Word{{"host", "F"}}, Guides: []string{"skyrl"}, Names: []string{"kernels.name"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, dir
}

func toolNamed(t *testing.T, name string) *tool {
	t.Helper()
	i := slices.IndexFunc(tools, func(x tool) bool { return x.name == name })
	if i < 0 {
		t.Fatalf("no tool %s", name)
	}
	return &tools[i]
}

// TestCommandLines: which command line a call makes.
func TestCommandLines(t *testing.T) {
	var got []string
	s, _ := serving(t, func(_ context.Context, args []string) (Output, error) {
		got = args
		return Output{JSON: []byte("{}")}, nil
	})
	s.Limits = []string{"--max-memory=1GiB"}
	for _, c := range []struct{ tool, args, want string }{
		{"summarize", `{"path":"a.json","step":"3-5","steady":true,"top":2}`, "summary --format=json --max-memory=1GiB --step=3-5 --steady -- a.json"},
		{"table", `{"path":"a.json","by":["kernel","rank"],"where":"category=gemm"}`, "summary --format=json --max-memory=1GiB --by=kernel,rank --where=category=gemm -- a.json"},
		{"inspect", `{"path":["a.json","./a.json"],"kernel":"-x","rows":3,"why":false}`, "inspect --format=json --max-memory=1GiB --kernel=-x --top=3 -- a.json a.json"},
		{"inspect", `{"path":"a.json","layer":4}`, "inspect --format=json --max-memory=1GiB --layer=4 -- a.json"},
		{"whatif", `{"path":"a.json","changes":["host=2x","--host=3x"]}`, "whatif --format=json --max-memory=1GiB --host=2x --host=3x -- a.json"},
		{"diff", `{"base":"a.json","new":["a.json","a.json"]}`, "diff --format=json --max-memory=1GiB --base=a.json --new=a.json --new=a.json"},
		{"check", `{"path":"a.json","gates":"skyrl","baseline":"a.json"}`, "check --format=json --max-memory=1GiB --gates=skyrl --baseline=a.json -- a.json"},
		{"check", `{"path":"a.json","gates":"a.json"}`, "check --format=json --max-memory=1GiB --gates=a.json -- a.json"},
		{"history", `{"path":["a.json","a.json"],"metric":["step.median","roles.share{role=rollout, state=wait}"]}`, "history --format=json --max-memory=1GiB --metric=step.median --metric=roles.share{role=rollout, state=wait} -- a.json a.json"},
		{"explain", `{"names":["gpu-idle","json"]}`, "explain --format=json gpu-idle json"},
	} {
		text, failed := reply(s.answer(t.Context(), toolNamed(t, c.tool), []byte(c.args)))
		if line := strings.Join(got, " "); line != c.want || failed {
			t.Errorf("%s %s: %s\ngot  %s\nwant %s", c.tool, c.args, text, line, c.want)
		}
	}
}

// TestWrongArguments: each mistake is answered with what is wrong.
func TestWrongArguments(t *testing.T) {
	s, _ := serving(t, func(context.Context, []string) (Output, error) { return Output{}, errors.New("it ran") })
	for _, c := range []struct{ tool, args, want string }{
		{"summarize", `{}`, "needs the argument path"},
		{"summarize", `[]`, "no JSON object"},
		{"summarize", `{"path":"a.json","rules":"x"}`, `no argument "rules"`},
		{"summarize", `{"path":"b.json"}`, `there is no "b.json"`},
		{"summarize", `{"path":"a.json","max_bytes":10}`, "want 1000 to 200000"},
		{"summarize", `{"path":"a.json","top":1.5}`, "whole number"},
		{"summarize", `{"path":"a.json","steady":1}`, "true or false"},
		{"summarize", `{"path":["a.json",3]}`, "list of texts"},
		{"table", `{"path":"a.json"}`, "one of the arguments by, where"},
		{"inspect", `{"path":"a.json"}`, "one of the arguments kernel"},
		{"whatif", `{"path":"a.json","changes":["rules=x"]}`, `no change "rules"`},
		{"check", `{"path":"a.json","gates":"nothing"}`, `there is no "nothing"`},
		{"history", `{"path":"../a.json"}`, `has ".."`},
		{"history", `{"path":"a.json","output":"x"}`, `no argument "output"`},
		{"explain", `{"names":["--thresholds=a.json"]}`, "no rule, code or page"},
	} {
		if text, failed := reply(s.answer(t.Context(), toolNamed(t, c.tool), []byte(c.args))); !failed || !strings.Contains(text, c.want) {
			t.Errorf("%s %s: %t, %s, want %s", c.tool, c.args, failed, text, c.want)
		}
	}
}

// TestTimeout: a command that takes too long is ended, and the next call runs it again.
func TestTimeout(t *testing.T) {
	var runs atomic.Int32
	s, _ := serving(t, func(ctx context.Context, _ []string) (Output, error) {
		if runs.Add(1) == 1 {
			<-ctx.Done()
			return Output{}, ctx.Err()
		}
		return Output{JSON: []byte(`{"verdict":1}`)}, nil
	})
	s.Timeout = 20 * time.Millisecond
	args := []byte(`{"path":"a.json"}`)
	if text, failed := reply(s.answer(t.Context(), toolNamed(t, "summarize"), args)); !failed || !strings.Contains(text, "no answer within 20ms") {
		t.Errorf("got %t, %s", failed, text)
	}
	s.Timeout = time.Minute
	if text, failed := reply(s.answer(t.Context(), toolNamed(t, "summarize"), args)); failed || !strings.Contains(text, "verdict") {
		t.Errorf("got %t, %s", failed, text)
	}
}

// TestRunsOnce: of many equal questions at the same time, one runs the command, and no more than two commands run at a
// time. Messages are part of the answer and of its bytes.
func TestRunsOnce(t *testing.T) {
	var runs, now, most atomic.Int32
	s, _ := serving(t, func(context.Context, []string) (Output, error) {
		runs.Add(1)
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		time.Sleep(5 * time.Millisecond)
		now.Add(-1)
		return Output{JSON: []byte(`{"list":[` + strings.Repeat(`"x",`, 5000) + `1]}`), Messages: "assay summary: skipped a file\n", Status: 3}, nil
	})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			args := fmt.Sprintf(`{"path":"a.json","fields":["list"],"max_bytes":2000,"step":"%d"}`, i%4)
			text, failed := reply(s.answer(context.Background(), toolNamed(t, "summarize"), []byte(args)))
			if failed || len(text) > 2001 || !strings.Contains(text, "skipped a file") {
				t.Errorf("%d bytes: %t %s", len(text), failed, text)
			}
		})
	}
	wg.Wait()
	if runs.Load() != 4 || most.Load() > 2 {
		t.Errorf("%d runs, %d at a time", runs.Load(), most.Load())
	}
}

// TestCache: the entries that were not used for longest go first, and too large ones are not kept.
func TestCache(t *testing.T) {
	c := cache[int]{most: 100}
	made := map[string]int{}
	get := func(key string, bytes int64) {
		t.Helper()
		v, err := c.get(t.Context(), key, func() (int, int64, error) { made[key]++; return len(key), bytes, nil })
		if err != nil || v != len(key) {
			t.Errorf("%s: %d, %v", key, v, err)
		}
	}
	for _, key := range []string{"a", "bb", "a", "ccc", "a", "bb"} { // a stays, bb goes for ccc
		get(key, 40)
	}
	get("large", 101)
	get("large", 101)
	get("changing", -1)
	get("changing", -1)
	if want := map[string]int{"a": 1, "bb": 2, "ccc": 1, "large": 2, "changing": 2}; fmt.Sprint(made) != fmt.Sprint(want) {
		t.Errorf("made %v, want %v", made, want)
	}
	if c.bytes > 100 || len(c.byKey) != c.order.Len() {
		t.Errorf("%d bytes, %d and %d entries", c.bytes, len(c.byKey), c.order.Len())
	}
	if _, err := c.get(t.Context(), "bad", func() (int, int64, error) { return 0, 1, errors.New("no") }); err == nil || c.byKey["bad"] != nil {
		t.Errorf("an error was kept: %v", err)
	}
}

// TestReplacedWhileRead: if the file is another one after the command, there is no answer.
func TestReplacedWhileRead(t *testing.T) {
	var dir string
	s, dir := serving(t, func(context.Context, []string) (Output, error) {
		path := filepath.Join(dir, "a.json")
		os.Rename(path, path+".old")
		return Output{JSON: []byte(`{"secret":1}`)}, os.WriteFile(path, []byte("{}"), 0o666)
	})
	if text, failed := reply(s.answer(t.Context(), toolNamed(t, "summarize"), []byte(`{"path":"a.json"}`))); !failed || !strings.Contains(text, "replaced") {
		t.Errorf("got %t, %s", failed, text)
	}
}

// TestSeveralFolders: names are looked up in each folder, and files of several folders are named whole.
func TestSeveralFolders(t *testing.T) {
	var got []string
	s, first := serving(t, func(_ context.Context, args []string) (Output, error) {
		got = args
		return Output{JSON: []byte("{}")}, nil
	})
	second := t.TempDir()
	if err := os.WriteFile(filepath.Join(second, "b.json"), []byte("{}"), 0o666); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.folders, err = openFolders([]string{first, second}); err != nil {
		t.Fatal(err)
	}
	ask := func(args string) string {
		text, failed := reply(s.answer(t.Context(), toolNamed(t, "diff"), []byte(args)))
		if failed {
			t.Error(text)
		}
		return strings.Join(got[2:], " ")
	}
	if line := ask(`{"base":"b.json","new":"b.json"}`); line != "--base=b.json --new=b.json" {
		t.Error(line)
	}
	whole := func(i int, name string) string { return filepath.Join(s.folders[i].name, name) }
	if line, want := ask(`{"base":"a.json","new":"b.json"}`), "--base="+whole(0, "a.json")+" --new="+whole(1, "b.json"); line != want {
		t.Errorf("got %s, want %s", line, want)
	}
}

// TestNear: a name that is missing is answered with what is where it was looked for.
func TestNear(t *testing.T) {
	s, dir := serving(t, func(context.Context, []string) (Output, error) { return Output{JSON: []byte("{}")}, nil })
	for _, name := range []string{"runs/rank0.json", "runs/rank1.json", "runs/deep/x.log", ".hidden/y.log", "runs/line\nbreak.json", "runs/ghp_0123456789abcdefghijABCDEFGHIJ012345.json"} {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte("{}"), 0o666); err != nil {
			t.Skip(err) // no line breaks in names here
		}
	}
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "private.txt"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "out")); err != nil {
		t.Skip(err)
	}
	ask := func(name string) string {
		text, failed := reply(s.answer(t.Context(), toolNamed(t, "summarize"), []byte(`{"path":"`+name+`"}`)))
		if !failed {
			t.Errorf("%s is answered", name)
		}
		return text
	}
	root := s.folders[0].name
	for name, want := range map[string]string{
		"b.json":             root + ` (a.json, out, runs/)`,
		"missing/b.json":     root + ` (a.json, out, runs/)`,
		"runs/deep/b.json":   filepath.Join(root, "runs", "deep") + ` (x.log)`,
		"runs/deep/a/b.json": filepath.Join(root, "runs", "deep") + ` (x.log)`,
		".hidden/y.json":     filepath.Join(root, ".hidden") + ` (y.log)`,
		"runs/rank2.json":    filepath.Join(root, "runs") + ` ("line\nbreak.json", [github].json, deep/, rank0.json, rank1.json)`,
	} {
		if text := ask(name); text != `path: there is no "`+name+`" in `+want {
			t.Errorf("got %s, want %s", text, want)
		}
	}
	for _, name := range []string{"out/b.json", "out/private.txt/b.json", "a.json/b.json"} {
		if text := ask(name); strings.Contains(strings.ReplaceAll(text, name, ""), "private") {
			t.Errorf("%s: %s", name, text)
		}
	}
	for i := range 30 {
		if err := os.WriteFile(filepath.Join(dir, "runs", "deep", fmt.Sprintf("%02d", i)), nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.folders[0].content(filepath.Join("runs", "deep")); got != " (00, 01, 02, 03, 04, 05, 06, 07, 08, 09, 10, 11, 19 more)" {
		t.Error(got)
	}
}
