package phase

import (
	"cmp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Most expressions need not be tried for a name, because the beginnings of the names that they
// match are known. A trace may have a name for each of a million batches, and compiling an
// expression takes as long as reading a hundred events.

// mostBeginnings is the maximum number of beginnings of an expression.
const mostBeginnings = 64

// beginning is a text with which the matches of an expression may begin.
type beginning struct {
	text string
	open bool // the text is the whole match so far, so a following expression continues it
}

// beginningsOf returns texts, sorted. Every name that the expression matches begins with one of them. It
// returns none if the expression may match any name.
func beginningsOf(expr string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || !isAnchored(re) {
		return nil
	}
	var out []string
	for _, b := range begin(re.Simplify()) {
		out = append(out, b.text)
	}
	slices.Sort(out)
	if out[0] == "" {
		return nil
	}
	kept := out[:1]
	for _, text := range out[1:] {
		if !strings.HasPrefix(text, kept[len(kept)-1]) {
			kept = append(kept, text)
		}
	}
	return kept
}

// partsOf returns texts. Every name that the expression matches contains one of them. It returns none if no
// text is known, or if the beginnings are words, because these exclude more names.
func partsOf(expr string, begins []string) []string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || !slices.ContainsFunc(begins, func(text string) bool { return len(text) == 1 }) {
		return nil
	}
	return needed(re.Simplify())
}

// needed returns texts, one of which every match of re contains, or none.
func needed(re *syntax.Regexp) (out []string) {
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return needed(re.Sub[0])
	case syntax.OpConcat:
		shortest := func(list []string) (n int) {
			for i, text := range list {
				if i == 0 || len(text) < n {
					n = len(text)
				}
			}
			return n
		}
		for _, sub := range re.Sub {
			if list := needed(sub); shortest(list) > shortest(out) {
				out = list
			}
		}
		return out
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			list := needed(sub)
			if list == nil {
				return nil
			}
			out = append(out, list...)
		}
		return out
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.Contains(re.Rune, utf8.RuneError) {
			return []string{string(re.Rune)}
		}
	}
	return nil
}

// isAnchored reports whether re matches only at the beginning of a name.
func isAnchored(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpBeginText:
		return true
	case syntax.OpCapture, syntax.OpConcat:
		return isAnchored(re.Sub[0])
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !isAnchored(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// begin returns the texts with which the matches of re may begin. An unknown operator may
// begin with anything.
func begin(re *syntax.Regexp) []beginning {
	nothing := []beginning{{"", true}}
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpEmptyMatch:
		return nothing
	case syntax.OpCapture:
		return begin(re.Sub[0])
	case syntax.OpConcat:
		out := nothing
		for _, sub := range re.Sub {
			out = followed(out, begin(sub))
		}
		return out
	case syntax.OpAlternate:
		var out []beginning
		for _, sub := range re.Sub {
			out = limited(append(out, begin(sub)...))
		}
		return out
	case syntax.OpQuest:
		return limited(append(begin(re.Sub[0]), nothing...))
	case syntax.OpStar:
		return limited(append(closed(begin(re.Sub[0])), nothing...))
	case syntax.OpPlus:
		return closed(begin(re.Sub[0]))
	case syntax.OpLiteral:
		out := nothing
		for _, r := range re.Rune {
			out = followed(out, cases(r, re.Flags&syntax.FoldCase != 0))
		}
		return out
	case syntax.OpCharClass:
		return members(re.Rune)
	}
	return []beginning{{}}
}

// cases returns a character, with its other letter cases if case is ignored. The replacement character may
// represent any invalid byte.
func cases(r rune, fold bool) []beginning {
	if r == utf8.RuneError {
		return []beginning{{}}
	}
	out := []beginning{{string(r), true}}
	if fold {
		for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
			out = append(out, beginning{string(o), true})
		}
	}
	return out
}

// members returns the characters of a class, which is a list of ranges.
func members(ranges []rune) (out []beginning) {
	for i := 0; i < len(ranges); i += 2 {
		for r := ranges[i]; r <= ranges[i+1]; r++ {
			if len(out) == mostBeginnings || r >= utf8.RuneSelf {
				return []beginning{{}}
			}
			out = append(out, beginning{string(r), true})
		}
	}
	return out
}

// followed returns the beginnings of the concatenation of two expressions.
func followed(first, then []beginning) (out []beginning) {
	for _, a := range first {
		if !a.open {
			out = append(out, a)
			continue
		}
		for _, b := range then {
			out = append(out, beginning{a.text + b.text, b.open})
		}
	}
	return limited(out)
}

// closed returns the beginnings for an expression after which anything may follow.
func closed(list []beginning) []beginning {
	out := slices.Clone(list)
	for i := range out {
		out[i].open = false
	}
	return compact(out)
}

// compact removes duplicates.
func compact(list []beginning) []beginning {
	slices.SortFunc(list, func(a, b beginning) int {
		if a.open != b.open && a.text == b.text {
			if a.open {
				return 1
			}
			return -1
		}
		return cmp.Compare(a.text, b.text)
	})
	return slices.Compact(list)
}

// limited shortens beginnings until there are at most mostBeginnings.
func limited(list []beginning) []beginning {
	for list = compact(list); len(list) > mostBeginnings; list = compact(list) {
		longest := 0
		for _, b := range list {
			longest = max(longest, len(b.text))
		}
		for i := range list {
			if b := &list[i]; len(b.text) == longest {
				*b = beginning{b.text[:longest-1], false}
			}
		}
	}
	return list
}
