package classify

import (
	"bytes"
	"strings"
)

// BaseName returns the name of a kernel without its template and call
// arguments, without a leading "void" and without suffixes that a compiler adds
// ("const", "[clone ...]", ".kd"). Namespaces are kept, except anonymous ones.
//
//	void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, 2>(float*)
//	at::native::CatArrayBatchedCopy
//
// A mangled name is returned unchanged, because its arguments cannot be found
// without demangling it. A name that consists only of arguments is returned
// unchanged too. The result is a fixed point: BaseName of it is the same. If
// brackets do not balance, an opening bracket without a partner starts an
// argument, and a closing bracket without a partner is an ordinary character.
func BaseName(name string) string {
	s := trimKernel(name)
	out := make([]byte, 0, len(s))
	var open []byte // the brackets around s[i]
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c == 'o' {
			if n := operatorLen(s, i, out, len(open) > 0); n > 0 {
				if len(open) == 0 {
					out = append(out, s[i:i+n]...)
				}
				i += n - 1
				continue
			}
		}
		switch {
		case c == '<' || c == '(':
			open = append(open, c)
		case len(open) == 0:
			out = append(out, c)
		case c == '>' || c == ')':
			open = closeBracket(open, c, s[i-1])
		}
	}
	base := trimKernel(string(out))
	if base == "" {
		return name
	}
	return base
}

// closeBracket returns the brackets that are still open after c, a ">" or ")"
// that follows the character before. A ")" closes all brackets that were opened
// within its pair: in f<(a > b)> and f<(a < b)> the comparisons are not
// brackets.
func closeBracket(open []byte, c, before byte) []byte {
	switch {
	case c == '>' && before != '-' && open[len(open)-1] == '<':
		return open[:len(open)-1]
	case c == ')':
		if i := bytes.LastIndexByte(open, '('); i >= 0 {
			return open[:i]
		}
	}
	return open
}

// operatorSymbols are the operators whose names contain brackets, longer ones
// before their prefixes.
var operatorSymbols = [...]string{"<=>", "<<=", ">>=", "->*", "()", " ()", "->", "<<", ">>", "<=", ">=", "<", ">"}

// operatorLen returns the length of the operator name, such as "operator()",
// that starts at s[i], or 0. The word must not continue a longer one. At the
// top level the text written to out decides that, because arguments are missing
// there.
func operatorLen(s string, i int, out []byte, nested bool) int {
	const word = "operator"
	if !strings.HasPrefix(s[i:], word) {
		return 0
	}
	if nested && i > 0 && isWord(s[i-1]) || !nested && len(out) > 0 && isWord(out[len(out)-1]) {
		return 0
	}
	for _, symbol := range operatorSymbols {
		if strings.HasPrefix(s[i+len(word):], symbol) {
			return len(word) + len(symbol)
		}
	}
	return 0
}

func isWord(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// trimKernel removes the text around a kernel's name, and the empty part of an
// anonymous namespace between two colons, until nothing more can be removed.
func trimKernel(s string) string {
	for {
		before := len(s)
		s = strings.TrimSpace(s)
		s = strings.TrimPrefix(s, "void ")
		s = strings.TrimPrefix(s, "::")
		s = strings.ReplaceAll(s, "::::", "::")
		s = strings.TrimSuffix(s, " const")
		s = strings.TrimSuffix(s, ".kd") // ROCm: kernel descriptor
		if strings.HasSuffix(s, "]") {
			if i := strings.LastIndex(s, " [clone "); i >= 0 {
				s = s[:i]
			}
		}
		if len(s) == before {
			return s
		}
	}
}
