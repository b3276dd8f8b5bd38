package gate

import (
	"fmt"
	"strings"
	"testing"

	"assay/gate/metric"
	"assay/summary"
	"assay/summary/view"
)

// TestRuns: each case lists inputs as "path rank", "=" joins those of one
// summary, and says which of them are one run.
func TestRuns(t *testing.T) {
	for _, tc := range []struct{ what, in, want string }{
		{"one file", "a.json 0", "a.json"},
		{"ranks of one run", "a/r0.json 0, a/r1.json 1", "a/r0.json+a/r1.json"},
		{"ranks in two directories", "n0/r.json 0, n1/r.json 1", "n0/r.json+n1/r.json"},
		{"the same rank twice", "a.json 0, b.json 0", "a.json b.json"},
		{"runs of two ranks", "r1/0.json 0, r1/1.json 1, r2/0.json 0, r2/1.json 1", "r1/0.json+r1/1.json r2/0.json+r2/1.json"},
		{"mixed up in one directory", "a0.json 0, b0.json 0, a1.json 1, b1.json 1", "a0.json+a1.json b0.json+b1.json"},
		{"one summary of two runs", "r1/0.json 0 = r2/0.json 0", "r1/0.json r2/0.json"},
		{"captures of one process", "h_77.1690000000000.pt.trace.json 0, h_77.1690000000999.pt.trace.json 0", "h_77.1690000000000.pt.trace.json+h_77.1690000000999.pt.trace.json"},
		{"captures of two processes", "h_77.1690000000000.pt.trace.json.gz 0, h_78.1690000000999.pt.trace.json.gz 0", "h_77.1690000000000.pt.trace.json.gz h_78.1690000000999.pt.trace.json.gz"},
		{"paths of Windows", `C:\r1\0.json 0, C:\r2\0.json 0`, `C:\r1\0.json C:\r2\0.json`},
		{"a file twice", "a.json 0 #1, copy/a.json 0 #1", "a.json"},
	} {
		var got []string
		for _, r := range Runs(inputs(tc.in)) {
			var names []string
			for i, in := range r.Summary.Inputs {
				names = append(names, in.Path)
				if k := r.Summary.Devices[i]; k.Input != i || k.Name != in.Path {
					t.Errorf("%s: device %d is of input %d, %q", tc.what, i, k.Input, k.Name)
				}
			}
			got = append(got, strings.Join(names, "+"))
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: runs %s, want %s", tc.what, text, tc.want)
		}
	}
}

// inputs makes summaries of which each input has a device of its own, named like
// its path.
func inputs(text string) (list []*summary.Summary) {
	for _, one := range strings.Split(text, ", ") {
		s := &summary.Summary{Schema: summary.Schema}
		for i, in := range strings.Split(one, " = ") {
			var path, sum string
			var rank int
			fmt.Sscan(in, &path, &rank, &sum)
			s.Inputs = append(s.Inputs, summary.Input{Path: path, Rank: rank, SHA256: sum, Complete: true})
			s.Devices = append(s.Devices, summary.Device{Input: i, Rank: rank, Name: path})
		}
		list = append(list, s)
	}
	return list
}

// TestRunsKeep: an input taken out of a summary of many measures as it did alone.
func TestRunsKeep(t *testing.T) {
	p := usualProgram()
	a, b := p.run(seeded(1), 1), p.run(seeded(2), 2)
	runs := Runs([]*summary.Summary{summary.Merge(a, b)})
	if len(runs) != 2 {
		t.Fatalf("%d runs, want 2", len(runs))
	}
	for _, m := range metric.Metrics() {
		_, sel, err := metric.Parse(strings.ReplaceAll(m.Named(), "NAME", "*"))
		if err != nil {
			t.Fatal(err)
		}
		for i, alone := range []*summary.Summary{a, b} {
			got, gotErr := m.Measure(runs[i].Summary, sel)
			want, wantErr := m.Measure(alone, sel)
			if got != want || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
				t.Errorf("%s of run %d is %v, %v; alone %v, %v", m.Name, i+1, got, gotErr, want, wantErr)
			}
		}
	}
}

// TestRunsLeaveTables: tables of sums beside a timeline are no runs of their own.
func TestRunsLeaveTables(t *testing.T) {
	table := &summary.Summary{Inputs: []summary.Input{{Path: "t.csv"}}, Tables: []summary.Table{{}}}
	run := usualProgram().run(seeded(1), 1)
	if n := len(Runs([]*summary.Summary{table, run})); n != 1 {
		t.Errorf("%d runs of a timeline and a table, want 1", n)
	}
	if n := len(Runs([]*summary.Summary{table})); n != 1 {
		t.Errorf("%d runs of a table, want 1", n)
	}
}

// TestRunsSnapshot: a snapshot beside a trace is of the same run.
func TestRunsSnapshot(t *testing.T) {
	peak := summary.MemoryPeak{Live: 40, HighestReserved: 64}
	snapshot := &summary.Summary{Inputs: []summary.Input{{Path: "run1/snapshot.pickle"}}, Snapshots: []summary.Snapshot{{Peak: &peak}}}
	if n := len(Runs([]*summary.Summary{usualProgram().run(seeded(1), 1), snapshot})); n != 1 {
		t.Errorf("a trace and the snapshot beside it are %d runs, want 1", n)
	}
}

// TestGrouped: what separated the runs, and which inputs were left out.
func TestGrouped(t *testing.T) {
	in := func(path, digest string) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Path: path, SHA256: digest}}, Devices: []summary.Device{{WindowNS: 1}}}
	}
	g := Grouped([]*summary.Summary{in("a/0.json", "1"), in("b/0.json", "2"), in("b/copy.json", "1")})
	if len(g.Runs) != 2 || g.By != view.ByFolder || len(g.Copies) != 1 || g.Copies[0].Path != "b/copy.json" {
		t.Errorf("%+v", g)
	}
}
