package classify

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
)

// A pattern is one regular expression of a rule.
type pattern struct {
	// re compiles the expression, which is known to be good, when it is first
	// run: most never are, and to compile all takes longer than to read a trace.
	re func() *regexp.Regexp
	// needs are sets of lower-case ASCII strings. Every match contains, letter
	// case aside, at least one string of each set. Without sets, nothing is
	// known and the expression has to be run.
	needs [][]string
	// literal says that containing needs[0][0], letter case aside, is all
	// that the expression asks for.
	literal bool
}

// compile compiles a regular expression of the RE2 syntax.
func compile(expr string, ignoreCase bool) (pattern, error) {
	flagged := expr
	if ignoreCase {
		flagged = "(?i:" + expr + ")"
	}
	tree, err := syntax.Parse(flagged, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	tree = tree.Simplify()
	p := pattern{
		re:    sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(flagged) }),
		needs: needs(tree),
	}
	p.literal = tree.Op == syntax.OpLiteral && tree.Flags&syntax.FoldCase != 0 && len(p.needs) == 1
	return p, nil
}

// needs returns sets of strings of which every match of re contains at least
// one each; none if it cannot tell. They are lower case and ASCII.
func needs(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			// Outside ASCII, folding is not lower-casing: ſ folds to s.
			if r >= 0x80 {
				return nil
			}
		}
		return [][]string{{strings.ToLower(string(re.Rune))}}
	case syntax.OpCapture, syntax.OpPlus:
		return needs(re.Sub[0])
	case syntax.OpConcat:
		var all [][]string
		for _, sub := range re.Sub {
			all = append(all, needs(sub)...)
		}
		return all
	case syntax.OpAlternate:
		var union []string
		for _, sub := range re.Sub {
			n := needs(sub)
			if len(n) == 0 {
				return nil
			}
			union = append(union, slices.MaxFunc(n, func(a, b []string) int { return shortest(a) - shortest(b) })...)
		}
		return [][]string{union}
	}
	return nil
}

func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// A prefilter finds, in one pass over a text, which of many patterns can match
// it. It is an Aho-Corasick automaton over what the patterns need, as a table,
// blind to letter case.
//
// Running every expression on every name instead takes tens of times as long:
// a name is hundreds of bytes, and there are hundreds of expressions.
type prefilter struct {
	owner  []int32    // by number of a set of strings: the pattern that needs it
	needs  []int32    // by pattern: how many sets it needs
	column [256]uint8 // of a byte; 0 for bytes that nothing needs
	width  int        // how many columns
	next   []int32    // next[state*width+column] is a state
	found  [][]int32  // by state: the sets that have a string ending here
}

func newPrefilter(patterns []pattern) *prefilter {
	f := &prefilter{width: 1}
	for _, p := range patterns {
		f.needs = append(f.needs, int32(len(p.needs)))
		for _, c := range []byte(strings.Join(slices.Concat(p.needs...), "")) {
			if f.column[c] == 0 {
				f.column[c] = uint8(f.width)
				f.width++
			}
		}
	}
	for c := byte('A'); c <= 'Z'; c++ {
		f.column[c] = f.column[c-'A'+'a']
	}
	f.addState()
	for i, p := range patterns {
		for _, set := range p.needs {
			for _, need := range set {
				f.add(need, int32(len(f.owner)))
			}
			f.owner = append(f.owner, int32(i))
		}
	}
	f.link()
	return f
}

func (f *prefilter) addState() int32 {
	f.next = append(f.next, make([]int32, f.width)...)
	f.found = append(f.found, nil)
	return int32(len(f.found) - 1)
}

// add puts a path for the bytes of need, a string of set, into the trie.
func (f *prefilter) add(need string, set int32) {
	state := int32(0)
	for _, c := range []byte(need) {
		at := int(state)*f.width + int(f.column[c])
		if f.next[at] == 0 {
			child := f.addState()
			f.next[at] = child
		}
		state = f.next[at]
	}
	f.found[state] = append(f.found[state], set)
}

// link turns the trie into an automaton: a missing edge leads to where the
// longest proper suffix would have gone on.
func (f *prefilter) link() {
	suffix := make([]int32, len(f.found))
	queue := []int32{}
	for _, child := range f.next[:f.width] {
		if child != 0 {
			queue = append(queue, child)
		}
	}
	for len(queue) > 0 {
		state := queue[0]
		queue = queue[1:]
		f.found[state] = slices.Concat(f.found[state], f.found[suffix[state]])
		for col := range f.width {
			edge := &f.next[int(state)*f.width+col]
			fallback := f.next[int(suffix[state])*f.width+col]
			if *edge == 0 {
				*edge = fallback
				continue
			}
			suffix[*edge] = fallback
			queue = append(queue, *edge)
		}
	}
}

// A scan is a text and what the prefilter found in it.
type scan struct {
	text    string
	missing []int32 // by pattern: how many of the sets it needs were not found
	// ascii is false if the text has other characters. Then every pattern
	// must be run, since letter case is more than ASCII's.
	ascii bool
}

func (f *prefilter) scan(text string) *scan {
	s := &scan{text, slices.Clone(f.needs), true}
	seen := make([]bool, len(f.owner))
	state := int32(0)
	for i := range len(text) {
		c := text[i]
		if c >= 0x80 {
			s.ascii = false
			return s
		}
		state = f.next[int(state)*f.width+int(f.column[c])]
		if state == 0 {
			continue
		}
		for _, set := range f.found[state] {
			if !seen[set] {
				seen[set] = true
				s.missing[f.owner[set]]--
			}
		}
	}
	return s
}

// matchAny reports whether a pattern of the rule matches the text.
func (s *scan) matchAny(ru *rule) bool {
	for i, missing := range s.missing[ru.first : ru.first+len(ru.patterns)] {
		if s.ascii && missing > 0 {
			continue
		}
		if p := &ru.patterns[i]; s.ascii && p.literal || p.re().MatchString(s.text) {
			return true
		}
	}
	return false
}
