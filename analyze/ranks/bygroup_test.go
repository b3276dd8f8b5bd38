package ranks

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/analyze/ranks/collective"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// byGroup compares members group by group, as workers of a cluster do: what passes from
// one to the next is JSON and comes in random order.
func byGroup(t *testing.T, rnd *rand.Rand, members []Member) *Job {
	t.Helper()
	list := Comparable(members)
	if list == nil {
		return nil
	}
	groups := map[string][]Given{}
	for place, m := range list {
		for _, s := range Split(m) {
			m.Columns = nil
			groups[s.Key] = append(groups[s.Key], sent(t, Given{place, m, s}))
		}
	}
	var keys []string
	for key, g := range groups {
		keys = append(keys, key)
		rnd.Shuffle(len(g), func(i, j int) { g[i], g[j] = g[j], g[i] })
	}
	rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var outlines []Outline
	for _, key := range keys {
		outlines = append(outlines, sent(t, OutlineOf(slices.Clone(groups[key]))))
	}
	plan := sent(t, NewPlan(len(list), outlines))
	var solved []Solved
	for _, key := range keys {
		solved = append(solved, sent(t, Solve(groups[key], plan)))
	}
	for i := range list {
		list[i].Columns = nil // nobody has those of all groups
	}
	j, err := Assemble(list, solved)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// sent returns what arrives of a value.
func sent[T any](t *testing.T, v T) (out T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// checkByGroup compares what both ways add to a summary.
func checkByGroup(t *testing.T, rnd *rand.Rand, members []Member) {
	t.Helper()
	want, got := Match(members), byGroup(t, rnd, members)
	if (want == nil) != (got == nil) {
		t.Fatalf("compared: %v by group, want %v", got != nil, want != nil)
	}
	if want == nil {
		return
	}
	text := func(j *Job) string {
		s := &summary.Summary{}
		j.AddTo(s)
		b, err := json.MarshalIndent(s, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if a, b := text(want), text(got); a != b {
		t.Errorf("by group:\n%s\nwant:\n%s", b, a)
	}
}

// TestByGroup: comparing group by group gives the rows of Match.
func TestByGroup(t *testing.T) {
	for i, s := range rankgen.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			j, given := s.Job()
			files := j.Files(given)
			for _, members := range worlds(files, measured(t, files)) {
				checkByGroup(t, rand.New(rand.NewPCG(uint64(i), 3)), members)
			}
		})
	}
}

// TestByGroupRandom compares random collectives. Many of them match nothing.
func TestByGroupRandom(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		var members []Member
		for r := range 2 + rnd.IntN(6) {
			c := &collective.Columns{}
			for g := range 1 + rnd.IntN(4) {
				c.Groups = append(c.Groups, collective.Group{ID: uint64(rnd.IntN(2) * (g + 1)), Name: string(rune('a' + g)), Size: rnd.IntN(5), Local: rnd.IntN(4) == 0})
			}
			for range 1 + rnd.IntN(6) {
				c.Whats = append(c.Whats, collective.What{Op: collective.Op(1 + rnd.IntN(8)), Dtype: "Float", In: rnd.Int64N(3) * 1024, Out: 1024, Group: int32(rnd.IntN(len(c.Groups))), Peer: int32(rnd.IntN(4) - 1), Sends: rnd.IntN(2) == 0})
			}
			at := int64(0)
			for range rnd.IntN(60) {
				at += rnd.Int64N(1000)
				run := collective.Run{Start: at, End: at + rnd.Int64N(100_000), Seq: uint32(rnd.IntN(30)), What: uint32(rnd.IntN(len(c.Whats)))}
				if rnd.IntN(30) == 0 {
					run.Seq = collective.NoSeq
				}
				c.Runs = append(c.Runs, run)
			}
			members = append(members, Member{Input: r, Rank: r, Device: int64(rnd.IntN(2)), Columns: c})
		}
		checkByGroup(t, rnd, members)
	}
}

// TestSplit: each collective is in one share, in its order.
func TestSplit(t *testing.T) {
	j, given := func() (*rankgen.Job, []int) {
		for _, s := range rankgen.Scenarios() {
			if s.Name == "pp_dp" {
				return s.Job()
			}
		}
		return nil, nil
	}()
	for _, m := range measured(t, j.Files(given)) {
		n, keys := 0, map[string]bool{}
		for _, s := range Split(m) {
			if keys[s.Key] {
				t.Errorf("%q is there twice", s.Key)
			}
			keys[s.Key] = true
			if m.Columns.Runs[s.First].Start != s.Columns.Runs[0].Start {
				t.Errorf("%q begins with another collective than %d", s.Key, s.First)
			}
			n += len(s.Columns.Runs)
		}
		if n != len(m.Columns.Runs) || len(keys) < 2 {
			t.Errorf("%d collectives in %d groups, want %d", n, len(keys), len(m.Columns.Runs))
		}
	}
}
