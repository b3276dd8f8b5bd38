package phase

import (
	"regexp/syntax"
	"unicode"
)

// A firsts has the possible first bytes of the names that an expression
// matches. With it, few expressions must be tried for a name; a trace may have
// a name for each of a million batches.
type firsts [256]bool

// firstsOf returns the possible first bytes of an expression that is anchored
// at the beginning, and "" for any other.
func firstsOf(expr string) string {
	re, err := syntax.Parse(expr, syntax.Perl)
	if err != nil || !isAnchored(re) {
		return ""
	}
	var f firsts
	if f.add(re.Simplify()) {
		return "" // it matches the empty name, and therefore every name
	}
	out := make([]byte, 0, len(f))
	for b, may := range f {
		if may {
			out = append(out, byte(b))
		}
	}
	if len(out) == len(f) {
		return ""
	}
	return string(out)
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

// add adds the bytes with which a match of re may begin. It reports whether re
// may match nothing, so that the following expression counts too. An unknown
// operator may begin with any byte.
func (f *firsts) add(re *syntax.Regexp) (empty bool) {
	switch re.Op {
	case syntax.OpBeginText, syntax.OpEmptyMatch:
		return true
	case syntax.OpCapture:
		return f.add(re.Sub[0])
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if !f.add(sub) {
				return false
			}
		}
		return true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			empty = f.add(sub) || empty
		}
		return empty
	case syntax.OpStar, syntax.OpQuest:
		f.add(re.Sub[0])
		return true
	case syntax.OpPlus:
		return f.add(re.Sub[0])
	case syntax.OpLiteral:
		r := re.Rune[0]
		f[string(r)[0]] = true
		if re.Flags&syntax.FoldCase != 0 {
			for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
				f[string(o)[0]] = true
			}
		}
		return false
	case syntax.OpCharClass:
		if len(re.Rune) == 0 || re.Rune[len(re.Rune)-1] >= 0x80 {
			break
		}
		for i := 0; i < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				f[r] = true
			}
		}
		return false
	}
	for i := range f {
		f[i] = true
	}
	return false
}
