package label

import (
	"strconv"
	"strings"

	"assay/internal/lazyregexp"
)

// mangledHead reads the qualified name at the start of a mangled C++ name, "ck_tile::kentry". It
// also returns whether template arguments follow, and the rest of the text. It is not a demangler:
// it stops at a qualifier with template arguments.
func mangledHead(name string) (head string, template bool, rest string, ok bool) {
	rest, ok = strings.CutPrefix(name, "_Z")
	if !ok {
		return "", false, "", false
	}
	rest, nested := strings.CutPrefix(rest, "N")
	var parts []string
	if after, std := strings.CutPrefix(rest, "St"); std {
		parts, rest = append(parts, "std"), after
	}
	for first := true; first || nested; first = false {
		part, after, found := mangledPart(rest)
		if !found {
			break
		}
		rest = after
		if !strings.HasPrefix(part, "_GLOBAL__N_") { // an unnamed namespace
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "", false, "", false
	}
	return strings.Join(parts, "::"), strings.HasPrefix(rest, "I"), rest, true
}

// mangledPart reads one identifier with its length in front.
func mangledPart(s string) (part, rest string, ok bool) {
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	n, err := strconv.Atoi(s[:digits])
	if err != nil || n <= 0 || n > len(s)-digits {
		return "", "", false
	}
	return s[digits : digits+n], s[digits+n:], true
}

// tidyMangled returns the short form of a mangled name for tables, and whether name is mangled.
func tidyMangled(name string) (string, bool) {
	head, template, _, ok := mangledHead(name)
	if template {
		head += "<" + Ellipsis + ">"
	}
	return head, ok
}

// longKernel returns the longest form of a kernel's name, to keep labels different. That of a
// mangled name starts with its readable part.
func longKernel(name string) string {
	s := Clean(name)
	if head, template, rest, ok := mangledHead(s); ok && template {
		return head + "<" + rest[1:]
	}
	return s
}

// cutTensile cuts the name of a kernel that Tensile generated to the given number of columns. Of
// the hundreds of characters after the layout it keeps the most informative: the macro tile.
func cutTensile(s string, columns int) (string, bool) {
	if !strings.HasPrefix(s, "Cijk_") {
		return "", false
	}
	at := tile().FindStringIndex(s)
	if at == nil {
		return "", false
	}
	size := s[at[0]+1 : at[1]]
	head := columns - Width(size) - 2
	if Width(s[:at[1]]) < columns || head < len("Cijk_") {
		return Head(s, columns), true
	}
	return CutHead(s[:at[0]], head) + Ellipsis + size + Ellipsis, true
}

// tile finds the macro tile in a name of Tensile.
var tile = lazyregexp.New(`_MT\d+x\d+x\d+`)
