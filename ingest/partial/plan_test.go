package partial

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/ingest"
	"assay/internal/test/rankgen"
	"assay/summary"
	"assay/trace"
)

// measured returns the parts of generated files.
func measured(t *testing.T, files []rankgen.File) (out []Part) {
	t.Helper()
	for _, f := range files {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		in := &ingest.Input{Path: f.Name, Format: "kineto", SHA256: digest(f.JSON), Trace: tr, Rank: *tr.Meta.Rank, RankFrom: "trace"}
		p, err := Measure(in, Options{Options: analyze.DefaultOptions()})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// TestPlan: parts that are joined with a plan, group by group and in random order, give
// the summary of Join.
func TestPlan(t *testing.T) {
	for i, sc := range rankgen.Scenarios() {
		t.Run(sc.Name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(uint64(i), 5))
			j, given := sc.Job()
			parts := measured(t, j.Files(given))
			records := map[string][]byte{}
			var outlines []Outline
			size := 0
			for k := range parts {
				r, err := parts[k].Encode("test")
				if err != nil {
					t.Fatal(err)
				}
				records[r.Name] = r.JSON
				text, err := json.Marshal(parts[k].Outline())
				if err != nil {
					t.Fatal(err)
				}
				size += len(text)
				var o Outline
				if err := json.Unmarshal(text, &o); err != nil {
					t.Fatal(err)
				}
				outlines = append(outlines, o)
			}
			t.Logf("%d bytes per outline", size/len(parts))
			rnd.Shuffle(len(outlines), func(i, j int) { outlines[i], outlines[j] = outlines[j], outlines[i] })
			plan, err := NewPlan(outlines)
			if err != nil {
				t.Fatal(err)
			}
			jobs := jobsByGroup(t, plan, parts)
			var list [][]byte
			for _, name := range plan.Parts {
				list = append(list, records[name])
			}
			got, err := plan.Join(list, jobs)
			if err != nil {
				t.Fatal(err)
			}
			rnd.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			slices.SortStableFunc(parts, Part.compare)
			sortRanks(parts)
			want := Join(parts)
			var a, b bytes.Buffer
			if err := summary.Write(&a, want, ""); err != nil {
				t.Fatal(err)
			}
			if err := summary.Write(&b, got, ""); err != nil {
				t.Fatal(err)
			}
			if a.String() != b.String() {
				t.Error("the summary that was joined with a plan differs")
			}
		})
	}
}

// jobsByGroup compares the members of each run of a plan group by group.
func jobsByGroup(t *testing.T, plan *Plan, parts []Part) []*ranks.Job {
	t.Helper()
	groups := map[string][]ranks.Given{}
	for _, p := range parts {
		place, ok := plan.Of[p.name]
		if !ok {
			continue
		}
		for i, m := range p.Members {
			if place.Members[i] < 0 {
				continue
			}
			m.Input = plan.Jobs[place.Job].Members[place.Members[i]].Input
			for _, s := range ranks.Split(m) {
				key := fmt.Sprint(place.Job, " ", s.Key)
				groups[key] = append(groups[key], ranks.Given{Place: place.Members[i], Member: m, Share: s})
			}
		}
	}
	jobs := make([]*ranks.Job, len(plan.Jobs))
	for n, job := range plan.Jobs {
		if job.Members == nil {
			continue
		}
		var outlines []ranks.Outline
		var solved []ranks.Solved
		of := func(key string) bool { return bytes.HasPrefix([]byte(key), fmt.Append(nil, n, " ")) }
		for key, list := range groups {
			if of(key) {
				outlines = append(outlines, ranks.OutlineOf(slices.Clone(list)))
			}
		}
		p := ranks.NewPlan(len(job.Members), outlines)
		for key, list := range groups {
			if of(key) {
				solved = append(solved, ranks.Solve(list, p))
			}
		}
		var err error
		if jobs[n], err = ranks.Assemble(job.Members, solved); err != nil {
			t.Fatal(err)
		}
	}
	return jobs
}

// TestStrips: how often strips are halved depends on the number of different parts, not on
// the order in which they come.
func TestStrips(t *testing.T) {
	for _, tc := range []struct{ parts, repeated, want int }{{1024, 0, 0}, {1025, 0, 1}, {1024, 900, 0}, {2049, 5, 2}, {5000, 0, 3}} {
		var strips Strips
		all := make([]Part, tc.parts+tc.repeated)
		for i := range all {
			all[i] = Part{Summary: &summary.Summary{}, saved: true, name: fmt.Sprint(i % tc.parts)}
			all[i].Summary.Devices = []summary.Device{{Strip: &summary.Strip{BinNS: 1, NS: map[string][]int64{"comm": {1, 2, 3}}}}}
		}
		rand.New(rand.NewPCG(1, 1)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for i := range all {
			strips.Add(&all[i])
		}
		for i := range all {
			if all[i].halved != tc.want || all[i].Summary.Devices[0].Strip.BinNS != 1<<tc.want {
				t.Fatalf("%+v: part %d was halved %d times", tc, i, all[i].halved)
			}
		}
		if halvings(tc.parts) != tc.want {
			t.Errorf("%+v: halvings is %d", tc, halvings(tc.parts))
		}
	}
}
