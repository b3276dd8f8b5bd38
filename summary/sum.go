package summary

import (
	"encoding/json"
	"math"
)

// A Sum is a sum of FLOPs or bytes that may overflow an int64, for example in a job with thousands of GPUs.
// It is then math.MaxInt64, and null in JSON.
type Sum int64

// Fits reports whether the sum is exact, that is, did not reach the limit.
func (s Sum) Fits() bool { return s < math.MaxInt64 }

// Plus returns the sum of s and n.
func (s Sum) Plus(n int64) Sum { return Sum(Plus(int64(s), n)) }

// PlusOrNull adds two numbers that are null if unknown. The sum is null if one of them is, or if it is too
// large.
func PlusOrNull(a, b *int64) *int64 {
	if a == nil || b == nil {
		return nil
	}
	sum := Sum(*a).Plus(*b)
	if !sum.Fits() {
		return nil
	}
	return (*int64)(&sum)
}

// MarshalJSON returns the number, or null if it is too large.
func (s Sum) MarshalJSON() ([]byte, error) {
	if !s.Fits() {
		return []byte("null"), nil
	}
	return json.Marshal(int64(s))
}

// JSONShape returns what MarshalJSON encodes.
func (Sum) JSONShape() any { return (*int64)(nil) }

// UnmarshalJSON reads what MarshalJSON returns.
func (s *Sum) UnmarshalJSON(text []byte) error {
	if string(text) == "null" {
		*s = math.MaxInt64
		return nil
	}
	return json.Unmarshal(text, (*int64)(s))
}
