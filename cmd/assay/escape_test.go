package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"assay/internal/test"
)

// TestNoFieldReachesTheTerminal: whatever text a summary has in a field, also one that has a fixed list of words when
// assay writes it, no control character of it is in what a command prints: it could set the title of the window or hide
// lines.
func TestNoFieldReachesTheTerminal(t *testing.T) {
	guides := func(name string) string { return filepath.Join("..", "..", "testdata", "guides", name) }
	saved := func(name string) string { return filepath.Join("..", "..", "testdata", "gen", name) }
	kinds := map[string][]string{
		"trace": {saved("llm_train_step.json.gz")}, "ranks": {saved("comm_bound.json.gz"), saved("host_bound.json.gz")},
		"memory": {filepath.Join("..", "..", "testdata", "memory", "leak_oom.pickle.gz")}, "steps": {guides("verl_train.log")},
		"roles":   {guides("verl_train.log"), guides("sglang_server.log"), guides("dmon.txt")},
		"nccl":    {guides("nccl_info.log")},
		"serving": {guides("sglang_serving.jsonl")}, "profile": {filepath.Join("..", "..", "testdata", "profilers", "cprofile.prof")},
	}
	const escape = "\x1b]0;title\x07\x1b[31m\u009b\u202e"
	tried := 0
	for kind, inputs := range kinds {
		document, path := []byte(unplanted(t, inputs...)), filepath.Join(t.TempDir(), kind+".json")
		plant := func(fields map[field]bool) {
			var v map[string]any
			if err := json.Unmarshal(document, &v); err != nil {
				t.Fatal(err)
			}
			schema := v["schema"]
			delete(v, "schema") // it comes first
			eachText(v, "", func(of field, text string) string {
				if fields[of] {
					text += escape
				}
				return text
			})
			out, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, append(fmt.Appendf(nil, `{"schema": %q, `, schema), out[1:]...), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		show := func(what string, args ...string) (status int, printed string) {
			var stdout, stderr bytes.Buffer
			status = run(env{strings.NewReader(""), &stdout, &stderr}, args)
			for _, text := range []string{stdout.String(), stderr.String()} {
				if bad := strings.IndexFunc(text, func(r rune) bool { return r != '\n' && r != '\t' && unicode.IsControl(r) || r == '\u202e' }); bad >= 0 {
					t.Errorf("%s: %s is printed by %q: %q", kind, what, args[:len(args)-1], text[max(0, bad-40):min(len(text), bad+10)])
				}
			}
			return status, stdout.String()
		}
		// A field of fixed words refuses others, so each is tried alone first.
		good := map[field]bool{}
		for i, at := range fieldsOf(t, document) {
			if i%test.Every(3) != 0 && !strings.Contains(string(at), "owner") {
				continue
			}
			plant(map[field]bool{at: true})
			if status, _ := show(string(at), "summary", path); status == exitOK {
				good[at] = true
			}
		}
		tried += len(good)
		plant(good)
		commands := [][]string{{"summary", path}, {"summary", path, "--by", "kernel"}, {"diff", path, path}, {"doctor", path},
			{"check", path, "--baseline", path}, {"table", path}, {"history", path, path}}
		_, tables := show("a field", "table", path)
		for line := range strings.Lines(tables) {
			if words := strings.Fields(line); words[0] != "-" {
				commands = append(commands, []string{"table", path, words[1]})
			}
		}
		for _, args := range commands {
			if status, _ := show("a field", args...); status == exitUsage {
				t.Errorf("%s: %q: exit status %d", kind, args, status)
			}
		}
	}
	if tried < 100 {
		t.Errorf("only %d fields may have any text", tried)
	}
}
