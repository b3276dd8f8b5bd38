//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
	"assay/internal/unit"
)

// TestManyInputs: files that were read are closed, what they took is given back or
// used again, and what remains of each is small: a command with many inputs stays
// within its memory and a tenth.
func TestManyInputs(t *testing.T) {
	if withRace() {
		t.Skip("the race detector takes memory and address space of its own")
	}
	n, memory := 1000, "72MiB" // the command takes 64, the binary of the tests more
	switch {
	case os.Getenv("ASSAY_HOSTILE") != "":
		n, memory = 100_000, "1GiB"
	case test.Long():
		n, memory = 10_000, "96MiB"
	}
	dir := manyTraces(t, n)
	base := write(t, filepath.Join(t.TempDir(), "base.json"), oneKernel, 0o666)
	budget, err := unit.ParseBytes(memory)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"summary"}, {"check", "--baseline", base}} {
		most := budget + budget/10
		var stdout, stderr bytes.Buffer
		var status int
		var rss int64
		var took, cpu time.Duration
		for range 3 { // the watch of a process that has to wait for a core looks late
			stdout.Reset()
			stderr.Reset()
			cmd := exec.Command(program(t), append(args, "--max-memory", memory, dir)...)
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			start := time.Now()
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			peak := peakOf(cmd.Process.Pid)
			status = statusOf(cmd.Wait())
			took, rss = time.Since(start), peak()
			cpu = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
			if rss <= most {
				break
			}
		}
		t.Logf("%s, %d inputs: %v, %v of CPU, %d MB of %d MB", args[0], n, took, cpu, rss/1e6, budget/1e6)
		if want := fmt.Sprintf("mean of %d GPUs", n); args[0] == "summary" {
			said := strings.Join(strings.Fields(stdout.String()), " ") // without line breaks
			if status != exitOK || !strings.Contains(said, want) {
				t.Fatalf("exit status %d, want %q in\n%.1000s\n%.1000s", status, want, stdout.String(), stderr.String())
			}
		} else if want := "2 gates could not be evaluated"; status != exitTrouble || !strings.Contains(stderr.String(), want) { // a single kernel has no steps
			t.Fatalf("exit status %d, want %q in\n%.1000s\n%.1000s", status, want, stdout.String(), stderr.String())
		}
		if rss > most {
			t.Errorf("%s: %d MB, over %d MB", args[0], rss/1e6, most/1e6)
		}
	}
}

// TestBuffersAreUsedAgain: reading a small trace allocates little memory, whether it is
// complete or cut.
func TestBuffersAreUsedAgain(t *testing.T) {
	if withRace() {
		t.Skip("the race detector takes memory and address space of its own")
	}
	const n, most = 500, 600 << 10
	cut := t.TempDir()
	for i := range n {
		write(t, filepath.Join(cut, fmt.Sprint(i, ".json")), `{"traceEvents":[N`, 0o666)
	}
	for _, dir := range []string{manyTraces(t, n), cut} {
		var before, after runtime.MemStats
		var stdout, stderr bytes.Buffer
		runtime.ReadMemStats(&before)
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", dir})
		runtime.ReadMemStats(&after)
		if status != exitOK {
			t.Fatal(stderr.String())
		}
		if each := (after.TotalAlloc - before.TotalAlloc) / n; each > most {
			t.Errorf("%d KiB for each of %d inputs, over %d KiB", each>>10, n, most>>10)
		}
	}
}

// manyTraces returns a directory with n traces of one kernel.
func manyTraces(t *testing.T, n int) (dir string) {
	dir = t.TempDir()
	for i := range n {
		event := fmt.Sprintf(`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":1}]`, i)
		write(t, filepath.Join(dir, fmt.Sprint(i, ".json")), event, 0o666)
	}
	return dir
}
