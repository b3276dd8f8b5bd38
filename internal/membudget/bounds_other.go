//go:build !linux

package membudget

import "runtime/metrics"

func bounds() []Bound { return nil }

// Resident returns the bytes of memory that the Go runtime has and has not returned to the system.
// The pages of files are not known and 0.
func Resident() (all, files int64, ok bool) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return 0, 0, false
	}
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64()), 0, true
}
