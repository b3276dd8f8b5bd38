package report

import "assay/internal/label"

func clean(s string) string { return label.Clean(s) }

func width(s string) int { return label.Width(s) }

func clip(s string, columns int) string { return label.Clip(s, columns) }

func plural(n int64, noun string) string { return label.Plural(n, noun) }
