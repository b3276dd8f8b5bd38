package classify

import (
	_ "embed"
	"sync"
)

// A Class is what a device does while an event runs. The classes are the ones
// that a window of time is cut into; a kernel is [Compute] or [Comm].
type Class string

// The classes.
const (
	Compute Class = "compute" // every kernel that is not communication
	Comm    Class = "comm"    // a kernel that moves data between devices
	Copy    Class = "copy"    // a memory copy that the profiler reports as one
	Memset  Class = "memset"  // a memory fill that the profiler reports as one
)

// Other is the category, and the rule, of a kernel that no rule knows.
const Other = "other"

// A Match is what the rules say about one kernel.
type Match struct {
	Class    Class
	Category string // "gemm", "attention", ..., or [Other]
	Rule     string // the id of the rule that gave the category, or [Other]
}

// Rules is an ordered list of rules. Its answers do not change after it was
// made, and it is safe for concurrent use.
type Rules struct {
	rules []rule
	// The finders are built when a name is first looked up in them: a trace may
	// have no kernel.
	base, full func() *finder
}

// A rule is one entry of a rule file.
type rule struct {
	id       string
	class    Class
	category string
	onFull   bool // it looks at the whole name, not at BaseName
	patterns []pattern
}

//go:embed kernels.yaml
var kernelsYAML string

// The text is for people. Parsing it takes longer than reading a small trace, so
// builtInRules has what comes of it.
var defaultRules = sync.OnceValue(func() *Rules { return newRules(builtInRules) })

// BuiltIn returns the text of the rule file that [Default] stands for: an
// example to follow in writing one, with its comments.
func BuiltIn() string { return kernelsYAML }

// Default returns the rules that come with assay.
func Default() *Rules { return defaultRules() }

// Override returns rules that try every rule of user before those of r.
func (r *Rules) Override(user *Rules) *Rules {
	all := make([]rule, 0, len(user.rules)+len(r.rules))
	all = append(all, user.rules...)
	all = append(all, r.rules...)
	return newRules(all)
}

// newRules returns rules, which must not change any more, with their finders.
func newRules(rules []rule) *Rules {
	return &Rules{
		rules: rules,
		base:  sync.OnceValue(func() *finder { return newFinder(rules, false) }),
		full:  sync.OnceValue(func() *finder { return newFinder(rules, true) }),
	}
}

// Kernel classifies the kernel called name, which may be demangled or not.
//
// The class is that of the first rule that matches the name without its
// template and call arguments, or compute if none does: arguments name types,
// and a type says nothing about what a kernel does with it. The category is
// that of the first rule of this class that matches at all.
func (r *Rules) Kernel(name string) Match {
	m := Match{Compute, Other, Other}
	// The rule that gives the class is the first of its class on the base name,
	// so only a rule on the full name before it can give the category instead.
	before := len(r.rules)
	if i := r.base().first(BaseName(name), func(int) bool { return true }); i >= 0 {
		m = r.rules[i].match()
		before = i
	}
	wanted := func(i int) bool { return i < before && r.rules[i].class == m.Class }
	for i := range before {
		// Full names are long: most are not worth the search.
		if r.rules[i].onFull && wanted(i) {
			if i := r.full().first(name, wanted); i >= 0 {
				return r.rules[i].match()
			}
			break
		}
	}
	return m
}

// match returns what a rule says about the names it matches.
func (ru *rule) match() Match { return Match{ru.class, ru.category, ru.id} }
