package view

// warmUpFactor is how far over the median a first step is warm-up.
const warmUpFactor = 1.5

// WarmUp reports for each step of a log whether it is warm-up: one of the first of a start
// of the program, and far over the median of all. At most a tenth of the steps of a start,
// and one in any case, are. Starts has the indices of the first steps of each start.
func WarmUp(walls []float64, median float64, starts []int) []bool {
	warm := make([]bool, len(walls))
	for k, from := range starts {
		to := len(walls)
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		for i := from; i < to && i < from+max(1, (to-from)/10) && walls[i] >= warmUpFactor*median && to-from >= 3; i++ {
			warm[i] = true
		}
	}
	return warm
}
