package judge

import (
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// lateStep is a run of 1 s that is idle for some of it and waits 120 ms for communication. Its typical step of 100 ms has six all-gathers, four of which are launched 3 ms
// late; launched in time, the step takes left ms.
func lateStep(idle, left int64, verdict string) func(t *testing.T) *summary.Summary {
	return func(*testing.T) *summary.Summary {
		s := followed(one(idle, 120, 0), map[string]int64{"--early": left})
		s.CriticalPaths[0].Communication = []summary.PathComm{{Name: "ncclDevKernel_AllGather_RING_LL", Count: 6, NS: 30 * ms, Late: 4, LateNS: 12 * ms}}
		s.Forecasts[0].By, s.Forecasts[0].Verdict = summary.ByEarly, verdict
		return s
	}
}

// labelledLateComm are runs of a busy GPU whose communication could be launched earlier.
func labelledLateComm() []labelled {
	return []labelled{
		{name: "all-gathers 9 ms of a step late", label: rule.LateComm, after: rule.ExposedComm, num: 9 * ms, den: 100 * ms, in: lateStep(20, 91, "ok")},
		{name: "all-gathers a fifth of a step late", label: rule.LateComm, after: rule.ExposedComm, num: 20 * ms, den: 100 * ms, in: lateStep(20, 80, "ok")},
		{name: "all-gathers 2 ms of a step late", label: rule.ExposedComm, near: rule.LateComm, in: lateStep(20, 98, "ok")},
		{name: "late all-gathers, and a forecast with a warning", label: rule.ExposedComm, near: rule.LateComm, in: lateStep(20, 91, "warn")},
		{name: "a CPU that is late with all work", label: rule.GPUIdle, near: rule.LateComm, in: lateStep(300, 80, "ok")},
	}
}
