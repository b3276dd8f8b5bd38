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
