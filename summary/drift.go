package summary

// A Drift compares the durations of identical compute kernels (same name and launch configuration) of one
// device over time: those in the last two thirds of the window with the mean of the same kernel in the
// first third. Kernels with fewer than [DriftRuns] runs in one of the thirds are left out.
type Drift struct {
	Kernels    int64 `json:"kernels"`     // number of distinct kernels
	NS         int64 `json:"ns"`          // their total time in the last two thirds
	ExpectedNS int64 `json:"expected_ns"` // the total time if each run took the mean of the first third
	SlowerNS   int64 `json:"slower_ns"`   // part of NS in kernels whose shortest run grew by [DriftShare]
	// SteadyNS is the part of NS in kernels that are slower in each third than in the one before, by mean
	// and by shortest run.
	SteadyNS int64 `json:"steady_ns,omitempty"`
}

// DriftRuns is the number of runs that a kernel must have in each third of the window to be compared.
const DriftRuns = 4

// DriftShare is the relative increase of the shortest run above which a kernel counts as slower. Durations
// of one kernel vary by a few percent, so a smaller increase is noise.
const DriftShare = 0.05
