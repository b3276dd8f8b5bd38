package analyze_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// eventsOf returns the events of a trace, each as its text.
func eventsOf(t *testing.T, text []byte) (events []json.RawMessage) {
	t.Helper()
	var doc struct {
		TraceEvents []json.RawMessage `json:"traceEvents"`
	}
	if err := json.Unmarshal(text, &doc); err == nil {
		return doc.TraceEvents
	}
	if err := json.Unmarshal(text, &events); err != nil {
		t.Fatal(err)
	}
	return events
}

// withEvents returns a trace with other events, each as it was written.
func withEvents(t *testing.T, text []byte, events []json.RawMessage) []byte {
	t.Helper()
	var doc map[string]json.RawMessage
	if err := json.Unmarshal(text, &doc); err != nil {
		doc = make(map[string]json.RawMessage)
	}
	delete(doc, "traceEvents")
	out, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	out = out[:len(out)-1]
	if len(doc) > 0 {
		out = append(out, ',')
	}
	out = append(out, `"traceEvents":[`...)
	for i, e := range events {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, e...)
	}
	return append(out, "]}"...)
}

// summed measures a trace that is given as text.
func summed(t *testing.T, text []byte) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(text), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	for i := range s.Issues {
		s.Issues[i].First = "" // where in the text
	}
	return s
}

// TestOrderOfEvents: profilers write events in any order, and it means nothing.
// Only of events of one thread with equal times the first is the outer one.
func TestOrderOfEvents(t *testing.T) {
	check := func(t *testing.T, text []byte) {
		want := summed(t, text)
		rnd := rand.New(rand.NewPCG(1, 2))
		for range 2 {
			got := summed(t, withEvents(t, text, shuffled(t, rnd, eventsOf(t, text))))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("as it was(-) shuffled(+)\n%s", diff)
			}
		}
	}
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
			check(t, b.Bytes())
		})
	}
	for _, path := range kinetoTraces(t) {
		t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
			text := test.Unpacked(t, path)
			if most := 4 << 20 / test.Every(20); len(text) > most {
				t.Skip("too large to be read three times")
			}
			check(t, text)
		})
	}
}

// shuffled returns the events in another order. Events of equal times on one thread
// keep their relative order, and so do the names of a thread, because the last one
// counts.
func shuffled(t *testing.T, rnd *rand.Rand, events []json.RawMessage) []json.RawMessage {
	t.Helper()
	order := rnd.Perm(len(events))
	type times struct{ pid, tid, ts, dur string }
	places := make(map[times][]int)
	for place, i := range order {
		var e struct{ Ph, Name, PID, TID, TS, Dur json.RawMessage }
		if err := json.Unmarshal(events[i], &e); err != nil {
			t.Fatal(err)
		}
		k := times{string(e.PID), string(e.TID), string(e.TS), string(e.Dur)}
		if string(e.Ph) == `"M"` {
			k.ts, k.dur = "", string(e.Name)
		}
		places[k] = append(places[k], place)
	}
	for _, list := range places {
		var ties []int
		for _, place := range list {
			ties = append(ties, order[place])
		}
		slices.Sort(ties)
		for n, place := range list { // which rise
			order[place] = ties[n]
		}
	}
	out := make([]json.RawMessage, len(events))
	for place, i := range order {
		out[place] = events[i]
	}
	return out
}
