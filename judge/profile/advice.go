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

// shows returns the facts of a function on which the conditions of its fixes depend.
func (f *functions) shows(r functionRow) []string {
	kind := "compiled"
	switch {
	case f.unit == "bytes":
		kind = "allocating"
	case r.isBuiltIn(), r.native:
		kind = "built-in"
	case f.isPython(r):
		kind = "python"
	}
	facts := []string{"function=" + kind}
	if r.count > 1 {
		facts = append(facts, "repeated")
	}
	return facts
}

// callees returns the facts of a function whose callees take the time. A built-in function that calls Python is
// part of Python's code.
func (f *functions) callees(r functionRow) []string {
	facts := f.shows(r)
	if r.isBuiltIn() && f.isPython(r) {
		facts = []string{"function=python"}
	}
	return append(facts, "callees")
}

// advice returns fixes for a function with a large total time.
func (f *functions) advice(r functionRow) []finding.Step {
	if r.self >= 0 && 2*r.self >= r.total {
		return f.selfAdvice(r)
	}
	facts := f.callees(r)
	if !f.isTime() || !f.isPython(r) {
		return []finding.Step{finding.Advise("reduce-callees").For(facts...)}
	}
	return []finding.Step{finding.Advise("cache-results").For(facts...), finding.Advise("await-callees-together").For(facts...),
		finding.Advise("parallelize-callees").For(facts...)}
}

// selfAdvice returns fixes for a function whose own code takes the time.
func (f *functions) selfAdvice(r functionRow) []finding.Step {
	steps := []finding.Step{finding.Advise("reduce-allocations"), finding.Advise("call-compiled-code-less"), finding.Advise("optimize-compiled-code"),
		finding.Advise("optimize-python-code"), finding.Advise("cache-results")}
	for i := range steps {
		steps[i] = steps[i].For(f.shows(r)...)
	}
	return steps
}

// nestedAdvice returns fixes for a function that spends its time in callees.
func (f *functions) nestedAdvice(r functionRow) []finding.Step {
	facts := f.callees(r)
	if !f.isPython(r) {
		return []finding.Step{finding.Advise("open-the-flame-graph").For(facts...)}
	}
	return []finding.Step{finding.Advise("reduce-callees").For(facts...), finding.Advise("await-callees-together").For(facts...),
		finding.Advise("record-built-in-functions").For(facts...)}
}

func waitAdvice() []finding.Step {
	return []finding.Step{finding.Advise("await-together"), finding.Advise("send-more-requests"),
		finding.Advise("cache-answers"), finding.Advise("limit-waiting-times")}
}
