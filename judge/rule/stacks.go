package rule

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"assay/judge/finding"
	"assay/summary"
)

// A Stack is software that a capture shows by the names in it.
type Stack struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Because string `json:"because"` // Because is the name that only this software has: `operator "vllm::moe_forward"`
}

// A stackEntry is an entry of stacks.yaml.
type stackEntry struct {
	Name        string   `yaml:"name"`
	Family      string   `yaml:"family"`
	Excludes    string   `yaml:"excludes"`
	Ops         []string `yaml:"ops"`
	Annotations []string `yaml:"annotations"`
	Files       []string `yaml:"files"`
	Modules     []string `yaml:"modules"`
	Kernels     []string `yaml:"kernels"`

	id string
}

// stackEntries returns the entries of stacks.yaml, in their order.
var stackEntries = sync.OnceValue(builtInStacks)

// Stacks returns which software a summary shows, in the order of stacks.yaml.
func Stacks(s *summary.Summary) (out []Stack) {
	families := map[string]bool{} // families that have a member found by its own names
	why := map[string]string{}
	for _, e := range stackEntries() {
		if why[e.id] = e.found(s); why[e.id] != "" && e.Family != "" {
			families[e.Family] = true
		}
	}
	for _, e := range stackEntries() {
		if why[e.id] == "" && !families[e.Family] { // servers of one family reuse each other's markers
			why[e.id] = e.marks(s)
		}
		if why[e.id] != "" {
			out = append(out, Stack{e.id, e.Name, why[e.id]})
		}
	}
	return out
}

// found returns a name in s that only this stack has, or "".
func (e stackEntry) found(s *summary.Summary) string {
	at := func(kind, name string, words []string, match func(name, word string) bool) string {
		if name != "" && slices.ContainsFunc(words, func(w string) bool { return match(name, w) }) {
			return fmt.Sprintf("%s %q", kind, finding.Short(name))
		}
		return ""
	}
	return firstOf(
		func() string {
			return search(s.Ops, func(r *summary.Op) string { return at("operator", r.Name, e.Ops, strings.HasPrefix) })
		},
		func() string {
			return search(s.Annotations, func(r *summary.Annotation) string {
				return at("annotation", r.Name, e.Annotations, strings.HasPrefix)
			})
		},
		func() string {
			return search(s.Modules, func(r *summary.Module) string { return at("module", r.Path, e.Modules, strings.Contains) })
		},
		func() string {
			return search(s.Lines, func(r *summary.Line) string {
				return at("file", r.File, e.Files, strings.Contains)
			})
		},
		func() string {
			return search(s.Kernels, func(r *summary.Kernel) string {
				return at("kernel", r.Name, e.Kernels, strings.Contains)
			})
		},
		func() string {
			return search(tableKernels(s), func(r *summary.TableRow) string {
				return at("kernel", r.Name, e.Kernels, strings.Contains)
			})
		},
		func() string {
			return search(s.Spans, func(r *summary.Span) string {
				if why := at("span", r.Name, e.Annotations, strings.HasPrefix); why != "" {
					return why
				}
				return at("span", r.Name, e.Ops, strings.HasPrefix)
			})
		},
		func() string {
			return search(s.Idle, func(r *summary.Idle) string {
				if r.State != summary.StateData {
					return ""
				}
				return at("idle time in", r.Name, e.Annotations, strings.HasPrefix)
			})
		},
	)
}

// marks returns a step, a log, or two phases that only this stack marks in this way, or "". One
// phase is not enough, because its name may be used by any program.
func (e stackEntry) marks(s *summary.Summary) string {
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Marker == e.Name {
			return fmt.Sprintf("step %q", finding.Short(st.Name))
		}
	}
	if slices.ContainsFunc(s.Series, func(r summary.Series) bool { return r.Producer == e.Name }) {
		return "log of " + e.Name
	}
	first := ""
	for _, p := range s.Phases {
		switch name := cmp.Or(p.Example, p.Path); {
		case p.Producer != e.Name:
		case first == "":
			first = name
		case name != first:
			return fmt.Sprintf("phases %q and %q", finding.Short(first), finding.Short(name))
		}
	}
	return ""
}

// search returns the first result of find that is not "".
func search[T any](rows []T, find func(*T) string) string {
	for i := range rows {
		if why := find(&rows[i]); why != "" {
			return why
		}
	}
	return ""
}

func firstOf(find ...func() string) string {
	for _, f := range find {
		if why := f(); why != "" {
			return why
		}
	}
	return ""
}

// isFound reports whether found has the stack with this id.
func isFound(id string, found []Stack) bool {
	return slices.ContainsFunc(found, func(s Stack) bool { return s.ID == id })
}

// other reports whether the stack with this id is absent while another one of its family is
// present, or one that excludes its family.
func other(id string, found []Stack) bool {
	entries := stackEntries()
	family := entries[slices.IndexFunc(entries, func(e stackEntry) bool { return e.id == id })].Family
	return !isFound(id, found) && slices.ContainsFunc(entries, func(e stackEntry) bool {
		return (e.Family == family || e.Excludes == family) && isFound(e.id, found)
	})
}
