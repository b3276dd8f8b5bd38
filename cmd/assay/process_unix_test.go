//go:build unix

package main

import (
	"assay/gate/baseline"
	"assay/internal/test"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program returns the path of the command as a program of its own, which the main
// function of the tests puts on the PATH.
func program(t *testing.T) string {
	t.Helper()
	bin, err := exec.LookPath("assay")
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("this did not come true: " + what)
		}
	}
}

// entries returns the names of files in dir and below.
func entries(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err == nil && path != dir {
			names = append(names, path)
		}
		return nil // files may disappear during the walk
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// statusOf returns the exit status of a process that has ended, 128 and the signal
// for one that a signal ended.
func statusOf(err error) int {
	exit := (*exec.ExitError)(nil)
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if ws := exit.Sys().(syscall.WaitStatus); ws.Signaled() {
			return 128 + int(ws.Signal())
		}
		return exit.ExitCode()
	}
	return -1
}

// TestSignalRemovesUnpacked: a database that comes through a pipe is unpacked to a
// temporary file, and a signal removes it.
func TestSignalRemovesUnpacked(t *testing.T) {
	bin := program(t)
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if signal.Ignored(sig) {
			continue // nohup or a background job: programs inherit that
		}
		temp := t.TempDir()
		cmd := exec.Command(bin, "summary")
		cmd.Env = append(os.Environ(), "TMPDIR="+temp)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if _, err := in.Write(append([]byte("SQLite format 3\x00"), make([]byte, 1<<20)...)); err != nil {
			t.Fatal(err)
		}
		eventually(t, "a temporary file is there", func() bool { return len(entries(t, temp)) > 0 })
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatal(err)
		}
		status := statusOf(cmd.Wait())
		if left := entries(t, temp); status != 128+int(sig) || len(left) > 0 || strings.Contains(stderr.String(), "goroutine") {
			t.Errorf("%v: exit status %d, left behind: %q, %s", sig, status, left, stderr.String())
		}
	}
}

// exporter writes a program that replaces nsys or ncu. It starts another program, records
// both process numbers, writes some output and does not end.
func exporter(t *testing.T, name string) (path, pids string) {
	dir := t.TempDir()
	pids = filepath.Join(dir, "pids")
	write(t, filepath.Join(dir, name), `#!/bin/sh
for word; do case $word in --output=*) echo half > "${word#--output=}" ;; esac; done
sleep 300 &
echo $$ $! > "`+pids+`.new" && mv "`+pids+`.new" "`+pids+`"
wait
`, 0o755)
	return dir + string(os.PathListSeparator) + os.Getenv("PATH"), pids
}

// allEnded reports whether the processes that a file lists are gone.
func allEnded(t *testing.T, pids string) bool {
	if runtime.GOOS != "linux" {
		return true // /proc tells
	}
	text, err := os.ReadFile(pids)
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range strings.Fields(string(text)) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		// One that nobody waits for stays as a zombie.
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err == nil && !strings.Contains(string(stat), ") Z ") {
			return false
		}
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return true
}

// TestSignalEndsExport: a signal ends the program that exports a report, what that
// has started, and removes what it wrote.
func TestSignalEndsExport(t *testing.T) {
	bin := program(t)
	for tool, ext := range map[string]string{"nsys": ".nsys-rep", "ncu": ".ncu-rep"} {
		path, pids := exporter(t, tool)
		temp := t.TempDir()
		cmd := exec.Command(bin, "summary", write(t, filepath.Join(t.TempDir(), "r"+ext), "of a closed format", 0o666))
		cmd.Env = append(os.Environ(), "TMPDIR="+temp, "PATH="+path)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		eventually(t, tool+" runs", func() bool { _, err := os.Stat(pids); return err == nil })
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		status := statusOf(cmd.Wait())
		if left := entries(t, temp); status != 143 || len(left) > 0 {
			t.Errorf("%s: exit status %d, left behind: %q", tool, status, left)
		}
		eventually(t, tool+" has ended", func() bool { return allEnded(t, pids) })
	}
}

// TestExportTimeout: an export that takes too long is stopped, and one line says so.
func TestExportTimeout(t *testing.T) {
	bin := program(t)
	for tool, ext := range map[string]string{"nsys": ".nsys-rep", "ncu": ".ncu-rep"} {
		path, pids := exporter(t, tool)
		temp := t.TempDir()
		var stderr bytes.Buffer
		cmd := exec.Command(bin, "summary", "--export-timeout", "1s", write(t, filepath.Join(t.TempDir(), "r"+ext), "of a closed format", 0o666))
		cmd.Env, cmd.Stderr = append(os.Environ(), "TMPDIR="+temp, "PATH="+path), &stderr
		start := time.Now()
		status := statusOf(cmd.Run())
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		want := "r" + ext + ": " + tool + " did not export it within 1s and was stopped; give it more time with --export-timeout, or export it yourself"
		if left := entries(t, temp); status != exitTrouble || len(left) > 0 || len(lines) != 2 || !strings.HasSuffix(lines[1], want) {
			t.Errorf("%s: exit status %d, left behind: %q, %q", tool, status, left, lines)
		}
		if took := time.Since(start); took > 20*time.Second {
			t.Errorf("%s: %v", tool, took)
		}
		eventually(t, tool+" has ended", func() bool { return allEnded(t, pids) })
	}
}

// TestAcceptTogether: processes that accept at the same time add a line each, and
// each names the one before it.
func TestAcceptTogether(t *testing.T) {
	bin := program(t)
	dir := t.TempDir()
	const n = 12
	var group sync.WaitGroup
	for i := range n {
		input := write(t, filepath.Join(dir, fmt.Sprint(i, ".json")), strings.Replace(oneKernel, `"dur":2`, fmt.Sprint(`"dur":`, i+2), 1), 0o666)
		group.Go(func() {
			out, err := exec.Command(bin, "accept", input, "--baseline", filepath.Join(dir, "base"), "--reason", fmt.Sprint("run ", i)).CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	group.Wait()
	text, err := os.ReadFile(filepath.Join(dir, "base", baseline.FileName))
	if err != nil {
		t.Fatal(err)
	}
	reasons, previous := make(map[string]bool), ""
	for line := range strings.Lines(string(text)) {
		var d baseline.Decision
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			t.Fatalf("%v: %q", err, line)
		}
		if d.Previous != previous {
			t.Errorf("%s comes after %q, not %q", d.Accepted, d.Previous, previous)
		}
		if _, err := os.Stat(filepath.Join(dir, "base", d.Accepted)); err != nil {
			t.Error(err)
		}
		reasons[d.Reason], previous = true, d.Accepted
	}
	if len(reasons) != n {
		t.Errorf("%d decisions, want %d:\n%s", len(reasons), n, text)
	}
}

// TestReportFails: where a file of a report cannot be written, an earlier report is
// as it was, and nothing new is there.
func TestReportFails(t *testing.T) {
	bin := program(t)
	dir := t.TempDir()
	input := write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666)
	for _, before := range []bool{true, false} {
		out := filepath.Join(dir, fmt.Sprint(before))
		old := make(map[string]string)
		if before {
			if text, err := exec.Command(bin, "report", input, "-o", out).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
		}
		small, large := 0, 0
		for _, name := range entries(t, out) {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			old[name] = string(text)
			if filepath.Base(name) == "summary.json" {
				small = len(text)
			}
			large = max(large, len(text))
		}
		blocks := small/512 + 2
		if before && large <= 512*blocks {
			t.Fatalf("no file is much larger than summary.json, which has %d bytes", small)
		}
		write(t, input, strings.Replace(oneKernel, `"dur":2`, `"dur":3`, 1), 0o666)
		if !before {
			blocks = 10
		}
		var stderr bytes.Buffer
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -f %d; exec %s report %s -o %s", blocks, bin, input, out))
		cmd.Stderr = &stderr
		status := statusOf(cmd.Run())
		if status != exitTrouble || !strings.Contains(stderr.String(), "cannot write the report: ") || strings.Count(stderr.String(), "\n") != 1 {
			t.Errorf("exit status %d, %s", status, stderr.String())
		}
		now := entries(t, out)
		if len(now) != len(old) {
			t.Errorf("%q, want %d files as before", now, len(old))
		}
		for _, name := range now {
			if text, err := os.ReadFile(name); err != nil || string(text) != old[name] {
				t.Errorf("%s is no longer what it was: %v", name, err)
			}
		}
	}
}

// TestHalfReport: where the files of a report cannot get their names, there is no
// report.md beside those that could.
func TestHalfReport(t *testing.T) {
	dir := t.TempDir()
	input, out := write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666), filepath.Join(dir, "out")
	do := func() (int, string) {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"report", input, "-o", out})
		return status, stderr.String()
	}
	if status, said := do(); status != exitOK {
		t.Fatal(said)
	}
	pictures := test.Files(t, filepath.Join(out, "*.png"))
	if err := os.Remove(pictures[0]); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(pictures[0], "in", "the", "way"), 0o777); err != nil {
		t.Fatal(err)
	}
	status, said := do()
	if status != exitTrouble || !strings.Contains(said, "cannot write the report: ") {
		t.Errorf("exit status %d, %s", status, said)
	}
	if _, err := os.Stat(filepath.Join(out, "report.md")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("report.md of half a report: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(out, ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestFullDisk: what cannot be printed is no success, whichever command prints it.
func TestFullDisk(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	input := write(t, filepath.Join(t.TempDir(), "a.json"), oneKernel, 0o666)
	for _, args := range [][]string{
		{"help"}, {"--help"}, {"help", "summary"}, {"summary", "--help"}, {"help", "rules"}, {"help", "thresholds"}, {"help", "gates"}, {"help", "tables"},
		{"version"}, {"--version"}, {"explain"}, {"explain", "gpu-idle"}, {"summary", input}, {"doctor", input}, {"convert", input, "--to", "folded"},
		{"summary", input, "--table", "cuda_gpu_kern_sum"}, {"diff", input, input},
	} {
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		status := run(env{strings.NewReader(""), full, &stderr}, args)
		full.Close()
		if status != exitTrouble || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%q: exit status %d, %q", args, status, stderr.String())
		}
	}
}

// TestOrderOfErrors: messages on inputs are in the order of the inputs, and errors
// follow.
func TestOrderOfErrors(t *testing.T) {
	dir := t.TempDir()
	const n = 60
	tool := t.TempDir()
	write(t, filepath.Join(tool, "nsys"), "#!/bin/sh\nexit 1\n", 0o755)
	t.Setenv("PATH", tool+string(os.PathListSeparator)+os.Getenv("PATH"))
	var args []string
	for i := range n {
		text, ext := "no trace\n", ".json"
		switch i % 4 {
		case 0:
			text = strings.Repeat(" ", 20_000) + text // takes longer
		case 1:
			text = oneKernel
		case 2:
			text = "\x28\xb5\x2f\xfd damaged"
		case 3:
			ext = ".nsys-rep"
		}
		args = append(args, write(t, filepath.Join(dir, fmt.Sprintf("%02d%s", i, ext)), text, 0o666))
	}
	want := ""
	for range 3 {
		var stderr bytes.Buffer
		if status := run(env{strings.NewReader(""), io.Discard, &stderr}, append([]string{"summary", "--jobs", "8"}, args...)); status != exitTrouble {
			t.Fatalf("exit status %d", status)
		}
		last, exports := "", 0
		for line := range strings.Lines(stderr.String()) {
			if strings.Contains(line, ": exporting with ") {
				exports++
			}
			if strings.HasPrefix(line, "assay summary: ") && strings.HasPrefix(last, dir) && exports == n/4 {
				last, exports = "", n // the errors begin
			}
			if strings.Contains(line, "more errors like these") {
				continue
			}
			at := strings.Index(line, dir)
			if at < 0 {
				t.Fatalf("no name of an input: %q", line)
			}
			if name := line[at : at+len(dir)+3]; name <= last {
				t.Errorf("%s after %s", name, last)
			} else {
				last = name
			}
		}
		if want == "" {
			want = stderr.String()
		}
		if stderr.String() != want || !strings.Contains(want, "more errors like these") {
			t.Errorf("another order:\n%s\nwant:\n%s", stderr.String(), want)
		}
	}
}

// TestAddressSpace: under a limit on the address space, a command works or says in
// one line why it does not.
func TestAddressSpace(t *testing.T) {
	if withRace() {
		t.Skip("the race detector takes memory and address space of its own")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the limit is known on Linux")
	}
	bin := program(t)
	input := write(t, filepath.Join(t.TempDir(), "a.json"), oneKernel, 0o666)
	refused := 0
	for _, kib := range []int{1_600_000, 1_800_000, 2_200_000, 4_000_000} {
		var stdout, stderr bytes.Buffer
		cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -v %d && exec %s summary %s", kib, bin, input))
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		status := statusOf(cmd.Run())
		switch {
		case status == exitOK && stderr.Len() == 0 && stdout.Len() > 0:
		case status == exitTrouble && strings.Count(stderr.String(), "\n") == 1 && strings.Contains(stderr.String(), "ulimit -v"):
			refused++
		default:
			t.Errorf("%d KiB: exit status %d, %.500s", kib, status, stderr.String())
		}
	}
	// How much of it is mapped at the start differs between builds, so which of the smaller
	// limits is refused does, too. The largest has room.
	if refused == 4 {
		t.Error("all of them were refused")
	}
}
