package classify

import "strings"

// A component is one name of a path such as at::native::f<float>(int)::{lambda()#1},
// with the groups that follow it.
type component struct {
	name   string
	groups expr
}

// path splits e at its "::". Casts, as in (int)128, are dropped.
func path(e expr) []component {
	var comps []component
	cur := component{}
	for i, p := range e {
		if p.open != 0 {
			if p.open == '(' && i == 0 && len(e) > 1 && e[1].open == 0 && isNumber(strings.TrimSpace(e[1].text)) {
				continue
			}
			cur.groups = append(cur.groups, p)
			continue
		}
		for j, name := range strings.Split(p.text, "::") {
			if j > 0 {
				comps = append(comps, cur)
				cur = component{}
			}
			if len(cur.groups) == 0 {
				cur.name += name
			}
		}
	}
	return append(comps, cur)
}

// templateArgs returns the template arguments of c.
func (c component) templateArgs() []expr {
	for _, g := range c.groups {
		if g.open == '<' {
			return g.args
		}
	}
	return nil
}

// isLambda reports whether c is a lambda: {lambda(int)#1}, or, as nsys prints
// it, [lambda(int) (instance 1)].
func (c component) isLambda() bool {
	for _, g := range c.groups {
		if (g.open == '{' || g.open == '[') && len(g.args) > 0 && len(g.args[0]) > 0 && strings.HasPrefix(g.args[0][0].text, "lambda") {
			return true
		}
	}
	return false
}

// lambdaArgs returns the types of the arguments of the lambda c.
func (c component) lambdaArgs() string {
	for _, g := range c.groups {
		if g.open != '{' && g.open != '[' || len(g.args) == 0 {
			continue
		}
		for _, p := range g.args[0] {
			if p.open == '(' {
				return strings.Trim(renderArgs(p.args), "<>")
			}
		}
	}
	return ""
}

// lastNamed returns the index of the last component that names something: not
// a lambda, nor the call operator of one, nor a nameless namespace. It is -1
// if there is none.
func lastNamed(comps []component) int {
	inLambda := -1
	for i, c := range comps {
		if c.isLambda() {
			inLambda = i
			break
		}
	}
	if inLambda > 0 {
		comps = comps[:inLambda]
	}
	for i := len(comps) - 1; i >= 0; i-- {
		if name := strings.TrimSpace(comps[i].name); name != "" && !comps[i].isLambda() {
			if strings.HasPrefix(name, "operator") && i > 0 && strings.TrimSpace(comps[i-1].name) != "" && len(comps[i].templateArgs()) == 0 {
				continue
			}
			return i
		}
	}
	return -1
}

// plain writes e as it was.
func plain(e expr) string {
	var b strings.Builder
	for _, p := range e {
		if p.open == 0 {
			b.WriteString(p.text)
			continue
		}
		b.WriteByte(p.open)
		for i, a := range p.args {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(strings.TrimSpace(plain(a)))
		}
		b.WriteByte(closing(p.open))
	}
	return b.String()
}

// shortMangled renders a name of the Itanium C++ ABI (_ZN2ns4nameI...), as
// profilers leave it where their demangler does not know a type. It reads only
// the identifiers and the numbers: name<identifier, number, ...>. It returns
// "" for any other name.
func shortMangled(s string) string {
	rest, ok := strings.CutPrefix(s, "_Z")
	if !ok {
		return ""
	}
	rest, nested := strings.CutPrefix(rest, "N")
	name := ""
	for {
		id, after := mangledIdentifier(rest)
		if id == "" {
			break
		}
		rest, name = after, id
		if !nested {
			break
		}
	}
	if name == "" {
		return ""
	}
	rest, template := strings.CutPrefix(rest, "I")
	if !template {
		return name
	}
	return name + "<" + strings.Join(mangledArgs(rest), ", ") + ">"
}

// mangledTypes are the encodings with a number that is not a length.
var mangledTypes = [...][2]string{{"DF16b", "bf16"}, {"DF16_", "f16"}, {"DF32_", "f32"}, {"DF64_", "f64"}}

// mangledArgs returns the identifiers and numbers in the encoding of template
// and call arguments.
func mangledArgs(s string) []string {
	var args []string
next:
	for prev := byte(0); s != ""; {
		for _, t := range mangledTypes {
			if after, ok := strings.CutPrefix(s, t[0]); ok {
				args, s, prev = append(args, t[1]), after, 0
				continue next
			}
		}
		switch c := s[0]; {
		case c == 'L': // a literal: L, its type, its value, E
			if end := strings.IndexByte(s, 'E'); end > 2 && isNumber(s[2:end]) {
				args, s = append(args, s[2:end]), s[end:]
			}
		case c == 'S' || c == 'T': // a reference: S_, S4_, T0_
			if ref := strings.TrimLeft(s[1:], "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"); strings.HasPrefix(ref, "_") {
				s = ref
			}
		case '0' <= c && c <= '9':
			digits := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
			if prev == 'E' && strings.HasPrefix(s[len(digits):], "E") { // the value of an enum
				args, s, prev = append(args, digits), s[len(digits):], 0
				continue
			}
			if id, after := mangledIdentifier(s); id != "" {
				if !strings.HasPrefix(id, "_GLOBAL__N") && !isNamespace(after) {
					args = append(args, id)
				}
				s, prev = after, 0
				continue
			}
		}
		prev, s = s[0], s[1:]
	}
	return args
}

// isNamespace reports whether another identifier follows at once, so that the
// one before it was only where that one lives.
func isNamespace(after string) bool {
	return after != "" && '0' <= after[0] && after[0] <= '9'
}

// mangledIdentifier reads an identifier, which its length precedes.
func mangledIdentifier(s string) (id, rest string) {
	n, i := 0, 0
	for i < len(s) && '0' <= s[i] && s[i] <= '9' && n < 1<<20 {
		n = n*10 + int(s[i]-'0')
		i++
	}
	if i == 0 || n == 0 || i+n > len(s) {
		return "", s
	}
	return s[i : i+n], s[i+n:]
}
