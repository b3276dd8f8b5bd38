package operators

import (
	"slices"
	"strings"
	"sync"
)

// A Model computes the work of calls of some operators.
type Model struct {
	// Library is the library whose operators have these names.
	Library string
	// Args are the arguments that the formula reads, in their order or with their
	// positions.
	Args string
	// FLOPs and Bytes are the formula as text. See docs/operators.md for the symbols.
	FLOPs, Bytes string
	Unit         Unit
	// Values says that the formula needs values of arguments, not only dimensions.
	Values bool

	names        []string // names of operators; a star at the end matches any text
	space, words string   // more of them: words behind a namespace. Most runs need neither

	formula func(*operands) Work
	never   Reason                                         // why captures never determine the work; then there is no formula
	cache   func(*operands) (use CacheUse, perToken int64) // nil: it uses no cache
	inPlace bool                                           // also applies to the names with an underscore at the end
	kernel  bool                                           // needs the name of a kernel
	own     bool                                           // only for work that the operator launches itself
}

// Lookup returns the model of an operator, or nil if there is none.
func Lookup(op string) *Model {
	byName, byPrefix := indexed()
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

// Wrapper reports whether the model is only for the work that the operator launches itself. Work of
// operators nested in it belongs to these.
func (m *Model) Wrapper() bool { return m.own }

// NeedsKernel reports whether the work depends on Call.Kernel.
func (m *Model) NeedsKernel() bool { return m.kernel }

// Work returns the work of a call. It returns false if the arguments do not fit: an
// operator inside this one may have a model that fits. The counts then still have what
// is known, or the reason why it is not.
func (m *Model) Work(c *Call) (Work, bool) {
	if m.never != Known {
		return unknownWork(m.Unit, m.never), false
	}
	o := operands{Call: c, why: c.Why}
	if o.why != Known {
		return unknownWork(m.Unit, o.why), false
	}
	if c.NoTypes {
		return m.withoutTypes(c)
	}
	w := m.formula(&o)
	if w.Unit = m.Unit; m.Unit != Matrix {
		w.Weights = Count{}
	}
	return w, o.why == Known
}

// UsesCache reports whether calls read or write the cache of keys and values of a server.
func (m *Model) UsesCache() bool { return m.cache != nil }

// ReadsCache reports whether calls attend to the cache.
func (m *Model) ReadsCache() bool { return m.Cache(&Call{}).Use == ReadsCache }

// Cache returns how a call uses the cache of keys and values. This does not depend on whether
// its work is known.
func (m *Model) Cache(c *Call) Cache {
	if m.cache == nil {
		return Cache{}
	}
	o := operands{Call: c, why: c.Why}
	if o.why == Known && c.NoTypes {
		o.why = NoTypes
	}
	use, perToken := m.cache(&o)
	return Cache{Use: use, PerToken: o.count(perToken)}
}

// withoutTypes returns the work of a call whose tensors have no types: the FLOPs are known
// if they are the same for all types, the bytes never are.
func (m *Model) withoutTypes(c *Call) (Work, bool) {
	out := unknownWork(m.Unit, NoTypes)
	for i, t := range typesFor(c.Op) {
		o := operands{Call: c.withType(t)}
		w := m.formula(&o)
		switch {
		case o.why != Known:
			return unknownWork(m.Unit, o.why), false
		case i > 0 && (w.FLOPs != out.FLOPs || w.Model != out.Model):
			return unknownWork(m.Unit, NoTypes), false
		}
		out.FLOPs, out.Model = w.FLOPs, w.Model
		if w.Bytes.Why != Known {
			out.Bytes = unknown(w.Bytes.Why) // not known with types either; its limits are those of one type
		}
	}
	return out, true
}

// typesFor returns types that represent all types that the tensors of an operator may have. Two values of
// four bits are one element; no plain operator of PyTorch has them.
func typesFor(op string) []string {
	types := []string{"float", "c10::Half", "bool"}
	if name, plain := strings.CutPrefix(op, "aten::"); !plain || strings.HasPrefix(name, "_scaled_mm") || strings.HasPrefix(name, "_scaled_grouped") {
		types = append(types, "c10::Float4_e2m1fn_x2")
	}
	return types
}

// withType returns the call with all its tensors of one type.
func (c *Call) withType(dtype string) *Call {
	typed := *c
	typed.Args = slices.Clone(c.Args)
	for i := range typed.Args {
		if a := &typed.Args[i]; len(a.Dims) > 0 {
			a.Type = dtype
		}
	}
	return &typed
}

func unknown(why Reason) Count { return Count{Why: why} }

func unknownWork(unit Unit, why Reason) Work {
	w := Work{Unit: unit, FLOPs: unknown(why), Model: unknown(why), Bytes: unknown(why)}
	if unit == Matrix || unit == UnknownUnit {
		w.Weights = unknown(why)
	}
	return w
}

// work returns the work of a call whose FLOPs are all needed.
func work(dtype string, flops, bytes Count) Work {
	return Work{Type: dtype, FLOPs: flops, Model: flops, Bytes: bytes, Weights: unknown(NoFormula)}
}

// weighing returns the work with the operands that are weights.
func (w Work) weighing(o *operands, at ...int) Work {
	w.Weights = o.count(o.size(at...))
	return w
}

// noFLOPs is the number of FLOPs of what moves data only.
var noFLOPs = Count{}

// A prefixed is a model for all names that begin with a text.
type prefixed struct {
	prefix string
	model  *Model
}

// A subject is a group of models in the manual.
type subject struct {
	title  string
	models []Model
}

// subjects has all models.
var subjects = []subject{
	{"Products of matrices", gemms},
	{"Products with packed weights", packedGemms},
	{"Grouped products", groupedGemms},
	{"Mixtures of experts", moes},
	{"Convolutions", convolutions},
	{"Attention of PyTorch", attentions},
	{"Attention of other libraries", otherAttentions},
	{"Normalization", norms},
	{"Normalization in inference engines", servingNorms},
	{"Softmax", softmaxes},
	{"Elementwise", pointwises},
	{"Reductions", reductions},
	{"Losses", losses},
	{"Pooling", poolings},
	{"Copies and fills", moves},
	{"Indexing", indexings},
	{"Lists of tensors and optimizers", lists},
	{"Quantization", quantizations},
	{"Activations and rotary embeddings in inference engines", activations},
	{"Caches of keys and values", caches},
	{"Recommendation models", recommenders},
	{"Communication", communications},
	{"Generated kernels", tritons},
}

// indexed returns the models by the names of operators, and those by the beginnings of
// names. Longer prefixes come first. Most runs of the program need neither.
var indexed = sync.OnceValues(func() (map[string]*Model, []prefixed) { return index(subjects) })

func index(subjects []subject) (map[string]*Model, []prefixed) {
	names, prefixes := map[string]*Model{}, []prefixed(nil)
	for _, s := range subjects {
		for i := range s.models {
			m := &s.models[i]
			for _, name := range m.Names() {
				if prefix, ok := strings.CutSuffix(name, "*"); ok {
					prefixes = append(prefixes, prefixed{prefix, m})
					continue
				}
				names[name] = m
				if m.inPlace {
					names[name+"_"] = m
				}
			}
		}
	}
	slices.SortStableFunc(prefixes, func(a, b prefixed) int { return len(b.prefix) - len(a.prefix) })
	return names, prefixes
}

// Names returns the names of the operators. A star at the end matches any text.
func (m *Model) Names() []string {
	list := slices.Clone(m.names)
	for word := range strings.FieldsSeq(m.words) {
		list = append(list, m.space+word)
	}
	return list
}
