//go:build !linux

package membudget

import "runtime/metrics"

func bounds() []Bound { return nil }

// Resident returns how many bytes of memory the runtime of Go has and has not given
// back.
func Resident() (int64, bool) {
	s := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 || s[1].Value.Kind() != metrics.KindUint64 {
		return 0, false
	}
	return int64(s[0].Value.Uint64() - s[1].Value.Uint64()), true
}
