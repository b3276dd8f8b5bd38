package view

import (
	"testing"

	"assay/summary"
)

func TestLink(t *testing.T) {
	devices := func(names ...string) (out []summary.Device) {
		for _, n := range names {
			out = append(out, summary.Device{Name: n})
		}
		return out
	}
	for _, tc := range []struct {
		devices []summary.Device
		want    string
	}{
		{devices("NVIDIA H100 80GB HBM3"), "PCIe 5.0 x16"},
		{devices("NVIDIA A100-PG509-200", "NVIDIA A100-SXM4-40GB"), "PCIe 4.0 x16"},
		{devices("AMD Instinct MI300X"), "PCIe 5.0 x16"},
		{devices("Tesla V100-SXM2-32GB"), "PCIe 3.0 x16"},
		{devices("NVIDIA GH200 480GB"), ""},
		{devices("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB"), ""},
		{devices(""), ""}, {nil, ""},
	} {
		if got := LinkOf(tc.devices); got.Name != tc.want {
			t.Errorf("%v: %q, want %q", tc.devices, got.Name, tc.want)
		}
	}
	// 13 GB in a second over a link of 26 GB/s.
	if got, ok := (HostLink{"x", 26e9}).Share("Memcpy HtoD (Pinned -> Device)", 13e9, 1e9); !ok || got != 0.5 {
		t.Errorf("share %v, %v, want 0.5", got, ok)
	}
	if got, ok := (HostLink{"x", 26e9}).Share("Memcpy DtoD (Device -> Device)", 13e9, 1e9); ok {
		t.Errorf("a copy within the device has a share of the link: %v", got)
	}
}
