package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"assay/internal/test"
	"assay/internal/test/marktest"
)

// A job is the result of a step of a workflow.
type job struct {
	dir, log, page, outputs string
	status                  int
}

// runBash runs a script as a runner runs a step, in dir, with the command on the PATH.
func runBash(t *testing.T, dir, script string, env map[string]string) job {
	t.Helper()
	bash, err := exec.LookPath("bash")
	if err != nil || runtime.GOOS == "windows" {
		t.Skip("no bash")
	}
	cmd := exec.Command(bash, "-e", "-o", "pipefail", "-c", script)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + t.TempDir()}
	for name, value := range env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return job{dir: dir, log: string(out), status: cmd.ProcessState.ExitCode()}
}

// runAction runs the step "check" of action.yml with inputs of the action, as a runner does.
func runAction(t *testing.T, dir string, inputs map[string]string) job {
	t.Helper()
	text, err := os.ReadFile("../../action.yml")
	if err != nil {
		t.Fatal(err)
	}
	var action struct {
		Inputs map[string]struct{ Default string }
		Runs   struct {
			Steps []struct {
				ID, Run string
				Env     map[string]string
			}
		}
	}
	if err := yaml.Unmarshal(text, &action); err != nil {
		t.Fatal(err)
	}
	state := t.TempDir()
	env := map[string]string{
		"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": filepath.Join(state, "page.md"), "GITHUB_OUTPUT": filepath.Join(state, "output"),
		"GITHUB_SERVER_URL": "https://github.example", "GITHUB_REPOSITORY": "owner/repo", "GITHUB_RUN_ID": "77", "RUNNER_TEMP": state,
	}
	reference := regexp.MustCompile(`^\$\{\{ inputs\.([a-z-]+) \}\}$`)
	for _, step := range action.Runs.Steps {
		if step.ID != "check" {
			continue
		}
		for name, value := range step.Env {
			m := reference.FindStringSubmatch(value)
			if m == nil {
				t.Fatalf("%s is %q, want one input", name, value)
			}
			in, ok := action.Inputs[m[1]]
			if !ok {
				t.Fatalf("the action has no input %q", m[1])
			}
			env[name] = in.Default
			if given, ok := inputs[m[1]]; ok {
				env[name] = given
			}
		}
		env["ASSAY"] = "assay"
		j := runBash(t, dir, step.Run, env)
		page, _ := os.ReadFile(env["GITHUB_STEP_SUMMARY"])
		outputs, _ := os.ReadFile(env["GITHUB_OUTPUT"])
		j.page, j.outputs = string(page), string(outputs)
		return j
	}
	t.Fatal("action.yml has no step check")
	return job{}
}

// obeyed returns the commands that a runner of GitHub finds in the output of a step: lines that
// begin with "::" after blanks, and "##[" anywhere.
func obeyed(log string) (commands []string) {
	for line := range strings.Lines(log) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") {
			commands = append(commands, trimmed)
		} else if i := strings.Index(line, "##["); i >= 0 {
			commands = append(commands, line[i:])
		}
	}
	return commands
}

func generated(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs("../../testdata/gen/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestAction runs the action as a user does: what it prints, its page, its outputs and its
// status.
func TestAction(t *testing.T) {
	step, slower, comm := generated(t, "llm_train_step.json.gz"), generated(t, "llm_train_slower.json.gz"), generated(t, "comm_bound.json.gz")
	dir := t.TempDir()
	for name, text := range map[string]string{
		"floor.yaml":  "step.median: {max_increase: 5%, min_abs: 1ms}\n",
		"strict.yaml": "single_run_noise: 2%\nstep.median: {max_increase: 5%}\ngpu.busy_share: \">= 80%\"\n",
		"target.yaml": "gpu.busy_share: \">= 99%\"\n",
	} {
		write(t, filepath.Join(dir, name), text, 0o666)
	}
	if _, talk, status := commanded("accept", step, "--baseline", filepath.Join(dir, "kept"), "--reason", "x", "--software", "torch=2.8"); status != 0 {
		t.Fatal(talk)
	}
	for _, tc := range []struct {
		what     string
		inputs   map[string]string
		status   int
		result   string
		page     []string // in this order
		commands []string // what the annotations begin with
	}{
		{"a target that is missed", map[string]string{"input": step, "gates": "target.yaml"}, 1, "fail",
			[]string{"# Gates: fail", "under the limit of 99%", "# GPU time report: ", "communication-bound", "[Artifacts of this run](https://github.example/owner/repo/actions/runs/77#artifacts)"},
			[]string{"::error file=target.yaml,line=1,title=gpu.busy_share%3A fail::gpu.busy_share is 92.7%25 "}},
		{"a regression, told from noise by the gate file", map[string]string{"input": slower, "baseline": step, "gates": "strict.yaml"}, 1, "fail",
			[]string{"# Gates: fail", "step.median rose by 6.7%, from 13.44 ms to 14.34 ms, over the limit of 5%", "# Comparison: ", "Step 13.42 → 14.33 ms", "# GPU time report: "},
			[]string{"::error file=strict.yaml,line=2,title=step.median%3A fail::"}},
		{"a change under the floor", map[string]string{"input": slower, "baseline": step, "gates": "floor.yaml"}, 0, "pass",
			[]string{"# Gates: pass", "- **pass** step.median rose by 6.7%, from 13.44 ms to 14.34 ms, over the limit of 5%, but under the floor of 1 ms", "# Comparison: "}, nil},
		{"a change that may be noise", map[string]string{"input": slower, "baseline": step}, 0, "inconclusive",
			[]string{"# Gates: inconclusive", "single runs of one program differ by up to 20%"},
			[]string{"::warning title=step.median%3A inconclusive::", "::warning title=kernels.total_per_step%3A inconclusive::"}},
		{"the same, as a failure", map[string]string{"input": slower, "baseline": step, "on-inconclusive": "fail"}, 1, "inconclusive",
			[]string{"# Gates: inconclusive"}, []string{"::error title=step.median%3A inconclusive::", "::error title=kernels.total_per_step%3A inconclusive::"}},
		{"an accepted baseline", map[string]string{"input": step, "baseline": "kept", "software": "torch=2.8\n"}, 0, "pass",
			[]string{"# Gates: pass", "accepted ", "torch 2.8", "# Comparison: "}, nil},
		{"one that has expired", map[string]string{"input": step, "baseline": "kept", "software": "torch=2.9"}, 3, "inconclusive",
			[]string{"# Gates: inconclusive", "The baseline in kept of ", " has expired: torch is 2.9, was 2.8."}, []string{"::error title=kernel.count_per_step%3A inconclusive::"}},
		{"one that is used although it has expired", map[string]string{"input": step, "baseline": "kept", "software": "torch=2.9", "allow-expired": "true"}, 0, "pass",
			[]string{"# Gates: pass", " has expired: torch is 2.9, was 2.8."}, nil},
		{"no artifact", map[string]string{"input": step, "baseline": step, "artifact": ""}, 0, "pass", []string{"# Gates: pass"}, nil},
		{"repeated runs", map[string]string{"input": step + "\n" + slower + "\n", "baseline": comm}, 1, "fail", []string{"# Gates: fail", "medians of 1 and 2 runs"}, []string{"::error title="}},
		{"an input that is missing", map[string]string{"input": "nothing.json", "baseline": step}, 3, "", []string{"[Artifacts of this run]"}, []string{"::warning title=assay report::"}},
	} {
		j := runAction(t, dir, mapsWith(tc.inputs, "output", filepath.Join(t.TempDir(), "new out")))
		if j.status != tc.status {
			t.Errorf("%s: exit status %d, want %d\n%s", tc.what, j.status, tc.status, j.log)
		}
		rest := j.page
		for _, want := range tc.page {
			_, after, ok := strings.Cut(rest, want)
			if !ok {
				t.Errorf("%s: no %q in the rest of the page\n%s", tc.what, want, j.page)
				break
			}
			rest = after
		}
		if tc.inputs["artifact"] == "" && strings.Contains(j.page, "Artifacts") != (!hasKey(tc.inputs, "artifact")) {
			t.Errorf("%s: the page has a link to artifacts, or none", tc.what)
		}
		if tc.result != "" && !strings.Contains(j.outputs, "result="+tc.result+"\n") || !strings.Contains(j.outputs, "page=") {
			t.Errorf("%s: outputs %q, want result=%s and a page", tc.what, j.outputs, tc.result)
		}
		got := obeyed(j.log)
		for i, want := range tc.commands {
			if i >= len(got) || !strings.HasPrefix(got[i], want) {
				t.Errorf("%s: annotations %q, want %q", tc.what, got, tc.commands)
				break
			}
		}
		if tc.commands == nil && got != nil {
			t.Errorf("%s: annotations %q", tc.what, got)
		}
	}
}

func hasKey(m map[string]string, key string) bool { _, ok := m[key]; return ok }

func mapsWith(m map[string]string, key, value string) map[string]string {
	out := maps.Clone(m)
	out[key] = value
	return out
}

// obeyable are names that are something to a runner, a shell, Markdown or HTML.
var obeyable = []string{
	"::error::pwned", "k\n::error::pwned", "k\r\n::error title=x::pwned", " \t::warning::pwned", "a ##[error]pwned", "::stop-commands::pwned", "::add-mask::pwned",
	"a|b|pwned", "</details></td><script>pwned()</script>", "`x` ```pwned", "%0A::error::pwned", "%3A%3Aerror%3A%3Apwned", "[pwned](https://evil.example)", "@octocat pwned",
	"<!-- pwned", "$(touch pwned) `touch pwned`; touch pwned", "long " + strings.Repeat("x", 30) + " ::error::pwned " + strings.Repeat("y", 60), "\u2028::error::pwned", "\x1b[2J::error::pwned", "-- pwned", "name=pwned\nresult=pass",
}

// hostileTrace writes a trace whose kernels, operators and annotations have such names.
func hostileTrace(t *testing.T, path string) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(test.Unpacked(t, generated(t, "llm_train_step.json.gz"))))
	dec.UseNumber()
	var trace map[string]any
	if err := dec.Decode(&trace); err != nil {
		t.Fatal(err)
	}
	names := map[any]string{}
	for _, e := range trace["traceEvents"].([]any) {
		event := e.(map[string]any)
		if slices.Contains([]any{"kernel", "cpu_op", "user_annotation", "gpu_memcpy"}, event["cat"]) && !strings.HasPrefix(event["name"].(string), "ProfilerStep") {
			if names[event["name"]] == "" {
				names[event["name"]] = obeyable[len(names)%len(obeyable)]
			}
			event["name"] = names[event["name"]]
		}
	}
	text, err := json.Marshal(trace)
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < len(obeyable) {
		t.Fatalf("%d names", len(names))
	}
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestActionHostile: names in a capture, of files and in gates are shown, and neither obeyed
// by the runner nor read as Markdown or HTML on the page.
func TestActionHostile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "::error::pwned ##[error] $(touch pwned) `touch pwned` | %0A.json")
	hostileTrace(t, file)
	var gates strings.Builder
	for i, name := range obeyable {
		if !strings.ContainsAny(name, "\"\n\r\x1b\u2028=") {
			quoted, _ := json.Marshal("kernel.count{kernel=\"" + name + "\", rank=" + string(rune('0'+i%2)) + "}")
			gates.WriteString(string(quoted) + ": {max: 0, max_increase: 0%}\n")
		}
	}
	write(t, filepath.Join(dir, "::error::pwned.yaml"), gates.String()+"step.median: <= 1ns\n", 0o666)
	j := runAction(t, dir, map[string]string{"input": file, "baseline": file, "gates": "::error::pwned.yaml", "output": "out ::error::pwned"})
	if j.status != 1 || !strings.Contains(j.outputs, "result=fail\n") {
		t.Fatalf("exit status %d, outputs %q\n%s", j.status, j.outputs, j.log)
	}
	own := regexp.MustCompile(`^::(error|warning) (file=%3A%3Aerror%3A%3Apwned\.yaml,line=\d+,)?title=(kernel\.count|step\.median|assay check|assay diff)[^:]*::`)
	for _, c := range obeyed(j.log) {
		if !own.MatchString(c) {
			t.Errorf("the runner obeys %q", c)
		}
	}
	if n := len(obeyed(j.log)); n < 5 || n > 12 {
		t.Errorf("%d annotations", n)
	}
	for line := range strings.Lines(j.outputs) {
		if name, _, _ := strings.Cut(line, "="); !slices.Contains([]string{"result", "failed", "not-evaluated", "inconclusive", "warnings", "page"}, name) {
			t.Errorf("output %q", line)
		}
	}
	text, _, ok := strings.Cut(j.page, "\n[Artifacts of this run]")
	if !ok || !strings.Contains(text, "# Comparison: ") || !strings.Contains(text, "pwned") {
		t.Errorf("the page is not whole:\n%s", j.page)
	}
	marktest.Check(t, "the page", text)
	if open, closed := strings.Count(text, "\n<details>\n"), strings.Count(text, "\n</details>\n"); open != closed || open == 0 {
		t.Errorf("%d details open, %d close", open, closed)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("a name was executed")
	}
	for _, format := range []string{"text", "md", "json", "junit", "benchmark"} {
		j := runBash(t, dir, `assay check "$FILE" --gates ::error::pwned.yaml --format `+format+" 2> /dev/null", map[string]string{"FILE": file, "GITHUB_ACTIONS": "true"})
		if got := obeyed(j.log); got != nil || len(j.log) < 100 {
			t.Errorf("%s: the runner obeys %q", format, got)
		}
	}
}

// TestOtherSystems runs the scripts of docs/ci.md for GitLab and for any other system: with a
// run that passes, and with one that fails.
func TestOtherSystems(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	scripts := map[string]string{}
	for _, block := range regexp.MustCompile("(?s)```(yaml|sh)\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		var gitlab struct {
			Perf struct {
				Script    []string
				Artifacts struct {
					Reports struct{ JUnit string }
				}
			}
		}
		switch {
		case block[1] == "yaml" && strings.HasPrefix(block[2], "perf:"):
			if err := yaml.Unmarshal([]byte(block[2]), &gitlab); err != nil {
				t.Fatal(err)
			}
			if gitlab.Perf.Artifacts.Reports.JUnit != "out/junit.xml" {
				t.Errorf("GitLab reads %q", gitlab.Perf.Artifacts.Reports.JUnit)
			}
			scripts["GitLab"] = strings.Join(gitlab.Perf.Script, "\n")
		case block[1] == "sh" && strings.HasPrefix(block[2], "status=0"):
			scripts["plain"] = block[2]
		}
	}
	for _, name := range []string{"GitLab", "plain"} {
		if scripts[name] == "" {
			t.Fatalf("docs/ci.md has no script for %s", name)
		}
		for run, want := range map[string]int{"llm_train_step.json.gz": 0, "comm_bound.json.gz": 1} {
			dir := t.TempDir()
			for to, from := range map[string]string{"new": run, "base": "llm_train_step.json.gz"} {
				trace, err := os.ReadFile(generated(t, from))
				if err != nil {
					t.Fatal(err)
				}
				if err := os.Mkdir(filepath.Join(dir, to), 0o777); err != nil {
					t.Fatal(err)
				}
				write(t, filepath.Join(dir, to, "rank0.json.gz"), string(trace), 0o666)
			}
			j := runBash(t, dir, scripts[name], nil)
			if j.status != want || !strings.Contains(j.log, "Gates: ") {
				t.Errorf("%s, %s: exit status %d, want %d\n%s", name, run, j.status, want, j.log)
			}
			for _, file := range []string{"junit.xml", "check.md", "check.json", "changes.md", "report/report.md", "report/summary.json", "diff/comparison.json"} {
				if info, err := os.Stat(filepath.Join(dir, "out", filepath.FromSlash(file))); err != nil || info.Size() == 0 {
					t.Errorf("%s, %s: no %s", name, run, file)
				}
			}
			if page, err := os.ReadFile(filepath.Join(dir, "out", "page.md")); name == "plain" && (err != nil || !strings.Contains(string(page), "# Gates: ") || !strings.Contains(string(page), "# Comparison: ")) {
				t.Errorf("the page is %q, %v", page, err)
			}
		}
	}
}

// TestInertText: only what a runner obeys changes, and JSON keeps its values.
func TestInertText(t *testing.T) {
	for _, tc := range []struct{ format, text, want string }{
		{"text", "a ::b\n  ::error::x\nc ##[error]", "a ::b\n  \\::error::x\nc #\\#[error]"},
		{"md", "::x", "\\::x"},
		{"md", "| `##vso[task.complete]` | ##vso x", "| `#\\#vso[task.complete]` | ##vso x"},
		{"json", "{\"a\": \"##[b] ::c\"}", "{\"a\": \"#\\u0023[b] ::c\"}"},
		{"junit", "<a b=\"##[c]\"/>", "<a b=\"#&#35;[c]\"/>"},
	} {
		if got := inertText(tc.text, tc.format); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.format, got, tc.want)
		}
		if tc.format == "json" {
			var a, b any
			if json.Unmarshal([]byte(tc.text), &a) != nil || json.Unmarshal([]byte(tc.want), &b) != nil || a.(map[string]any)["a"] != b.(map[string]any)["a"] {
				t.Error("the value is another")
			}
		}
	}
}
