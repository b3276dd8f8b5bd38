//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"assay/internal/test"
)

// writeSteps writes a trace of n steps, each with one kernel of a name of its own, on the
// given number of GPUs.
func writeSteps(t *testing.T, path string, n, devices int, name string) string {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(f)
	fmt.Fprint(out, `{"traceEvents":[`)
	for i := range n {
		at := i * 10
		fmt.Fprintf(out, `{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%d,"dur":10},`+"\n", i%8000, at)
		fmt.Fprintf(out, `{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}},`+"\n", at+1, i+1)
		fmt.Fprintf(out, `{"ph":"X","cat":"kernel","name":"%s%d","pid":%d,"tid":7,"ts":%d,"dur":3,"args":{"device":%d,"stream":%d,"correlation":%d}},`+"\n", name, i, i%devices, at+3, i%devices, 7+i%20, i+1)
	}
	fmt.Fprint(out, `{}]}`)
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCommandsStayWithinMemory: traces with more steps, kernels and stacks than the
// memory limit has room for are pooled, with the exact sum, or refused in one line. No
// command takes a tenth more than the limit.
func TestCommandsStayWithinMemory(t *testing.T) {
	if withRace() || !test.Long() {
		t.Skip("takes long, or memory of its own with the race detector")
	}
	const n, budget = 70_000, 64 << 20
	dir := t.TempDir()
	one := writeSteps(t, filepath.Join(dir, "one.json"), n, 1, "k")
	eight := writeSteps(t, filepath.Join(dir, "eight.json"), n, 8, "void k<"+strings.Repeat("a", 200)+">")
	many := filepath.Join(dir, "many")
	if err := os.Mkdir(many, 0o777); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		if err := os.Link(one, filepath.Join(many, fmt.Sprintf("rank%d.json", i))); err != nil {
			t.Skip(err)
		}
	}
	const fewer = 30_000 // are read to the end
	small := writeSteps(t, filepath.Join(dir, "small.json"), fewer, 1, "k")
	folded := filepath.Join(dir, "out.folded")
	for _, args := range [][]string{
		{"convert", "--to", "pprof", "-o", os.DevNull, one}, {"convert", "--to", "folded", "-o", folded, small},
		{"convert", "--to", "pprof", "--value", "cpu", "-o", os.DevNull, one}, {"convert", "--to", "pprof", "-o", os.DevNull, eight},
		{"report", "-o", filepath.Join(dir, "report"), eight}, {"summary", "--format", "json", eight}, {"diff", eight, eight},
		{"convert", "--to", "pprof", "-o", os.DevNull, many}, {"summary", many},
	} {
		const most = int64(budget + budget/8) // the watch looks every millisecond
		var stderr bytes.Buffer
		var status int
		var rss int64
		for range 12 { // the watch of a process that has to wait for a core looks late
			stderr.Reset()
			cmd := exec.Command(program(t), append(args, "--max-memory", fmt.Sprint(budget))...)
			cmd.Stderr = &stderr
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			peak := peakOf(cmd.Process.Pid)
			status = statusOf(cmd.Wait())
			if rss = peak(); rss <= most {
				break
			}
		}
		t.Logf("%s %s: exit status %d, %.1f MiB", args[0], filepath.Base(args[len(args)-1]), status, float64(rss)/(1<<20))
		refused := status == exitTrouble && strings.Count(stderr.String(), "\n") == 1 && strings.Contains(stderr.String(), "--max-memory")
		if status != exitOK && !refused {
			t.Errorf("%s: exit status %d, %.400s", args, status, stderr.String())
		}
		if rss > most {
			t.Errorf("%s: %d MiB, over %d MiB", args, rss>>20, most>>20)
		}
		if args[0] == "convert" && args[2] == "folded" {
			checkPooledSum(t, folded, fewer*3000)
		}
	}
}

// checkPooledSum checks the sum of folded stacks.
func checkPooledSum(t *testing.T, path string, want int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, rows := int64(0), 0
	for line := range strings.Lines(string(text)) {
		v, err := strconv.ParseInt(strings.TrimSpace(line[strings.LastIndexByte(line, ' ')+1:]), 10, 64)
		if err != nil {
			t.Fatalf("%q", line)
		}
		sum, rows = sum+v, rows+1
	}
	if sum != want || rows < 1000 || !strings.Contains(string(text), "(other stacks)") {
		t.Errorf("%d ns in %d stacks, want %d ns, and a stack of all others", sum, rows, want)
	}
}
