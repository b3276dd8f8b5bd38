// Package phase knows the names that programs give to their steps and phases:
// the markers of PyTorch, vLLM and SGLang, the timers of trainers, what NVTX
// ranges are often called. It says of a name what it marks, by ordered rules in
// phases.yaml; a user's own file of the same form can be tried first.
//
// What goes on in a phase is for package analyze to measure.
package phase

import (
	_ "embed" // phases.yaml
	"regexp"
	"slices"
	"strconv"
	"sync"
)

// How a step is cut out of a device's time.
const (
	CutMarker = "marker" // as long as its marker on the host
	CutWork   = "work"   // until the work that was launched within it is done
)

// A Match says what a name marks. The zero Match marks nothing.
type Match struct {
	Rule     string // the id of the rule
	Producer string // who writes the name, as "SGLang"; "" if several do
	Step     string // how the step is cut; "" if the name marks none
	Phase    string // as "decode"; "" if the name says none
	Number   int64  // of the step; -1 if the name has none
	Batch    int64  // how many requests or sequences; 0 if the name does not tell
}

// A rule is one entry of a file of rules.
type rule struct {
	id, step, phase, producer string
	patterns                  []*regexp.Regexp
	begins                    []firsts // of each pattern
}

// Rules are an ordered list of rules. They are safe for concurrent use.
type Rules struct {
	list []rule
	by   [256][]ask // what to ask of a name, by its first byte
}

// An ask is one expression of one rule.
type ask struct{ rule, pattern int }

func newRules(list []rule) *Rules {
	r := &Rules{list: list}
	for i := range list {
		for k := range list[i].patterns {
			for b, may := range list[i].begins[k] {
				if may {
					r.by[b] = append(r.by[b], ask{i, k})
				}
			}
		}
	}
	return r
}

//go:embed phases.yaml
var builtInYAML string

// BuiltIn returns the text of the file that [Default] is made from, with its comments:
// the documentation of the vocabulary, and an example to follow.
func BuiltIn() string { return builtInYAML }

// builtIn compiles the entries of phases.yaml, which the program has as literals:
// to read the file takes longer than most traces do.
var builtIn = sync.OnceValue(func() *Rules {
	var list []rule
	for i := range builtInEntries {
		ru, err := builtInEntries[i].rule()
		if err != nil {
			panic("phase: " + err.Error()) // part of the program, and tested
		}
		list = append(list, ru)
	}
	return newRules(list)
})

// Default returns the built-in rules.
func Default() *Rules { return builtIn() }

// Override returns rules of which own are tried first. A rule of own takes the
// place of the one of r that has its id.
func (r *Rules) Override(own *Rules) *Rules {
	taken := make(map[string]bool)
	for _, o := range own.list {
		taken[o.id] = true
	}
	list := slices.Clone(own.list)
	for _, old := range r.list {
		if !taken[old.id] {
			list = append(list, old)
		}
	}
	return newRules(list)
}

// maxName is how many bytes of a name are looked at. vLLM writes every request
// of a batch into its markers; what they are is said at the front.
const maxName = 512

// Match returns what a name marks. An empty name marks nothing.
func (r *Rules) Match(name string) Match {
	if name = name[:min(len(name), maxName)]; name == "" {
		return Match{}
	}
	for _, a := range r.by[name[0]] {
		ru := &r.list[a.rule]
		p := ru.patterns[a.pattern]
		found := p.FindStringSubmatch(name)
		if found == nil {
			continue
		}
		m := Match{Rule: ru.id, Producer: ru.producer, Step: ru.step, Phase: ru.phase, Number: -1}
		if n, ok := group(p, found, "number"); ok {
			m.Number = n
		}
		m.Batch, _ = group(p, found, "batch")
		return m
	}
	return Match{}
}

// group returns the number that a group of an expression matched.
func group(p *regexp.Regexp, found []string, name string) (int64, bool) {
	i := p.SubexpIndex(name)
	if i < 0 || found[i] == "" {
		return 0, false
	}
	n, err := strconv.ParseInt(found[i], 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}
