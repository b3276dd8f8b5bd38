package view

import (
	"strings"

	"assay/summary"
)

// A HostLink is the link between a GPU and its CPU.
type HostLink struct {
	Name string // "PCIe 5.0 x16", or "" if it is not known
	Rate int64  // bytes a second that copies of pinned memory reach in practice
}

// hostLinks are the links of devices, by words of their names. A PCI Express link
// of sixteen lanes moves 15.75, 31.5 or 63 GB/s by its specification (3.0, 4.0,
// 5.0); headers and flow control take an eighth to a sixth of that.
func hostLinks() []struct {
	link  HostLink
	words []string
} {
	return []struct {
		link  HostLink
		words []string
	}{
		{HostLink{}, []string{"GH200", "GB200", "GB300", "MI300A"}}, // share memory or a link of their own with the host
		{HostLink{"PCIe 5.0 x16", 55e9}, []string{"H100", "H200", "H800", "H20", "B100", "B200", "B300", "MI300", "MI325", "MI350", "MI355"}},
		{HostLink{"PCIe 4.0 x16", 26e9}, []string{"A100", "A800", "A10", "A30", "A40", "L4", "L40", "RTX 30", "RTX 40", "RTX A", "MI100", "MI210", "MI250"}},
		{HostLink{"PCIe 3.0 x16", 13e9}, []string{"V100", "P100", "T4", "RTX 20", "MI50", "MI60"}},
	}
}

// LinkOf returns the link that all devices have, if it is known and one.
func LinkOf(devices []summary.Device) (out HostLink) {
	for i, d := range devices {
		link := HostLink{}
	search:
		for _, l := range hostLinks() {
			for _, word := range l.words {
				if strings.Contains(d.Name, word) {
					link = l.link
					break search
				}
			}
		}
		if i > 0 && link != out {
			return HostLink{}
		}
		out = link
	}
	return out
}

// Share returns the part of the link's rate that a copy reached, or false if it is no
// copy between host and device or the link is not known. Its time is in ns.
func (l HostLink) Share(copyName string, bytes, ns int64) (float64, bool) {
	if l.Rate == 0 || ns <= 0 || bytes <= 0 || !strings.Contains(copyName, "HtoD") && !strings.Contains(copyName, "DtoH") {
		return 0, false
	}
	return float64(bytes) / float64(ns) * 1e9 / float64(l.Rate), true
}
