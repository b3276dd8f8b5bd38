package forms

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"assay/internal/test"
	"assay/logs"
)

// TestBefore: the last time before a line is found as by a search of the whole text, whatever lines were asked for before,
// and however much of the text is still in the buffer.
func TestBefore(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 4))
	for range 40 {
		var track timeTrack
		var text []byte
		last, at, began, dropped := logs.NoTime, -1, 0, 0
		rate := []int{2, 50, 4000}[rnd.IntN(3)]
		for i := range 6000 {
			if rnd.IntN(7) == 0 {
				want := last
				if at >= 0 && at < len(text)-lookBack {
					want = logs.NoTime
				}
				if got := track.before(text[dropped:], int64(dropped), 1); got != want {
					t.Fatalf("line %d: %d, want %d", i, got, want)
				}
				dropped = max(dropped, len(text)-rnd.IntN(2*lookBack))
			}
			began = len(text)
			line := fmt.Sprintf("OSError: [Errno 28] No space left on device %d\n", i)
			if rnd.IntN(rate) == 0 {
				line = time.Unix(1_767_312_000+int64(i), 0).UTC().Format("2006-01-02 15:04:05 ") + line
				last, at = (1_767_312_000+int64(i))*1e9, began
			}
			text = append(text, line...)
			if last != logs.NoTime && at == began {
				st, ok := lineStamp([]byte(line))
				if !ok {
					t.Fatal("the line has no time")
				}
				last = st.ns
			}
		}
	}
}

// TestErrorsWithoutTimes: a program that writes one error in a loop may do so without times. Its log is read about as
// fast as one with times; looking for the last time from each line takes 30 times as long.
func TestErrorsWithoutTimes(t *testing.T) {
	const most, tries, lines = 10.0, 6, 20_000
	head := strings.Repeat("step:1 - timing_s/gen:1.0 - timing_s/step:2.0\n", 3)
	for _, line := range []string{"ValueError: no such key", "NVRM: Xid (PCI:0000:3b:00): 94, pid=4, an error is contained", "CUDA error: device-side assert triggered"} {
		took := func(text string) float64 {
			start := time.Now()
			readText(t, Default(), text)
			return float64(time.Since(start))
		}
		ratio := 1e9
		for range tries {
			bare, stamped := head+strings.Repeat(line+"\n", lines), head+strings.Repeat("2026-03-01 04:05:06 "+line+"\n", lines)
			if ratio = min(ratio, took(bare)/took(stamped)); ratio <= most {
				break
			}
		}
		if ratio > most {
			t.Errorf("%q without times takes %.0f times as long as with them", line, ratio)
		}
	}
	if log := readText(t, Default(), head+strings.Repeat("ValueError: no such key\n", 9)); bytes.Count([]byte(log.Course.Marks[0].Text), []byte("ValueError")) != 1 {
		t.Errorf("marks %+v", log.Course.Marks)
	}
}
