package classify

import "strings"

// spelled returns a name for the rules: the name itself or, if a compiler mangled it, its words in the
// order of the demangled name, because types among the arguments would otherwise decide what a kernel is:
//
//	_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIiEEEEviT0_
//	at::native::vectorized_elementwise_kernel<::FillFunctor<...
//
// This is not the demangled name: brackets do not close, and built-in types and substitutions are left
// out. Rules need only the name before the first bracket and the words behind it.
func spelled(name string) string {
	rest, ok := strings.CutPrefix(name, "_Z")
	if !ok {
		return name
	}
	var out strings.Builder
	for rest != "" {
		if n := ignoredLen(rest); n > 0 {
			rest = rest[n:]
			continue
		}
		word, after := sourceName(rest)
		if word == "" {
			if out.Len() > 0 && !strings.Contains(out.String(), "<") && strings.IndexByte("NLK", rest[0]) < 0 {
				out.WriteByte('<') // arguments begin
			}
			rest = rest[1:]
			continue
		}
		if rest = after; strings.HasPrefix(word, "_GLOBAL__N") {
			continue // an anonymous namespace
		}
		if out.Len() > 0 {
			out.WriteString("::")
		}
		out.WriteString(word)
		if strings.HasPrefix(rest, "I") {
			out.WriteByte('<')
			rest = rest[1:]
		}
	}
	if out.Len() == 0 {
		return name
	}
	return out.String()
}

// sourceName cuts an identifier with its length before it, "6native", from the start of s. That of a name
// that a tool cut ends early.
func sourceName(s string) (word, rest string) {
	n, i := 0, 0
	for ; i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1<<20; i++ {
		n = 10*n + int(s[i]-'0')
	}
	if n == 0 || i == len(s) || !isWord(s[i]) || '0' <= s[i] && s[i] <= '9' {
		return "", s
	}
	end := min(i+n, len(s))
	return s[i:end], s[end:]
}

// ignoredLen returns the length of what begins s and has digits that are no length of a name: a
// substitution ("S1_"), a parameter of a template ("T0_"), a number ("Li4E") or a float type ("DF16_").
func ignoredLen(s string) int {
	digits, end := 0, byte('_')
	switch {
	case strings.HasPrefix(s, "DF"):
		digits = 2
	case s[0] == 'S' || s[0] == 'T':
		digits = 1
	case s[0] == 'L' && len(s) > 1 && 'a' <= s[1] && s[1] <= 'z':
		digits, end = 2, 'E'
	default:
		return 0
	}
	for i := digits; i < len(s); i++ {
		switch c := s[i]; {
		case c == end:
			return i + 1
		case c == 'n' && i == digits && end == 'E': // a negative number
		case '0' <= c && c <= '9', 'A' <= c && c <= 'Z' && s[0] == 'S':
		default:
			return 0
		}
	}
	return 0
}
