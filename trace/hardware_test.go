package trace

import (
	"maps"
	"strings"
	"testing"
)

// TestHardware: properties of devices are kept, values that no device has are not.
func TestHardware(t *testing.T) {
	text := `{"schemaVersion":1,"deviceProperties":[
		{"id":0,"name":"NVIDIA H100 80GB HBM3","totalGlobalMem":84942979072,"computeMajor":9,"computeMinor":0,"maxThreadsPerBlock":1024,"numSms":132},
		{"id":1,"name":"","computeMajor":9,"computeMinor":4,"numSms":304},
		{"id":2,"name":"ARTEMIS"},
		{"id":3,"numSms":-1,"computeMajor":"9","clockRate":1590000000,"memoryBandwidth":320064000000,"l2CacheSize":4194304}],
		"traceEvents":[]}`
	tr, err := Read(strings.NewReader(text), "in", Select{Kinds: Every})
	if err != nil {
		t.Fatal(err)
	}
	want := map[int64]Hardware{
		0: {SMs: 132, Major: 9},
		1: {SMs: 304, Major: 9, Minor: 4},
		3: {ClockHz: 1590e6, Bandwidth: 320064e6, Cache: 4 << 20},
	}
	if !maps.Equal(tr.Meta.Hardware, want) {
		t.Errorf("got %+v\nwant %+v", tr.Meta.Hardware, want)
	}
	got := maps.Collect(want[3].Members)
	if len(got) != 3 || got["clockRate"] != 1590e6 || got["l2CacheSize"] != 4<<20 {
		t.Errorf("members %v", got)
	}
}
