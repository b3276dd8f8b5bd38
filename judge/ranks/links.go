package ranks

import (
	"strings"
	"unicode"

	"assay/summary"
)

// A link connects the GPUs of one machine. Its peak is that of one GPU in one direction.
type link struct {
	words string  // a GPU matches if its name has all of these words
	name  string  // name of the link
	peak  float64 // 1e9 bytes per second
	// mesh is true if each pair of GPUs has links of its own, so only a collective over the whole
	// machine reaches the peak.
	mesh bool
}

// links are the peaks by the names of GPUs; specific names come before general ones. They are half
// of the totals of both directions that the vendors publish:
//
//   - NVLink: https://www.nvidia.com/en-us/data-center/nvlink/ and the data sheets of the GPUs;
//     those of H800 and A800 have fewer links.
//   - PCIe: 16 lanes of PCI Express 3, 4 and 5 after line coding, https://pcisig.com/faq
//   - Infinity Fabric: data sheets of AMD Instinct MI300X and MI325X, 7 links of 64 GB/s.
//
// Cards with optional NVLink bridges have the peak of PCIe, which they reach without bridges.
var links = []link{
	{"GB300", "NVLink 5", 900, false}, {"B300", "NVLink 5", 900, false},
	{"GB200", "NVLink 5", 900, false}, {"B200", "NVLink 5", 900, false},
	{"H100 PCIe", "PCIe 5", 63, false}, {"H800 PCIe", "PCIe 5", 63, false},
	{"H100 NVL", "PCIe 5", 63, false}, {"H200 NVL", "PCIe 5", 63, false},
	{"H200", "NVLink 4", 450, false}, {"H100", "NVLink 4", 450, false}, {"H20", "NVLink 4", 450, false},
	{"H800", "NVLink 4", 200, false},
	{"A100 PCIE", "PCIe 4", 31.5, false}, {"A100 SXM4", "NVLink 3", 300, false},
	{"A800 SXM4", "NVLink 3", 200, false},
	{"V100 SXM2", "NVLink 2", 150, true}, {"V100 SXM3", "NVLink 2", 150, false}, {"V100 PCIE", "PCIe 3", 15.75, false},
	{"MI325X", "Infinity Fabric", 448, true}, {"MI300X", "Infinity Fabric", 448, true},
	{"RTX 5090", "PCIe 5", 63, false},
	{"L40S", "PCIe 4", 31.5, false}, {"L40", "PCIe 4", 31.5, false}, {"L20", "PCIe 4", 31.5, false},
	{"L4", "PCIe 4", 31.5, false},
	{"A40", "PCIe 4", 31.5, false}, {"A10G", "PCIe 4", 31.5, false}, {"A10", "PCIe 4", 31.5, false},
	{"RTX 3090", "PCIe 4", 31.5, false}, {"RTX 4090", "PCIe 4", 31.5, false}, {"RTX A6000", "PCIe 4", 31.5, false},
	{"T4", "PCIe 3", 15.75, false},
}

// linkOf returns the link of a GPU, or false if its name is unknown.
func linkOf(gpu string) (link, bool) {
	has := map[string]bool{}
	for _, word := range strings.FieldsFunc(gpu, func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	}) {
		has[strings.ToLower(word)] = true
	}
next:
	for _, l := range links {
		for _, word := range strings.Fields(l.words) {
			if !has[strings.ToLower(word)] {
				continue next
			}
		}
		return l, true
	}
	return link{}, false
}

// link returns the link between the GPUs of the ranks of a collective. It returns false if they are
// on several machines, or if machines or GPU are unknown.
func (c *Evaluator) link(r *summary.Collective) (link, bool) {
	if r.Nodes != 1 || r.Partial || len(c.Devices) == 0 || r.Input >= len(c.Inputs) {
		return link{}, false
	}
	for _, d := range c.Devices {
		if d.Name == "" || d.Name != c.Devices[0].Name {
			return link{}, false
		}
	}
	l, ok := linkOf(c.Devices[0].Name)
	whole := r.Ranks == c.Inputs[r.Input].GPUs
	if l.mesh && !whole || strings.HasPrefix(l.name, "NVLink") && !whole && c.Inputs[r.Input].GPUs < 8 {
		return link{}, false // in machines with fewer than 8 GPUs, pairs have direct links
	}
	return l, ok
}
