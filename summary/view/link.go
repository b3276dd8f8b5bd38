package view

import (
	"strings"

	"assay/summary"
)

// A HostLink is the link between a GPU and its CPU.
type HostLink struct {
	Name string // "PCIe 5.0 x16", or "" if it is unknown
	Rate int64  // bytes per second that copies of pinned memory reach in practice
}

// hostLinks returns the links of devices, by words in the names of the devices. A PCI Express link of 16
// lanes moves 15.75, 31.5 or 63 GB/s by its specification (3.0, 4.0, 5.0); headers and flow control take an
// eighth to a sixth of that.
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

// LinkOf returns the link of the devices if it is known and the same for all.
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

// Share returns the achieved rate of a copy as a share of the link's rate. It returns false if the copy is
// not between host and device or the link is unknown. ns is the time of the copy.
func (l HostLink) Share(copyName string, bytes, ns int64) (float64, bool) {
	if l.Rate == 0 || ns <= 0 || bytes <= 0 || !strings.Contains(copyName, "HtoD") && !strings.Contains(copyName, "DtoH") {
		return 0, false
	}
	return float64(bytes) / float64(ns) * 1e9 / float64(l.Rate), true
}
