package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	validator "github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"assay/internal/test"
	"assay/internal/test/asked"
	"assay/internal/test/nsysgen"
)

// client starts "assay mcp" in a process of its own, and a client of the SDK for it.
func client(t *testing.T, dir string, args ...string) *mcp.ClientSession {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(self, append([]string{"mcp"}, args...)...)
	server.Args[0], server.Dir, server.Stderr = "assay", dir, os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })
	return session
}

// dataFolder is testdata of the module, as an absolute path.
func dataFolder(t *testing.T) string {
	t.Helper()
	return filepath.Join(test.Module(t), "testdata")
}

// ask calls a tool. It returns the JSON of the answer or, if the call failed, what is wrong, and the bytes of the answer.
func ask(t *testing.T, session *mcp.ClientSession, tool string, args map[string]any) (v map[string]any, wrong string, bytes int) {
	t.Helper()
	r, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s %v: %v", tool, args, err)
	}
	for _, c := range r.Content {
		bytes += len(c.(*mcp.TextContent).Text)
	}
	first := r.Content[0].(*mcp.TextContent).Text
	if r.IsError {
		return nil, first, bytes
	}
	if err := json.Unmarshal([]byte(first), &v); err != nil {
		t.Fatalf("%s %v: %v in:\n%s", tool, args, err, first)
	}
	return v, "", bytes
}

// toolCalls are calls of every tool, each with the command that has the same answer.
var toolCalls = []struct {
	tool    string
	args    map[string]any
	command []string
}{
	{"summarize", map[string]any{"path": "gen/llm_train_step.json.gz", "fields": []any{"verdict", "kernels"}, "top": 5}, []string{"summary", "gen/llm_train_step.json.gz", "--fields", "verdict,kernels", "--top", "5"}},
	{"summarize", map[string]any{"path": []any{"gen/rocm.json.gz", "gen/comm_bound.json.gz"}, "fields": "inputs,findings", "step": "3"}, []string{"summary", "gen/rocm.json.gz", "gen/comm_bound.json.gz", "--step", "3", "--fields", "inputs,findings", "--top", "8"}},
	{"findings", map[string]any{"path": "gen/host_bound.json.gz", "find": "gpu-idle"}, []string{"summary", "gen/host_bound.json.gz", "--fields", "verdict,findings,tree", "--find", "gpu-idle", "--top", "10"}},
	{"explain", map[string]any{"names": []any{"gpu-idle", "input-truncated"}}, []string{"explain", "gpu-idle", "input-truncated"}},
	{"table", map[string]any{"path": "gen/llm_train_step.json.gz", "by": []any{"kernel", "stream"}, "where": "category=gemm", "top": 3}, []string{"summary", "gen/llm_train_step.json.gz", "--by", "kernel,stream", "--where", "category=gemm", "--top", "3"}},
	{"inspect", map[string]any{"path": "gen/host_bound.json.gz", "kernel": "*", "why": true}, []string{"inspect", "gen/host_bound.json.gz", "--kernel", "*", "--why"}},
	{"inspect", map[string]any{"path": "gen/host_bound.json.gz", "gap": 2, "rows": 3}, []string{"inspect", "gen/host_bound.json.gz", "--gap", "2", "--top", "3"}},
	{"whatif", map[string]any{"path": "gen/llm_train_step.json.gz", "changes": []any{"host=2x", "hide-comm"}, "fields": "critical_paths,forecasts", "top": 100}, []string{"whatif", "gen/llm_train_step.json.gz", "--host=2x", "--hide-comm=", "--fields", "critical_paths,forecasts"}},
	{"diff", map[string]any{"base": "gen/llm_train_step.json.gz", "new": "gen/llm_train_slower.json.gz"}, []string{"diff", "gen/llm_train_step.json.gz", "gen/llm_train_slower.json.gz", "--top", "5"}},
	{"diff", map[string]any{"base": "gen/llm_train_step.json.gz", "new": "gen/llm_train_slower.json.gz", "by": "category"}, []string{"diff", "gen/llm_train_step.json.gz", "gen/llm_train_slower.json.gz", "--by", "category", "--top", "5"}},
	{"check", map[string]any{"path": "gen/llm_train_slower.json.gz", "baseline": "gen/llm_train_step.json.gz"}, []string{"check", "gen/llm_train_slower.json.gz", "--baseline", "gen/llm_train_step.json.gz"}},
	{"check", map[string]any{"path": "guides/skyrl_train.log", "gates": "skyrl"}, []string{"check", "guides/skyrl_train.log", "--gates", "skyrl"}},
	{"history", map[string]any{"path": []any{"gen/llm_train_step.json.gz", "gen/llm_train_slower.json.gz", "gen/host_bound.json.gz"}, "metric": []any{"step.median", "kernels.total_per_step{category=gemm}"}, "fields": "headline,runs,metrics,changes", "top": 100},
		[]string{"history", "gen/llm_train_step.json.gz", "gen/llm_train_slower.json.gz", "gen/host_bound.json.gz", "--metric", "step.median", "--metric", "kernels.total_per_step{category=gemm}", "--fields", "headline,runs,metrics,changes"}},
	{"doctor", map[string]any{"path": "gen/cpu_only.json.gz"}, []string{"doctor", "gen/cpu_only.json.gz"}},
	{"series", map[string]any{"path": "guides/verl_train.log", "find": "memory", "fields": "series"}, []string{"summary", "guides/verl_train.log", "--fields", "series", "--find", "memory", "--top", "25"}},
	{"search_names", map[string]any{"path": "gen/llm_train_step.json.gz", "find": "NCCL", "fields": "kernels"}, []string{"summary", "gen/llm_train_step.json.gz", "--find", "NCCL", "--fields", "kernels", "--top", "10"}},
}

// TestMCPTools: every tool has a valid schema, answers as its command does, and keeps the limit of bytes.
func TestMCPTools(t *testing.T) {
	dir := dataFolder(t)
	session := client(t, dir)
	t.Chdir(dir)
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*validator.Resolved{}
	for _, tool := range list.Tools {
		text, _ := json.Marshal(tool.InputSchema)
		var s validator.Schema
		if err := json.Unmarshal(text, &s); err != nil {
			t.Fatalf("%s: %v", tool.Name, err)
		}
		if schemas[tool.Name], err = s.Resolve(nil); err != nil {
			t.Errorf("%s: %v", tool.Name, err)
		}
		if len(tool.Description) < 80 || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s: %q, %+v", tool.Name, tool.Description, tool.Annotations)
		}
	}
	called := map[string]bool{}
	for _, c := range toolCalls {
		called[c.tool] = true
		if err := schemas[c.tool].Validate(c.args); err != nil {
			t.Errorf("%s %v: %v", c.tool, c.args, err)
		}
		large := map[string]any{"max_bytes": 200_000}
		for name, v := range c.args {
			large[name] = v
		}
		got, wrong, _ := ask(t, session, c.tool, large)
		want := printedJSON(t, append(c.command, "-f", "json", "--max-bytes", "200000")...)
		for _, v := range []map[string]any{got, want} {
			if mark, ok := v["excerpt"].(map[string]any); ok {
				delete(mark, "more") // flags there, arguments here
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s %v: %s\ngot  %.2000v\nwant %.2000v", c.tool, c.args, wrong, got, want)
		}
		for _, most := range []int{2000, 20_000} {
			large["max_bytes"] = most
			if most == 20_000 {
				delete(large, "max_bytes")
			}
			if v, wrong, n := ask(t, session, c.tool, large); n > most || v == nil {
				t.Errorf("%s %v: %d bytes, over %d; %s", c.tool, c.args, n, most, wrong)
			}
		}
	}
	for _, tool := range list.Tools {
		if !called[tool.Name] {
			t.Errorf("no call of %s", tool.Name)
		}
	}
}

// TestMCPForecast: a forecast comes without the operators and kernels on the path, and with all else that the command prints.
func TestMCPForecast(t *testing.T) {
	dir := dataFolder(t)
	session := client(t, dir)
	t.Chdir(dir)
	got, wrong, _ := ask(t, session, "whatif", map[string]any{"path": "gen/llm_train_step.json.gz", "changes": []any{"copy=0.5"}, "sweep": true, "top": 100, "max_bytes": 200_000})
	if wrong != "" {
		t.Fatal(wrong)
	}
	want := printedJSON(t, "whatif", "gen/llm_train_step.json.gz", "--copy=0.5", "--sweep", "-f", "json", "--top", "100")
	for _, path := range want["critical_paths"].([]any) {
		for _, name := range []string{"operators", "kernels", "modules", "phases", "ranks", "input", "start_ns", "inferred_ns", "exact_ns", "explained_ns"} {
			delete(path.(map[string]any), name)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
}

// TestMCPQuestions: each question is answered by three calls at most, of 20 kB together.
func TestMCPQuestions(t *testing.T) {
	session := client(t, dataFolder(t))
	all := asked.All()
	if len(all) < 20 {
		t.Errorf("%d questions", len(all))
	}
	for _, q := range all {
		sum := 0
		var v any
		for _, c := range q.Calls {
			answer, wrong, n := ask(t, session, c.Tool, c.Args)
			if wrong != "" {
				t.Errorf("%s: %s", q.Ask, wrong)
			}
			v, sum = answer, sum+n
		}
		got := v
		for name := range strings.SplitSeq(q.Path, ".") {
			switch in := got.(type) {
			case map[string]any:
				got = in[name]
			case []any:
				if i, err := strconv.Atoi(name); err == nil && i < len(in) {
					got = in[i]
				} else {
					got = nil
				}
			}
		}
		same := reflect.DeepEqual(got, q.Want)
		if n, ok := got.(float64); ok {
			var want float64
			_, err := fmt.Sscan(fmt.Sprint(q.Want), &want)
			same = err == nil && math.Abs(n-want) <= 1
		}
		if !same || len(q.Calls) > 3 || sum > 20_000 {
			t.Errorf("%s got %v, want %v (%s), with %d calls and %d bytes", q.Ask, got, q.Want, q.From, len(q.Calls), sum)
		}
		t.Logf("%-55s %v (%d calls, %d bytes)", q.Ask, got, len(q.Calls), sum)
	}
}

// TestMCPEscapes: nothing outside of the folder is read.
func TestMCPEscapes(t *testing.T) {
	base := t.TempDir()
	dir, outside := filepath.Join(base, "in"), filepath.Join(base, "out")
	secret, err := os.ReadFile(filepath.Join(dataFolder(t), "gen", "host_bound.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{filepath.Join(dir, "sub", "deep"), outside, dir + "-beside"} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{filepath.Join(outside, "secret.json.gz"), dir + "-beside/secret.json.gz", filepath.Join(dir, "mine.json.gz"), filepath.Join(dir, "sub", "mine.json.gz")} {
		if err := os.WriteFile(f, secret, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{
		"link.json.gz": filepath.Join(outside, "secret.json.gz"), "rel.json.gz": "../out/secret.json.gz", "folder": outside, "up": "..",
		"twice.json.gz": "link.json.gz", "sub/deep/far": "../../../out", "root": "/", "inside.json.gz": "sub/mine.json.gz",
	}
	for name, to := range links {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Skip("no symbolic links: ", err)
		}
	}
	session := client(t, dir)
	for _, good := range []string{"mine.json.gz", "./mine.json.gz", "sub/mine.json.gz", filepath.Join(dir, "mine.json.gz"), "inside.json.gz", "sub", "."} {
		if v, wrong, _ := ask(t, session, "summarize", map[string]any{"path": good}); v == nil {
			t.Errorf("%s is in the folder: %s", good, wrong)
		}
	}
	escapes := []string{
		"../out/secret.json.gz", "sub/../../out/secret.json.gz", filepath.Join(outside, "secret.json.gz"), outside, dir + "-beside/secret.json.gz",
		"link.json.gz", "rel.json.gz", "folder/secret.json.gz", "folder", "up/out/secret.json.gz", "twice.json.gz", "sub/deep/far/secret.json.gz",
		"root/etc/passwd", "root" + outside + "/secret.json.gz", "/etc/passwd", "/proc/self/environ", "-", "", "*/secret.json.gz", "..", "../*", "/dev/stdin",
		`..\out\secret.json.gz`, "file://" + outside + "/secret.json.gz", "mine.json.gz/../../out/secret.json.gz", "./sub/./../../out", "--rules=/etc/passwd", "sub/deep/far",
	}
	for _, path := range escapes {
		for tool, args := range map[string]map[string]any{
			"summarize": {"path": path}, "diff": {"base": path, "new": "mine.json.gz"}, "check": {"path": "mine.json.gz", "gates": path},
			"history": {"path": []any{"mine.json.gz", path}},
		} {
			if v, _, _ := ask(t, session, tool, args); v != nil {
				t.Errorf("%s read %q: %v", tool, path, v)
			}
		}
	}
	for _, args := range []map[string]any{
		{"path": "mine.json.gz", "changes": []any{"rules=/etc/passwd"}},
		{"path": "mine.json.gz", "rules": "/etc/passwd"},
		{"path": "mine.json.gz", "rank": "0 --rules=/etc/passwd"},
	} {
		if v, _, _ := ask(t, session, "whatif", args); v != nil {
			t.Errorf("%v was answered: %v", args, v)
		}
	}
	if v, _, _ := ask(t, session, "explain", map[string]any{"names": "--thresholds=/etc/passwd"}); v != nil {
		t.Errorf("explain took a flag: %v", v)
	}
	// A folder is read without its links.
	v, _, _ := ask(t, session, "summarize", map[string]any{"path": ".", "fields": "inputs"})
	if text := fmt.Sprint(v); strings.Contains(text, "secret") || !strings.Contains(text, "mine") {
		t.Errorf("got %s", text)
	}
	// Records of other files are not followed while there are links out.
	if v, _, _ := ask(t, session, "diff", map[string]any{"base": ".", "new": "mine.json.gz"}); v != nil {
		t.Errorf("a folder with links out was compared: %v", v)
	}
	if v, _, _ := ask(t, session, "history", map[string]any{"path": "."}); v != nil {
		t.Errorf("a folder with links out was followed: %v", v)
	}
}

// TestMCPWritesNothing: no tool leaves a file, not in the folder and not in that of temporary files.
func TestMCPWritesNothing(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	t.Setenv("TMPDIR", temp)
	step := filepath.Join(t.TempDir(), "step.md")
	t.Setenv("GITHUB_STEP_SUMMARY", step)
	t.Setenv("GITHUB_ACTIONS", "true")
	if err := os.CopyFS(dir, os.DirFS(dataFolder(t))); err != nil {
		t.Fatal(err)
	}
	if err := nsysgen.Write(filepath.Join(dir, "nsys.sqlite"), nsysgen.Plan{Kernels: 50, Calls: true}); err != nil {
		t.Fatal(err)
	}
	before := inputsUnder(t, dir, 1<<40)
	session := client(t, dir)
	for _, c := range toolCalls {
		if v, wrong, _ := ask(t, session, c.tool, c.args); v == nil {
			t.Errorf("%s: %s", c.tool, wrong)
		}
	}
	if v, wrong, _ := ask(t, session, "summarize", map[string]any{"path": "nsys.sqlite"}); v == nil {
		t.Error(wrong)
	}
	if after := inputsUnder(t, dir, 1<<40); !slices.Equal(after, before) {
		t.Errorf("the folder has %d files, had %d", len(after), len(before))
	}
	if left := inputsUnder(t, temp, 1<<40); len(left) > 0 {
		t.Errorf("left %q", left)
	}
	if _, err := os.Stat(step); err == nil {
		t.Error("wrote a step summary")
	}
}

// TestMCPReplaced: a file that changes is read again, and a file that becomes a link out is refused.
func TestMCPReplaced(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "run.json.gz")
	put := func(to, name string) {
		text, err := os.ReadFile(filepath.Join(dataFolder(t), "gen", name))
		if err == nil {
			err = os.WriteFile(to, text, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	session := client(t, dir)
	for _, c := range []struct{ name, bound string }{{"host_bound.json.gz", "host"}, {"comm_bound.json.gz", "communication"}, {"host_bound.json.gz", "host"}} {
		put(path, c.name)
		for range 2 {
			v, wrong, _ := ask(t, session, "summarize", map[string]any{"path": "run.json.gz"})
			if v == nil || v["verdict"].(map[string]any)["bound"] != c.bound {
				t.Errorf("%s: %v %s", c.name, v, wrong)
			}
		}
	}
	put(filepath.Join(outside, "x.json.gz"), "comm_bound.json.gz")
	os.Remove(path)
	if err := os.Symlink(filepath.Join(outside, "x.json.gz"), path); err != nil {
		t.Skip(err)
	}
	if v, _, _ := ask(t, session, "summarize", map[string]any{"path": "run.json.gz"}); v != nil {
		t.Errorf("a link out was followed: %v", v)
	}
}

// randomArguments makes arguments of a tool, right and wrong ones.
func randomArguments(rnd *rand.Rand, tool *mcp.Tool, paths []string) map[string]any {
	texts := []string{"", "kernel", "category", "category=gemm", "gemm", "verdict", "kernels.name", "0", "3", "3-5", "-1", "1ms", "host=2x", "*", "nccl", "gpu-idle", "\x00", "../x", "é…\n", strings.Repeat("x", 5000), "skyrl"}
	value := func() any {
		switch rnd.IntN(7) {
		case 0:
			return rnd.IntN(50) - 5
		case 1:
			return rnd.IntN(2) == 0
		case 2:
			return []any{texts[rnd.IntN(len(texts))], texts[rnd.IntN(len(texts))]}
		case 3:
			return nil
		case 4:
			return 1000 + rnd.IntN(30_000)
		}
		return texts[rnd.IntN(len(texts))]
	}
	args := map[string]any{}
	for name := range tool.InputSchema.(map[string]any)["properties"].(map[string]any) {
		switch {
		case slices.Contains([]string{"path", "base", "new", "baseline"}, name) && rnd.IntN(12) > 0:
			args[name] = paths[rnd.IntN(len(paths))]
		case name == "by" && rnd.IntN(3) > 0:
			args[name] = []string{"category", "kernel", "call", "cause"}[rnd.IntN(4)]
		case slices.Contains([]string{"find", "kernel", "names"}, name) && rnd.IntN(3) > 0:
			args[name] = []string{"gemm", "n", "*", "gpu-idle"}[rnd.IntN(4)]
		case rnd.IntN(20) == 0:
			args[name] = value()
		}
	}
	if rnd.IntN(20) == 0 {
		args["nonsense"] = value()
	}
	return args
}

// TestMCPRandom: whatever the arguments, a call is answered within its bytes, and the server lives.
func TestMCPRandom(t *testing.T) {
	calls := 1000
	if testing.Short() || !test.Long() {
		calls = 150
	}
	session := client(t, dataFolder(t), "--timeout", "60s")
	list, err := session.ListTools(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	paths := []string{"gen/host_bound.json.gz", "gen/comm_bound.json.gz", "guides/verl_train.log", "guides/dmon.txt", "memory/leak_oom.pickle.gz", "malformed/33_empty.json", "malformed/40_gz_truncated.json.gz", "profilers/pstats.txt", "nothing.json", "summaries"}
	rnd := rand.New(rand.NewPCG(test.Seed(t), 3))
	answered := 0
	for range calls {
		tool := list.Tools[rnd.IntN(len(list.Tools))]
		args := randomArguments(rnd, tool, paths)
		most := 20_000
		if n, ok := args["max_bytes"].(int); ok {
			most = max(n, 1000)
		}
		v, wrong, n := ask(t, session, tool.Name, args)
		if n > most || v == nil && wrong == "" || strings.Contains(wrong, "goroutine ") {
			t.Errorf("%s %v: %d bytes of %d: %s", tool.Name, args, n, most, wrong)
		}
		if v != nil {
			answered++
		}
	}
	t.Logf("%d of %d calls were right", answered, calls)
	if answered < calls/4 {
		t.Errorf("only %d of %d calls were right", answered, calls)
	}
}

// TestMCPMemory: 500 different questions do not make the server larger than its cache allows, and what was read is
// answered at once.
func TestMCPMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	calls := 500
	if testing.Short() || !test.Long() {
		calls = 100
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := exec.Command(self, "mcp", "--cache", "4MB")
	server.Args[0], server.Dir = "assay", dataFolder(t)
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(context.Background(), &mcp.CommandTransport{Command: server}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	path := map[string]any{"path": "gen/llm_train_step.json.gz"}
	ask(t, session, "summarize", path)
	resident := func() int {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", server.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		n, _ := strconv.Atoi(strings.Fields(string(text))[1])
		return n * os.Getpagesize()
	}
	before := resident()
	for i := range calls {
		args := map[string]any{"path": "gen/llm_train_step.json.gz", "fields": "kernels", "from": fmt.Sprintf("%dus", i)}
		if i%4 != 0 { // the others cost a process
			args = map[string]any{"path": "gen/llm_train_step.json.gz", "find": fmt.Sprint(i)}
		}
		ask(t, session, "summarize", args)
	}
	if grown := resident() - before; grown > 100<<20 {
		t.Errorf("the server has grown by %d MiB", grown>>20)
	}
	start := time.Now()
	const again = 20
	for i := range again {
		ask(t, session, "search_names", map[string]any{"path": "gen/llm_train_step.json.gz", "find": fmt.Sprint("k", i)})
	}
	t.Logf("a question about what was read takes %s", time.Since(start)/again)
	if took := time.Since(start) / again; took > time.Second {
		t.Errorf("%s for a question about what was read", took)
	}
}

// TestMCPLargest: the largest real traces are answered within the bytes, however few.
func TestMCPLargest(t *testing.T) {
	corpus := test.Corpus(t, "kineto")
	if !test.Long() {
		t.Skip("reads large traces")
	}
	paths := inputsUnder(t, corpus, 1<<40)
	size := func(path string) int64 {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	slices.SortFunc(paths, func(a, b string) int { return int(size(b) - size(a)) })
	session := client(t, corpus, "--timeout", "5m")
	for _, path := range paths[:min(4, len(paths))] {
		for _, tool := range []string{"summarize", "findings", "search_names", "table", "doctor"} {
			for _, most := range []int{2000, 20_000} {
				args := map[string]any{"path": path, "max_bytes": most}
				if tool == "search_names" {
					args["find"] = "a"
				}
				if tool == "table" {
					args["by"] = "kernel"
				}
				start := time.Now()
				v, wrong, n := ask(t, session, tool, args)
				t.Logf("%-12s %6d bytes in %s: %s", tool, n, time.Since(start).Round(time.Millisecond), filepath.Base(path))
				if n > most || v == nil && !strings.Contains(wrong, "no kernel") {
					t.Errorf("%s %s: %d bytes of %d: %s", tool, path, n, most, wrong)
				}
			}
		}
	}
}

// TestMCPTwoClients: two servers, and calls of one at the same time, give the same answers.
func TestMCPTwoClients(t *testing.T) {
	a, b := client(t, dataFolder(t)), client(t, dataFolder(t))
	calls := toolCalls[:8]
	answers := make([][]string, 4)
	var wg sync.WaitGroup
	for i := range answers {
		session := []*mcp.ClientSession{a, b}[i%2]
		answers[i] = make([]string, len(calls))
		for j, c := range calls {
			wg.Go(func() {
				r, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
				if err != nil || r.IsError {
					t.Errorf("%s: %v %v", c.tool, err, r)
					return
				}
				answers[i][j] = r.Content[0].(*mcp.TextContent).Text
			})
		}
	}
	wg.Wait()
	for i := range answers {
		if !slices.Equal(answers[i], answers[0]) {
			t.Errorf("answers of %d and 0 differ", i)
		}
	}
}

// TestMCPMasks: secrets of files, paths and arguments are in no answer.
func TestMCPMasks(t *testing.T) {
	const secret = "hf_AbCdEfGhIjKlMnOpQrStUvWxYz012345"
	dir := t.TempDir()
	trace := `{"traceEvents":[{"ph":"X","cat":"kernel","name":"gemm --token=` + secret + `","pid":0,"tid":7,"ts":1,"dur":5,"args":{"device":0,"stream":7}}]}`
	if err := os.WriteFile(filepath.Join(dir, "a.json"), []byte(trace), 0o666); err != nil {
		t.Fatal(err)
	}
	session := client(t, dir)
	for _, c := range []asked.Call{
		{Tool: "summarize", Args: map[string]any{"path": "a.json", "fields": "kernels"}},
		{Tool: "search_names", Args: map[string]any{"path": "a.json", "find": "gemm"}},
		{Tool: "inspect", Args: map[string]any{"path": "a.json", "kernel": "gemm"}},
		{Tool: "summarize", Args: map[string]any{"path": "token=" + secret}},
		{Tool: "explain", Args: map[string]any{"names": "token=" + secret}},
	} {
		v, wrong, _ := ask(t, session, c.Tool, c.Args)
		if text := fmt.Sprint(v, wrong); strings.Contains(text, secret) {
			t.Errorf("%s %v: %s", c.Tool, c.Args, text)
		}
	}
}

// TestMCPResources: rules, codes and schemas can be read, and the prompts name their arguments.
func TestMCPResources(t *testing.T) {
	session := client(t, dataFolder(t))
	list, err := session.ListResources(context.Background(), nil)
	if err != nil || len(list.Resources) != 2+len(outputList()) {
		t.Fatalf("%v, %v", list, err)
	}
	for _, r := range list.Resources {
		got, err := session.ReadResource(context.Background(), &mcp.ReadResourceParams{URI: r.URI})
		if err != nil {
			t.Errorf("%s: %v", r.URI, err)
			continue
		}
		text := got.Contents[0].Text
		var v map[string]any
		if err := json.Unmarshal([]byte(text), &v); err != nil || len(text) < 500 || len(text) > 140_000 {
			t.Errorf("%s: %d bytes, %v", r.URI, len(text), err)
		}
		if strings.Contains(r.URI, "/schema/") && v["excerpt"] != nil {
			t.Errorf("%s is cut: %v", r.URI, v["excerpt"])
		}
	}
	prompts, err := session.ListPrompts(context.Background(), nil)
	if err != nil || len(prompts.Prompts) != 2 {
		t.Fatalf("%v, %v", prompts, err)
	}
	for _, p := range prompts.Prompts {
		args := map[string]string{}
		for i, a := range p.Arguments {
			args[a.Name] = fmt.Sprintf("run%d.json", i)
		}
		got, err := session.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: p.Name, Arguments: args})
		if err != nil || !strings.Contains(got.Messages[0].Content.(*mcp.TextContent).Text, `"run0.json"`) {
			t.Errorf("%s: %v, %v", p.Name, got, err)
		}
		if _, err := session.GetPrompt(context.Background(), &mcp.GetPromptParams{Name: p.Name}); err == nil {
			t.Errorf("%s without arguments", p.Name)
		}
	}
}

// TestMCPSession runs the calls in docs/agents.md and compares the answers with those printed there.
func TestMCPSession(t *testing.T) {
	const fence = "```mcp\n"
	path := filepath.Join(test.Module(t), "docs", "agents.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	session := client(t, dataFolder(t))
	parts := strings.Split(string(page), fence)
	if len(parts) < 4 {
		t.Fatalf("%d calls", len(parts)-1)
	}
	for i, part := range parts[1:] {
		block, rest, ok := strings.Cut(part, "```\n")
		line, want, _ := strings.Cut(block, "\n")
		tool, text, _ := strings.Cut(line, " ")
		var args map[string]any
		if err := json.Unmarshal([]byte(text), &args); err != nil || !ok {
			t.Fatalf("%s: %v", line, err)
		}
		r, err := session.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(r.Content[0].(*mcp.TextContent).Text) + "\n"
		if got != want && !*update {
			t.Errorf("%s: got\n%s\nwant\n%s", line, got, want)
		}
		parts[i+1] = line + "\n" + got + "```\n" + rest
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(parts, fence)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongField: a name of a field that no member can have is refused at once, and not repeated in full.
func TestLongField(t *testing.T) {
	for _, field := range []string{strings.Repeat("k", 1_000_000), "kernels." + strings.Repeat("é", longestField)} {
		if wrong := checkFields([]string{"verdict", field}, "summary"); wrong == "" || len(wrong) > 300 {
			t.Errorf("%d bytes: %.400s", len(wrong), wrong)
		}
	}
	if wrong := checkFields([]string{"kernels.nam"}, "summary"); !strings.Contains(wrong, "kernels.name") {
		t.Errorf("no near name: %s", wrong)
	}
}
