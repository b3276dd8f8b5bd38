package summary

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

func counterRow(kernel string, ns int64) Counter {
	share, n := 50.0, ns
	return Counter{Kernel: kernel, Launches: 1, Timed: 1, TotalNS: ns, MinNS: &n, ComputePct: &share, Limiters: []string{"warps"},
		Stalls: []Stall{{"wait", 2}}, Work: []Work{{Precision: "fp32", DRAMBytes: &n}}, Rules: []Advice{{Name: "R", SpeedupPct: &share}}}
}

// TestMergeCounters: rows keep their inputs, the largest comes first, and the
// result shares no memory with its sources.
func TestMergeCounters(t *testing.T) {
	a := &Summary{Schema: Schema, Inputs: []Input{{Path: "a"}}, Counters: []Counter{counterRow("small", 10)}}
	b := &Summary{Schema: Schema, Inputs: []Input{{Path: "b"}}, Counters: []Counter{counterRow("large", 20), counterRow("small", 10)}}
	m := Merge(a, b)
	var got []any
	for _, c := range m.Counters {
		got = append(got, c.Kernel, c.Input)
	}
	if want := []any{"large", 1, "small", 0, "small", 1}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	before, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	row := &m.Counters[0]
	*row.MinNS, *row.ComputePct, row.Limiters[0], row.Stalls[0].Cycles = 0, 0, "", 0
	*row.Work[0].DRAMBytes, *row.Rules[0].SpeedupPct, row.Rules[0].Name = 0, 0, ""
	if after, _ := json.Marshal(b); string(after) != string(before) {
		t.Errorf("a change of the merged summary changed\n%s\nto\n%s", before, after)
	}
}

func TestCheckCounters(t *testing.T) {
	const head = `{"schema":"assay/summary/1","inputs":[{"path":"a"}],"devices":[],"kernels":[],"issues":[],"counters":[`
	for row, want := range map[string]string{
		`{"input":0,"kernel":"k","launches":1,"tail_ns":3,"waves_ns":4}`: "",
		`{"input":1}`:               "s: counters[0].input: got 1, want 0 or more and under 1, the number of inputs",
		`{"input":0,"total_ns":-1}`: "s: counters[0]: a count or a time is negative, want 0 or more",
		`{"input":0},{"input":0,"tail_ns":5,"waves_ns":4}`: "s: counters[1].tail_ns: got 5, want at most 4, waves_ns",
	} {
		got := ""
		if _, err := Read(strings.NewReader(head+row+"]}"), "s"); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", row, got, want)
		}
	}
}
