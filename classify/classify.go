package classify

import (
	_ "embed"
	"strings"
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

// Rules is an ordered list of rules. It does not change after it was made, so
// it is safe for concurrent use.
type Rules struct {
	rules []rule
	// deciders is how many rules from the front can decide a class other than
	// compute. The rules after it would all say compute, as does no rule.
	deciders int

	base, full *prefilter // over the patterns of all rules with that subject
}

// A rule is one entry of a rule file.
type rule struct {
	id       string
	class    Class
	category string
	onFull   bool // it looks at the whole name, not at BaseName
	patterns []pattern
	first    int // the number of patterns[0] in the prefilter for its subject
}

//go:embed kernels.yaml
var kernelsYAML string

var defaultRules = sync.OnceValue(func() *Rules {
	r, err := Parse(strings.NewReader(kernelsYAML), "kernels.yaml")
	if err != nil {
		// The file is part of the program and a test parses it.
		panic(err)
	}
	return r
})

// BuiltIn returns the text of the rule file that [Default] parses: an example
// to follow in writing one, with its comments.
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

// newRules numbers the patterns of the rules, which it takes over, and builds
// their prefilters.
func newRules(rules []rule) *Rules {
	r := &Rules{rules: rules}
	var base, full []pattern
	for i := range rules {
		ru := &rules[i]
		subject := &base
		if ru.onFull {
			subject = &full
		} else if ru.class != Compute {
			r.deciders = i + 1
		}
		ru.first = len(*subject)
		*subject = append(*subject, ru.patterns...)
	}
	r.base, r.full = newPrefilter(base), newPrefilter(full)
	return r
}

// Kernel classifies the kernel called name, which may be demangled or not.
//
// The class is that of the first rule that matches the name without its
// template and call arguments, or compute if none does: arguments name types,
// and a type says nothing about what a kernel does with it. The category is
// that of the first rule of this class that matches at all.
func (r *Rules) Kernel(name string) Match {
	base := r.base.scan(BaseName(name))
	m := Match{Compute, Other, Other}
	for i := range r.rules[:r.deciders] {
		if ru := &r.rules[i]; !ru.onFull && base.matchAny(ru) {
			m.Class = ru.class
			break
		}
	}
	var full *scan
	for i := range r.rules {
		ru := &r.rules[i]
		if ru.class != m.Class {
			continue
		}
		subject := base
		if ru.onFull {
			if full == nil {
				full = r.full.scan(name)
			}
			subject = full
		}
		if subject.matchAny(ru) {
			m.Category, m.Rule = ru.category, ru.id
			break
		}
	}
	return m
}
