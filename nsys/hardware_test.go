package nsys

import (
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// TestHardwareOfCorpus: exports have the properties that the device had.
func TestHardwareOfCorpus(t *testing.T) {
	for _, tt := range []struct {
		path []string
		want trace.Hardware
	}{
		{[]string{"nsight", "brycelelbach_nsightful", "power_iteration__baseline.sqlite"}, trace.Hardware{SMs: 40, Major: 7, Minor: 5, ClockHz: 1590e6, Bandwidth: 320064e6, Cache: 4 << 20}},
		{[]string{"nsight", "GindaChen_nsys-ai", "mock.sqlite"}, trace.Hardware{SMs: 68, Major: 8, Minor: 6, ClockHz: 1710e6, Bandwidth: 760080e6, Cache: 5 << 20}},
		{[]string{"nsight", "hpcgroup_pipit", "saxpy-mpi-cuda_nsys_perlmutter0.sqlite"}, trace.Hardware{SMs: 108, Major: 8, ClockHz: 1410e6, Bandwidth: 1555200e6, Cache: 40 << 20}},
	} {
		path := test.Corpus(t, tt.path...)
		tr, err := ReadSQLite(path, path, trace.Select{})
		if err != nil {
			t.Fatal(err)
		}
		if got := tr.Meta.Hardware[0]; got != tt.want {
			t.Errorf("%s: %+v, want %+v", path, got, tt.want)
		}
	}
}
