//go:build unix

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"assay/internal/test"
)

// TestSignalWhileReporting: a signal at any moment of a report leaves no temporary file,
// and a page only if the report is complete.
func TestSignalWhileReporting(t *testing.T) {
	bin := program(t)
	input := filepath.Join("..", "..", "testdata", "gen", "llm_train_step.json.gz")
	ended := 0
	for i := range 24 / test.Every(3) {
		sig := []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT}[i%2]
		dir := filepath.Join(t.TempDir(), "report")
		cmd := exec.Command(bin, "report", input, "-o", dir)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			end := time.Now().Add(10 * time.Second)
			for time.Now().Before(end) { // until the first file is begun, and a little longer
				if list, _ := os.ReadDir(dir); len(list) > 0 {
					break
				}
				time.Sleep(100 * time.Microsecond)
			}
			time.Sleep(time.Duration(i/2*i/2) * time.Millisecond)
			cmd.Process.Signal(sig) // it may have ended
		}()
		status := statusOf(cmd.Wait())
		<-done
		page, complete := false, status == exitOK
		for _, name := range entries(t, dir) {
			page = page || filepath.Base(name) == "report.md"
			if strings.HasPrefix(filepath.Base(name), ".") {
				t.Errorf("%v: exit status %d, %s is left", sig, status, name)
			}
		}
		if status == 128+int(sig) {
			ended++
		} else if !complete {
			t.Errorf("%v: exit status %d, %s", sig, status, stderr.String())
		}
		if complete && !page || strings.Contains(stderr.String(), "goroutine") {
			t.Errorf("%v: exit status %d, page %v, %s", sig, status, page, stderr.String())
		}
		if page && !complete { // the signal came when all files had their names
			if text, err := os.ReadFile(filepath.Join(dir, "summary.json")); err != nil || !bytes.HasSuffix(bytes.TrimSpace(text), []byte("}")) {
				t.Errorf("%v: a page without its summary: %v", sig, err)
			}
		}
	}
	if ended == 0 {
		t.Skip("every report was complete before the signal")
	}
}
