//go:build unix

package main

import (
	"assay/gate/baseline"
	"assay/internal/test"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// released builds the command as it is released, without the C library, which takes
// files and address space of its own.
func released(t *testing.T) string {
	t.Helper()
	if !test.Long() || withRace() {
		t.Skip("this builds the command, without the race detector: make long")
	}
	bin, err := builtOnce()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

// builtOnce builds the command in a directory that [cleaning] removes.
var builtOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "assay-built")
	if err != nil {
		return "", err
	}
	built = dir
	bin := filepath.Join(dir, "assay")
	build := exec.Command("go", "build", "-o", bin, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%v\n%s", err, out)
	}
	return bin, nil
})

// limited runs a program under a limit of the shell, as "-n 7", and returns its exit
// status and what it printed.
func limited(limit string, args ...string) (status int, stdout, stderr string) {
	var out, err bytes.Buffer
	cmd := exec.Command("sh", append([]string{"-c", "ulimit " + limit + ` && exec "$@"`, "sh"}, args...)...)
	cmd.Stdout, cmd.Stderr = &out, &err
	return statusOf(cmd.Run()), out.String(), err.String()
}

// TestOpenFiles: under a limit on open files, a command works or says in one line why
// it does not.
func TestOpenFiles(t *testing.T) {
	bin := released(t)
	dir := t.TempDir()
	input := write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666)
	refused := 0
	for n := 1; n <= 40; n++ {
		for _, args := range [][]string{{"version"}, {"summary", input}, {"report", input, "-o", filepath.Join(dir, "out")}} {
			status, stdout, stderr := limited(fmt.Sprint("-n ", n), append([]string{bin}, args...)...)
			switch {
			case status == exitOK && (stdout != "" || strings.HasPrefix(stderr, "wrote ")):
			case status == exitTrouble && strings.Count(stderr, "\n") == 1 && strings.Contains(stderr, "ulimit -n"):
				refused++
			default:
				t.Errorf("%d open files, %s: exit status %d, %.300s", n, args[0], status, stderr)
			}
		}
	}
	if refused == 0 || refused == 40*3 {
		t.Errorf("%d of %d were refused", refused, 40*3)
	}
}

// frame matches a line of a dump that names a function, with its package.
var frame = regexp.MustCompile(`(?m)^((?:[\w.\-]+/)*\w+)\.\S*\(`)

// startsBefore returns the packages that are initialized before the address space is
// checked.
func startsBefore(t *testing.T, bin string) map[string]bool {
	cmd := exec.Command(bin, "version")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	before := map[string]bool{"runtime": true}
	for line := range strings.Lines(string(out)) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "init" {
			if fields[1] == "assay/internal/early" {
				return before
			}
			before[fields[1]] = true
		}
	}
	return map[string]bool{"runtime": true} // nothing checks it
}

// TestSmallAddressSpace: wherever the runtime of Go starts, the command works or says in
// one line why it does not. Where the runtime itself does not start, no code of the
// command and hardly any of its packages has run.
func TestSmallAddressSpace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the limit is known on Linux")
	}
	bin := released(t)
	input := write(t, filepath.Join(t.TempDir(), "a.json"), oneKernel, 0o666)
	before := startsBefore(t, bin)
	if len(before) > 20 || before["unicode"] {
		t.Errorf("%d packages are initialized before the check", len(before))
	}
	refused, worked := 0, 0
	for kib := 700_000; kib <= 1_700_000; kib += 4_000 {
		status, stdout, stderr := limited(fmt.Sprint("-v ", kib), bin, "summary", input)
		switch {
		case status == exitOK && stderr == "" && stdout != "":
			worked++
		case status == exitTrouble && strings.Count(stderr, "\n") == 1 && strings.Contains(stderr, "ulimit -v"):
			refused++
		default:
			for _, m := range frame.FindAllStringSubmatch(stderr, -1) {
				if pkg := m[1]; !before[pkg] && !strings.HasPrefix(pkg, "internal/") {
					t.Errorf("%d KiB: exit status %d, in %s:\n%.600s", kib, status, m[0], stderr)
					break
				}
			}
		}
	}
	if refused == 0 || worked == 0 {
		t.Errorf("%d refused, %d worked", refused, worked)
	}
}

// TestVersionArgument: an argument of version is a usage error.
func TestVersionArgument(t *testing.T) {
	for _, args := range [][]string{{"version", "x"}, {"--version", "--json"}} {
		var stdout, stderr bytes.Buffer
		status := run(env{strings.NewReader(""), &stdout, &stderr}, args)
		if status != exitUsage || stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), args[1]) {
			t.Errorf("%q: exit status %d, %q, %q", args, status, stdout.String(), stderr.String())
		}
	}
}

// TestAcceptOnFullDisk: where the summary cannot be written, no record is created.
func TestAcceptOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	input := write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666)
	base := filepath.Join(dir, "base")
	status, _, stderr := limited("-f 1", program(t), "accept", input, "--baseline", base, "--reason", "x")
	if left := entries(t, dir); status != exitTrouble || !strings.Contains(stderr, "cannot write the baseline: ") {
		t.Errorf("exit status %d, %s, %q", status, stderr, left)
	}
	if _, err := os.Stat(filepath.Join(base, baseline.FileName)); !os.IsNotExist(err) {
		t.Errorf("a record is left: %v", err)
	}
}

// TestRecordOnFullDisk: where the decision cannot be written, no empty record is left, an
// earlier record is unchanged, and the next command can write one.
func TestRecordOnFullDisk(t *testing.T) {
	dir := t.TempDir()
	input := write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666)
	base := filepath.Join(dir, "base")
	path := filepath.Join(base, baseline.FileName)
	long := strings.Repeat("because ", 10_000) // longer than a file may be
	accept := func(limit, reason string) (int, string) {
		status, _, stderr := limited(limit, program(t), "accept", input, "--baseline", base, "--reason", reason)
		return status, stderr
	}
	if status, stderr := accept("-f 40", long); status != exitTrouble || !strings.Contains(stderr, "cannot write the baseline: ") {
		t.Errorf("exit status %d, %.300s", status, stderr)
	}
	if info, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a record of %d bytes is left", info.Size())
	}
	if status, stderr := accept("-f 4000", "first"); status != exitOK {
		t.Fatalf("exit status %d, %s", status, stderr)
	}
	first, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if status, _ := accept("-f 40", long); status != exitTrouble {
		t.Errorf("exit status %d", status)
	}
	if now, err := os.ReadFile(path); err != nil || !bytes.Equal(now, first) {
		t.Errorf("%v, the record was %q and is %.300q", err, first, now)
	}
}

// TestWaiting: a pipe without a writer is waited for with a message, and a character
// device is refused.
func TestWaiting(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", pipe).Run(); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command(program(t), "summary", pipe)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 300)
	n, _ := stderr.Read(line)
	if got := string(line[:n]); got != "assay: waiting for data from "+pipe+"\n" {
		t.Errorf("%q", got)
	}
	write(t, pipe, oneKernel, 0o666)
	if status := statusOf(cmd.Wait()); status != exitOK {
		t.Errorf("exit status %d", status)
	}
	var out bytes.Buffer
	if status := run(env{strings.NewReader(""), &out, &out}, []string{"summary", "/dev/zero"}); status != exitTrouble || !strings.Contains(out.String(), "/dev/zero: this is a character device") {
		t.Errorf("exit status %d, %s", status, out.String())
	}
}

// TestSkippedPipes: the message on pipes in a directory names the first of them.
func TestSkippedPipes(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.json"), oneKernel, 0o666)
	for i := range 5 {
		if err := syscall.Mkfifo(filepath.Join(dir, fmt.Sprint("pipe", i)), 0o666); err != nil {
			t.Skip(err)
		}
	}
	var stdout, stderr bytes.Buffer
	status := run(env{strings.NewReader(""), &stdout, &stderr}, []string{"summary", dir})
	want := fmt.Sprintf("assay summary: skipped 5 pipes, sockets or devices: %[1]s/pipe0, %[1]s/pipe1, %[1]s/pipe2 and 2 more; to read a pipe, name it\n", dir)
	if status != exitOK || stderr.String() != want {
		t.Errorf("exit status %d, %q, want %q", status, stderr.String(), want)
	}
}
