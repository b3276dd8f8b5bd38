package ranks

import (
	"testing"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// TestLinkOf looks up names of GPUs as profilers write them.
func TestLinkOf(t *testing.T) {
	for gpu, want := range map[string]string{
		"NVIDIA H100 80GB HBM3": "NVLink 4", "NVIDIA H100 PCIe": "PCIe 5", "NVIDIA H100 NVL": "PCIe 5", "NVIDIA H200": "NVLink 4", "NVIDIA H20": "NVLink 4", "NVIDIA H800": "NVLink 4",
		"NVIDIA A100-SXM4-80GB": "NVLink 3", "NVIDIA A100-PCIE-40GB": "PCIe 4", "NVIDIA A100 80GB PCIe": "PCIe 4", "NVIDIA B200": "NVLink 5", "Tesla V100-SXM2-16GB": "NVLink 2",
		"NVIDIA GeForce RTX 3090": "PCIe 4", "NVIDIA A10G": "PCIe 4", "NVIDIA L40S": "PCIe 4", "Tesla T4": "PCIe 3", "AMD Instinct MI300X": "Infinity Fabric",
		"NVIDIA H1000": "", "GeForce GTX 1080": "", "": "", "Meta MTIA": "",
	} {
		if l, _ := linkOf(gpu); l.name != want {
			t.Errorf("%q: %q, want %q", gpu, l.name, want)
		}
	}
}

// TestLinkIsKnown: without one known machine and one known GPU there is no peak.
func TestLinkIsKnown(t *testing.T) {
	run := func(change func(*summary.Summary)) (peak float64) {
		s := &summary.Summary{Inputs: []summary.Input{{GPUs: 8}}, Collectives: []summary.Collective{{Nodes: 1, Ranks: 8, GroupSize: 8}}}
		for r := range 8 {
			s.Devices = append(s.Devices, summary.Device{Rank: r, Name: "NVIDIA H100 80GB HBM3"})
		}
		change(s)
		c := New(tree.NewContext(s, rule.DefaultThresholds()))
		if l, ok := c.link(&s.Collectives[0]); ok {
			peak = l.peak
		}
		return peak
	}
	for _, tt := range []struct {
		name   string
		change func(*summary.Summary)
		want   float64
	}{
		{"one machine", func(*summary.Summary) {}, 450},
		{"two GPUs of eight", func(s *summary.Summary) { s.Collectives[0].Ranks = 2 }, 450},
		{"two GPUs of four", func(s *summary.Summary) { s.Collectives[0].Ranks, s.Inputs[0].GPUs = 2, 4 }, 0},
		{"two machines", func(s *summary.Summary) { s.Collectives[0].Nodes = 2 }, 0},
		{"unknown machines", func(s *summary.Summary) { s.Collectives[0].Nodes = 0 }, 0},
		{"ranks are missing", func(s *summary.Summary) { s.Collectives[0].Partial = true }, 0},
		{"different GPUs", func(s *summary.Summary) { s.Devices[3].Name = "NVIDIA A100-SXM4-80GB" }, 0},
		{"no name", func(s *summary.Summary) { s.Devices[3].Name = "" }, 0},
		{"two GPUs of a mesh", func(s *summary.Summary) {
			s.Collectives[0].Ranks = 2
			for i := range s.Devices {
				s.Devices[i].Name = "AMD Instinct MI300X"
			}
		}, 0},
	} {
		if got := run(tt.change); got != tt.want {
			t.Errorf("%s: a peak of %v GB/s, want %v", tt.name, got, tt.want)
		}
	}
}
