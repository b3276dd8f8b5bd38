package judge

import "strings"

// The advice follows the priority matrix of NeMo Gym's profiling guide.

// isPython reports whether a function is of Python, by the profiler or by its file.
// Profiles of other profilers may have kernels and compiled code beside it, for
// which advice on Python is none.
func (f *functions) isPython(r functionRow) bool {
	return f.Tool == "yappi" || f.Tool == "pstats" || strings.Contains(r.name, ".py") || strings.HasSuffix(r.file, ".py")
}

// isBuiltIn reports whether a function is one that the interpreter brings along or
// loads: there is no code of it to change.
func (r functionRow) isBuiltIn() bool {
	return strings.HasPrefix(r.name, "{") || strings.HasPrefix(r.name, "<built-in")
}

// advice is about a function that takes most with all it calls.
func (f *functions) advice(r functionRow) (out []string) {
	switch {
	case r.self >= 0 && 2*r.self >= r.total:
		return f.selfAdvice(r)
	case !f.isTime() || !f.isPython(r):
		return []string{"look at what it calls: call it less, do less in it, or run what does not depend on each other side by side"}
	case r.count > 1 && !r.isBuiltIn():
		out = append(out, "a high average times many calls is where most is to be gained: cache what repeats (functools.lru_cache)")
	}
	return append(out, "look at what it calls: if the calls wait for something outside, make them asynchronous (asyncio.gather) or move them to Ray; if they compute, run them side by side or make them fewer")
}

// selfAdvice is about a function whose own code takes the most.
func (f *functions) selfAdvice(r functionRow) []string {
	switch {
	case f.unit == "bytes":
		return []string{"allocate less there: reuse buffers, keep less alive, read in pieces"}
	case r.isBuiltIn():
		return []string{"it is compiled code, called from Python: call it less, with more work at a time, or call something faster in its place"}
	case !f.isPython(r):
		return []string{"optimize its own code: a better algorithm, less traffic to memory, vectorized code; or call it less"}
	}
	out := []string{"optimize its own code: a better algorithm, sets and dicts in place of searches in lists, vectorized or compiled code (NumPy, Numba, C++)"}
	if r.count > 1 {
		out = append(out, "call it less: cache what repeats (functools.lru_cache)")
	}
	return out
}

// nestedAdvice is about a function that spends its time in what it calls.
func (f *functions) nestedAdvice(r functionRow) []string {
	if !f.isPython(r) {
		return []string{"drill down into what it calls: the picture of the stacks has it as the widest box below"}
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
