package compare

import "testing"

// TestOperatorOfKernel: the operator of a kernel is the same every time, also if part of
// its launches have none.
func TestOperatorOfKernel(t *testing.T) {
	for _, tc := range []struct {
		ops  map[string]amount
		want string
	}{
		{map[string]amount{"": {ns: 100}, "aten::mm": {ns: 10}, "aten::add": {ns: 20}}, ""},
		{map[string]amount{"": {ns: 5}, "aten::mm": {ns: 10}, "aten::add": {ns: 10}}, "aten::add"},
		{map[string]amount{"": {}, "aten::mm": {}}, ""},
		{nil, ""},
	} {
		for range 50 { // maps have another order each time
			if got := (&kernel{ops: tc.ops}).op(); got != tc.want {
				t.Fatalf("%v: %q, want %q", tc.ops, got, tc.want)
			}
		}
	}
}
