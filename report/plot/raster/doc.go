// Package raster replaces slow operations of the drawing libraries: it fills rectangles, caches the
// drawn characters of the embedded fonts, and writes PNG files with a palette. It does not know
// charts. Start with kit.go.
package raster
