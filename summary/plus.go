package summary

import "assay/internal/unit"

// Plus is [unit.Plus]: it adds two lengths, sizes or counts and stops at the limits of
// int64.
func Plus(a, b int64) int64 { return unit.Plus(a, b) }
