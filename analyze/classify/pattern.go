package classify

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// A pattern is one regular expression of a rule, with properties that are known
// without running it. It is immutable, so the patterns of the built-in rules
// can be constants of the program.
type pattern struct {
	expr string // in the syntax of package regexp, flags included
	// needs are sets of lower-case strings of a [text]. Every match in a text
	// contains, ignoring letter case, at least one string of each set. Without
	// sets, nothing is known and the expression must be tried.
	needs [][]string
	// sure means that the expression matches if and only if its needs, which
	// are one set, are met.
	sure bool
	// parts, if not empty, are equivalent to the expression: a text matches if
	// it has a string of each part, in order. Most expressions are simple
	// enough for that, and run several times as fast.
	parts [][]string
	fold  bool // the parts are lower case and match any letter case
}

// Marks represent the start and the end of a text, so that an anchor is a
// character of a string to search for.
const (
	startMark = "\x02"
	endMark   = "\x03"
)

// A text is a name prepared for matching.
type text struct {
	exact, lower string // between marks
}

// newText returns name as a text. It returns false for the rare name that must
// be matched by package regexp: it contains a mark; or a line break, which .*
// does not match; or a non-ASCII character, which may have more than two cases:
// ſ folds to s.
func newText(name string) (text, bool) {
	exact := startMark + name + endMark
	lower := []byte(exact)
	for i := range len(name) {
		c := name[i]
		if !plain(rune(c)) {
			return text{}, false
		}
		if 'A' <= c && c <= 'Z' {
			lower[len(startMark)+i] = c + 'a' - 'A'
		}
	}
	return text{exact, string(lower)}, true
}

// plain reports whether a text can contain r.
func plain(r rune) bool {
	return r < 0x80 && r != rune(startMark[0]) && r != rune(endMark[0]) && r != '\n'
}

// contains reports whether t contains the parts of p, which has some. For each
// part the occurrence that ends first leaves most for the next part.
func (p *pattern) contains(t text) bool {
	s := t.exact
	if p.fold {
		s = t.lower
	}
	for _, part := range p.parts {
		end := -1
		for _, word := range part {
			if i := strings.Index(s, word); i >= 0 && (end < 0 || i+len(word) < end) {
				end = i + len(word)
			}
		}
		if end < 0 {
			return false
		}
		s = s[end:]
	}
	return true
}

// compile makes a pattern from a regular expression in RE2 syntax.
func compile(expr string, ignoreCase bool) (pattern, error) {
	p := pattern{expr: expr}
	if ignoreCase {
		p.expr = "(?i:" + expr + ")"
	}
	tree, err := syntax.Parse(p.expr, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	tree = tree.Simplify()
	p.parts = speller{fold: true}.parts(tree)
	p.fold = p.parts != nil
	if !p.fold {
		p.parts = speller{}.parts(tree)
	}
	sets := needs(tree)
	if p.parts != nil {
		sets = lowerAll(p.parts)
	}
	for _, set := range sets {
		if shortest(set) >= shortestNeed {
			p.needs = append(p.needs, set)
		}
	}
	if p.fold && len(p.parts) == 1 && len(p.needs) == 1 {
		p.sure, p.parts, p.fold = true, nil, false
	}
	return p, nil
}

// shortestNeed is the minimum length of strings to search for.
const shortestNeed = 2

func lowerAll(parts [][]string) [][]string {
	all := make([][]string, len(parts))
	for i, part := range parts {
		for _, word := range part {
			all[i] = append(all[i], strings.ToLower(word))
		}
		all[i] = unique(all[i])
	}
	return all
}

// unique sorts list and removes duplicates.
func unique(list []string) []string {
	slices.Sort(list)
	return slices.Compact(list)
}

func shortest(list []string) int {
	return len(slices.MinFunc(list, func(a, b string) int { return len(a) - len(b) }))
}

// needs returns sets of strings of which every match of re contains at least
// one each. It returns none if they are unknown. They are lower case and ASCII.
func needs(re *syntax.Regexp) [][]string {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			if !plain(r) {
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
		return [][]string{unique(union)}
	}
	return nil
}
