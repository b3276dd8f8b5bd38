package report

import "assay/compare"

// DiffCharts returns the pictures of a comparison.
func DiffCharts(c *compare.Comparison) []Chart { return nil }

// DiffChartFiles returns the names of all picture files of any comparison.
func DiffChartFiles() []string { return nil }
