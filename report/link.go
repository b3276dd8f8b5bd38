package report

import (
	"fmt"
	"strings"

	"assay/summary"
)

// A hostLink is the link between a GPU and its CPU.
type hostLink struct {
	name string
	rate int64 // bytes a second that copies of pinned memory reach in practice
}

// hostLinks are the links of devices, by words of their names. A PCI Express link
// of sixteen lanes moves 15.75, 31.5 or 63 GB/s by its specification (3.0, 4.0,
// 5.0); headers and flow control take an eighth to a sixth of that.
func hostLinks() []struct {
	link  hostLink
	words []string
} {
	return []struct {
		link  hostLink
		words []string
	}{
		{hostLink{}, []string{"GH200", "GB200", "GB300", "MI300A"}}, // share memory or a link of their own with the host
		{hostLink{"PCIe 5.0 x16", 55e9}, []string{"H100", "H200", "H800", "H20", "B100", "B200", "B300", "MI300", "MI325", "MI350", "MI355"}},
		{hostLink{"PCIe 4.0 x16", 26e9}, []string{"A100", "A800", "A10", "A30", "A40", "L4", "L40", "RTX 30", "RTX 40", "RTX A", "MI100", "MI210", "MI250"}},
		{hostLink{"PCIe 3.0 x16", 13e9}, []string{"V100", "P100", "T4", "RTX 20", "MI50", "MI60"}},
	}
}

// linkOf returns the link that all devices have, if it is known and one.
func linkOf(devices []summary.Device) (out hostLink) {
	for i, d := range devices {
		link := hostLink{}
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
			return hostLink{}
		}
		out = link
	}
	return out
}

// share returns how much of the link a copy between host and device used, or ""
// if it is not one or the link is not known.
func (l hostLink) share(copyName string, bytes, ns int64) string {
	if l.rate == 0 || ns <= 0 || bytes <= 0 || !strings.Contains(copyName, "HtoD") && !strings.Contains(copyName, "DtoH") {
		return ""
	}
	return fmt.Sprintf("%.0f%%", 100*float64(bytes)/float64(ns)*1e9/float64(l.rate))
}

// note explains the column of shares.
func (l hostLink) note() string {
	if l.rate == 0 {
		return ""
	}
	return fmt.Sprintf(" %% of link: the rate compared with %s in practice, %d GB/s. Copies of pageable memory and many small copies reach only a part of it.",
		l.name, l.rate/1e9)
}
