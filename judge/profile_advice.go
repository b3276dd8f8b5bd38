package judge

import "strings"

// The advice follows the priority matrix of NeMo Gym's profiling guide.

// isPython reports whether a function is of Python, by the profiler or by its file.
// Profiles of other profilers may also have kernels and compiled code, for
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
func (f *functions) advice(r functionRow) (out []Step) {
	switch {
	case r.self >= 0 && 2*r.self >= r.total:
		return f.selfAdvice(r)
	case !f.isTime() || !f.isPython(r):
		return []Step{advise("reduce-callees")}
	case r.count > 1 && !r.isBuiltIn():
		out = append(out, advise("cache-results"))
	}
	return append(out, advise("await-callees-together"), advise("parallelize-callees"))
}

// selfAdvice is about a function whose own code takes the most.
func (f *functions) selfAdvice(r functionRow) []Step {
	switch {
	case f.unit == "bytes":
		return []Step{advise("reduce-allocations")}
	case r.isBuiltIn():
		return []Step{advise("call-compiled-code-less")}
	case !f.isPython(r):
		return []Step{advise("optimize-compiled-code")}
	case r.count > 1:
		return []Step{advise("optimize-python-code"), advise("cache-results")}
	}
	return []Step{advise("optimize-python-code")}
}

// nestedAdvice is about a function that spends its time in its callees.
func (f *functions) nestedAdvice(r functionRow) []Step {
	if !f.isPython(r) {
		return []Step{advise("open-the-flame-graph")}
	}
	return []Step{advise("reduce-callees"), advise("await-callees-together"), advise("record-built-in-functions")}
}

func waitAdvice() []Step {
	return []Step{advise("await-together"), advise("send-more-requests"), advise("cache-answers"), advise("limit-waiting-times")}
}
