// Package view answers questions about a summary that more than one reader asks:
// the kernels with the most time, the idle time by cause, the devices with the
// largest share of it. Text, tables and pictures use the same answers, so they
// cannot differ.
//
// A function adds up rows with [Group] and returns its rows sorted; every order is
// total, so equal summaries give equal answers. All times are in nanoseconds.
// Sums are plain, because numbers come from one budget when a summary is read or joined: see
// [summary.Bounds]. What follows from moments, products and joins of rows saturates: [summary.Plus].
package view
