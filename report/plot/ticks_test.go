package plot

import (
	"strings"
	"testing"
)

// TestTicks: counts and times have round ticks within the axis, in one unit.
func TestTicks(t *testing.T) {
	text := func(ticks []Tick) string {
		var out []string
		for _, tick := range ticks {
			out = append(out, tick.Text)
		}
		return strings.Join(out, " ")
	}
	const second, minute = int64(1e9), int64(60e9)
	for _, tc := range []struct {
		got  []Tick
		want string
	}{
		{CountTicks(0, 434, 10), "0 50 100 150 200 250 300 350 400"},
		{CountTicks(182, 233, 10), "185 190 195 200 205 210 215 220 225 230"},
		{CountTicks(1, 5, 10), "1 2 3 4 5"},
		{CountTicks(7, 7, 10), "7"},
		{TimeTicks(0, 3*second, 6), "0 500 ms 1 s 1.5 s 2 s 2.5 s 3 s"},
		{TimeTicks(9*minute, 19*minute, 10), "9 min 10 min 11 min 12 min 13 min 14 min 15 min 16 min 17 min 18 min 19 min"},
		{TimeTicks(0, 25*60*minute, 10), "0 5 h 10 h 15 h 20 h 25 h"},
	} {
		if got := text(tc.got); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
	if ticks := CountTicks(-1<<62, 1<<62, 10); len(ticks) == 0 || len(ticks) > 100 {
		t.Errorf("%d ticks of a huge axis", len(ticks))
	}
}
