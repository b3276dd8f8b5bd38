package baseline

import (
	"slices"
	"testing"

	"assay/summary"
)

func run(gpu, driver string, base int64) *summary.Summary {
	s := &summary.Summary{Inputs: []summary.Input{{BaseTimeNS: &base, Recorder: map[string]string{"cuda_driver_version": driver, "with_stack": "1"}}}}
	if gpu != "" {
		s.Devices = []summary.Device{{Name: gpu}, {Name: gpu}}
	}
	return s
}

// TestDifferences: only what both sides know, and what is hardware or a version, decides.
func TestDifferences(t *testing.T) {
	base := ProvenanceOf(run("NVIDIA H100", "12040", 1_700_000_000_000_000_000), run("NVIDIA H100", "12040", 1_600_000_000_000_000_000))
	if base.Hardware["GPU"] != "NVIDIA H100" || base.Software["CUDA driver"] != "12.4" || len(base.Software) != 1 || base.Recorded != "2020-09-13T12:26:40Z" {
		t.Fatalf("%+v", base)
	}
	base.State("", "torch", "2.8")
	for _, tc := range []struct {
		now  *summary.Summary
		more string
		want []string
	}{
		{run("NVIDIA H100", "12040", 1), "2.8", nil},
		{run("NVIDIA H100", "12040", 1), "", nil},
		{run("", "12040", 1), "2.8", nil},
		{run("NVIDIA H100", "12080", 1), "2.9", []string{"CUDA driver is 12.8, was 12.4", "torch is 2.9, was 2.8"}},
		{run("NVIDIA A100", "12040", 1), "", []string{"GPU is NVIDIA A100, was NVIDIA H100"}},
		{&summary.Summary{}, "", nil},
	} {
		now := ProvenanceOf(tc.now)
		if tc.more != "" {
			now.State("", "torch", tc.more)
		}
		if got := Differences(base, now); !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %q, want %q", now, got, tc.want)
		}
	}
	if !(ProvenanceOf(&summary.Summary{})).Empty() {
		t.Error("nothing is known, and that is not empty")
	}
}

// TestVersions: numbers of versions are written as their vendors print them.
func TestVersions(t *testing.T) {
	for _, tc := range []struct{ form, value, want string }{
		{"cuda", "12040", "12.4"}, {"cuda", "11080", "11.8"}, {"cuda", "13000", "13.0"},
		{"hip", "60443483", "6.4"}, {"hip", "50631061", "5.6"},
		{"plain", "4.1", "4.1"}, {"cuda", "unknown", "unknown"},
	} {
		if got := (setting{form: tc.form}).version(tc.value); got != tc.want {
			t.Errorf("%s of %s is %s, want %s", tc.form, tc.value, got, tc.want)
		}
	}
}
