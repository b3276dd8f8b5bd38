package goodput_test

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestPauseBetweenJobs: trainings of 50 steps of 10 s follow each other in one log without lines about their starts, with
// 30 minutes of silence between them. Trainings that were finished are jobs of their own, and no job has the silence. If
// they failed, they are attempts of one job, which waited.
func TestPauseBetweenJobs(t *testing.T) {
	const training, pause = 500, 1800
	text := func(first []int, end string) string {
		return written(megatron, func(j *job) {
			for k, from := range first {
				if k > 0 {
					j.now += pause
				}
				j.ten(from, from+49)
				if end != "" {
					j.line("%s", end)
				}
			}
		})
	}
	all := func(sum *summary.Summary) (ns int64) {
		for _, r := range sum.JobTimes {
			ns += r.NS
		}
		return ns / 1e9
	}
	for _, tc := range []struct {
		name  string
		first []int // step of each training
		end   string
		jobs  []map[string]int // of each job
	}{
		{"finished", []int{1, 1, 1}, megatron.done, []map[string]int{{"steps": training}, {"steps": training}, {"steps": training}}},
		{"no line about the end", []int{1, 1, 1}, "", []map[string]int{{"steps": training}, {"steps": training}, {"steps": training}}},
		{"failed", []int{1, 1, 1}, megatron.died, []map[string]int{{"steps": training, "lost": 2 * training, "waiting": 2 * pause}}},
		{"failed, goes on after the first 30 steps", []int{1, 31}, megatron.died, []map[string]int{{"steps": 800, "lost": 200, "waiting": pause}}},
	} {
		sum := measured(t, []string{text(tc.first, tc.end)})
		want := int64(0)
		for k, parts := range tc.jobs {
			if got := seconds(sum, fmt.Sprint(k+1)); fmt.Sprint(got) != fmt.Sprint(parts) {
				t.Errorf("%s: job %d: %v, want %v", tc.name, k+1, got, parts)
			}
			for _, s := range parts {
				want += int64(s)
			}
		}
		if got := all(sum); got != want {
			t.Errorf("%s: all jobs together %d s, want %d s", tc.name, got, want)
		}
	}
}
