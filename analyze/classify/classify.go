package classify

import (
	_ "embed"
	"sync"
)

// A Class is the kind of work of a device during an event. A window of time is
// cut into these classes; a kernel is [Compute] or [Comm].
type Class string

// The classes.
const (
	Compute Class = "compute" // every kernel that is not communication
	Comm    Class = "comm"    // a kernel that moves data between devices
	Copy    Class = "copy"    // a memory copy that the profiler reports as one
	Memset  Class = "memset"  // a memory fill that the profiler reports as one
)

// Other is the category, and the rule, of a kernel without a matching rule.
const Other = "other"

// A Match is the result of the rules for one kernel.
type Match struct {
	Class    Class
	Category string // "gemm", "attention", ..., or [Other]
	Rule     string // the id of the rule that gave the category, or [Other]
}

// Rules is an ordered list of rules. It is immutable and safe for concurrent
// use.
type Rules struct {
	rules []rule
	// The finders are built when a name is first looked up in them, because a
	// trace may have no kernel.
	base, full func() *finder
}

// A rule is one entry of a rule file.
type rule struct {
	id       string
	class    Class
	category string
	onFull   bool // the patterns are matched against the whole name, not BaseName
	patterns []pattern
}

//go:embed kernels.yaml
var kernelsYAML string

// Parsing the text takes longer than reading a small trace, so builtInRules
// contains the parsed rules.
var defaultRules = sync.OnceValue(func() *Rules { return newRules(builtInRules) })

// BuiltIn returns the text of the rule file from which [Default] is made, with
// its comments. It serves as an example.
func BuiltIn() string { return kernelsYAML }

// Default returns the built-in rules.
func Default() *Rules { return defaultRules() }

// Override returns rules that try every rule of user before those of r.
func (r *Rules) Override(user *Rules) *Rules {
	all := make([]rule, 0, len(user.rules)+len(r.rules))
	all = append(all, user.rules...)
	all = append(all, r.rules...)
	return newRules(all)
}

// newRules returns rules with their finders. The list must not be modified afterwards.
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
// template and call arguments, or compute if there is none. Arguments name
// types, and a type does not show what a kernel does with it. The category is
// that of the first rule of this class that matches the base name or the whole
// name.
func (r *Rules) Kernel(name string) Match {
	m := Match{Compute, Other, Other}
	name = spelled(name)
	// The rule that gives the class is the first of its class on the base name,
	// so only a rule on the full name before it can give a different category.
	before := len(r.rules)
	if i := r.base().first(BaseName(name), func(int) bool { return true }); i >= 0 {
		m = r.rules[i].match()
		before = i
	}
	wanted := func(i int) bool { return i < before && r.rules[i].class == m.Class }
	for i := range before {
		// Full names are long, and a search is rarely necessary.
		if r.rules[i].onFull && wanted(i) {
			if i := r.full().first(name, wanted); i >= 0 {
				return r.rules[i].match()
			}
			break
		}
	}
	return m
}

// match returns the class, category and id of a rule.
func (ru *rule) match() Match { return Match{ru.class, ru.category, ru.id} }
