package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// nightLog returns the log of steps of RL that begin at a time, each of which generates for gen seconds and trains for
// four.
func nightLog(begin time.Time, first, steps int, gen float64) string {
	var b strings.Builder
	at := begin
	for n := first; n < first+steps; n++ {
		at = at.Add(time.Duration((gen + 4) * float64(time.Second)))
		fmt.Fprintf(&b, "%s (TaskRunner pid=77) step:%d - actor/pg_loss:0.02 - timing_s/gen:%.3f - timing_s/update_actor:4.000 - timing_s/step:%.3f\n",
			at.Format(time.DateTime), n, gen, gen+4)
	}
	return b.String()
}

// TestCheckLogsAgainstHistory: each saved summary of a log is a run, so a step that is 12% slower fails, and one that
// is not passes; several new logs of the same program are runs too.
func TestCheckLogsAgainstHistory(t *testing.T) {
	dir := t.TempDir()
	night := func(name string, n int, gen float64) string {
		file := filepath.Join(dir, name, fmt.Sprintf("train-%d.log", n))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, file, nightLog(time.Date(2026, 3, 1+n, 2, 0, 0, 0, time.UTC), 1, 20, gen), 0o666)
		return file
	}
	for n := range 12 {
		stdout, stderr, status := commanded("summary", night("logs", n, 6+0.01*float64(n%3)), "--format", "json")
		if status != 0 {
			t.Fatal(stderr)
		}
		run := filepath.Join(dir, "nightly", fmt.Sprintf("2026-03-%02d", 1+n))
		if err := os.MkdirAll(run, 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(run, "summary.json"), stdout, 0o666)
	}
	for i := range 5 {
		night("slow", 20+i, 7.2)
		night("same", 20+i, 6.01)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{night("one", 15, 7.2), "--history", filepath.Join(dir, "nightly")}, 1, []string{"1 run against the median of 12 runs", "step.median rose by 11.9%, from 10.01 s to 11.2 s"}},
		{[]string{night("two", 15, 6.01), "--history", filepath.Join(dir, "nightly")}, 0, []string{"step.median is unchanged at 10.01 s"}},
		{[]string{filepath.Join(dir, "slow"), "--history", filepath.Join(dir, "nightly")}, 1, []string{"the median of 5 runs against the median of 12 runs"}},
		{[]string{filepath.Join(dir, "slow"), "--baseline", filepath.Join(dir, "same")}, 1, []string{"medians of 5 runs per side", "step.median rose by 11.9%"}},
	} {
		stdout, stderr, status := commanded(append([]string{"check"}, c.args...)...)
		if status != c.status {
			t.Errorf("%q: exit status %d, want %d: %s%s", c.args, status, c.status, stdout, stderr)
		}
		for _, want := range c.want {
			if text := strings.Join(strings.Fields(stdout), " "); !strings.Contains(text, want) {
				t.Errorf("%q: no %q in %s", c.args, want, text)
			}
		}
	}
}

// TestGoodputOfSeveralLogs: two logs of one job, the second of which does 10 of 20 steps again after 5 min: 690 s
// between the first and the last record, and 280 s to 300 s of it are in steps that count: each log
// begins at the end of its first step.
func TestGoodputOfSeveralLogs(t *testing.T) {
	dir := t.TempDir()
	begin := time.Date(2026, 5, 4, 9, 0, 0, 0, time.UTC)
	write(t, filepath.Join(dir, "attempt-0.log"), nightLog(begin, 1, 20, 6)+"RuntimeError: CUDA error: an illegal memory access was encountered\n", 0o666)
	write(t, filepath.Join(dir, "attempt-1.log"), nightLog(begin.Add(500*time.Second), 11, 20, 6), 0o666)
	gates := filepath.Join(t.TempDir(), "gates.yaml")
	write(t, gates, "job.goodput: '>= 50%'\njob.failures: '<= 0'\n", 0o666)
	stdout, stderr, status := commanded("check", dir, "--gates", gates)
	text := strings.Join(strings.Fields(stdout), " ")
	if status != 1 || !strings.Contains(text, "job.failures is 1,") {
		t.Errorf("exit status %d: %s%s", status, text, stderr)
	}
	screen, _, _ := commanded("summary", dir)
	var share string
	if at := strings.Index(screen, "Goodput "); at >= 0 {
		share = strings.Fields(screen[at:])[1]
	}
	value, err := strconv.ParseFloat(strings.TrimSuffix(share, "%"), 64)
	if err != nil || value < 100*280./690 || value > 100*300./690 || !strings.Contains(text, "job.goodput is "+share) {
		t.Errorf("the gate says %q, and the summary %q", text, share)
	}
}

// TestHistoryOfDriftAndCopies: steps that get longer each night drift, and a new night like the last one warns; a night
// that is there twice counts once.
func TestHistoryOfDriftAndCopies(t *testing.T) {
	dir := t.TempDir()
	save := func(name string, n int, gen float64) {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name, "train.log"), nightLog(time.Date(2026, 6, 1+n, 2, 0, 0, 0, time.UTC), 1, 20, gen), 0o666)
	}
	for n := range 24 {
		save(fmt.Sprintf("nights/2026-06-%02d", 1+n), n, 6+0.05*float64(n))
	}
	save("nights/2026-06-05-copy", 4, 6.2)
	save("new", 24, 7.2)
	stdout, stderr, _ := commanded("history", filepath.Join(dir, "nights"))
	text := strings.Join(strings.Fields(stdout), " ")
	for _, want := range []string{"24 runs; step.median drifts by +11.5% over all runs (10 s to 11.15 s)", "1 run left out: the captures are copies"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %s%s", want, text, stderr)
		}
	}
	stdout, _, status := commanded("check", filepath.Join(dir, "new"), "--history", filepath.Join(dir, "nights"))
	if text := strings.Join(strings.Fields(stdout), " "); status != 0 || !strings.Contains(text, "warn step.median rose by") || !strings.Contains(text, "but it drifts by +11.5%") {
		t.Errorf("exit status %d: %s", status, text)
	}
}
