package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"assay/analyze/inspect"
	"assay/internal/test"
)

// questions are one of each kind. Every name is like the first two.
var questions = [][]string{{"--kernel", "*"}, {"--op", "*"}, {"--gap", "1"}, {"--gap", "3"}, {"--at", "1us"}, {"--at", "0s"},
	{"--kernel", "*", "--why"}, {"--at", "1us", "--why"}}

// FuzzInspect asks questions about any input. The command ends soon, without a panic, with
// status 0 and an answer or with status 3 and a reason. An answer does not steer a terminal, and
// is bounded.
func FuzzInspect(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > fuzzSize {
			return
		}
		for _, question := range questions {
			for _, format := range []string{"text", "json"} {
				var stdout, stderr bytes.Buffer
				start := time.Now()
				status := run(env{bytes.NewReader(in), &stdout, &stderr}, append([]string{"inspect", "--format", format, "--top", "3"}, question...))
				if took := time.Since(start); took > fuzzTime {
					t.Errorf("%v took %v, over %v", question, took, fuzzTime)
				}
				checkTalk(t, status, stdout.String(), stderr.String())
				if status == exitOK {
					checkAnswer(t, format, stdout.String())
				}
			}
		}
	})
}

func checkAnswer(t *testing.T, format, stdout string) {
	t.Helper()
	const most = 256 << 10
	switch {
	case len(stdout) > most && len(stdout) > 8*fuzzSize:
		t.Errorf("the answer has %d bytes", len(stdout))
	case format == "text" && (strings.TrimSpace(stdout) == "" || steers(stdout)):
		t.Errorf("the answer is empty, has control characters or is not UTF-8: %q", stdout)
	case format == "json":
		var a inspect.Answer
		if err := json.Unmarshal([]byte(stdout), &a); err != nil || !utf8.ValidString(stdout) || a.Schema != inspect.Schema {
			t.Fatalf("the answer is not JSON: %v: %q", err, stdout)
		}
		if g := a.Gap; g != nil && len(g.Causes) > 0 {
			sum := int64(0)
			for _, c := range g.Causes {
				sum += c.NS
			}
			if sum > g.NS || len(g.Causes) < 3 && sum != g.NS {
				t.Errorf("the causes of a gap of %d ns sum to %d ns", g.NS, sum)
			}
		}
	}
}

// TestInspectCorpus asks about every small real input: the answer fits a terminal, or there is
// a reason.
func TestInspectCorpus(t *testing.T) {
	most := int64(40 << 10)
	if test.Long() {
		most = 1 << 40
	}
	answered := 0
	for _, folder := range []string{"kineto", "nsight", "ranks", "formats"} {
		root := test.Corpus(t, folder)
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") && !strings.HasSuffix(path, ".json.gz") && !strings.HasSuffix(path, ".sqlite") {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > most {
				return err
			}
			for _, question := range append(questions, []string{"--kernel", "e"}, []string{"--op", "a"}) {
				var stdout, stderr bytes.Buffer
				status := run(env{nil, &stdout, &stderr}, append([]string{"inspect", path}, question...))
				checkTalk(t, status, stdout.String(), stderr.String())
				if status != exitOK {
					continue
				}
				answered++
				checkAnswer(t, "text", stdout.String())
				for line := range strings.Lines(stdout.String()) {
					if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > textWidth+20 {
						t.Errorf("%s %v: a line of %d columns: %s", path, question, n, line)
					}
				}
			}
			return nil
		})
	}
	if answered < 100 {
		t.Errorf("only %d questions had answers", answered)
	}
}

// TestInspectAsReport compares the numbers of gaps with the rows of a report.
func TestInspectAsReport(t *testing.T) {
	const input = "../../testdata/gen/llm_train_step.json.gz"
	var stdout, stderr bytes.Buffer
	if got := run(env{nil, &stdout, &stderr}, []string{"summary", input, "--format", "md"}); got != exitOK {
		t.Fatal(stderr.String())
	}
	_, table, _ := strings.Cut(stdout.String(), "## Largest gaps")
	var starts []string
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if len(cells) > 4 && strings.ContainsAny(cells[1], "0123456789") {
			starts = append(starts, strings.TrimSpace(cells[1]))
		}
		if strings.HasPrefix(line, "#") {
			break
		}
	}
	if len(starts) < 4 {
		t.Fatalf("the report lists %d gaps: %.2000s", len(starts), table)
	}
	for i, start := range starts {
		stdout.Reset()
		if got := run(env{nil, &stdout, &stderr}, []string{"inspect", input, "--gap", strconv.Itoa(i + 1), "--format", "json"}); got != exitOK {
			t.Fatal(stderr.String())
		}
		var a inspect.Answer
		if err := json.Unmarshal(stdout.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(a.Gap.StartNS); string(got) != start {
			t.Errorf("gap %d begins at %s, and row %d of the report at %s", i+1, got, i+1, start)
		}
	}
}
