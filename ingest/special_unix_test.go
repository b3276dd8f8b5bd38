//go:build unix

package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSpecialFiles: pipes and sockets in a directory are listed and not opened, files
// without a size are not opened, and what became a pipe after it was listed is refused.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	trace := filepath.Join(dir, "a.json")
	if err := os.WriteFile(trace, []byte(`{"traceEvents":[{"ph":"X"}]}`), 0o666); err != nil {
		t.Fatal(err)
	}
	var pipes []string
	for _, name := range []string{"b.json", "c", "sub/d.json.gz"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(path, 0o666); err != nil {
			t.Skip(err)
		}
		pipes = append(pipes, path)
	}
	if err := os.WriteFile(filepath.Join(dir, "kmsg"), nil, 0o200); err != nil {
		t.Fatal(err)
	}
	within(t, func() {
		for name, want := range map[string][]string{dir: pipes, filepath.Join(dir, "[abc]*"): pipes[:2]} {
			if got := Paths([]string{name, name}); !slices.Equal(got.Files, []string{trace}) || !slices.Equal(got.Special, want) || len(got.Failed) > 0 {
				t.Errorf("%q: %+v", name, got)
			}
		}
		if got := Paths([]string{dir + "/b*"}); len(got.Failed) != 1 || len(got.Files) != 0 || !strings.Contains(got.Failed[0].Error(), "name one to read it") {
			t.Errorf("a pattern that only a pipe matches: %+v", got)
		}
		if f, err := openListed(pipes[0]); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%v, %v", f, err)
		}
	})
}

// TestWalkSystemFiles: files that the system makes when they are read are not opened in a
// walk, because some of them wait for data.
func TestWalkSystemFiles(t *testing.T) {
	const dir = "/proc/self/task"
	if _, err := os.Stat(dir); err != nil {
		t.Skip(err)
	}
	within(t, func() {
		if got := Paths([]string{dir}); len(got.Files) != 0 {
			t.Errorf("%q", got.Files)
		}
	})
}

// within fails if f takes long, for example because it waits for a pipe.
func within(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("still waiting")
	}
}
