package view

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/summary"
)

// TestRuns: each case lists captures as "path rank [kind] [#content] [program job@from-to]" and says which
// of them are one run, by which evidence they were separated, and which are copies.
func TestRuns(t *testing.T) {
	for _, tc := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"one file", "a.json 0", "[0]"},
		{"ranks of one run", "a/r0 0, a/r1 1", "[0 1]"},
		{"ranks in two directories", "n0/r 0, n1/r 1", "[0 1]"},
		{"the same rank twice", "a 0, b 0", "[0] [1] by rank"},
		{"runs of two ranks in directories", "r1/0 0, r1/1 1, r2/0 0, r2/1 1", "[0 1] [2 3] by folder"},
		{"runs of two nodes", "r1/n0/0 0, r1/n1/1 1, r2/n0/0 0, r2/n1/1 1", "[0 1] [2 3] by folder"},
		{"mixed up in one directory", "a0 0, b0 0, a1 1, b1 1", "[0 2] [1 3] by rank"},
		{"captures of one process", "h_77.1690000000000.pt.trace.json 0, h_77.1690000000999.pt.trace.json 0", "[0 1]"},
		{"captures of two processes", "h_77.1690000000000.pt.trace.json.gz 0, h_78.1690000000999.pt.trace.json.gz 0", "[0] [1] by process"},
		{"stages of a server", "1757.5-TP-0-EXTEND.trace.json.gz 0, 1757.5-TP-0-DECODE.trace.json.gz 0", "[0 1]"},
		{"stages of two servers", "a-EXTEND.trace.json 0, a-DECODE.trace.json 0, b-EXTEND.trace.json 0, b-DECODE.trace.json 0", "[0 1] [2 3] by rank"},
		{"paths of Windows", `C:\r1\0 0, C:\r2\0 0`, "[0] [1] by folder"},
		{"a file twice", "a 0 #1, copy/a 0 #1", "[0] copies [1]"},
		{"a snapshot beside a trace", "d/t 0, d/m 0 memory", "[0 1]"},
		{"what one run writes", "d/m1 0 memory, d/t 0, d/m2 0 memory, d/m3 0 memory, d/x 0 totals", "[0 1 2 3 4]"},
		{"snapshots beside two traces", "d/m1 0 memory, d/t1 0, d/m2 0 memory, d/t2 0", "[0 1] [2 3] by rank"},
		{"snapshots of a rank without a trace", "d/t 0, d/m1 1 memory, d/m2 1 memory", "[0 1] [2] by rank"},
		{"two snapshots of a rank", "d/m1 0 memory, d/m2 0 memory", "[0] [1] by rank"},
		{"totals beside runs", "d/a 0, d/t.csv 0 totals, d/b 0", "[0 1] [2] by rank"},
		{"totals in a directory of their own", "x/t.csv 0 totals, r1/a 0, r2/a 0", "[0 1] [2] by folder"},
		{"totals alone", "t.csv 0 totals, u.csv 0 totals", "[0 1]"},
		{"logs of two jobs", "d/a 0 job1@0-9, d/b 0 job2@20-29", "[0] [1] by job"},
		{"logs of two attempts", "d/a 0 job1@0-9, d/b 0 job1@20-29", "[0 1]"},
		{"logs of two ranks", "d/a 0 job1@0-9, d/b 1 job2@20-29", "[0 1]"},
		{"logs of jobs at the same time", "d/a 0 job1@0-9, d/b 0 job2@5-14", "[0 1]"},
		{"logs of several programs", "d/a 0 job1@0-9, d/b 0 eval2@20-29", "[0 1]"},
		{"monitors beside logs", "r1/m 0 totals, r1/a 0 job1@0-9, r2/a 0 job2@20-29, r2/m 0 totals", "[0 1] [2 3] by job"},
		{"one monitor of several jobs", "d/m 0 totals, d/a 0 job1@0-9, d/b 0 job2@20-29", "[0 1] [2] by job"},
		{"logs of jobs beside a trace", "d/t 0, d/a 0 job1@0-9, d/b 0 job2@20-29", "[0 1 2]"},
	} {
		g := Runs(captures(tc.in))
		var got []string
		for _, r := range g.Runs {
			got = append(got, fmt.Sprint(r.Inputs))
		}
		if g.From != ByNothing {
			got = append(got, "by "+string(g.From))
		}
		if g.Copies != nil {
			got = append(got, fmt.Sprint("copies ", g.Copies))
		}
		if text := strings.Join(got, " "); text != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, text, tc.want)
		}
	}
}

func captures(text string) (list []Capture) {
	if text == "" {
		return nil
	}
	for _, one := range strings.Split(text, ", ") {
		var c Capture
		for i, word := range strings.Fields(one) {
			switch {
			case i == 0:
				c.Path = word
			case i == 1:
				fmt.Sscan(word, &c.Rank)
			case word == "memory":
				c.Kind = OfMemory
			case word == "totals":
				c.Kind = OfTotals
			case strings.Contains(word, "@"):
				c.Kind, c.Program = OfTotals, word[:3]
				fmt.Sscanf(strings.TrimLeft(word, "abcdefghijklmnopqrstuvwxyz"), "%d@%d-%d", &c.Job, &c.Ran[0], &c.Ran[1])
			default:
				c.SHA256 = word
			}
		}
		list = append(list, c)
	}
	return list
}

// TestCycles: captures of one process, one after the other, show one GPU. The expected GPUs and cycles are
// stated by hand.
func TestCycles(t *testing.T) {
	at := func(path string, rank int, start, end, first, last int64) Capture {
		return Capture{Path: path, Rank: rank, Time: Time{Start: start, End: end, FirstStep: first, EndStep: last + 1}}
	}
	inside := func(c Capture, host, pid string) Capture { c.Host, c.Process = host, pid; return c }
	const a, b = "n1_9.1690000000001.pt.trace.json", "n1_9.1690000000002.pt.trace.json"
	for _, tc := range []struct {
		name         string
		list         []Capture
		whose, cycle []int
		runs         int
	}{
		{"cycles, the later one first", []Capture{at(b, 0, 50, 60, 5, 6), at(a, 0, 10, 20, 1, 2)}, []int{1, 1}, []int{1, 0}, 1},
		{"overlapping captures are not cycles", []Capture{at(a, 0, 10, 20, 1, 2), at(b, 0, 15, 25, 1, 2)}, []int{0, 1}, []int{0, 0}, 2},
		{"the same pid on two hosts", []Capture{at(a, 0, 10, 20, 1, 2), at("n2_9.1690000000002.pt.trace.json", 0, 50, 60, 5, 6)},
			[]int{0, 1}, []int{0, 0}, 2},
		{"two ranks that do not overlap", []Capture{at(a, 0, 10, 20, 1, 2), at("n1_8.1690000000002.pt.trace.json", 1, 50, 60, 1, 2)},
			[]int{0, 1}, []int{0, 0}, 1},
		{"process inside, steps go on", []Capture{inside(at("x.json", 2, 10, 20, 1, 2), "", "7"), inside(at("y.json", 2, 30, 40, 8, 9), "", "7")},
			[]int{0, 0}, []int{0, 1}, 1},
		{"process inside, steps begin again", []Capture{inside(at("x.json", 2, 10, 20, 1, 2), "", "7"), inside(at("y.json", 2, 30, 40, 1, 2), "", "7")},
			[]int{0, 1}, []int{0, 0}, 2},
		{"process inside, other host", []Capture{inside(at("x.json", 2, 10, 20, 1, 2), "h", "7"), inside(at("y.json", 2, 30, 40, 8, 9), "i", "7")},
			[]int{0, 1}, []int{0, 0}, 2},
		{"a rank lacks the first cycle", []Capture{at(a, 0, 10, 20, 1, 2), at(b, 0, 50, 60, 5, 6), at("n1_8.1690000000002.pt.trace.json", 1, 51, 61, 5, 6)},
			[]int{0, 0, 2}, []int{0, 1, 1}, 1},
	} {
		g := Runs(tc.list)
		if !reflect.DeepEqual(g.Whose, tc.whose) || !reflect.DeepEqual(g.Cycle, tc.cycle) || len(g.Runs) != tc.runs {
			t.Errorf("%s: whose %v, cycles %v, %d runs; want %v, %v, %d", tc.name, g.Whose, g.Cycle, len(g.Runs), tc.whose, tc.cycle, tc.runs)
		}
	}
}

// TestHalves: the CPU part and the GPU part of a capture belong to one run, whatever else their names have.
func TestHalves(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		runs int
	}{
		{"t/host_rank_3.json.gz", "t/device_rank_3.json.gz", 1}, {"t/device-r3.json", "t/host-r3.json", 1},
		{"t/rank3.host.json", "t/rank3.device.json", 1}, {"t/run1_host.json", "t/run1_device.json", 1},
		{"t/host_rank_3.json", "t/host_rank_3_b.json", 2}, {"t/host_a.json", "t/device_b.json", 2},
		{"t/host_a.json", "u/device_a.json", 2}, {"t/hosts_a.json", "t/devices_a.json", 2},
	} {
		if g := Runs([]Capture{{Path: tc.a, Rank: 3}, {Path: tc.b, Rank: 3}}); len(g.Runs) != tc.runs {
			t.Errorf("%s and %s: %d runs, want %d", tc.a, tc.b, len(g.Runs), tc.runs)
		}
	}
}

// TestEachOnce: whatever the captures, each is in one run or among the copies, and
// there are at most [MaxRuns] runs.
func TestEachOnce(t *testing.T) {
	var list []Capture
	for i := range 1200 {
		list = append(list, Capture{Path: fmt.Sprintf("d%d/x%d", i%300, i%7), Rank: i % 2, Kind: Kind(i % 5 / 2), SHA256: fmt.Sprint(i % 1100)})
	}
	g := Runs(list)
	seen := make([]int, len(list))
	for _, r := range g.Runs {
		for _, i := range r.Inputs {
			seen[i]++
		}
	}
	for _, i := range g.Copies {
		seen[i]++
	}
	for i, n := range seen {
		if n != 1 {
			t.Fatalf("capture %d is in %d places, want 1", i, n)
		}
	}
	if len(g.Runs) != MaxRuns || len(g.Copies) != 100 {
		t.Errorf("%d runs and %d copies, want %d and 100", len(g.Runs), len(g.Copies), MaxRuns)
	}
}

// TestCaptures: an input with a timeline is one, whatever else it holds.
func TestCaptures(t *testing.T) {
	s := &summary.Summary{
		Inputs:    make([]summary.Input, 4),
		Devices:   []summary.Device{{Input: 0}},
		Tables:    []summary.Table{{Input: 0}, {Input: 1}},
		Snapshots: []summary.Snapshot{{Input: 0}, {Input: 2}},
		Steps:     []summary.Step{{Input: 3}},
	}
	var got []Kind
	for _, c := range Captures(s) {
		got = append(got, c.Kind)
	}
	if want := []Kind{OfTimeline, OfTotals, OfMemory, OfTimeline}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestKindOf: the members that decide the kind of an input are members of a summary.
func TestKindOf(t *testing.T) {
	members := map[string]bool{}
	for _, k := range summary.Members() {
		members[k.Name()] = true
	}
	for member := range kindOf {
		if !members[member] {
			t.Errorf("no summary has the member %q", member)
		}
	}
}
