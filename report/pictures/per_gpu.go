package pictures

import (
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// Helpers that pictures of several GPUs share: means per GPU, and the selection of GPUs.

// perGPU returns the mean over n GPUs. A time that is not zero stays at least 1 ns, so that it has a bar.
func perGPU(ns int64, n int) int64 {
	if n < 2 || ns <= 0 {
		return ns
	}
	return max(1, unit.Mean(ns, int64(n)))
}

// ofGPUs states in a subtitle that times are means over n GPUs: " per GPU, mean of 8". It is "" for one
// GPU.
func ofGPUs(n int) string {
	if n < 2 {
		return ""
	}
	return fmt.Sprintf(" per GPU, mean of %s", unit.Count(int64(n)))
}

// namedDevices returns the GPUs that findings above the lowest level name, the most important
// first: all findings, or those on ranks and the division of work only.
func namedDevices(r judge.Result, all bool) (named []summary.GPU) {
	for i := range r.Findings {
		ofRank := slices.Contains([]string{rule.StragglingRank, rule.UnevenRanks, rule.UnevenGPUs}, r.Findings[i].Rule)
		if r.Findings[i].Level == finding.Info || !all && !ofRank {
			continue
		}
		for _, at := range r.Findings[i].Where {
			if at.Device != nil {
				named = append(named, summary.GPU{Input: at.Input, Rank: at.Rank, Device: *at.Device})
			}
		}
	}
	return named
}

// choose returns at most n of the GPUs, the most important ones. For small n, as on the screen, findings
// that are not about these do not select GPUs.
func choose(s *summary.Summary, r judge.Result, devices []int, n int) view.Choice {
	return view.Choose(s, devices, namedDevices(r, n > mostLanes), n)
}

// everyDevice returns the indices of all GPUs.
func everyDevice(s *summary.Summary) []int {
	out := make([]int, len(s.Devices))
	for i := range out {
		out[i] = i
	}
	return out
}

// allGPUs marks a count as a sum over n GPUs.
func allGPUs(n int) string {
	if n < 2 {
		return ""
	}
	return " on all GPUs"
}
