package forms

import (
	"testing"
	"time"
)

// TestZonesOfStamps: a zone is read in each way in which logs write it; other digits behind a time are none.
func TestZonesOfStamps(t *testing.T) {
	local := time.Date(2026, 11, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	for text, want := range map[string]struct {
		hours float64 // ahead of UTC
		zoned bool
	}{
		"2026-11-02T10:00:00Z step":                {0, true},
		"2026-11-02 10:00:00.5+02:00 step":         {2, true},
		"2026-11-02 10:00:00,123-0330 step":        {-3.5, true},
		"[2026-11-02 10:00:00 +0000] [77] [INFO] ": {0, true},
		"2026-11-02 10:00:00 +0530":                {5.5, true},
		"2026-11-02 10:00:00 UTC - step":           {0, true},
		"2026-11-02 10:00:00 GMT":                  {0, true},
		"2026-11-02 10:00:00 UTCOFFSET":            {0, false},
		"2026-11-02 10:00:00 -0.0312 loss":         {0, false},
		"2026-11-02 10:00:00 -1234 loss":           {0, false},
		"2026-11-02 10:00:00 +02000 tokens":        {0, false},
		"2026-11-02 10:00:00-4711: step":           {0, false},
		"2026-11-02 10:00:00 [INFO] step":          {0, false},
		"2026-11-02 10:00:00 - INFO - step":        {0, false},
	} {
		st, ok := findStamp([]byte(text))
		whole := st.ns / second * second
		if !ok || st.zoned != want.zoned || whole != local-int64(want.hours*3600)*second {
			t.Errorf("%s: %v %v, want %v h", text, time.Unix(0, st.ns).UTC(), st.zoned, want.hours)
		}
	}
}

// TestMixedZones: lines in UTC between lines in local time, as those of a web server in a program, are no silence, and
// nothing of them counts as the time of the program.
func TestMixedZones(t *testing.T) {
	text := ""
	for n := 1; n <= 20; n++ {
		at := time.Date(2026, 11, 2, 18, 0, 10*n, 0, time.UTC)
		text += at.Format("[2006-01-02 15:04:05] ") + megatronStep(n)
		text += at.Add(-8*time.Hour).Format("[2006-01-02 15:04:05 +0000] ") + "[77] [INFO] GET /health\n"
	}
	log := readText(t, Default(), text)
	if c := log.Course; len(c.Beats) != 20 || c.First != c.Beats[0].Time || c.Last != c.Beats[19].Time || log.Clock.Zoned {
		t.Errorf("%d steps, from %d to %d, zoned %v", len(c.Beats), c.First, c.Last, log.Clock.Zoned)
	}
	for _, g := range log.Course.Gaps {
		if g.To-g.From > 20*second {
			t.Errorf("a gap of %d s", (g.To-g.From)/second)
		}
	}
}

func megatronStep(n int) string {
	return " iteration " + string(rune('0'+n/10)) + string(rune('0'+n%10)) + "/  1000 | consumed samples: 64 | elapsed time per iteration (ms): 10000.0 | learning rate: 1.0E-04 | global batch size: 64 | lm loss: 2.5E+00 |\n"
}
