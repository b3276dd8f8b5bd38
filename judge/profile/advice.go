package profile

import (
	"strings"

	"assay/judge/finding"
)

// The advice follows the priority matrix of NeMo Gym's profiling guide.

// isPython reports whether a function is Python code, by the profiler or by its file. Other
// profilers also list kernels and compiled code, for which advice on Python makes no sense.
func (f *functions) isPython(r functionRow) bool {
	return f.Tool == "yappi" || f.Tool == "pstats" || strings.Contains(r.name, ".py") || strings.HasSuffix(r.file, ".py")
}

// isBuiltIn reports whether a function is compiled code of the interpreter or of an extension,
// which the user cannot change.
func (r functionRow) isBuiltIn() bool {
	return strings.HasPrefix(r.name, "{") || strings.HasPrefix(r.name, "<built-in")
}

// advice returns fixes for a function with a large total time.
func (f *functions) advice(r functionRow) (out []finding.Step) {
	switch {
	case r.self >= 0 && 2*r.self >= r.total:
		return f.selfAdvice(r)
	case !f.isTime() || !f.isPython(r):
		return []finding.Step{finding.Advise("reduce-callees")}
	case r.count > 1 && !r.isBuiltIn():
		out = append(out, finding.Advise("cache-results"))
	}
	return append(out, finding.Advise("await-callees-together"), finding.Advise("parallelize-callees"))
}

// selfAdvice returns fixes for a function whose own code takes the time.
func (f *functions) selfAdvice(r functionRow) []finding.Step {
	switch {
	case f.unit == "bytes":
		return []finding.Step{finding.Advise("reduce-allocations")}
	case r.isBuiltIn(), r.native:
		return []finding.Step{finding.Advise("call-compiled-code-less")}
	case !f.isPython(r):
		return []finding.Step{finding.Advise("optimize-compiled-code")}
	case r.count > 1:
		return []finding.Step{finding.Advise("optimize-python-code"), finding.Advise("cache-results")}
	}
	return []finding.Step{finding.Advise("optimize-python-code")}
}

// nestedAdvice returns fixes for a function that spends its time in callees.
func (f *functions) nestedAdvice(r functionRow) []finding.Step {
	if !f.isPython(r) {
		return []finding.Step{finding.Advise("open-the-flame-graph")}
	}
	return []finding.Step{finding.Advise("reduce-callees"), finding.Advise("await-callees-together"),
		finding.Advise("record-built-in-functions")}
}

func waitAdvice() []finding.Step {
	return []finding.Step{finding.Advise("await-together"), finding.Advise("send-more-requests"),
		finding.Advise("cache-answers"), finding.Advise("limit-waiting-times")}
}
