package window

import (
	"strings"
	"testing"
)

// TestOf looks up requests in a capture of four steps of 10 ms, from 100 ms on its clock
// on, that each have a phase "forward" of 4 ms and later one of 5 ms, and end with "sync".
func TestOf(t *testing.T) {
	const ms = 1_000_000
	base := int64(1_700_000_000_000_000_000)
	c := Capture{Span: Span{100 * ms, 140 * ms}, BaseNS: &base, Name: "run.json"}
	for i := range int64(4) {
		at := (100 + 10*i) * ms
		c.Marks = append(c.Marks, Mark{Span: Span{at, at + 10*ms}, Number: 5 + i, Steady: i > 0},
			Mark{Span: Span{at, at + 4*ms}, Phase: "forward"}, Mark{Span: Span{at + 4*ms, at + 9*ms}, Phase: "forward"}, Mark{Span: Span{at + 9*ms, at + 10*ms}, Phase: "sync"})
	}
	for _, tt := range []struct {
		steps, phase, from, to string
		steady                 bool
		skip                   int
		want                   Span // in ms
		problem                string
	}{
		{steps: "6", want: Span{110, 120}},
		{steps: "6-7", want: Span{110, 130}},
		{steps: "6-9", problem: "does not have steps 6 to 9; it has steps 5 to 8"},
		{steady: true, want: Span{110, 140}},
		{skip: 1, want: Span{110, 140}},
		{skip: 3, want: Span{130, 140}},
		{skip: 4, problem: "no step is left (without the first 4 steps); it has steps 5 to 8"},
		{skip: 400, problem: "no step is left"},
		{skip: 2, steady: true, want: Span{120, 140}},
		{skip: 1, steps: "5-7", want: Span{110, 130}},
		{skip: 2, steps: "5-6", problem: "no step is left (steps 5 to 6, without the first 2 steps)"},
		{skip: 1, phase: "forward", want: Span{114, 119}},
		{skip: 1, to: "15ms", want: Span{110, 115}},
		{phase: "forward", want: Span{104, 109}},
		{phase: "sync", steps: "7", want: Span{129, 130}},
		{phase: "forward", from: "0s", steps: "8", want: Span{134, 139}},
		{phase: "backward", problem: `no phase "backward" in the window; its phases are forward, sync`},
		{from: "5ms", want: Span{105, 140}},
		{from: "5ms", to: "0.025s", want: Span{105, 125}},
		{from: "ts:112000.5", to: "25ms", want: Span{112, 125}},
		{from: "2023-11-14T22:13:20.13Z", want: Span{130, 140}},
		{steps: "6", from: "12ms", to: "60ms", want: Span{112, 120}},
		{from: "2300000h", problem: "nothing of the capture is in the window"},
		{to: "2300000h", want: Span{100, 140}},
		{from: "20ms", to: "10ms", problem: "--to 10ms is not after --from 20ms"},
		{from: "41ms", problem: "nothing of the capture is in the window"},
		{steps: "6", from: "35ms", problem: "nothing of the capture is in the window"},
	} {
		r := Request{Phase: tt.phase, Steady: tt.steady, Skip: tt.skip}
		var err error
		if tt.steps != "" {
			r.Steps = true
			if r.First, r.Last, err = ParseSteps(tt.steps); err != nil {
				t.Fatal(err)
			}
		}
		for text, to := range map[string]*Time{tt.from: &r.From, tt.to: &r.To} {
			if text != "" {
				if *to, err = ParseTime(text); err != nil {
					t.Fatal(err)
				}
			}
		}
		got, err := r.Of(c)
		switch {
		case tt.problem != "" && (err == nil || !strings.Contains(err.Error(), tt.problem) || !strings.HasPrefix(err.Error(), "run.json: ")):
			t.Errorf("%+v: %v, want %q", tt, err, tt.problem)
		case tt.problem == "" && (err != nil || got.Start/ms != tt.want.Start || got.End/ms != tt.want.End):
			t.Errorf("%+v: %v, %v", tt, got, err)
		}
	}
}

// TestBadRequests has texts that are no steps or times.
func TestBadRequests(t *testing.T) {
	for _, text := range []string{"", "x", "5-3", "-1", "1-", "1-2-3"} {
		if _, _, err := ParseSteps(text); err == nil {
			t.Errorf("%q is taken as steps", text)
		}
	}
	for _, text := range []string{"", "x", "5", "ts:", "ts:x", "2026-13-01T00:00:00Z", "9999-12-31T00:00:00Z", "0001-01-01T00:00:00Z"} {
		if at, err := ParseTime(text); err == nil {
			t.Errorf("%q is taken as %v", text, at)
		}
	}
	if at, err := ParseTime("ts:1419247332972.3139"); err != nil || at.ns != 1419247332972313 {
		t.Errorf("ts: %v, %v", at, err)
	}
}
