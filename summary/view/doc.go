// Package view answers questions about a summary that several readers ask: the kernels with the most
// time, the idle time by cause, the devices with the largest share of it. Text, tables and pictures
// use the same answers, so they cannot differ.
//
// A function takes a [summary.Summary] and returns sorted sums. Every order is total, so equal
// summaries give equal answers. All times are in nanoseconds. Sums
// are plain, because numbers come from one budget when a summary is read or joined, see [summary.Bounds]; what
// follows from moments, products and joins of rows saturates, see [summary.Plus].
// [Group] adds up rows by keys that are computed; for keys that are fields of a row, use package row.
//
// devices.go names devices and inputs. choose.go, ranks.go, standout.go and late.go select and order
// GPUs and ranks, and pipelines.go has the stages of a pipeline. runs.go decides which inputs belong
// to one run, and jobs.go which ranks were compared. usable.go has the limits beyond which a capture
// has no meaning. words.go has the display names of causes of idle time.
//
// Subjects with many functions have packages of their own: view/layers, view/efficiency, view/bench,
// view/goodput, view/hang, and view/comparability, whether two runs can be compared at all.
// No function here judges a number; limits of findings are in package judge/rule.
package view
