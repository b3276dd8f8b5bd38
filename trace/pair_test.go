package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPair: begins and ends in the forms that programs write.
func TestPair(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"nested", `[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"b","pid":1,"tid":1,"ts":2},{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":1,"ts":5}]`,
			[]string{"b 2000+1000 1/1", "a 1000+4000 1/1"}},
		{"threads apart", `[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"B","name":"b","pid":1,"tid":2,"ts":2},{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"E","pid":1,"tid":2,"ts":5}]`,
			[]string{"a 1000+2000 1/1", "b 2000+3000 1/2"}},
		{"not in order of time", `[{"ph":"E","pid":1,"tid":1,"ts":5},{"ph":"B","name":"a","pid":1,"tid":1,"ts":1}]`,
			[]string{"a 1000+4000 1/1"}},
		{"one ends when the next begins", `[{"ph":"B","name":"a","ts":1},{"ph":"E","ts":2},{"ph":"B","name":"b","ts":2},{"ph":"E","ts":3}]`,
			[]string{"a 1000+1000 /", "b 2000+1000 /"}},
		{"recording began and ended within spans", `[{"ph":"E","tid":1,"ts":1},{"ph":"B","name":"a","tid":1,"ts":2},{"ph":"B","name":"b","tid":2,"ts":2}]`,
			[]string{"3 not paired"}},
		{"async by id, which may overlap", `[{"ph":"b","cat":"c","name":"r","id":"0x1","ts":1},{"ph":"b","cat":"c","name":"r","id":2,"ts":2},{"ph":"e","cat":"c","name":"r","id":1,"ts":3},{"ph":"e","cat":"c","name":"r","id":"2","ts":9}]`,
			[]string{"async r 1000+2000 /", "async r 2000+7000 /"}},
		{"ids local to their process", `[{"ph":"b","cat":"c","name":"r","pid":1,"id2":{"local":"0x1"},"ts":1},{"ph":"b","cat":"c","name":"r","pid":2,"id2":{"local":"0x1"},"ts":2},{"ph":"e","cat":"c","name":"r","pid":1,"id2":{"local":"0x1"},"ts":3},{"ph":"e","cat":"c","name":"r","pid":2,"id2":{"local":"0x1"},"ts":9}]`,
			[]string{"async r 1000+2000 1/", "async r 2000+7000 2/"}},
		{"old async, and another name", `[{"ph":"S","cat":"c","name":"r","id":1,"ts":1},{"ph":"F","cat":"c","name":"r","id":1,"ts":3},{"ph":"e","cat":"c","name":"x","id":1,"ts":4}]`,
			[]string{"async r 1000+2000 /", "1 not paired"}},
		{"counters, instants and samples are not spans", `[{"ph":"C","name":"c","ts":1,"args":{"a":1}},{"ph":"i","name":"i","ts":1},{"ph":"P","name":"p","ts":1}]`, nil},
	} {
		tr, err := Read(strings.NewReader(tt.in), "in", SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		say := func(prefix string, s *HostSpan) {
			k := tr.Tracks[s.Track]
			got = append(got, fmt.Sprintf("%s%s %d+%d %s/%s", prefix, tr.Name(s.Name), s.Start, s.Dur, k.PID, k.TID))
		}
		for s := range tr.Spans.All() {
			say("", s)
		}
		for i := range tr.Async {
			say("async ", &tr.Async[i])
		}
		for _, is := range tr.Issues {
			if is.Code == "spans-not-paired" {
				got = append(got, fmt.Sprint(is.Count, " not paired"))
			}
		}
		if diff := cmp.Diff(tt.want, slices.Clone(got)); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tt.name, diff)
		}
	}
}
