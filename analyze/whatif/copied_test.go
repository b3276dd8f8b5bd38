package whatif

import (
	"fmt"
	"strings"
	"testing"

	"assay/trace"
)

// TestCopied: the same times of GPU work on two ranks are a copy, unless all kernels take the same time, as in
// simulated traces. One nanosecond of difference is enough to be another run.
func TestCopied(t *testing.T) {
	rank := func(durs ...string) *trace.Trace {
		var events []string
		for i, d := range durs {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"rope","pid":0,"tid":7,"ts":%d,"dur":%s,"args":{"device":0,"stream":7}}`, 100*i, d))
		}
		return read(t, events...)
	}
	varied := []string{"10", "11.5", "9"}
	for _, tc := range []struct {
		name string
		a, b *trace.Trace
		want string
	}{
		{"a copy", rank(varied...), rank(varied...), "the file of rank 5 has all times of that of rank 2, so it is a copy with another rank"},
		{"other times", rank(varied...), rank("10", "11.501", "9"), ""},
		{"another number", rank(varied...), rank("10", "11.5"), ""},
		{"all alike", rank("10", "10", "10"), rank("10", "10", "10"), ""},
	} {
		inputs := []Input{{Trace: tc.a, Rank: 2}, {Trace: tc.b, Rank: 5}}
		if got := copied(inputs); got != tc.want {
			t.Errorf("%s: %q", tc.name, got)
		}
		if _, apart := Graphs(inputs, Question{}); tc.want != "" && !strings.HasPrefix(apart, tc.want) {
			t.Errorf("%s: apart is %q", tc.name, apart)
		}
	}
}
