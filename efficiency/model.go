package efficiency

import (
	"slices"
	"strings"
)

// A Model says how much work the calls of some operators do.
type Model struct {
	// Names are those of the operators. A star at the end stands for any text.
	Names []string
	// Library is what records these names.
	Library string
	// Args are the arguments that the formula reads, with their positions where those
	// are not plain.
	Args string
	// FLOPs and Bytes are the formula, for people.
	FLOPs, Bytes string
	// Source is where the arguments of these operators are defined.
	Source string

	formula func(*operands) Work
	values  bool // needs values of arguments
	kernel  bool // needs the name of a kernel
	wrapper bool
}

// Lookup returns the model of an operator, or nil if there is none.
func Lookup(op string) *Model {
	if m, ok := byName[op]; ok {
		return m
	}
	for _, p := range byPrefix {
		if strings.HasPrefix(op, p.prefix) {
			return p.model
		}
	}
	return nil
}

// Wrapper reports whether the model is only for what the operator launches itself, because
// the operators that it calls have models of their own.
func (m *Model) Wrapper() bool { return m.wrapper }

// NeedsKernel reports whether the work depends on Call.Kernel.
func (m *Model) NeedsKernel() bool { return m.kernel }

// Work returns the work of a call. If the arguments do not fit, it returns false and
// the reason in the counts: an operator inside this one may have a model that fits.
func (m *Model) Work(c *Call) (Work, bool) {
	a := operands{Call: c, why: c.Why}
	if a.why == Known {
		w := m.formula(&a)
		if a.why == Known && a.over {
			w.FLOPs, w.Model, w.Bytes = unknown(BadArguments), unknown(BadArguments), unknown(BadArguments)
		}
		if a.why == Known {
			return w, true
		}
	}
	return Work{FLOPs: unknown(a.why), Model: unknown(a.why), Bytes: unknown(a.why)}, false
}

func known(n int64) Count      { return Count{N: n} }
func unknown(why Reason) Count { return Count{Why: why} }

// work returns the work of a call whose FLOPs are all needed.
func work(unit Unit, dtype string, flops, bytes int64) Work {
	return Work{Unit: unit, Type: dtype, FLOPs: known(flops), Model: known(flops), Bytes: known(bytes)}
}

// A prefixed is a model for all names that begin with a text.
type prefixed struct {
	prefix string
	model  *Model
}

// byName and byPrefix have the models. Longer prefixes come first.
var byName, byPrefix = index(gemms)

func index(tables ...[]Model) (map[string]*Model, []prefixed) {
	names, prefixes := map[string]*Model{}, []prefixed(nil)
	for _, table := range tables {
		for i := range table {
			for _, name := range table[i].Names {
				if prefix, ok := strings.CutSuffix(name, "*"); ok {
					prefixes = append(prefixes, prefixed{prefix, &table[i]})
				} else {
					names[name] = &table[i]
				}
			}
		}
	}
	slices.SortFunc(prefixes, func(a, b prefixed) int { return len(b.prefix) - len(a.prefix) })
	return names, prefixes
}
