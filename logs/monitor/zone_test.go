package monitor

import (
	"testing"
	"time"
)

// TestDateTime: a zone is subtracted, so that the times of two machines compare.
func TestDateTime(t *testing.T) {
	utc := time.Date(2026, 11, 20, 11, 57, 28, 0, time.UTC).UnixNano()
	for text, want := range map[string]int64{
		"2026-11-20T11:57:28+0000": utc, "2026-11-20T13:57:28+0200": utc, "2026-11-20T06:27:28-05:30": utc, "2026-11-20T11:57:28Z": utc,
		"2026-11-20 11:57:28": utc, "11/20/26 11:57:28": utc, "11/20/2026 11:57:28 PM": utc + 12*3600*second, "11/20/2026 11:57:28 AM": utc,
	} {
		if got, ok := dateTime(text); !ok || got != want {
			t.Errorf("%s is %d, %v, want %d", text, got, ok, want)
		}
	}
	if _, ok := dateTime("2026-11-20T11:57:28+9"); ok {
		t.Error("a zone of one digit is read")
	}
}
