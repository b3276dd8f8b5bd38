package profile

import (
	"strings"

	"assay/judge/finding"
)

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

// selfAdvice is about a function whose own code takes the most.
func (f *functions) selfAdvice(r functionRow) []finding.Step {
	switch {
	case f.unit == "bytes":
		return []finding.Step{finding.Advise("reduce-allocations")}
	case r.isBuiltIn():
		return []finding.Step{finding.Advise("call-compiled-code-less")}
	case !f.isPython(r):
		return []finding.Step{finding.Advise("optimize-compiled-code")}
	case r.count > 1:
		return []finding.Step{finding.Advise("optimize-python-code"), finding.Advise("cache-results")}
	}
	return []finding.Step{finding.Advise("optimize-python-code")}
}

// nestedAdvice is about a function that spends its time in its callees.
func (f *functions) nestedAdvice(r functionRow) []finding.Step {
	if !f.isPython(r) {
		return []finding.Step{finding.Advise("open-the-flame-graph")}
	}
	return []finding.Step{finding.Advise("reduce-callees"), finding.Advise("await-callees-together"), finding.Advise("record-built-in-functions")}
}

func waitAdvice() []finding.Step {
	return []finding.Step{finding.Advise("await-together"), finding.Advise("send-more-requests"), finding.Advise("cache-answers"), finding.Advise("limit-waiting-times")}
}
