package graph

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/trace"
)

// findModules finds the operators of forward passes by sequence number, if the trace has modules. Numbers only
// grow, so the last operator with a number created the node of the backward pass.
func (s *Source) findModules() {
	s.isModule = make([]bool, s.T.Names())
	for i := range s.isModule {
		s.isModule[i] = label.IsModule(s.T.Name(trace.Sym(i)))
	}
	if !slices.Contains(s.isModule, true) {
		return
	}
	low, high, n := ^trace.ID(0), trace.ID(0), 0
	of := func(x *Span) bool { return x.Kind == trace.CPUOp && x.corr != 0 && !x.backward }
	for i := range s.Spans {
		if x := &s.Spans[i]; of(x) {
			low, high, n = min(low, x.corr), max(high, x.corr), n+1
		}
	}
	s.Forward = newByID(low, high, n)
	for i := range s.Spans {
		if x := &s.Spans[i]; of(x) {
			s.Forward.set(x.corr, int32(i))
		}
	}
}

// Module returns the innermost module around an event, itself included, or none. An operator of a backward pass
// belongs to the module of its forward operator.
func (s *Source) Module(span int32) int32 {
	for span != None {
		back := None
		for i := span; i != None; i = s.Spans[i].Parent {
			x := &s.Spans[i]
			if x.Kind == trace.Python && s.isModule[x.Name] {
				return i
			} else if x.backward && back == None {
				back = s.Forward.get(x.corr)
			}
		}
		span = back
	}
	return None
}

// ModulePath returns the names of a module and of those around it, separated by slashes.
func (s *Source) ModulePath(module int32) string {
	var parts []string
	for i := module; i != None; i = s.Spans[i].Parent {
		if x := &s.Spans[i]; x.Kind == trace.Python && s.isModule[x.Name] {
			parts = append(parts, strings.ReplaceAll(strings.TrimPrefix(s.T.Name(x.Name), label.ModulePrefix), "/", "_"))
		}
	}
	slices.Reverse(parts)
	return strings.Join(parts, "/")
}
