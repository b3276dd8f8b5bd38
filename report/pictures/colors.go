package pictures

import (
	"assay/report/plot"
	"assay/summary"
)

// ownerColor returns the colour of an owner of idle time.
func ownerColor(owner string) plot.Color {
	switch owner {
	case summary.OwnerHost:
		return plot.ColorHost
	case summary.OwnerDependency:
		return plot.ColorDependency
	case summary.OwnerLaunch:
		return plot.ColorLaunch
	case summary.OwnerBetween:
		return plot.ColorBetween
	case summary.OwnerNothing:
		return plot.ColorNothing
	case summary.OwnerOpaque:
		return plot.ColorOpaque
	}
	return plot.ColorUnknown
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

// classLegend explains the colours of the classes, in order.
func classLegend(classes ...string) []plot.Swatch {
	words := map[string]string{"compute": "compute", "comm": "communication", "copy": "copies", "memset": "memsets"}
	var legend []plot.Swatch
	for _, class := range classes {
		legend = append(legend, plot.Swatch{Color: classColor(class), Text: words[class]})
	}
	return legend
}
