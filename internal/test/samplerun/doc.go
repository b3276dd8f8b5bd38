// Package samplerun returns summaries of invented runs whose sums are known: the
// comment of each function states them. Only tests of the report and of its
// pictures import it.
package samplerun
