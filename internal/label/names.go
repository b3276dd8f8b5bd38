package label

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"

	"assay/internal/lazyregexp"
	"assay/internal/unit"
)

const (
	Ellipsis = "…"

	// MinLabel is the smallest number of columns of a label: enough for a letter, the ellipsis
	// and a number that makes it unique.
	MinLabel = 12
)

// Clean returns s as valid text of one line without effect on a terminal. Control and formatting
// characters, including those that reverse the direction of text, become U+FFFD; white space
// becomes a space.
func Clean(s string) string {
	return cleanBut(s, utf8.RuneError)
}

// CleanLines returns a text of several lines, each as [Clean] returns it.
func CleanLines(s string) string { return cleanBut(s, '\n') }

// cleanBut is Clean, and keeps one control character.
func cleanBut(s string, kept rune) string {
	if isPlain(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == kept:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}

// Width returns the number of terminal columns of s.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	n := 0
	for _, r := range s {
		if !fillsOne(r) {
			return uniseg.StringWidth(s)
		}
		n++
	}
	return n
}

// fillsOne reports whether a character always fills one column, whatever its neighbours are:
// printable ASCII, and the characters that assay itself prints.
func fillsOne(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	switch r {
	case '…', '█', '▓', '░', '·', '─', '→', 'µ', '×', '≥', '≤', '–', '±':
		return true
	}
	return false
}

// isPlain reports whether s is printable ASCII, one column per byte. Nearly all names are, and the
// search for graphemes takes 50 times as long.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// labels returns a label of at most width columns for each name. Equal names have equal labels and
// different names have different labels. It tries the forms of a name in order, takes the first
// that no other name has, and cuts it if it is too long.
func labels(names []string, width int, forms ...func(string) string) []string {
	width = max(width, MinLabel)
	distinct := slices.Compact(slices.Sorted(slices.Values(names)))
	whole := uniqueForms(distinct, forms)
	label := make(map[string]string, len(distinct))
	for _, name := range distinct {
		label[name] = elide(whole[name], width)
	}
	// If names differ only in the part that was cut, cut elsewhere. Repeat, because some names
	// of a group may have more in common than others.
	for range 4 {
		for _, group := range collisions(distinct, label) {
			common := commonPrefix(group, whole)
			for _, name := range group {
				label[name] = around(whole[name], common, width)
			}
		}
	}
	number(distinct, label, whole, width)
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = label[name]
	}
	return out
}

// kernelLabels returns labels without namespaces and call arguments, unless these are
// needed to keep the labels different.
func kernelLabels(names []string, width int) []string {
	return labels(names, width, TidyKernel, longKernel, Clean)
}

// plainLabels returns labels that keep as much as fits. Unlike in names of kernels, the namespace in
// "aten::mm" is informative.
func plainLabels(names []string, width int) []string { return labels(names, width, Clean) }

// uniqueForms returns, for each name, the first form that differs from the same form of all other
// names, or else the last form.
func uniqueForms(distinct []string, forms []func(string) string) map[string]string {
	whole := make(map[string]string, len(distinct))
	pending := distinct
	for _, form := range forms {
		for _, name := range pending {
			if whole[name] = form(name); strings.TrimSpace(whole[name]) == "" {
				whole[name] = "(no name)"
			}
		}
		groups := collisions(distinct, whole)
		pending = slices.Concat(groups...)
		if len(pending) == 0 {
			break
		}
	}
	return whole
}

// collisions returns the groups of names that have the same label, in the
// order of the labels.
func collisions(distinct []string, label map[string]string) [][]string {
	by := make(map[string][]string, len(distinct))
	for _, name := range distinct {
		by[label[name]] = append(by[label[name]], name)
	}
	var groups [][]string
	for _, l := range slices.Sorted(maps.Keys(by)) {
		if len(by[l]) > 1 {
			groups = append(groups, by[l])
		}
	}
	return groups
}

// commonPrefix returns the length in bytes of the common prefix of the forms of all names, rounded
// down to a whole character.
func commonPrefix(group []string, whole map[string]string) int {
	first := whole[group[0]]
	n := len(first)
	for _, name := range group[1:] {
		s := whole[name]
		i := 0
		for i < min(n, len(s)) && s[i] == first[i] {
			i++
		}
		n = i
	}
	for n > 0 && n < len(first) && !utf8.RuneStart(first[n]) {
		n--
	}
	return n
}

// number appends a number to labels that are still equal.
func number(distinct []string, label, whole map[string]string, width int) {
	groups := collisions(distinct, label)
	if len(groups) == 0 {
		return
	}
	taken := make(map[string]bool, len(distinct))
	for _, name := range distinct {
		taken[label[name]] = true
	}
	for _, group := range groups {
		n := 0
		for _, name := range group {
			for {
				n++
				suffix := " #" + strconv.Itoa(n)
				label[name] = Head(whole[name], width-len(suffix)) + suffix
				if !taken[label[name]] {
					taken[label[name]] = true
					break
				}
			}
		}
	}
}

// elide cuts s to the given number of columns. It cuts template arguments first, from the end,
// because the first ones say most. Names of Tensile keep the tile. Other names are cut in the
// middle, because names of generated kernels end in tile and layout.
func elide(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	if cut, ok := cutTensile(s, columns); ok {
		return cut
	}
	if i := strings.IndexByte(s, '<'); i > 0 {
		if Width(s[:i]) < columns-2 {
			return Head(s, columns)
		}
		s = s[:i]
	}
	return Clip(s, columns)
}

// around cuts s to the given number of columns so that byte i is visible.
func around(s string, i, columns int) string {
	if Width(s) <= columns || Width(s[:i]) < columns*2/3 {
		return Head(s, columns)
	}
	if cut, ok := cutTensile(s[:i], columns-columns/3); ok {
		return cut + Head(s[i:], columns-Width(cut))
	}
	tail := Head(s[i:], columns-1-columns/3)
	return CutHead(s[:i], columns-1-Width(tail)) + Ellipsis + tail
}

// Head cuts s at its end to the given number of columns, including the ellipsis.
func Head(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	return CutHead(s, columns-1) + Ellipsis
}

// CutHead returns the longest prefix of s that fits into the given number of columns.
func CutHead(s string, columns int) string {
	if isPlain(s) {
		return s[:max(0, min(columns, len(s)))]
	}
	rest, state := s, -1
	for used := 0; rest != ""; {
		_, after, w, next := uniseg.FirstGraphemeClusterInString(rest, state)
		if used+w > columns {
			break
		}
		used += w
		rest, state = after, next
	}
	return s[:len(s)-len(rest)]
}

// cutTail returns the longest suffix of s that fits into the given number of columns.
func cutTail(s string, columns int) string {
	if isPlain(s) {
		return s[len(s)-max(0, min(columns, len(s))):]
	}
	over := Width(s) - columns
	for rest, state := s, -1; rest != ""; {
		if over <= 0 {
			return rest
		}
		_, after, w, next := uniseg.FirstGraphemeClusterInString(rest, state)
		over -= w
		rest, state = after, next
	}
	return ""
}

// TidyKernel removes the parts of a demangled name that rarely differ between
// kernels: the return type, the call arguments and the namespaces. Template arguments
// stay. Of a mangled name it returns the readable part.
func TidyKernel(name string) string {
	s := strings.TrimSpace(Clean(name))
	if readable, ok := tidyMangled(s); ok {
		return readable
	}
	s = strings.TrimPrefix(s, "void ")
	s = dropCall(dropABI(s))
	s = strings.ReplaceAll(s, "(anonymous namespace)::", "")
	s = dropNamespaces(s)
	s = strings.ReplaceAll(s, " >", ">")
	if s == "" {
		return Clean(name)
	}
	return s
}

// dropABI cuts the tag that Numba gives to the names of kernels, as in
// "copy[v1,cw51cXTLSUwv1sDU](Array<float>)" and "copy[abi:v2]".
func dropABI(s string) string {
	open := strings.IndexByte(s, '[')
	if open < 1 || !IsWord(s[open-1]) {
		return s
	}
	length := strings.IndexByte(s[open:], ']')
	if length < 0 {
		return s
	}
	tag := strings.TrimPrefix(s[open+1:open+length], "abi:")
	if len(tag) < 2 || tag[0] != 'v' || tag[1] < '0' || tag[1] > '9' ||
		strings.Trim(tag, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_,") != "" {
		return s
	}
	return s[:open] + s[open+length+1:]
}

// dropCall cuts the parenthesis that ends s if it can be a list of call
// arguments: it follows a name at once, unlike that of "Memcpy HtoD (...)".
func dropCall(s string) string {
	t := strings.TrimSuffix(s, " const")
	if !strings.HasSuffix(t, ")") {
		return s
	}
	depth := 0
	for i := len(t) - 1; i > 0; i-- {
		switch t[i] {
		case ')':
			depth++
		case '(':
			depth--
		}
		if depth == 0 {
			if before := t[i-1]; before == '>' || before == ')' || IsWord(before) {
				return t[:i]
			}
			return s
		}
	}
	return s
}

// dropNamespaces cuts every "word::".
func dropNamespaces(s string) string {
	if !strings.Contains(s, "::") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && IsWord(s[j]) {
			j++
		}
		switch {
		case strings.HasPrefix(s[j:], "::") && j > i:
			i = j + 2
		case j > i:
			b.WriteString(s[i:j])
			i = j
		default:
			b.WriteByte(s[i])
			i++
		}
	}
	return b.String()
}

// IsWord reports whether c can be part of an identifier. Bytes of characters
// beyond ASCII can.
func IsWord(c byte) bool {
	return c == '_' || c == '$' || c >= utf8.RuneSelf ||
		'0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// A Form says how a name may be shortened.
type Form uint8

// The forms of names.
const (
	Plain  Form = iota // kept in front when cut
	Kernel             // may lose namespaces and arguments
	Line               // may lose directories
)

// Short returns a label of at most columns columns for each name. Different names have different
// labels.
func Short(form Form, names []string, columns int) []string {
	switch form {
	case Kernel:
		return kernelLabels(names, columns)
	case Line:
		return labels(names, columns, ShortLine, Clean)
	}
	return plainLabels(names, columns)
}

// ShortLine removes all directories but the last from the name of a line.
func ShortLine(name string) string {
	s := Clean(name)
	if at := lineTail().FindStringIndex(s); at != nil {
		return s[at[0]:]
	}
	return s
}

// lineTail finds the last directory, file and number in the name of a line.
var lineTail = lazyregexp.New(`[^/\\]+[/\\][^/\\]+:\d+( |$)`)

// Clip cuts s in the middle to the given number of columns.
func Clip(s string, columns int) string {
	if Width(s) <= columns {
		return s
	}
	head := columns * 3 / 5
	return CutHead(s, head) + Ellipsis + cutTail(s, columns-1-head)
}

// Plural prints a count with its noun: "1 gap", "1,200 gaps", "3 copies", "2 launches".
func Plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return unit.Count(n) + " " + plural(noun)
}

// plural returns the plural of a regular noun.
func plural(noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" &&
		!strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return stem + "ies"
	}
	for _, end := range []string{"ch", "sh", "s", "x", "z"} {
		if strings.HasSuffix(noun, end) {
			return noun + "es"
		}
	}
	return noun + "s"
}

// Base returns the last part of a path, with separators of any operating system.
func Base(path string) string {
	path = strings.TrimRight(Clean(path), `/\`)
	return Clip(path[strings.LastIndexAny(path, `/\`)+1:], 70)
}
