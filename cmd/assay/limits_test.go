package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"assay/internal/test/hostile"
	"assay/internal/unit"
	"assay/summary"
)

// What the command may take for 20 MB of a hostile input of full size. Memory is what
// ASSAY_HOSTILE says, and a tenth.
const (
	hostileTime = time.Minute
	hostileSize = 20e6
)

// TestHostile tests the limits of the command: a small version of each hostile
// input is read within a small limit. ASSAY_HOSTILE=1GiB runs those of full size,
// each in a separate process with that limit, and logs their memory and time:
// make hostile.
func TestHostile(t *testing.T) {
	full := os.Getenv("ASSAY_HOSTILE")
	bin := filepath.Join(t.TempDir(), "assay")
	if full != "" {
		if out, err := exec.Command("go", "build", "-o", bin, ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, c := range hostile.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if full != "" {
				hostileProcess(t, bin, c, full)
			} else {
				hostileSmall(t, c)
			}
		})
	}
}

// hostileSmall reads a thousandth of a case with as little memory as can be
// asked for.
func hostileSmall(t *testing.T, c hostile.Case) {
	const limit = 64 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(-1))
	in, out := io.Pipe()
	go func() { out.CloseWithError(c.Write(out, max(20, c.Full/1000))) }()
	defer in.Close()
	peak := watchHeap()
	var stdout, stderr bytes.Buffer
	status := run(env{in, &stdout, &stderr}, []string{"summary", "--format", "json", "--max-memory", fmt.Sprint(limit)})
	if got := peak(); got > 2*limit {
		t.Errorf("%d MiB of memory, over %d MiB", got>>20, limit>>20)
	}
	checkTalk(t, status, stdout.String(), stderr.String())
	if status == exitOK {
		checkResult(t, "json", stdout.String())
	}
	if status == exitTrouble && !c.Refused && !c.Refusable {
		t.Errorf("exit status %d: %s", status, stderr.String())
	}
}

// watchHeap returns a function that says how large the heap has become.
func watchHeap() func() uint64 {
	runtime.GC()
	stop, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var most uint64
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapInuse)
			select {
			case <-stop:
				peak <- most
				return
			case <-tick.C:
			}
		}
	}()
	return func() uint64 { close(stop); return <-peak }
}

// hostileProcess reads a case of full size from a pipe.
func hostileProcess(t *testing.T, bin string, c hostile.Case, memory string) {
	budget, err := unit.ParseBytes(memory)
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	var size int64
	cmd := exec.Command(bin, "summary", "--format", "json", "--max-memory", memory)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(5*hostileTime, func() { cmd.Process.Kill() })
	defer late.Stop()
	c.Write(io.MultiWriter(in, counter{&size}), c.Full) // a reader that has enough goes away
	in.Close()
	err = cmd.Wait()
	took, rss := time.Since(start), maxRSS(cmd.ProcessState)
	status := 0
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		status = exit.ExitCode()
	}
	said := firstLine(stderr.String())
	if status == exitOK {
		s, err := summary.Read(&stdout, "stdout")
		if err != nil {
			t.Fatal(err)
		}
		said = fmt.Sprintf("%d events, %d devices, %d kernels, %d spans; %s", s.Inputs[0].Events, len(s.Devices), len(s.Kernels), len(s.Spans), issues(s))
	}
	t.Logf("| %s | %d MB | %.1f s | %d MB of %d MB | %d | %s |", c.Name, size/1e6, took.Seconds(), rss/1e6, budget/1e6, status, said)
	most := time.Duration(max(1, float64(size)/hostileSize) * float64(hostileTime))
	if rss > budget+budget/10 || took > most {
		t.Errorf("%d MB and %v, over %d MB and a tenth, or %v", rss/1e6, took, budget/1e6, most)
	}
	if status == exitTrouble != c.Refused && !c.Refusable || status != exitOK && status != exitTrouble {
		t.Errorf("exit status %d, %.2000s", status, stderr.String())
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

type counter struct{ n *int64 }

func (c counter) Write(p []byte) (int, error) { *c.n += int64(len(p)); return len(p), nil }

// TestScarceMemory: inputs that together want more memory than there is take
// turns, and what comes of them is what comes of them one by one.
func TestScarceMemory(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB") // the garbage of the test itself is not the point
	dir := t.TempDir()
	var c hostile.Case
	for _, c = range hostile.Cases() {
		if strings.Contains(c.Name, "streams and names") {
			break
		}
	}
	for i := range 3 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("rank%d.json", i)))
		if err := errors.Join(err, c.Write(f, 36_000+1000*i), f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	var want string
	for _, jobs := range []string{"1", "6"} {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", "--format", "json", "--max-memory", "64MiB", "--jobs", jobs, dir})
		if status != exitOK {
			t.Fatal(stderr.String())
		}
		if want == "" {
			want = stdout.String()
		}
		if got := stdout.String(); got != want || !strings.Contains(got, "memory-limit") {
			t.Errorf("%s inputs at a time give another result, or no limit was met:\n%.1000s", jobs, got)
		}
	}
}
