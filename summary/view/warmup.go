package view

// warmUpFactor is how many times the median a first step must take to count as warm-up.
const warmUpFactor = 1.5

// WarmUp reports for each step of a log whether it is warm-up. A warm-up step is among the first of a start
// of the program and takes at least warmUpFactor times the median of all steps. At most a tenth of the
// steps of a start count, but at least one may. starts has the indices of the first steps of each start; a
// start with fewer than three steps has no warm-up.
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
