package layers

// mostRuns is the number of runs of a step that have rows of their own. A row has a number for each layer.
const mostRuns = 32

// runsOf numbers the runs through a model within each step and pass: a draft model runs several times before the model that checks its
// tokens, and a pipeline runs its layers for each micro-batch. Between runs there is something else. If a run would have one layer
// only, what is between may be a layer that is not recognized, so the pass is one run; and so it is if there are very many.
func runsOf(list []timed) []int32 {
	type pass struct {
		step int32
		name string
	}
	type one struct {
		pass
		run int32
	}
	of, runs := make([]int32, len(list)), make(map[pass]int32)
	counts, broken := make(map[one]int), make(map[pass]bool)
	for i := range list {
		p := pass{list[i].step + list[i].turn, list[i].pass}
		if i > 0 && !list[i].follows {
			broken = map[pass]bool{}
		}
		if !broken[p] { // the first layer of the pass since something else ran
			broken[p] = true
			runs[p]++
		}
		of[i] = runs[p]
		counts[one{p, of[i]}]++
	}
	short := make(map[pass]bool)
	for k, n := range counts {
		short[k.pass] = short[k.pass] || n < 2 || runs[k.pass] > mostRuns
	}
	for i := range list {
		if short[pass{list[i].step + list[i].turn, list[i].pass}] {
			of[i] = 0
		}
	}
	return of
}
