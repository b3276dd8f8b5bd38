package blind

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/test"
	"assay/summary"
)

// A sampledRun is a run that was recorded without Python functions, and a sampler of its main thread at the same time.
type sampledRun struct {
	Trace  []byte
	At     []int64          // times of samples on the clock of the trace, ns
	Frames []string         // innermost function of each sample: "file.py(12): name"
	IdleNS map[string]int64 // GPU idle time in which the main thread is in a function, outside of operators and calls
}

// sampled simulates a training whose host waits are in known functions: preparation before each step, logging after it,
// and a checkpoint in every tenth. vary is how much their times vary. The sampler has a period of 10 ms with jitter.
func sampled(rnd *rand.Rand, steps int, vary float64) sampledRun {
	s := newSim(0, 1, nil)
	s.now += int64(rnd.IntN(900)) * ms
	long := func(d int64) int64 { return d + int64(float64(d)*vary*(2*rnd.Float64()-1)) }
	s.python("train.py(9): main", func() {
		s.steps(steps, func(n int) {
			s.frame("data.py(31): tokenize", long(17*ms))
			s.frame("data.py(52): collate", long(9*ms))
			s.python("model.py(88): forward", func() {
				for range 30 {
					s.run("aten::mm", gemmSmall, long(700*us))
				}
			})
			for range 30 {
				s.run("aten::mul", add, long(500*us))
			}
			s.item()
			s.frame("train.py(40): log", long(4*ms))
			if n%10 == 9 {
				s.frame("train.py(71): save", long(160*ms))
			}
		})
		s.train(3, 150*us)
	})
	r := sampledRun{IdleNS: s.idleIn()}
	python := slices.DeleteFunc(slices.Clone(s.events), func(e event) bool { return e.cat != "python_function" })
	first, last := python[0].start, s.now
	s.events = slices.DeleteFunc(s.events, func(e event) bool { return e.cat == "python_function" })
	r.Trace = s.JSON()
	started := first - int64(rnd.IntN(4000))*ms
	for at := started; at < last+2000*ms; at += 10*ms + int64(rnd.NormFloat64()*float64(ms)/2) {
		frame := "train.py(1): <module>"
		for _, e := range python {
			if e.start <= at && at < e.start+e.dur {
				frame = e.name // the later of two that are open is the inner one
			}
		}
		r.At, r.Frames = append(r.At, at), append(r.Frames, frame)
	}
	return r
}

// idleIn adds up edge by edge the time in which nothing runs on the GPU and a function is the innermost event of the host.
func (s *Sim) idleIn() map[string]int64 {
	type edge struct {
		at    int64
		event int
		begin bool
	}
	var edges []edge
	for i, e := range s.events {
		edges = append(edges, edge{e.start, i, true}, edge{e.start + e.dur, i, false})
	}
	slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.at, b.at) })
	out, busy, started, last := map[string]int64{}, 0, false, int64(0)
	var open []int
	for _, e := range edges {
		if n := len(open); started && busy == 0 && n > 0 && s.events[open[n-1]].cat == "python_function" {
			out[s.events[open[n-1]].name] += e.at - last
		}
		last = e.at
		switch gpu := s.events[e.event].gpu; {
		case gpu && e.begin:
			busy, started = busy+1, true
		case gpu:
			busy--
		case e.begin:
			open = append(open, e.event)
		default:
			open = slices.DeleteFunc(open, func(i int) bool { return i == e.event })
		}
	}
	return out
}

// speedscope returns the samples as a profile of speedscope. The clock of the sampler begins at 0 and is slow by 50 parts
// per million.
func (r *sampledRun) speedscope() []byte {
	var frames, samples, weights bytes.Buffer
	index := map[string]int{}
	for i, f := range r.Frames {
		if _, ok := index[f]; !ok {
			index[f] = len(index)
			var file, name string
			var line int
			at := slices.Index([]byte(f), '(')
			file = f[:at]
			fmt.Sscanf(f[at:], "(%d): %s", &line, &name)
			fmt.Fprintf(&frames, `,{"name":%q,"file":%q,"line":%d}`, name, file, line)
		}
		next := r.At[i] + 10*ms
		if i+1 < len(r.At) {
			next = r.At[i+1]
		}
		fmt.Fprintf(&samples, ",[%d]", index[f])
		fmt.Fprintf(&weights, ",%.9f", float64(next-r.At[i])*(1-50e-6)/1e9)
	}
	return fmt.Appendf(nil, `{"$schema":"https://www.speedscope.app/file-format-schema.json","shared":{"frames":[%s]},"profiles":[{"type":"sampled","name":"MainThread","unit":"seconds","startValue":0,"endValue":1,"samples":[%s],"weights":[%s]}]}`,
		frames.Bytes()[1:], samples.Bytes()[1:], weights.Bytes()[1:])
}

// joinedFiles measures and joins files, given by name and content.
func joinedFiles(t *testing.T, files ...[2]string) *summary.Summary {
	t.Helper()
	dir := t.TempDir()
	var all []partial.Part
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
		p, err := partial.Measure(in, partial.Options{Options: analyze.DefaultOptions(), Sampled: len(files) > 1})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return partial.Join(all)
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
		run := sampled(rnd, 60+rnd.IntN(60), 0.4)
		alone := joinedFiles(t, [2]string{"trace.json", string(run.Trace)})
		s := joinedFiles(t, [2]string{"trace.json", string(run.Trace)}, [2]string{"prof.json", string(run.speedscope())})
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
	run, other := sampled(rnd, 50, 0.4), sampled(rnd, 50, 0.4)
	trace, alone := [2]string{"trace.json", string(run.Trace)}, joinedFiles(t, [2]string{"trace.json", string(run.Trace)})
	text := string(run.speedscope())
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
		{"another run", string(other.speedscope()), "fits clearly better"},
		{"too short", string(short.speedscope()), "90 samples"},
		{"one function", string(constant.speedscope()), "one function all the time"},
		{"another thread", string(thread.speedscope()), "fits clearly better"},
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

// TestSampledAmongMany: beside more traces than samples are joined with, the file says so.
func TestSampledAmongMany(t *testing.T) {
	run := sampled(rand.New(rand.NewPCG(test.Seed(t), 3)), 50, 0.4)
	files := [][2]string{{"prof.json", string(run.speedscope())}}
	for i := range ingest.MostSampled {
		files = append(files, [2]string{fmt.Sprintf("trace%d.json", i), fmt.Sprintf(`{"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":2,"args":{"device":0,"stream":7}}]}`, i)})
	}
	for n, want := range map[int]bool{len(files): true, len(files) - 1: false} {
		s := joinedFiles(t, files[:n]...)
		if got := slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return strings.Contains(is.Help, "at most 64 inputs") }); got != want {
			t.Errorf("%d inputs: %v", n, s.Issues)
		}
	}
}
