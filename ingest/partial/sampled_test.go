package partial

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/test"
	"assay/internal/test/blind"
	"assay/summary"
)

// joinedFiles measures and joins files, given by name and content.
func joinedFiles(t *testing.T, files ...[2]string) *summary.Summary {
	t.Helper()
	dir := t.TempDir()
	var all []Part
	for _, f := range files {
		path := filepath.Join(dir, f[0])
		if err := os.WriteFile(path, []byte(f[1]), 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := ingest.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := ingest.Load(file, analyze.Needs())
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		p, err := Measure(in, Options{Options: analyze.DefaultOptions(), Sampled: len(files) > 1})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return Join(all)
}

// bySampler returns the rows that samples name, by name.
func bySampler(s *summary.Summary) map[string]summary.Idle {
	out := map[string]summary.Idle{}
	for _, r := range s.Idle {
		if r.Sampler != "" {
			out[r.Name] = r
		}
	}
	return out
}

// TestSampledIdle: functions in idle time are those of the program, within three standard errors, and the idle time of
// each cause adds up to what it is without samples.
func TestSampledIdle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 1))
	for range 40 / test.Every(8) {
		run := blind.Sampled(rnd, 60+rnd.IntN(60), 0.4)
		alone := joinedFiles(t, [2]string{"trace.json", string(run.Trace)})
		s := joinedFiles(t, [2]string{"trace.json", string(run.Trace)}, [2]string{"prof.json", string(run.Speedscope())})
		rows := bySampler(s)
		for name, ns := range run.IdleNS {
			r := rows[name]
			if ns < 50_000_000 { // too few samples
				continue
			}
			if d := r.NS - ns; d < -3*r.ErrorNS || d > 3*r.ErrorNS || r.ErrorNS <= 0 || r.ErrorNS > ns {
				t.Errorf("%s: %d ms ± %d, want %d", name, r.NS/1e6, r.ErrorNS/1e6, ns/1e6)
			}
			t.Logf("%s: %d ms ± %d, want %d", name, r.NS/1e6, r.ErrorNS/1e6, ns/1e6)
		}
		if len(rows) < 4 {
			t.Fatalf("%d functions: %+v", len(rows), s.Issues)
		}
		if a, b := sumOf(alone.Idle), sumOf(s.Idle); a != b {
			t.Errorf("idle time is %d, and %d without samples", b, a)
		}
	}
}

func sumOf(rows []summary.Idle) (ns int64) {
	for _, r := range rows {
		ns += r.NS
	}
	return ns
}

// TestSampledNearMiss: samples that are not of the run, or too few, name nothing and change no row.
func TestSampledNearMiss(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 2))
	run, other := blind.Sampled(rnd, 50, 0.4), blind.Sampled(rnd, 50, 0.4)
	trace, alone := [2]string{"trace.json", string(run.Trace)}, joinedFiles(t, [2]string{"trace.json", string(run.Trace)})
	text := string(run.Speedscope())
	short, constant := run, run
	short.At, short.Frames = run.At[:90], run.Frames[:90]
	constant.Frames = make([]string, len(run.Frames))
	for i := range constant.Frames {
		constant.Frames[i] = "train.py(9): main"
	}
	thread := run
	thread.Frames = nil
	for i := range run.At {
		thread.Frames = append(thread.Frames, []string{"threading.py(320): wait", "queue.py(171): get"}[rnd.IntN(20)/19*(i%2)])
	}
	for _, c := range []struct{ name, profile, why string }{
		{"another run", string(other.Speedscope()), "fits clearly better"},
		{"too short", string(short.Speedscope()), "90 samples"},
		{"one function", string(constant.Speedscope()), "one function all the time"},
		{"another thread", string(thread.Speedscope()), "fits clearly better"},
		{"another process", strings.Replace(text, `"MainThread"`, `"Process 9 Thread 0x7f \"MainThread\""`, 1), "of process 9"},
		{"no times", strings.Replace(text, `"unit":"seconds"`, `"unit":"none"`, 1), ""},
	} {
		s := joinedFiles(t, trace, [2]string{"prof.json", c.profile})
		why := ""
		for _, is := range s.Issues {
			if is.Code == "samples-not-joined" {
				why += is.Help
			}
		}
		if !strings.Contains(why, c.why) || len(bySampler(s)) > 0 || fmt.Sprint(s.Idle) != fmt.Sprint(alone.Idle) {
			t.Errorf("%s: %q", c.name, why)
		}
	}
}
