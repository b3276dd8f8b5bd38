package stat

// warmUpFactor is how many times the median a first step must take to count as warm-up.
const warmUpFactor = 1.5

// noiseOfWarmUp is the least distance of a mean of several steps from the median, in MADs (scaled by 1.4826 to
// standard deviations), so that a mean over many steps that varies by chance is no warm-up.
const noiseOfWarmUp = 4 * 1.4826

// WarmUp reports for each record of a log whether its steps are warm-up. Such a record is among the first of a
// start of the program, and takes at least warmUpFactor times the median of all records. At most a tenth of the
// records of a start count, but at least one may. starts has the indices of the first records of each start; a
// start with fewer than three records has no warm-up.
//
// covers has the number of steps of each record, whose times are means over them; nil means one each. One slow
// step hides in a mean over many, so its excess is compared as if one step had all of it.
func WarmUp(walls []float64, covers []int64, starts []int) []bool {
	warm := make([]bool, len(walls))
	median, mad := MAD(walls)
	for k, from := range starts {
		to := len(walls)
		if k+1 < len(starts) {
			to = starts[k+1]
		}
		for i := from; i < to && i < from+max(1, (to-from)/10) && to-from >= 3; i++ {
			limit := warmUpFactor * median
			if covers != nil && covers[i] > 1 {
				limit = max(median*(1+(warmUpFactor-1)/float64(covers[i])), median+noiseOfWarmUp*mad)
			}
			if walls[i] < limit {
				break
			}
			warm[i] = true
		}
	}
	return warm
}
