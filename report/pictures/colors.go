package pictures

import (
	"assay/report/plot"
	"assay/summary"
)

// ownerColor returns the colour of a cause of idle time.
func ownerColor(owner string) plot.Color {
	color, ok := map[string]plot.Color{
		summary.OwnerHost: plot.ColorHost, summary.OwnerDependency: plot.ColorDependency, summary.OwnerLaunch: plot.ColorLaunch,
		summary.OwnerBetween: plot.ColorBetween, summary.OwnerNothing: plot.ColorNothing, summary.OwnerNeighbor: plot.ColorWait, summary.OwnerOpaque: plot.ColorOpaque,
	}[owner]
	if !ok {
		return plot.ColorUnknown
	}
	return color
}

// classColor returns the colour of the class of a kernel or strip.
func classColor(class string) plot.Color {
	switch class {
	case "comm":
		return plot.ColorComm
	case "copy":
		return plot.ColorCopy
	case "memset":
		return plot.ColorMemset
	}
	return plot.ColorCompute
}

// classLegend explains the colours of the classes that are present.
func classLegend(present map[string]bool) (legend []plot.Swatch) {
	for _, class := range [][2]string{{"compute", "compute"}, {"comm", "communication"}, {"copy", "copies"}, {"memset", "memsets"}} {
		if present[class[0]] {
			legend = append(legend, plot.Swatch{Color: classColor(class[0]), Text: class[1]})
		}
	}
	return legend
}
