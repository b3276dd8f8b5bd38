package profile

import "strings"

// A Timed has the samples of one thread with their times, which a join with a timeline needs.
type Timed struct {
	Thread string  // name
	PID    int64   // of its process; 0 if unknown
	At     []int64 // ns on the clock of the sampler, ascending
	Until  []int64 // time up to which the stack of each sample stays the same; nil if all samples are in At
	Stacks []int32 // of each sample: index into Inner and Code
	Inner  []Frame // innermost frame of each stack
	Code   []Frame // innermost frame of each stack that is source code: see [CodeOf]
}

// CodeOf returns the innermost frame of a stack, outermost first, that is a line of source code. Samplers that show
// native stacks (py-spy --native, perf) have frames of libraries inside of it. Without such a frame it is the innermost.
func CodeOf(stack []Frame) (f Frame) {
	for i := len(stack) - 1; i >= 0; i-- {
		if isSource(stack[i].File) {
			return stack[i]
		}
	}
	if len(stack) > 0 {
		f = stack[len(stack)-1]
	}
	return f
}

// isSource reports whether a file is source code of an interpreter: a name like script.py, or <string>.
func isSource(file string) bool {
	for _, end := range []string{".py", ".pyx", ".ipynb", ".js", ".mjs", ".ts"} {
		if strings.HasSuffix(file, end) {
			return true
		}
	}
	return strings.HasPrefix(file, "<") && strings.HasSuffix(file, ">")
}
