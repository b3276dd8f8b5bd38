package plot

import (
	"fmt"
	"testing"

	"assay/internal/test/samplerun"
)

func TestTimeTicks(t *testing.T) {
	for span := int64(1); span > 0 && span < 1<<61; span = span*3 + 1 {
		ticks := ticksBetween(0, span, 10)
		if len(ticks) > 11 || len(ticks) < 2 || ticks[0] != 0 || ticks[len(ticks)-1] > span {
			t.Errorf("ticks of %d ns are %v", span, ticks)
		}
		if rest := span - ticks[len(ticks)-1]; rest >= ticks[1] {
			t.Errorf("ticks of %d ns end at %d", span, ticks[len(ticks)-1])
		}
	}
	for span, want := range map[int64]string{9: "1 ns", 450 * samplerun.MS: "50 ms", 60 * samplerun.Sec: "10 s", 36_000 * samplerun.Sec: "1 h", 86_400 * samplerun.Sec: "5 h"} {
		if got := tickText(ticksBetween(0, span, 10)[1]); got != want {
			t.Errorf("the first tick of %d ns is at %s, want %s", span, got, want)
		}
	}
}

func TestTicksBetween(t *testing.T) {
	for _, tc := range []struct {
		low, high int64
		want      string
	}{
		{71, 171, "[80 100 120 140 160]"}, {0, 100, "[0 20 40 60 80 100]"}, {7, 7, "[7]"}, {1 << 62, 1<<63 - 1, "5 or more"},
	} {
		got := ticksBetween(tc.low, tc.high, 6)
		if tc.want == "5 or more" && len(got) > 0 && len(got) < 9 {
			continue
		}
		if fmt.Sprint(got) != tc.want {
			t.Errorf("%d to %d: got %v, want %s", tc.low, tc.high, got, tc.want)
		}
	}
}
