package trace

import (
	"maps"
	"strings"
	"testing"
)

// TestRecorder: the profiler's settings are kept as written. Values that are
// not numbers or are too long are dropped.
func TestRecorder(t *testing.T) {
	text := `{"schemaVersion":1,"cupti_version":22,"roctracer_version":4.1,"with_stack":1,"record_shapes":"yes",` +
		`"profile_memory":` + strings.Repeat("1", 100) + `,"with_flops":[1],"hf_token":5,"baseTimeNanoseconds":7,` +
		`"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":0,"ts":0,"dur":1}]}`
	tr, err := Read(strings.NewReader(text), "in", Select{Kinds: Every})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"schemaVersion": "1", "cupti_version": "22", "roctracer_version": "4.1", "with_stack": "1"}
	if !maps.Equal(tr.Meta.Recorder, want) || !tr.Meta.Kineto {
		t.Errorf("recorder %v, want %v", tr.Meta.Recorder, want)
	}
}

// TestRankOfTrace checks that a rank outside the numbers of its job has an
// issue, and that only usable ones are kept.
func TestRankOfTrace(t *testing.T) {
	for text, want := range map[string]struct {
		rank  int // -1 for none
		issue bool
	}{
		`{"rank":0,"world_size":8}`:                   {0, false},
		`{"rank":7,"world_size":8}`:                   {7, false},
		`{"rank":7.0}`:                                {7, false},
		`{"rank":null,"world_size":8}`:                {-1, false},
		`{"backend":"nccl"}`:                          {-1, false},
		`{"rank":8,"world_size":8}`:                   {8, true},
		`{"rank":0,"world_size":0}`:                   {0, true},
		`{"rank":-1,"world_size":8}`:                  {-1, true},
		`{"rank":16777217}`:                           {-1, true},
		`{"rank":1000000000000000000,"world_size":8}`: {-1, true},
		`{"rank":1e18}`:                               {-1, true},
		`{"rank":1.5}`:                                {-1, true},
		`{"rank":"two"}`:                              {-1, true},
		`{"rank":[1]}`:                                {-1, true},
	} {
		in := `{"distributedInfo":` + text + `,"traceEvents":[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":5}]}`
		tr, err := Read(strings.NewReader(in), "t.json", SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		rank := -1
		if tr.Meta.Rank != nil {
			rank = *tr.Meta.Rank
		}
		issue := len(tr.Issues) == 1 && tr.Issues[0].Code == "rank-implausible"
		if rank != want.rank || issue != want.issue || len(tr.Issues) > 1 {
			t.Errorf("%s: rank %d, issues %v; want %d, %v", text, rank, tr.Issues, want.rank, want.issue)
		}
	}
}
