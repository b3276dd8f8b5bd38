package goodput_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/internal/diag"
	"assay/logs"
	"assay/logs/forms"
)

// TestDaylightSaving: 120 steps of 10 s run over a change of the clock. The hour is neither a stall nor a restart, and the
// job has 1,200 s of steps. An hour without steps in another night, or by day, is a stall.
func TestDaylightSaving(t *testing.T) {
	text := func(start string, jump time.Duration, zone string) string {
		at, err := time.Parse(time.DateTime, start)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for n := 1; n <= 120; n++ {
			if at = at.Add(10 * time.Second); n == 58 {
				at = at.Add(jump)
			}
			fmt.Fprintf(&b, "[%s%s]  iteration %8d/     120 | consumed samples: %d | elapsed time per iteration (ms): 10000.0 | global batch size: 64 | lm loss: 2.5E+00 |\n", at.Format(time.DateTime), zone, n, n*64)
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, text string
		want       map[string]int
		set        bool
	}{
		{"set forward", text("2026-03-08 01:50:25", time.Hour, ""), map[string]int{"steps": 1200}, true},
		{"set back", text("2026-11-01 02:50:25", -time.Hour, ""), map[string]int{"steps": 1200}, true},
		{"set forward in Europe", text("2026-03-29 01:50:25", time.Hour, ""), map[string]int{"steps": 1200}, true},
		{"an hour in another night", text("2026-03-10 01:50:25", time.Hour, ""), map[string]int{"steps": 1200, "stall": 3600}, false},
		{"an hour by day", text("2026-03-08 12:50:25", time.Hour, ""), map[string]int{"steps": 1200, "stall": 3600}, false},
		{"an hour that is not that of the clock", text("2026-03-08 01:30:00", time.Hour, ""), map[string]int{"steps": 1200, "stall": 3600}, false},
		{"50 minutes", text("2026-03-08 01:50:25", 50*time.Minute, ""), map[string]int{"steps": 1200, "stall": 3000}, false},
		{"times with a zone", text("2026-03-08 01:50:25", time.Hour, "Z"), map[string]int{"steps": 1200, "stall": 3600}, false},
	} {
		r := forms.NewReader("train.log", forms.Default(), logs.Limits{})
		r.Write([]byte(tc.text))
		issues := r.Close(true).Issues
		set := slices.ContainsFunc(issues, func(is diag.Issue) bool { return is.Code == "log-clock-daylight" })
		if slices.ContainsFunc(issues, func(is diag.Issue) bool { return is.Code == "log-clock-back" }) {
			t.Errorf("%s: log-clock-back, too", tc.name)
		}
		sum := joined(measured(t, []string{tc.text}))
		if got := seconds(sum, "1"); fmt.Sprint(got) != fmt.Sprint(tc.want) || set != tc.set {
			t.Errorf("%s: %v, want %v; set %v", tc.name, got, tc.want, set)
		}
	}
}
