package memory_test

import (
	"bytes"
	"maps"
	"testing"

	"assay/internal/test/snapgen"
	"assay/summary"
	"assay/torchprof/memory"
)

// measuredJob plays a job and returns its row, the bytes for each owner, and the truth.
func measuredJob(t *testing.T, job snapgen.Job) (summary.Snapshot, map[string]int64, map[string]int64) {
	t.Helper()
	run, truth := snapgen.PlayJob(job)
	var b bytes.Buffer
	if err := run.Pickle(&b); err != nil {
		t.Fatal(err)
	}
	m, err := memory.ReadSnapshot(&b, "x", memory.SnapshotLimits{})
	if err != nil {
		t.Fatal(err)
	}
	s := measure(m)
	got, sum, live := map[string]int64{}, int64(0), int64(0)
	for _, u := range s.MemoryUses {
		got[u.Owner] += u.Bytes
		sum += u.Bytes
		if u.Allocated() {
			live += u.Bytes
		}
	}
	row := s.Snapshots[0]
	if row.Moment == nil || sum != row.Moment.Reserved || live != row.Moment.Live {
		t.Fatalf("%+v: owners sum to %d and %d, the moment is %+v", job, sum, live, row.Moment)
	}
	for _, owner := range []string{summary.UseRounding, summary.UseFragments, summary.UseCached, summary.UseFree} {
		delete(got, owner)
	}
	return row, got, truth
}

const mib = 1 << 20

// TestUsesOfEightRanks: on eight ranks with their own batches, one of which fails, every byte has the owner for
// which the job took it.
func TestUsesOfEightRanks(t *testing.T) {
	for rank := range 8 {
		job := snapgen.Job{Seed: uint64(rank), Layers: 6 + rank, Weight: 3 * mib, Sample: 5 * mib, Batches: []int{2, 2, 1 + rank}}
		if rank == 5 {
			job.Batches, job.Fail = []int{2, 2, 7}, 9
		}
		row, got, truth := measuredJob(t, job)
		want := "peak"
		if rank == 5 {
			want = "failure"
		}
		if row.Moment.At != want || !maps.Equal(got, truth) {
			t.Errorf("rank %d at the %s:\ngot  %v\nwant %v", rank, row.Moment.At, got, truth)
		}
	}
}

// TestUsesOfOlderBlocks: where the history begins after the first step, weights and the state of the optimizer have no
// frames, and the sizes of gradients tell them. Nothing shows the buffer of collectives and the workspace.
func TestUsesOfOlderBlocks(t *testing.T) {
	_, got, truth := measuredJob(t, snapgen.Job{Seed: 3, Layers: 9, Weight: 6 * mib, Sample: 2 * mib, Batches: []int{3, 3, 3, 4}, Late: true})
	truth[summary.UseUnknown] = truth["communication"] + truth["workspaces"]
	delete(truth, "communication")
	delete(truth, "workspaces")
	if !maps.Equal(got, truth) {
		t.Errorf("got  %v\nwant %v", got, truth)
	}
}

// TestUsesAbstain: without frames no owner is known, and the bytes still add up.
func TestUsesAbstain(t *testing.T) {
	job := snapgen.Job{Seed: 4, Layers: 5, Weight: 3 * mib, Sample: 5 * mib, Batches: []int{2, 3}, NoFrames: true}
	_, got, truth := measuredJob(t, job)
	all := int64(0)
	for _, n := range truth {
		all += n
	}
	if len(got) != 1 || got[summary.UseUnknown] != all {
		t.Errorf("got %v, want %d bytes that are not distinguished", got, all)
	}
}

// TestUsesOfServer: an inference server keeps weights and a cache; what its forward passes allocate is freed in them.
// Expandable segments have no fragments.
func TestUsesOfServer(t *testing.T) {
	job := snapgen.Job{Seed: 5, Layers: 8, Weight: 16 * mib, Sample: 3 * mib, Batches: []int{4, 4, 16}, Fail: 3, Cache: 900 * mib, Expandable: true}
	row, got, truth := measuredJob(t, job)
	if !maps.Equal(got, truth) || truth["kv-cache"] != 900*mib || row.Growing != nil || !row.Expandable {
		t.Errorf("growing %+v\ngot  %v\nwant %v", row.Growing, got, truth)
	}
}

// TestGrowing: the last step has 7 samples where the one before had 2, so tensors are 3.5 times as large. The step
// before peaked when two gradients of activations were live with all activations: 8 times 10 MiB, and 64 KiB of inputs.
// Near misses: steps of one size, and a failure in the first step.
func TestGrowing(t *testing.T) {
	job := snapgen.Job{Seed: 6, Layers: 6, Weight: 3 * mib, Sample: 5 * mib, Batches: []int{2, 2, 7}, Fail: 6}
	row, _, _ := measuredJob(t, job)
	scaled := int64(8*10*mib + 64<<10)
	g := row.Growing
	if g == nil || g.Ratio != 3.5 {
		t.Fatalf("got %+v, want 3.5 times", g)
	}
	if g.Scaled != scaled || g.Needs != g.Fitted+scaled*5/2 || g.Error != 0 {
		t.Errorf("got %+v, want %d scaled bytes", g, scaled)
	}
	if row.Moment.Call != 6 || row.Moment.Calls < 6 {
		t.Errorf("got %+v, want the sixth call", row.Moment)
	}
	for _, batches := range [][]int{{2, 2, 2}, {7}} {
		job.Batches = batches
		if row, _, _ := measuredJob(t, job); row.Growing != nil {
			t.Errorf("%v: got %+v, want none", batches, row.Growing)
		}
	}
}
