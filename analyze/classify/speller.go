package classify

import (
	"regexp/syntax"
	"slices"
	"strings"
)

// A speller converts expressions to the strings that they match. Its methods
// return nil for an expression that they cannot convert. Their result is
// equivalent to the expression for every [text], and undefined for other names.
type speller struct {
	// fold requests lower-case strings, for expressions that ignore letter case
	// completely. Without it a letter that ignores case becomes two strings.
	fold bool
}

// mostSpelled is the maximum number of strings for an expression; each of them
// is searched for separately.
const mostSpelled = 64

// parts returns the parts of an expression, which are separated by .*.
func (s speller) parts(re *syntax.Regexp) [][]string {
	seq := []*syntax.Regexp{re}
	if re.Op == syntax.OpConcat {
		seq = re.Sub
	}
	parts := [][]string{{""}}
	for _, sub := range seq {
		if sub.Op == syntax.OpStar && sub.Sub[0].Op == syntax.OpAnyCharNotNL {
			parts = append(parts, []string{""})
			continue
		}
		last := &parts[len(parts)-1]
		if *last = joined(*last, s.spell(sub)); *last == nil {
			return nil
		}
	}
	for i, part := range parts {
		if !settleMarks(part, i == 0, i == len(parts)-1) {
			return nil
		}
		parts[i] = unique(part)
	}
	return parts
}

// settleMarks replaces several marks by one, since ^^ is the same as ^ and a
// text has one mark at each end. It reports whether the marks are at positions
// where they are equivalent to anchors. Other positions are not supported: $^
// matches the empty text and ^.*^a the same as ^a, but marks, which are
// characters, cannot share one position.
func settleMarks(part []string, first, last bool) bool {
	for i, word := range part {
		body := strings.TrimLeft(word, startMark)
		atStart := body != word
		word, body = body, strings.TrimRight(body, endMark)
		atEnd := body != word
		if strings.ContainsAny(body, startMark+endMark) || atStart && !first || atEnd && !last {
			return false
		}
		if atStart {
			body = startMark + body
		}
		if atEnd {
			body += endMark
		}
		part[i] = body
	}
	return true
}

// spell returns the strings that re matches.
func (s speller) spell(re *syntax.Regexp) []string {
	switch re.Op {
	case syntax.OpEmptyMatch:
		return []string{""}
	case syntax.OpBeginText:
		return []string{startMark}
	case syntax.OpEndText:
		return []string{endMark}
	case syntax.OpLiteral:
		list := []string{""}
		for _, r := range re.Rune {
			list = joined(list, s.letter(r, re.Flags&syntax.FoldCase != 0))
		}
		return list
	case syntax.OpCharClass:
		return s.class(re.Rune)
	case syntax.OpCapture:
		return s.spell(re.Sub[0])
	case syntax.OpQuest:
		if list := s.spell(re.Sub[0]); list != nil {
			return append(list, "")
		}
	case syntax.OpConcat:
		list := []string{""}
		for _, sub := range re.Sub {
			list = joined(list, s.spell(sub))
		}
		return list
	case syntax.OpAlternate:
		var list []string
		for _, sub := range re.Sub {
			words := s.spell(sub)
			if words == nil || len(list)+len(words) > mostSpelled {
				return nil
			}
			list = append(list, words...)
		}
		return list
	}
	return nil
}

// letter returns the strings for a character of a literal, in both cases if it
// folds.
func (s speller) letter(r rune, folds bool) []string {
	lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r))
	switch {
	case !plain(r), s.fold && !folds && lower != upper:
		return nil
	case s.fold:
		return []string{lower}
	case folds && lower != upper:
		return []string{lower, upper}
	}
	return []string{string(r)}
}

// class returns the strings for a character class, given as pairs of first and
// last characters. Members that a text cannot contain are left out.
func (s speller) class(pairs []rune) []string {
	var members []string
	for i := 0; i < len(pairs); i += 2 {
		for r := pairs[i]; r <= min(pairs[i+1], 0x7f); r++ {
			if plain(r) {
				members = append(members, string(r))
			}
		}
	}
	if len(members) > mostSpelled {
		return nil
	}
	if !s.fold {
		return members
	}
	var folded []string
	for _, c := range members {
		lower, upper := strings.ToLower(c), strings.ToUpper(c)
		if !slices.Contains(members, lower) || !slices.Contains(members, upper) {
			return nil
		}
		folded = append(folded, lower)
	}
	return unique(folded)
}

// joined returns each of a followed by each of b. It returns nil if an argument
// is nil or the result is too long.
func joined(a, b []string) []string {
	if len(a)*len(b) > mostSpelled {
		return nil
	}
	var list []string
	for _, head := range a {
		for _, tail := range b {
			list = append(list, head+tail)
		}
	}
	return list
}
