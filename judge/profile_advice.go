package judge

import "strings"

// The advice follows the priority matrix of NeMo Gym's profiling guide.

// isPython reports whether the functions are of Python.
func (f *functions) isPython() bool {
	for i := range f.Rows {
		if strings.Contains(f.Rows[i].Name, ".py") || strings.HasSuffix(f.Rows[i].Labels["file"], ".py") {
			return true
		}
	}
	return false
}

// advice is about a function that takes most with all it calls.
func (f *functions) advice(r functionRow) (out []string) {
	switch {
	case r.self >= 0 && 2*r.self >= r.total:
		return f.selfAdvice(r)
	case !f.isTime() || !f.isPython():
		return []string{"look at what it calls: call it less, do less in it, or run what does not depend on each other side by side"}
	case r.count > 1:
		out = append(out, "a high average times many calls is where most is to be gained: cache what repeats (functools.lru_cache)")
	}
	return append(out, "look at what it calls: if the calls wait for something outside, make them asynchronous (asyncio.gather) or move them to Ray; if they compute, run them side by side or make them fewer")
}

// selfAdvice is about a function whose own code takes the most.
func (f *functions) selfAdvice(r functionRow) []string {
	if f.unit == "bytes" {
		return []string{"allocate less there: reuse buffers, keep less alive, read in pieces"}
	}
	if !f.isPython() {
		return []string{"optimize its own code: a better algorithm, less traffic to memory, vectorized code; or call it less"}
	}
	out := []string{"optimize its own code: a better algorithm, sets and dicts in place of searches in lists, vectorized or compiled code (NumPy, Numba, C++)"}
	if r.count > 1 {
		out = append(out, "call it less: cache what repeats (functools.lru_cache)")
	}
	return out
}

// nestedAdvice is about a function that spends its time in what it calls.
func (f *functions) nestedAdvice() []string {
	if !f.isPython() {
		return []string{"drill down into what it calls: the picture of the stacks has it as the widest box above"}
	}
	return []string{
		"drill down into what it calls; record built-in functions too, for they are where the interpreter hands over to compiled code",
		"if the calls do not depend on each other, run them side by side: asyncio.gather for what waits, Ray or processes for what computes",
	}
}

func waitAdvice() []string {
	return []string{
		"synchronous calls to what is outside: make them asynchronous and wait for all at once (asyncio.gather), or move them to Ray or a pool of threads",
		"if the wait is for work to come, the server has room: send more requests at the same time before making it faster",
		"cache answers that repeat, and set time limits: one slow service holds all that wait for it",
	}
}
