// Package ingest turns the paths that a user names into models: it expands paths, opens and
// decompresses files, recognizes the format by content, and calls the reader of the format. It is the
// only package that knows all formats.
//
// Read the files in the order of the data: paths.go (from arguments to files), open.go and unpack.go,
// guard.go, hole.go (from a file to its content), formats.go (the list of formats), load.go (from
// content to an [Input]). The functions that load a model are in nsys.go, profiles.go, memory.go,
// ncu.go, series.go, text.go and saved.go, grouped by reader. refuse.go and package refused explain
// files that no format accepts. export.go and child.go run nsys and ncu.
//
// Content decides the format, because profilers and users rename files. The name decides only where
// content does not identify the format: reports of Nsight Systems and Nsight Compute, and text and JSON
// that is found in a directory. Package partial measures an Input next.
package ingest
