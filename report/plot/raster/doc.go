// Package raster does what pictures in pixels need often and the libraries do slowly: it
// fills rectangles, keeps the drawn characters of the embedded fonts, and writes PNG files
// with a palette. It knows nothing of charts.
package raster
