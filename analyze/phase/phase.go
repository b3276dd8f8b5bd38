package phase

import (
	_ "embed" // phases.yaml
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// CutMarker and CutWork are how the GPU time of a step is determined.
const (
	CutMarker = "marker" // as long as its marker on the host
	CutWork   = "work"   // until the work that was launched within the marker is done
)

// A Match describes what a name marks. The zero Match marks nothing.
type Match struct {
	Rule     string // the id of the rule
	Producer string // the program that writes the name, such as "SGLang"; "" if several do
	Step     string // how the step is cut; "" if the name does not mark a step
	Phase    string // such as "decode"; "" if the name does not mark a phase
	Number   int64  // number of the step; -1 if the name has none
	Batch    int64  // number of requests or sequences; 0 if the name does not contain it
	Tokens   int64  // tokens that the step computes, over all requests; 0 if the name does not contain them
}

// A rule is one entry of a file of rules.
type rule struct {
	id, step, phase, producer string
	patterns                  []*pattern
}

// pattern is an expression of a rule. It is compiled when a name first begins like its matches, because
// most names of the vocabulary do not occur in a given trace.
type pattern struct {
	text     string
	begins   []string // every match begins with one of these, sorted; empty means any
	parts    []string // every match contains one of these; empty means any
	once     sync.Once
	compiled *regexp.Regexp
}

// expr returns the compiled expression, which is known to be valid.
func (p *pattern) expr() *regexp.Regexp {
	p.once.Do(func() { p.compiled = regexp.MustCompile(p.text) })
	return p.compiled
}

// mayMatch reports whether a name can match, without compiling the expression.
func (p *pattern) mayMatch(name string) bool {
	if len(p.begins) > 0 {
		// No beginning begins with another, so only the last one before the name can be its own.
		if i, equal := slices.BinarySearch(p.begins, name); !equal && (i == 0 || !strings.HasPrefix(name, p.begins[i-1])) {
			return false
		}
	}
	return len(p.parts) == 0 || slices.ContainsFunc(p.parts,
		func(text string) bool { return strings.Contains(name, text) })
}

// Rules are an ordered list of rules. They are safe for concurrent use.
type Rules struct {
	list []rule
	by   [256]atomic.Pointer[[]candidate] // the expressions for a name, by its first byte; nil until a name begins with it
}

// candidate refers to one expression of one rule.
type candidate struct {
	rule    *rule
	pattern *pattern
}

func newRules(list []rule) *Rules { return &Rules{list: list} }

// candidates returns the expressions that may match names with a first byte, in the order of the rules. If
// two goroutines build the list at the same time, both results are equal.
func (r *Rules) candidates(first byte) []candidate {
	if known := r.by[first].Load(); known != nil {
		return *known
	}
	var list []candidate
	for i := range r.list {
		for _, p := range r.list[i].patterns {
			if len(p.begins) == 0 || slices.ContainsFunc(p.begins, func(text string) bool { return text[0] == first }) {
				list = append(list, candidate{&r.list[i], p})
			}
		}
	}
	r.by[first].Store(&list)
	return list
}

//go:embed phases.yaml
var builtInYAML string

// BuiltIn returns the text of the file from which [Default] is made, with its
// comments. It documents the vocabulary and serves as an example.
func BuiltIn() string { return builtInYAML }

// builtIn makes rules from the entries of phases.yaml, which the program
// contains as literals: reading the file, or compiling all of its expressions,
// takes longer than reading most traces.
var builtIn = sync.OnceValue(func() *Rules {
	list := make([]rule, len(builtInEntries))
	for i, e := range builtInEntries {
		list[i] = rule{id: e.ID, step: e.Step, phase: e.Phase, producer: e.Producer}
		own := make([]pattern, len(e.Match))
		list[i].patterns = make([]*pattern, len(own))
		for k, expr := range e.expressions() {
			own[k].text, own[k].begins, own[k].parts = expr, e.begins[k], e.parts[k]
			list[i].patterns[k] = &own[k]
		}
	}
	return newRules(list)
})

// Default returns the built-in rules.
func Default() *Rules { return builtIn() }

// Override returns rules that try those of own first. A rule of own replaces the rule of r with the same
// id.
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

// maxName is the number of bytes of a name that are matched. vLLM writes every
// request of a batch into its markers; the kind of the batch is at the front.
const maxName = 512

// Match returns what a name marks. An empty name marks nothing.
func (r *Rules) Match(name string) Match {
	ru, p, found := r.find(name)
	if ru == nil {
		return Match{}
	}
	m := Match{Rule: ru.id, Producer: ru.producer, Step: ru.step, Phase: ru.phase, Number: -1}
	if n, ok := group(p, found, "number"); ok {
		m.Number = n
	}
	m.Batch = sum(p, found, "batch", "more_batch")
	m.Tokens = sum(p, found, "tokens", "more_tokens")
	return m
}

// find returns the first rule that matches a name, and its expression with the groups that it matched, or
// nil.
func (r *Rules) find(name string) (ru *rule, p *regexp.Regexp, found []string) {
	if name = name[:min(len(name), maxName)]; name == "" {
		return nil, nil, nil
	}
	for _, a := range r.candidates(name[0]) {
		if !a.pattern.mayMatch(name) {
			continue
		}
		p := a.pattern.expr()
		if found := p.FindStringSubmatch(name); found != nil {
			return a.rule, p, found
		}
	}
	return nil, nil, nil
}

// Lengths are sums over the requests of a step.
type Lengths struct {
	Requests int64
	Tokens   int64 // tokens that the step computes
	Keys     int64 // tokens that they attend to: these and all before them in the cache
}

// Lengths returns the lengths that a name states, or false if it does not state all.
func (r *Rules) Lengths(name string) (l Lengths, ok bool) {
	_, p, found := r.find(name)
	if found == nil {
		return Lengths{}, false
	}
	for name, n := range map[string]*int64{"batch": &l.Requests, "tokens": &l.Tokens, "keys": &l.Keys} {
		if *n, ok = group(p, found, name); !ok || *n == 0 {
			return Lengths{}, false
		}
	}
	return l, l.Tokens >= l.Requests && l.Keys >= l.Tokens
}

// sum returns the sum of the numbers matched by some groups, or 0 if one of them is in the expression and
// matched none: a part is no sum.
func sum(p *regexp.Regexp, found []string, names ...string) (n int64) {
	for _, name := range names {
		one, ok := group(p, found, name)
		if !ok && p.SubexpIndex(name) >= 0 || one > maxSize {
			return 0
		}
		n += one
	}
	return n
}

// maxSize is the largest number of requests or tokens of a step that is believed.
const maxSize = 1 << 40

// group returns the number matched by a group of an expression.
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
