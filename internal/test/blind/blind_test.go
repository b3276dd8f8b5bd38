package blind

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestParts compares the parts of a window with sums that follow from the durations.
func TestParts(t *testing.T) {
	s := newSim(0, 1, nil)
	s.kernel(7, gemm, 100*us)                                             // starts at the launch
	s.kernel(7, gemm, 100*us)                                             // 900 ns behind it
	s.copy(transfer{stream: 7, kind: "DtoH", bytes: 250_000})             // 900 ns, and 1.5 + 10 µs
	s.collect(collective{kernel: allReduce, op: "allreduce", d: 50 * us}) // behind the copy
	s.copy(transfer{stream: 22, kind: "HtoD", bytes: 25_000 * 1_000_000}) // 1 s, besides all
	want := Parts{Window: 1_000_001_500, Compute: 200 * us, Comm: 50 * us}
	got := s.Parts()
	if got.Compute != want.Compute || got.Comm != want.Comm {
		t.Errorf("compute %d and communication %d, want %d and %d", got.Compute, got.Comm, want.Compute, want.Comm)
	}
	if sum := got.Compute + got.Comm + got.Copies + got.Idle; sum != got.Window {
		t.Errorf("the parts sum to %d, the window is %d", sum, got.Window)
	}
	// The copy of 1 s is launched while the first kernel runs and outlasts all.
	if got.Window < want.Window || got.Window > want.Window+100*us {
		t.Errorf("window %d, want %d and the launches before the copy", got.Window, want.Window)
	}
}

// TestQueue: a kernel starts when the kernel before it has ended, and a synchronization
// returns after the last one.
func TestQueue(t *testing.T) {
	s := newSim(0, 1, nil)
	begin := s.now
	for range 10 {
		s.kernel(7, gemm, 1*ms)
	}
	if s.now != begin+10*s.call {
		t.Errorf("10 launches take %d ns, want %d: the host runs ahead", s.now-begin, 10*s.call)
	}
	s.sync()
	// The first kernel starts 1.5 µs after its call, the others 0.9 µs behind it; the wait
	// returns 2 µs after the last one.
	if want := begin + s.call + 1500 + 10*ms + 9*900 + 2*us; s.now != want {
		t.Errorf("the wait returns at %d, want %d", s.now-begin, want-begin)
	}
}

// TestFullQueue: a launch blocks when a stream has as many as it takes.
func TestFullQueue(t *testing.T) {
	s := newSim(0, 1, nil)
	begin := s.now
	for range maxQueue + 10 {
		s.kernel(7, gemm, 1*ms)
	}
	if took := s.now - begin; took < 9*ms || took > 11*ms+maxQueue*s.call {
		t.Errorf("%d launches take %d ns, want about the time of 10 kernels more than the calls", maxQueue+10, took)
	}
}

// TestCollective: all ranks leave a collective at the same time, after the last has come.
func TestCollective(t *testing.T) {
	late := Story{Ranks: 3, Program: func(s *Sim, _ bool) {
		for range 4 {
			s.kernel(7, gemm, int64(1+s.Rank)*ms)
			s.collect(collective{kernel: allReduce, op: "allreduce", d: 100 * us, inline: true})
		}
	}}
	var ends [][]int64
	for _, s := range ranks(late, true) {
		var at []int64
		for _, e := range s.events {
			if e.class == comm {
				at = append(at, e.start+e.dur)
			}
		}
		ends = append(ends, at)
	}
	for i := range ends[0] {
		if ends[0][i] != ends[1][i] || ends[1][i] != ends[2][i] {
			t.Errorf("collective %d ends at %d, %d, %d", i, ends[0][i], ends[1][i], ends[2][i])
		}
	}
	if first, last := ends[0][0], ends[0][3]; last-first < 9*ms || last-first > 9*ms+3*200*us {
		t.Errorf("three rounds take %d ns, want the 3 ms of the slowest rank for each", last-first)
	}
}

// TestStories: every story has its four variants, is valid JSON, and is the same when it is
// simulated again. A cause never makes a run shorter.
func TestStories(t *testing.T) {
	variants := map[string]int{}
	for _, st := range Stories() {
		variants[st.Family]++
		run := Simulate(st)
		if variants[st.Family] == 1 {
			again := Simulate(st)
			for i, text := range run.Files {
				if !json.Valid(text) {
					t.Errorf("%s: rank %d is no JSON", st.Name, i)
				}
				if !bytes.Equal(text, again.Files[i]) {
					t.Errorf("%s: rank %d differs when it is simulated again", st.Name, i)
				}
			}
		}
		if share := run.Share(); share < 0 || share > 1 {
			t.Errorf("%s: %.1f%% of the window is saved", st.Name, 100*share)
		}
	}
	if len(variants) < 30 {
		t.Errorf("%d families", len(variants))
	}
	for name, n := range variants {
		if n != 4 {
			t.Errorf("%s has %d variants", name, n)
		}
	}
}
