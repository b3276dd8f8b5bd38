// Package plot draws pictures from plain data: bars, timelines with lanes, histograms, scatter
// plots, columns, heat maps and flame graphs. It does not know the summary: package pictures makes
// the data for it.
//
// Start with chart.go: a [Chart] is a title, a legend, a caption and a [Body], which draws the data.
// Each other file has one or a few kinds of Body, except axis.go, ticks.go and places.go (positions
// that several bodies share), canvas.go (drawing in pixels), svg.go (drawing as SVG) and colors.go.
// Package raster below does the slow parts of drawing fast.
//
// The package draws on a canvas of gonum's vg package and measures text with two
// embedded fonts. It does not import gonum's plot package: the initialization of
// that package loads twelve fonts, which adds 4.2 MB (16%) to the program and
// 0.6 ms to the start of every command, also of those that draw nothing.
package plot
