package summary

import "assay/internal/unit"

// Plus adds two lengths, sizes or counts and stops at the limits of int64 instead of overflowing. It is
// [unit.Plus].
func Plus(a, b int64) int64 { return unit.Plus(a, b) }
