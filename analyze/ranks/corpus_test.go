package ranks

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"assay/internal/test"

	"assay/analyze"
	"assay/analyze/ranks/collective"
	"assay/internal/test/captures"
	"assay/summary"
)

// load reads one Kineto trace per rank.
func load(t *testing.T, dir string, names ...string) (out []Member) {
	t.Helper()
	for i, name := range names {
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			out = append(out, Member{Input: i, Rank: i, Device: device, Columns: c})
		}
		analyze.Trace(captures.Load(t, filepath.Join(dir, name)).Trace, summary.Input{Rank: i}, opt)
	}
	return out
}

// TestMegatron compares a run of 8 ranks with the numbers of another program
// (waits in µs by starts, here by durations: they agree within 0.5 %).
func TestMegatron(t *testing.T) {
	dir := test.Corpus(t, "ranks", "megatron_tp8_a100")
	var names []string
	for r := range 8 {
		names = append(names, fmt.Sprintf("rank%d.json.gz", r))
	}
	j := Match(load(t, dir, names...))
	if j == nil || len(j.groups) != 1 {
		t.Fatalf("groups: %+v", j)
	}
	g := j.groups[0]
	if len(g.instances) != 84 || g.differ != 0 || g.matched != byNumber {
		t.Errorf("%d instances, %d differ, matched by %d", len(g.instances), g.differ, g.matched)
	}
	want := []int64{191397, 431024, 362815, 421825, 445087, 441069, 214095, 432178}
	for m, w := range j.waits {
		t.Logf("rank %d: wait %d transfer %d caused %d last %d of %d; clock %+v", m, w.wait, w.transfer, w.caused, w.last, w.matched, j.clocks[m])
		if got := w.wait / 1000; got < want[m]*995/1000 || got > want[m]*1005/1000 {
			t.Errorf("rank %d waits %d µs, want %d", m, got, want[m])
		}
		if w.transfer != 50_099_000 || w.matched != 84 {
			t.Errorf("rank %d: transfer %d ns in %d collectives", m, w.transfer, w.matched)
		}
	}
	ends := []int64{0, 8500, 8000, 11000, 7000, 2000, 1000, 0}
	for m, c := range j.clocks {
		if d := c.offset - ends[m]; d > 1000 || d < -1000 {
			t.Errorf("rank %d: the clock is off by %d ns, want %d", m, c.offset, ends[m])
		}
	}
}

// TestSampled: of ten collectives on each of two ranks, five are the same.
func TestSampled(t *testing.T) {
	j := Match(load(t, test.Corpus(t, "ranks", "hta_sampled_2of128"), "rank0.json.gz", "rank1.json.gz"))
	if j == nil {
		t.Fatal("nothing matched")
	}
	n := int64(0)
	for _, g := range j.groups {
		t.Logf("group %s %s: %d lists, %d instances, by %d, differ %d", g.name, g.ranks, len(g.lists), len(g.instances), g.matched, g.differ)
		for i := range g.instances {
			in := &g.instances[i]
			t.Logf("  %v members %d differs %v shortest %d last %d total %d", in.what, in.members, in.differs, in.shortest, in.last, in.total)
			if g.complete(in) {
				n++
			}
		}
	}
	if n != 5 {
		t.Errorf("%d collectives match, want 5", n)
	}
}

// loadAny reads one file of any format, with all its GPUs.
func loadAny(t *testing.T, path string) (out []Member) {
	t.Helper()
	in := captures.Load(t, path)
	opt := analyze.DefaultOptions()
	opt.Collectives = func(device int64, c *collective.Columns) {
		out = append(out, Member{Device: device, Columns: c})
	}
	analyze.Trace(in.Trace, summary.Input{}, opt)
	return out
}

// TestPairsOfSends: 33 kernels of sends and receives on each of two GPUs, whose starts lie
// apart as another program says.
func TestPairsOfSends(t *testing.T) {
	members := loadAny(t, filepath.Join(test.Corpus(t, "ranks", "nsysai_pipeline_2gpu"), "mfu_2gpu_before.sqlite"))
	j := Match(members)
	if j == nil || len(j.groups) != 1 || len(j.groups[0].instances) != 33 {
		t.Fatalf("%+v, want one group of 33 pairs", j)
	}
	g := j.groups[0]
	starts := make([][]int64, 2)
	for i, l := range g.lists {
		starts[i] = make([]int64, len(g.instances))
		for at, id := range l.of {
			starts[i][id] = j.members[l.member].Columns.Runs[l.runs[at]].Start
		}
	}
	var skew []int64
	for i := range g.instances {
		if !g.complete(&g.instances[i]) {
			t.Errorf("pair %d is not complete", i)
		}
		skew = append(skew, distance(starts[0][i], starts[1][i]))
	}
	slices.Sort(skew)
	if median, most := skew[len(skew)/2], skew[len(skew)-1]; distance(median, 51_500) > 100 || distance(most, 3_339_700) > 100 {
		t.Errorf("the starts lie %d ns apart (median) and at most %d, want 51500 and 3339700", median, most)
	}
}
