package summary

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// A Saving is GPU work that could be fused or removed: equal pieces of work on one GPU. (Input, Rank, Device, Kind, Names,
// Dims, Types) is its key.
type Saving struct {
	Input  int             `json:"input"`
	Rank   int             `json:"rank"`
	Device int64           `json:"device"`
	Kind   string          `json:"kind"`  // [SavingFuse], [SavingCast], [SavingLayout] or [SavingHost]
	Names  []string        `json:"names"` // operators in their order, or copies
	Dims   json.RawMessage `json:"dims"`  // of the first operator, as recorded; null if absent
	Types  json.RawMessage `json:"types"`

	Count   int64 `json:"count"`
	TotalNS int64 `json:"total_ns"` // GPU time of the work

	// Bytes are what one kernel would not write and read again, or what copies move; null if not known.
	Bytes  *int64 `json:"bytes"`
	GainNS int64  `json:"gain_ns"`
	// GainFrom is [GainOfBytes] if the gain is the time of Bytes at the bandwidth of the memory, or [GainAtMost]: all
	// but the longest of fused kernels, or all of the work.
	GainFrom string `json:"gain_from"`
}

// Kinds of savings.
const (
	SavingFuse   = "fuse"        // memory-bound operators in a row, of which each reads what the one before wrote
	SavingCast   = "cast"        // a copy to another type
	SavingLayout = "layout copy" // a copy in the same type
	SavingHost   = "host copies" // a copy to the host, followed by one of as many bytes back
)

// Values of [Saving.GainFrom].
const (
	GainOfBytes = "bytes"
	GainAtMost  = "at most"
)

func (s *Saving) check() error {
	if s.Count < 1 || len(s.Names) == 0 || s.GainNS < 0 || s.GainNS > s.TotalNS || negative(s.Bytes) {
		return fmt.Errorf(".gain_ns: got %d of %d ns of %d GPU operations", s.GainNS, s.TotalNS, s.Count)
	}
	return nil
}

func (s *Saving) order(o *Saving) int {
	return cmp.Or(cmp.Compare(o.GainNS, s.GainNS), cmp.Compare(s.Kind, o.Kind), slices.Compare(s.Names, o.Names), slices.Compare(s.Dims, o.Dims), slices.Compare(s.Types, o.Types))
}
