package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"

	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
)

// oddities are traces in which one thing is unusual that no file of
// testdata/malformed has.
var oddities = []string{
	``, `[`, `[]`, `{}`, `[{}]`, `[{"ph":"X"`, `{"traceEvents":[`, `{"traceEvents":{}}`, `{"traceEvents":[]}`,
	`[{"ph":"X","name":"a","ts":1,"dur":1}],{"ph":"X","name":"b","ts":2,"dur":1}]`,
	`{"traceEvents":[{"ph":"X","args":{"a":[1,2,"x"},{"ph":"X","name":"b","ts":1,"dur":1}]}`,
	`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1}`,
	`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":9223372036854775,"dur":9223372036854775}]`,
	`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":-9223372036854775,"dur":9223372036854775},{"ph":"X","cat":"kernel","name":"k","pid":1,"tid":7,"ts":0,"dur":9223372036854775}]`,
	`[{"ph":"X","cat":"kernel","name":"\u001b[2J\ud800` + "\x1b]0;\x07\x9b\xff\u202e" + `|<b>","pid":"p\n","tid":"t\r","ts":1,"dur":1}]`,
	`[{"ph":"X","name":"` + "\x1b[31m`|\n# h\n" + `","cat":"\u0085","pid":"\u2028","tid":null,"ts":1,"dur":1}]`,
	`[{"ph":"B","name":"a","ts":1},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":3},{"ph":"b","cat":"c","id":1,"ts":1},{"ph":"e","cat":"c","id":1,"ts":9}]`,
	`{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"\u0000"}],"distributedInfo":{"rank":-1},"baseTimeNanoseconds":1e30,"traceEvents":[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":9},{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":1,"args":{"device":0,"stream":-7,"correlation":1}},{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","pid":0,"tid":7,"ts":2,"dur":1,"args":{"bytes":9223372036854775807}}]}`,
	"\x28\xb5\x2f\xfd\x00", "\x1f\x8b\x08", "PK\x03\x04", "SQLite format 3\x00", "\xfe\xff\x00[", "\xff\xfe[\x00",
}

// What an input of at most fuzzSize bytes may cost in one run of the command.
const (
	fuzzSize   = 64 << 10
	fuzzTime   = time.Second
	fuzzMemory = 256 << 20 // bytes allocated, freed ones included
)

// FuzzSummary tests the command with any input. It
// ends soon, without a panic and without much memory, with status 0 and a
// result or with status 3 and a reason. A result is UTF-8, as JSON it passes
// the checks of [summary.Read]; nothing else that is printed steers a terminal.
func FuzzSummary(f *testing.F) {
	for _, seed := range fuzzSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) > fuzzSize || bytes.Contains(in, []byte("assay/summary/")) {
			return // summaries say what they want: see FuzzDiff
		}
		want := -1
		for _, format := range []string{"json", "md", "text"} {
			status, stdout, stderr := bounded(t, in, format)
			checkTalk(t, status, stdout, stderr)
			if want < 0 {
				want = status
			}
			if status != want {
				t.Errorf("exit status %d as %s, %d as JSON", status, format, want)
			}
			if status == exitOK {
				checkResult(t, format, stdout)
			}
		}
	})
}

// bounded runs the command on an input and holds it to time and memory.
func bounded(t *testing.T, in []byte, format string) (status int, stdout, stderr string) {
	t.Helper()
	var out, talk bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	status = run(env{bytes.NewReader(in), &out, &talk}, []string{"summary", "--format", format})
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if took > fuzzTime {
		t.Errorf("took %v as %s, over %v", took, format, fuzzTime)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > fuzzMemory {
		t.Errorf("allocated %d MiB as %s, over %d MiB", n>>20, format, fuzzMemory>>20)
	}
	return status, out.String(), talk.String()
}

func checkTalk(t *testing.T, status int, stdout, stderr string) {
	t.Helper()
	switch {
	case status != exitOK && status != exitTrouble:
		t.Fatalf("exit status %d: %q", status, stderr)
	case status == exitTrouble && (stdout != "" || stderr == ""):
		t.Errorf("exit status 3 with stdout %q, stderr %q; want a reason and no result", stdout, stderr)
	}
	if steers(stderr) {
		t.Errorf("stderr has control characters or is not UTF-8: %q", stderr)
	}
}

func checkResult(t *testing.T, format, stdout string) {
	t.Helper()
	if format != "json" {
		if strings.TrimSpace(stdout) == "" || steers(stdout) {
			t.Errorf("%s is empty, has control characters or is not UTF-8: %q", format, stdout)
		}
		return
	}
	if !utf8.ValidString(stdout) {
		t.Errorf("JSON is not UTF-8: %q", stdout)
	}
	if !json.Valid([]byte(stdout)) {
		t.Fatalf("not JSON: %q", stdout)
	}
	s, err := summary.Read(strings.NewReader(stdout), "stdout")
	if err != nil {
		t.Fatalf("the result cannot be read back: %v", err)
	}
	checkOwners(t, s)
}

// checkOwners checks that idle time has exactly one owner and GPU work exactly one pass,
// if these are known.
func checkOwners(t *testing.T, s *summary.Summary) {
	t.Helper()
	for _, is := range s.Issues {
		if is.Code == "window-implausible" || is.Code == "idle-not-attributed" || is.Code == "sum-overflow" {
			return
		}
	}
	for _, d := range s.Devices {
		idle, passes, work := int64(0), int64(0), int64(0)
		for _, r := range s.Idle {
			if r.Input == d.Input && r.Device == d.Device {
				idle += r.NS
			}
		}
		if idle != d.Activity.Idle() {
			t.Errorf("device %d: owners have %d ns of %d ns idle", d.Device, idle, d.Activity.Idle())
		}
		for _, r := range s.Passes {
			if r.Input == d.Input && r.Device == d.Device {
				passes += r.GPUNS
			}
		}
		for _, r := range s.Streams {
			if r.Input == d.Input && r.Device == d.Device {
				work += r.WorkNS
			}
		}
		if len(s.Passes) > 0 && passes != work {
			t.Errorf("device %d: passes have %d ns of %d ns work", d.Device, passes, work)
		}
	}
}

// steers reports whether s could do more to a terminal than to put characters
// and line breaks on it.
func steers(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, func(r rune) bool { return r != '\n' && unicode.IsControl(r) })
}

// fuzzSeeds returns the oddities, the malformed files, tables, and the beginnings of
// generated traces, as stored and decompressed.
func fuzzSeeds(f *testing.F) (seeds [][]byte) {
	const most = 16 << 10 // fuzzing is slow over long inputs
	for _, s := range oddities {
		seeds = append(seeds, []byte(s))
	}
	for _, story := range tracegen.Stories() {
		if s := story.Make(); len(s.JSON) < most {
			seeds = append(seeds, s.JSON)
		}
	}
	for _, dir := range []string{"malformed", "gen", "torchprof", "memory"} {
		for _, file := range test.Files(f, filepath.Join("..", "..", "testdata", dir, "*")) {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			seeds = append(seeds, b[:min(len(b), most)])
			z, err := gzip.NewReader(bytes.NewReader(b))
			if err != nil {
				continue // not compressed
			}
			plain, err := io.ReadAll(io.LimitReader(z, most))
			if len(plain) == 0 {
				f.Fatalf("%s: %v", file, err)
			}
			seeds = append(seeds, plain)
		}
	}
	return seeds
}
