package blind

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A SampledRun is a run that was recorded without Python functions, and a sampler of its main thread beside it.
type SampledRun struct {
	Trace   []byte
	At      []int64          // times of samples on the clock of the trace, ns
	Frames  []string         // innermost function of each sample: "file.py(12): name"
	IdleNS  map[string]int64 // GPU idle time in which the main thread is in a function, outside of operators and calls
	Started int64            // first sample
}

// Sampled simulates a training whose host waits are in known functions: preparation before each step, logging after it,
// and a checkpoint in every tenth. vary is how much their times vary. The sampler has a period of 10 ms with jitter.
func Sampled(rnd *rand.Rand, steps int, vary float64) SampledRun {
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
	r := SampledRun{IdleNS: s.idleIn()}
	python := slices.DeleteFunc(slices.Clone(s.events), func(e event) bool { return e.cat != "python_function" })
	first, last := python[0].start, s.now
	s.events = slices.DeleteFunc(s.events, func(e event) bool { return e.cat == "python_function" })
	r.Trace = s.JSON()
	r.Started = first - int64(rnd.IntN(4000))*ms
	for at := r.Started; at < last+2000*ms; at += 10*ms + int64(rnd.NormFloat64()*float64(ms)/2) {
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

// Speedscope returns the samples as a profile of speedscope. The clock of the sampler begins at 0 and is slow by 50 parts
// per million.
func (r *SampledRun) Speedscope() []byte {
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
