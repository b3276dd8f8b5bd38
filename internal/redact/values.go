package redact

import (
	"strconv"
	"strings"
	"sync"

	"assay/internal/lazyregexp"
)

// A setting describes the text around the name of a variable.
type setting struct {
	from, to int  // offsets of the name
	quoted   bool // the name is in quotes
	flag     bool // dashes precede the name
	query    bool // the name is a parameter in the query of a URL
	assigned bool // assigned by "=", or in quotes; otherwise by ":" or a space
	element  bool // an XML element
	columns  bool // only spaces separate name and value
	pair     bool // only a comma separates them
	cell     bool // a table border, an arrow or one blank separates them
	at       int  // offset of the value
}

// variable masks the value of a variable, flag, header or field with the name s[from:to].
func (t *text) variable(from, to int) {
	v := setting{from: from, to: to}
	v.flag = strings.HasSuffix(t.s[:from], "-")
	v.query = from > 0 && (t.s[from-1] == '?' || t.s[from-1] == '&' || strings.HasSuffix(t.s[:from], "&amp;"))
	if !t.separated(&v) {
		return
	}
	how := t.classify(from, to)
	if how == maybe && (v.query || v.flag && !v.columns) && t.tokenOrKey(v) {
		how = surely
	}
	// "TOKEN: words" is a label as often as it is a variable.
	upperCase := t.s[from:to] == strings.ToUpper(t.s[from:to])
	if how == surely && upperCase && !v.assigned && !v.flag && t.bareWord(v) {
		how = maybe
	}
	if how != noSecret {
		t.elements(v, how)
	}
	if how == noSecret || v.cell && how != surely || v.columns && !v.flag &&
		(how != surely || !upperCase && !t.command(from)) {
		return
	}
	kind := "variable"
	if how == header {
		v.at, kind = t.scheme(v.at)
	}
	start, end := t.value(v, how)
	if how == maybe && v.assigned && !v.element && end-start <= longestName && t.namesSecret(start, end) {
		return // <add key="ApiKey" value="...">: the value is a name
	}
	if start >= end || t.harmless(v, start, end, how) {
		return
	}
	t.add(span{kind, start, end, false})
	t.named = max(t.named, end)
}

// namesSecret reports whether s[from:to] is the quoted name of a secret, and a field with its value
// follows.
func (t *text) namesSecret(from, to int) bool {
	quote := t.quoteAt(to)
	return from < to && quote > 0 && t.valueField(to+quote, true) > 0 && t.classify(from, to) == surely
}

// tokenOrKey reports whether the name of a flag or of a query parameter is just "token" or "key".
func (t *text) tokenOrKey(v setting) bool {
	name := lowerCase(t.s[v.from:v.to])
	return name == "token" || v.query && (name == "key" || name == "sig" || name == "auth")
}

// bareWord reports whether a name is one word: TOKEN, but not HF_TOKEN.
func (t *text) bareWord(v setting) bool {
	return len(split(t.s[v.from:v.to])) == 1 && isToken(t.s[v.from:v.to])
}

func isToken(name string) bool {
	return name == "TOKEN" || name == "KEY" || name == "AUTH" || name == "PASS"
}

// command reports whether a command that sets a variable precedes a name.
func (t *text) command(from int) bool {
	before := lowerCase(t.s[max(0, from-160):from])
	for _, c := range []string{"setenv ", "setx ", "set -x ", "set -gx ", "set -ux "} {
		if strings.HasSuffix(before, c) {
			return true
		}
	}
	return strings.Contains(before, "login ") || strings.Contains(before, "machine ") // as in .netrc
}

// skip returns the first offset from at on whose byte is not in chars. It skips at most a few dozen
// bytes.
func (t *text) skip(at int, chars string) int {
	const most = 64
	for end := min(len(t.s), at+most); at < end && strings.IndexByte(chars, t.s[at]) >= 0; {
		at++
	}
	return at
}

// quoteAt returns the length of a quote at an offset, including backslashes before it, or 0.
func (t *text) quoteAt(at int) int {
	i := t.skip(at, `\`)
	if i < len(t.s) && (t.s[i] == '"' || t.s[i] == '\'' || t.s[i] == '`') {
		return i + 1 - at
	}
	return 0
}

// separated finds what parts the name from its value, and where the value begins.
func (t *text) separated(v *setting) bool {
	at := v.to
	if n := t.quoteAt(at); n > 0 {
		v.quoted = true
		at += n
		at = t.skip(at, "])")
	}
	if end := t.tagEnd(at, v); end > 0 {
		v.element, v.assigned, v.at = true, true, end
		return true
	}
	blank := t.skip(at, " \t")
	if field := t.valueField(at, v.quoted); field > 0 {
		at, blank = field, t.skip(field, " \t")
	}
	rest := t.s[blank:]
	if value := t.typed(blank); value > 0 {
		v.assigned, v.at = true, value
		return true
	}
	if next := t.lineBreak(at); next > 0 && !v.quoted && !v.flag && t.proseValue(next) > 0 && t.proseValue(next) == next {
		v.cell, v.at = true, next
		return true
	}
	switch {
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "://"), rest == "":
		return false
	case rest[0] == '=' || rest[0] == ':' || strings.HasPrefix(rest, "+=") || strings.HasPrefix(rest, "?=") || strings.HasPrefix(rest, "->"):
		v.assigned = v.quoted || rest[0] != ':'
		v.at = t.nextLine(t.skip(t.skip(blank, "+?:=->"), " \t"))
		v.cell = strings.HasPrefix(rest, "->") && !v.quoted
		return v.at < len(t.s)
	case v.quoted && rest[0] == ',':
		v.pair, v.assigned, v.at = true, true, t.skip(blank+1, " \t\n\r")
		if v.at+1 < len(t.s) && (t.s[v.at] == 'b' || t.s[v.at] == 'u') && t.quoteAt(v.at+1) > 0 {
			v.at++
		}
		return t.quoteAt(v.at) > 0 && !t.namesMember(v.at)
	case rest[0] == '|' || strings.HasPrefix(rest, "│"):
		v.cell, v.at = true, t.skip(blank+len("|"), "\x94\x82 \t") // the other bytes of the line of a table
		return v.at < len(t.s)
	case blank == at+1 && !v.quoted && !v.flag && t.proseValue(blank) > 0:
		v.cell, v.at = true, t.proseValue(blank)
		return true
	case blank > at && !v.quoted:
		v.columns, v.at = true, blank
		return v.flag && rest[0] != '-' || !v.flag && (blank-at > 1 || t.s[at] == '\t' || t.command(v.from))
	}
	return false
}

// namesMember reports whether the quoted text at an offset is the name of a member of an object, and so no
// value: {"file": "password_store.cc", "line": 4}.
func (t *text) namesMember(at int) bool {
	at += t.quoteAt(at)
	n := strings.IndexByte(t.s[at:min(len(t.s), at+longestName)], t.s[at-1])
	colon := t.skip(at+n+1, " \t\r\n")
	return n >= 0 && colon < len(t.s) && t.s[colon] == ':'
}

// tagEnd returns where the text of an element begins whose tag or attribute the name
// is: <password>, <Password type="x">, <entry name="password">. It returns 0 if the name
// is neither.
func (t *text) tagEnd(at int, v *setting) int {
	const longestTag = 160
	switch {
	case at >= len(t.s):
		return 0
	case t.s[at] == '>' && (v.quoted || v.from > 0 && t.s[v.from-1] == '<'):
		return at + 1
	case t.s[at] != ' ' || v.from == 0 || t.s[v.from-1] != '<':
		return 0
	}
	i := strings.IndexAny(t.s[at:min(len(t.s), at+longestTag)], "<>\n")
	if i < 0 || t.s[at+i] != '>' || t.s[at+i-1] == '/' {
		return 0
	}
	return at + i + 1
}

// proseValue returns the position of a value that follows a name in prose: "password is X",
// "API key X". It returns 0 unless the value is long and looks random, because most words
// after such a name are not secrets.
func (t *text) proseValue(at int) int {
	const shortest = 12
	for _, word := range []string{"is ", "was ", "provided: "} {
		if strings.HasPrefix(t.s[at:], word) {
			at += len(word)
			break
		}
	}
	value := at + t.quoteAt(at)
	word := t.s[value:t.trimmed(value, min(t.unquoted(value, false), value+longestName))]
	if i := strings.IndexAny(word, "(<[/=:"); i >= 0 {
		word = word[:i]
	}
	if len(word) < shortest || !random(word) || wordy(word) || strings.Trim(word, "-0123456789") == "" {
		return 0
	}
	return at
}

// valueField returns the end of the word "value" if a name and its value are separate
// fields, as in {"name": "X", "value": "Y"}, otherwise 0.
func (t *text) valueField(at int, quoted bool) int {
	i := t.skip(at, ",\n\r \t")
	if quoted || i > at {
		i = t.skip(i, `\`)
		i = t.skip(i, `"'`)
	}
	if i == at || i+5 > len(t.s) || lowerCase(t.s[i:i+5]) != "value" {
		return 0
	}
	i = t.skip(i+5, `\`)
	return t.skip(i, `"'`)
}

// scheme returns where the value behind the scheme of a header begins, and the kind
// of its placeholder.
func (t *text) scheme(at int) (value int, kind string) {
	start := at + t.quoteAt(at)
	end := start
	for end < len(t.s) && end-start < 20 && (isAlnum(t.s[end]) || t.s[end] == '-') {
		end++
	}
	word := lowerCase(t.s[start:end])
	if end == len(t.s) || t.s[end] != ' ' || !words().schemes[word] {
		return at, "variable"
	}
	if word != "bearer" && word != "basic" {
		word = "variable"
	}
	return t.skip(end, " "), word
}

// value returns where the value begins and ends.
func (t *text) value(v setting, how trust) (from, to int) {
	at := v.at
	if at+1 < len(t.s) && strings.IndexByte("bBrRuUfF$@", t.s[at]) >= 0 && t.quoteAt(at+1) > 0 {
		at++ // b'...'
	}
	if n := t.quoteAt(at); n > 0 && !v.element {
		return t.inQuotes(at, n, v)
	}
	if v.element {
		if n := strings.IndexByte(t.s[at:], '<'); n >= 0 {
			return at, at + n
		}
		return at, len(t.s)
	}
	if how == surely && t.s[v.to] == ':' && !v.query {
		if from, to, ok := t.line(v, at); ok {
			return from, to
		}
	}
	return at, t.trimmed(at, t.unquoted(at, v.query))
}

// inQuotes returns a value in quotes of n bytes. The quote that ends it has as many
// backslashes before it; if there is none, the text is cut and the value is all of
// the rest. What is written on behind the quote is part of the value, as in a shell.
func (t *text) inQuotes(at, n int, v setting) (from, to int) {
	from = at + n
	quote := t.s[from-1]
	if triple := strings.Repeat(string(quote), 3); n == 1 && strings.HasPrefix(t.s[at:], triple) {
		if end := strings.Index(t.s[at+3:], triple); end >= 0 {
			return at + 3, at + 3 + end
		}
		return at + 3, len(t.s)
	}
	for i := from; ; {
		next := strings.IndexByte(t.s[i:], quote)
		if next < 0 {
			return from, len(t.s)
		}
		i += next
		slashes := 0
		for i-slashes > from && t.s[i-slashes-1] == '\\' {
			slashes++
		}
		if slashes < n && (slashes == n-1 || n == 1 && slashes%2 == 0) || n == 1 && slashes%2 == 0 {
			to = i - slashes*min(1, n-1)
			break
		}
		i++
	}
	after := to + n
	if n == 1 && !v.quoted && after < len(t.s) && (isAlnum(t.s[after]) || t.quoteAt(after) == 1) {
		to = t.trimmed(after, t.unquoted(after, v.query))
	}
	return from, to
}

// unquoted returns where a value without quotes ends: at a blank, at a quote that
// ends the string that has the variable, or at an escape of one of them.
func (t *text) unquoted(at int, query bool) int {
	if u := &t.bare; u.query != query || at < u.from || at >= u.to {
		u.query, u.from, u.to = query, at, t.bareEnd(at, query)
	}
	return max(at, t.bare.to)
}

// bareEnd looks for what [text.unquoted] returns.
func (t *text) bareEnd(at int, query bool) int {
	for i := at; i < len(t.s); i++ {
		switch c := t.s[i]; {
		case c <= ' ' || c == 0x7f:
			return i
		case query && (c == '&' || c == '#'):
			return i
		case c == '"' || c == '\'' || c == '`':
			if i+1 == len(t.s) || strings.IndexByte(" \t\r\n,;:)]}>\\", t.s[i+1]) >= 0 {
				return i
			}
		case c == '\\':
			k := t.skip(i, `\`)
			if k < len(t.s) && strings.IndexByte("nrt\"'", t.s[k]) >= 0 {
				return i
			}
			i = k - 1
		}
	}
	return len(t.s)
}

// trimmed returns the end of a value without closing brackets and punctuation.
func (t *text) trimmed(from, to int) int {
	for to > from && strings.IndexByte(",;)]}>.:", t.s[to-1]) >= 0 {
		to--
	}
	return to
}

// line returns a value of YAML that takes the rest of its line, or the lines of a block.
func (t *text) line(v setting, at int) (from, to int, ok bool) {
	start := v.from
	for start > 0 && v.from-start < 64 && strings.IndexByte(" \t-", t.s[start-1]) >= 0 {
		start--
	}
	if start > 0 && t.s[start-1] != '\n' || at == v.to+1 || t.s[at] == '{' || t.s[at] == '[' {
		return 0, 0, false
	}
	end := func(i int) int {
		if n := strings.IndexByte(t.s[i:], '\n'); n >= 0 {
			return i + n
		}
		return len(t.s)
	}
	from, to = at, end(at)
	if strings.Trim(t.s[from:to], "|>+-0123456789 \r") == "" && (t.s[at] == '|' || t.s[at] == '>') && to < len(t.s) {
		from = to + 1
		for to < len(t.s) && to+1 < len(t.s) && (t.s[to+1] == ' ' || t.s[to+1] == '\t') {
			to = end(to + 1)
		}
		return from, max(from, to), true
	}
	if n := strings.Index(t.s[from:to], " #"); n > 0 {
		to = from + n
	}
	return from, from + len(strings.TrimRight(t.s[from:to], " \t\r,")), true
}

// placeholders matches values that are written instead of a secret, such as "none" or "***".
var placeholders = lazyregexp.New(`(?i)^(none|null|nil|undefined|true|false|yes|no|str|string|bytes|int|bool|any|optional(\[\w*\])?|.*redacted.*|.*masked.*|[*.…?_-]+|\\+|\^|x{3,}|\$\{?\w+(:?[-?]\w*)?\}?|\$\(.*|%\w+%|\{\{.*|<[\w -]*>?)$`)

// kinds are the words of all placeholders.
var kinds = sync.OnceValue(func() map[string]bool {
	m := set("variable password bearer basic private-key base64 hex user email discord")
	for _, f := range formats {
		m[f.Kind] = true
	}
	return m
})

// shown reports whether s is a placeholder of a secret, possibly with punctuation after it.
func shown(s string) bool {
	if !strings.HasPrefix(s, "[") {
		return false
	}
	word := s[1:]
	if i := strings.IndexFunc(word, func(r rune) bool {
		return !('a' <= r && r <= 'z' || '0' <= r && r <= '9' ||
			r == '-')
	}); i >= 0 {
		word = word[:i]
	}
	if !kinds()[word] && !strings.HasPrefix(word, "user-") {
		return false
	}
	return strings.IndexFunc(s[1+len(word):], func(r rune) bool { return r >= 0x80 || isAlnum(byte(r)) }) < 0
}

// operations are values of function parameters whose names look like those of secrets.
var operations = set("lookup gather scatter load store embed embedding update search sort hash index gemm linear attention cache rotary")

// argument reports whether a value is an argument of a function that computes something: a small
// number, or the name of an operation. A password may be either, so names of passwords are
// excluded.
func argument(name, value string) bool {
	const mostDigits = 4
	if strings.Contains(name, "pass") || strings.Contains(name, "pwd") {
		return false
	}
	return len(value) <= mostDigits && strings.Trim(value, digits) == "" || operations[value]
}

// harmless reports whether the value s[from:to] need not be masked.
func (t *text) harmless(v setting, from, to int, how trust) bool {
	const most = 256 // bytes; placeholders are shorter
	s := t.s[from:to]
	if len(s) <= most && (placeholders().MatchString(s) || shown(s)) {
		return true
	}
	name := lowerCase(t.s[v.from:v.to])
	if strings.HasSuffix(name, "tokens") && !tokenOfList(s) {
		return true // tokens of a language model
	}
	if strings.Contains(name, "credentials") && s[0] == '/' &&
		(strings.HasSuffix(s, ".json") || wordy(s) && strings.Count(s, "/") > 1) {
		return true // a file of credentials
	}
	if !v.flag && !v.quoted && t.quoteAt(v.at) == 0 && argument(name, s) {
		return true
	}
	if how == maybe && t.quoteAt(v.at) == 0 && measured(s) {
		return true
	}
	switch {
	case name == "pwd" || name == "oldpwd":
		return s[0] == '/' || s[0] == '~' || len(s) > 1 && s[1] == ':' // a directory
	case how == maybe && (strings.HasSuffix(name, "sig") || strings.HasSuffix(name, "signature")):
		const shortest = 16
		return len(s) < shortest || wordy(s) || !random(s)
	case v.cell:
		return wordy(s)
	case how == maybe, v.columns && !v.flag && !t.command(v.from):
		return wordy(s) || s[0] == '/' || strings.ContainsAny(s, "(<")
	}
	return false
}

// measured reports whether a value is a number with a fraction or an exponent, such as a latency per
// token. No service draws tokens of that form.
func measured(s string) bool {
	_, err := strconv.ParseFloat(s, 64)
	return err == nil && strings.ContainsAny(s, ".e") && strings.Trim(s, digits+"+-.eE") == ""
}
