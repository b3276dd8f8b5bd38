package summary

// A Drift compares identical compute kernels of one device, by name and launch
// configuration, over time: their durations in the last two thirds of the window with the
// mean of the same kernel in the first third. Kernels with under [DriftRuns] runs in one of
// the thirds are left out.
type Drift struct {
	Kernels    int64 `json:"kernels"`     // different ones
	NS         int64 `json:"ns"`          // their total in the last two thirds
	ExpectedNS int64 `json:"expected_ns"` // the total if each took what it took in the first third
	SlowerNS   int64 `json:"slower_ns"`   // the part of NS of the kernels whose shortest run in the last third is longer by [DriftShare]
}

// DriftRuns is the number of runs in each third of the window from which a kernel is compared.
const DriftRuns = 4

// DriftShare is the rise of the shortest run from which a kernel is slower than before.
// Durations of one kernel vary by a few percent.
const DriftShare = 0.05
