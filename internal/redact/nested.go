package redact

import "strings"

// tokenOfList reports whether a text in a list of tokens is a secret, and not one of the tokens of
// a language model, which are words and numbers.
func tokenOfList(s string) bool {
	const shortest = 16
	return len(s) >= shortest && !wordy(s) && random(s)
}

// holders are names for the member of an object that has the secret, if the name of the object
// announces one.
var holders = set("value values secret data raw token key plaintext val content")

// elements masks the secrets in a list, or in the members of an object, that is the value of a
// name: {"tokens": ["X"]}, {"token": {"value": "X"}}, and lists of YAML.
func (t *text) elements(v setting, how trust) {
	const far = 4 << 10 // a list or object is searched up to this length
	if v.at < t.nested || v.at >= len(t.s) || v.columns || v.cell || v.element {
		return
	}
	end := min(len(t.s), v.at+far)
	switch {
	case t.s[v.at] == '[' || t.s[v.at] == '{':
		t.nested = t.strings(v, how, end)
	default:
		t.items(v, how, end)
	}
}

// strings masks the quoted texts of a list or object, and returns where it ends.
func (t *text) strings(v setting, how trust, end int) int {
	depth, list := 0, t.s[v.at] == '['
	for at := v.at; at < end; at++ {
		switch c := t.s[at]; {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			if depth--; depth == 0 {
				return at
			}
		case c == '"' || c == '\'' || c == '\\':
			n := t.quoteAt(at)
			if n == 0 {
				continue
			}
			from, to := t.inQuotes(at, n, setting{quoted: true})
			if to = min(to, end); from >= to {
				at += n
				continue
			}
			after := t.skip(to+n, " \t\r\n")
			if isName := after < end && t.s[after] == ':'; isName {
				list = holders[lowerCase(t.s[from:to])]
			} else if list {
				t.element(v, how, from, to)
			}
			at = to + n - 1
		}
	}
	return end
}

// element masks an element of a list unless it reads like words.
func (t *text) element(v setting, how trust, from, to int) {
	const shortest = 6
	s := t.s[from:to]
	if len(s) >= shortest && !wordy(s) && !t.harmless(setting{from: v.from, to: v.to, at: from, quoted: true}, from, to,
		how) {
		t.add(span{"variable", from, to, false})
	}
}

// items masks the items of a YAML list in the lines after the name.
func (t *text) items(v setting, how trust, end int) {
	at := t.skip(v.to, "\"'")
	if at >= len(t.s) || t.s[at] != ':' {
		return
	}
	at = t.skip(at+1, " \t")
	for at < end {
		next := t.lineBreak(at)
		if next == 0 || next+1 >= end || t.s[next] != '-' || t.s[next+1] != ' ' {
			return
		}
		from := t.skip(next+1, " \t")
		to := end
		if i := strings.IndexAny(t.s[from:end], "\r\n"); i >= 0 {
			to = from + i
		}
		t.nested, at = to, to
		to = from + len(strings.TrimRight(t.s[from:to], " \t\"'"))
		if from += t.quoteAt(from); from < to {
			t.element(v, how, from, to)
		}
	}
}

// typed returns where the quoted text begins that is assigned after the type of a variable, as in
// "token: str = 'X'", or 0. The offset is that of the colon.
func (t *text) typed(at int) int {
	const longest = 64 // length of a type
	if at+1 >= len(t.s) || t.s[at] != ':' || t.s[at+1] == ':' {
		return 0
	}
	i := t.skip(at+1, " ")
	if i >= len(t.s) || !isAlnum(t.s[i]) && t.s[i] != '&' {
		return 0
	}
	for end := min(len(t.s), i+longest); i < end && (isAlnum(t.s[i]) || strings.IndexByte("_&'.[]<>| ?*", t.s[i]) >= 0); {
		i++
	}
	if i >= len(t.s) || t.s[i] != '=' {
		return 0
	}
	if i = t.skip(i+1, " "); t.quoteAt(i) == 0 {
		return 0
	}
	return i
}

// constructor masks the secret in the arguments of a type for secrets or credentials:
// SecretStr("X"), HTTPBasicAuth("user", "X").
func (t *text) constructor(from, to int) {
	at := t.skip(to, " \n")
	if strings.HasSuffix(lowerCase(t.s[from:to]), "auth(") {
		n := t.quoteAt(at)
		if n == 0 {
			return
		}
		_, end := t.inQuotes(at, n, setting{quoted: true})
		at = t.skip(min(end+n, len(t.s)), " \n")
		if at >= len(t.s) || t.s[at] != ',' {
			return
		}
		at = t.skip(at+1, " \n")
	}
	if at < len(t.s) && t.s[at] == 'b' {
		at++
	}
	if n := t.quoteAt(at); n > 0 {
		start, end := t.inQuotes(at, n, setting{quoted: true})
		if s := t.s[start:max(start, end)]; s != "" && !shown(s) &&
			!placeholders().MatchString(s[:min(len(s), longestName)]) {
			t.add(span{"variable", start, end, false})
			t.named = max(t.named, end)
		}
	}
}

// loginCall masks the token that is the argument of a login function: login("X").
func (t *text) loginCall(_, to int) {
	const shortest = 16
	n := t.quoteAt(to)
	if n == 0 {
		return
	}
	start, end := t.inQuotes(to, n, setting{quoted: true})
	if s := t.s[start:max(start, end)]; len(s) >= shortest && !wordy(s) && !shown(s) {
		t.add(span{"variable", start, end, false})
		t.named = max(t.named, end)
	}
}

// bot looks for the token of a Discord bot: the identifier of the user in base64, which is
// s[from:to], a time and a signature, separated by periods. It adds the token to t, or to a new
// text if t is nil, and returns the text.
func (t *text) bot(s string, from, to int) *text {
	const shortest, longest, stamp, sign, longestSign = 24, 28, 6, 27, 48
	if to-from < shortest || to-from > longest || strings.IndexByte("MNO", s[from]) < 0 {
		return t
	}
	run := func(at, most int) int {
		end := at
		for end < len(s) && end-at <= most && coded[s[end]] == ofRun {
			end++
		}
		return end
	}
	second := run(to+1, stamp)
	if second-to-1 != stamp || second >= len(s) || s[second] != '.' {
		return t
	}
	end := run(second+1, longestSign)
	if n := end - second - 1; n < sign || n > longestSign || !random(s[from:end]) {
		return t
	}
	if t == nil {
		t = newText(s)
	}
	t.add(span{"discord", from, end, true})
	return t
}
