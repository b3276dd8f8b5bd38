package redact

import (
	"encoding/base64"
	"strings"
)

// address masks the password of a URL, or the user if that is a token: scheme://user:password@host.
func (t *text) address(_, at int) {
	if at < t.addressed {
		return
	}
	if t.addressEnd < at {
		end := at
		for end < len(t.s) && t.s[end] > ' ' && strings.IndexByte("\"'<>\\`", t.s[end]) < 0 && t.s[end] != 0x7f {
			end++
		}
		t.addressEnd = end
		t.addressSign = at + strings.LastIndexByte(t.s[at:end], '@')
	}
	end := t.addressEnd
	if t.addressSign < at {
		t.addressed = end // there is no @ in all of the rest
		return
	}
	whole := t.s[at:min(end, at+longestAddress)]
	host := whole
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	sign := strings.LastIndexByte(host, '@')
	colon := strings.IndexByte(whole, ':')
	// A password may have slashes and @ in it, if no port precedes the slash.
	if colon >= 0 && colon <= len(host) && (sign < 0 && !isPort(host[min(len(host), colon+1):]) || sign > colon) {
		area := whole
		if i := strings.IndexAny(area[max(0, sign):], "?#"); i >= 0 && sign >= 0 {
			area = area[:sign+i]
		}
		sign = strings.LastIndexByte(area, '@')
	}
	if sign < 0 {
		return
	}
	t.addressed = at + sign
	if colon >= 0 && colon < sign {
		if user := whole[:colon]; tokenLike(user) {
			t.add(span{"password", at, at + sign, false})
			return
		}
		if secret := whole[colon+1 : sign]; secret != "" && !placeholders().MatchString(secret) && !shown(secret) {
			t.add(span{"password", at + colon + 1, at + sign, false})
		}
		return
	}
	if user := whole[:sign]; tokenLike(user) {
		t.add(span{"password", at, at + sign, false})
	}
}

// longestAddress is the length up to which a URL is searched for a password.
const longestAddress = 4096

// isPort reports whether what follows the colon of a host is the number of a port.
func isPort(s string) bool { return s != "" && len(s) <= 5 && strings.Trim(s, digits) == "" }

// tokenLike reports whether the user of a URL is a token and no name.
func tokenLike(user string) bool {
	const shortest = 12
	return len(user) >= shortest && !shown(user) && !wordy(user)
}

// ofBearer reports whether c may be in the token of a Bearer header.
func ofBearer(c byte) bool { return isAlnum(c) || strings.IndexByte("._~+/=-", c) >= 0 }

// credential returns the word behind the name of a scheme, which a blank, a colon
// or both part from it.
func (t *text) credential(from, to int) (start, end int) {
	if from > 0 && isAlnum(t.s[from-1]) {
		return 0, 0
	}
	start = t.skip(to, " \t:")
	end = start
	for end < len(t.s) && ofBearer(t.s[end]) {
		end++
	}
	if start == to {
		return 0, 0
	}
	return start, end
}

// bearer masks the token behind the word Bearer.
func (t *text) bearer(from, to int) {
	const shortest = 16
	if from < t.named {
		return
	}
	start, end := t.credential(from, to)
	if end-start >= shortest && !wordy(t.s[start:end]) {
		t.add(span{"bearer", start, end, false})
		t.named = max(t.named, end)
	}
}

// basic masks the base64 of user and password behind the word Basic.
func (t *text) basic(from, to int) {
	const shortest, longest = 6, 4096
	start, end := t.credential(from, to)
	if start == end || end-start > longest {
		return
	}
	code := t.s[start:end]
	if i := strings.IndexFunc(code, func(r rune) bool { return r >= 0x80 || coded[byte(r)] != ofRun }); i >= 0 {
		code = code[:i]
	}
	for len(code) >= shortest { // a path may follow it
		plain, err := base64.RawStdEncoding.DecodeString(code)
		if err == nil && legible(plain) && strings.Contains(string(plain), ":") {
			end = start + len(code)
			t.add(span{"basic", start, t.skip(end, "="), false})
			return
		}
		code = code[:max(0, strings.LastIndexByte(code, '/'))]
	}
}

// privateKey masks what lies between the lines that begin and end a private key,
// encrypted or not. If its end is missing, the key is all of the rest.
func (t *text) privateKey(from, to int) {
	if from < t.named || !strings.Contains(t.s[max(0, from-48):from], "BEGIN ") {
		return
	}
	head := strings.Index(t.s[to:min(len(t.s), to+16)], "----")
	if head < 0 {
		return
	}
	start := to + head
	for start < len(t.s) && t.s[start] == '-' {
		start++
	}
	end := len(t.s)
	if i := strings.Index(t.s[start:], "---- END"); i >= 0 {
		end = start + i
	}
	if i := strings.Index(t.s[start:end], "-----END"); i >= 0 {
		end = start + i
	}
	t.named = max(t.named, end)
	if body := strings.TrimSpace(t.s[start:end]); body == "" || shown(body) {
		return
	}
	t.add(span{"private-key", start, end, false})
}

// login masks the key that commands take as an argument: wandb login KEY.
func (t *text) login(from, to int) {
	before := lowerCase(t.s[max(0, from-24):from])
	if from < t.named || !strings.HasSuffix(before, "wandb ") && !strings.HasSuffix(before, "cli ") && !strings.HasSuffix(before, "ngc ") && !strings.HasSuffix(before, "hf auth ") && !strings.HasSuffix(before, "wandb.") {
		return
	}
	for at := to; at < len(t.s); {
		if strings.HasPrefix(t.s[at:], "<<<") {
			at = t.skip(at, "< ") // the shell writes it to the input
		}
		at += t.quoteAt(at)
		end := t.unquoted(at, false)
		word := t.s[at:end]
		if word == "" {
			return
		}
		if word[0] != '-' {
			const shortest = 16
			if len(word) >= shortest && !wordy(word) && !shown(word) {
				t.add(span{"variable", at, end, false})
				t.named = max(t.named, end)
			}
			return
		}
		if strings.Contains(word, "=") || t.skip(end, " ") == end {
			return
		}
		at = t.skip(end, " ")
	}
}

// user masks the password of a flag that gives user and password: -u user:password.
func (t *text) user(from, to int) {
	if from < t.named || from > 0 && strings.IndexByte(" \t\n\"'`,([;|&", t.s[from-1]) < 0 {
		return
	}
	at := t.skip(to, " \t=")
	at = t.skip(at, `",'`)
	at = t.skip(at, " ")
	at += t.quoteAt(at)
	end := t.trimmed(at, t.unquoted(at, false))
	name, secret, ok := strings.Cut(t.s[at:end], ":")
	if !ok || at == to && len(t.s[from:to]) > 2 || name == "" || secret == "" || strings.ContainsAny(name, "/.=(<") &&
		!strings.Contains(name, "@") ||
		strings.Trim(secret, digits) == "" && strings.Trim(name, digits) == "" || secret[0] == ':' ||
		strings.HasPrefix(secret, "//") ||
		placeholders().MatchString(secret) || shown(secret) {
		return
	}
	t.add(span{"password", end - len(secret), end, false})
	t.named = max(t.named, end)
}

// passwordOptions are commands that take a password as an option. If only one form of a command has
// the option, the entry has the word of that form.
var passwordOptions = []struct {
	command, option string
	joined          bool
}{
	{"sshpass", "-p", false}, {"sshpass", "-p", true}, {"mysql", "-p", true}, {"mariadb", "-p", true},
	{"zip", "-P", false}, {"7z ", "-p", true}, {"docker login", "-p", false}, {"podman login", "-p", false},
	{"redis-cli", "-a", false},
}

// option masks the password that a command takes as an option: mysql -pPASSWORD.
func (t *text) option(from, to int) {
	const far = 200 // distance from the command
	before := lowerCase(t.s[max(0, from-far):from])
	if i := strings.LastIndexAny(before, "\n;|&"); i >= 0 {
		before = before[i+1:]
	}
	for _, o := range passwordOptions {
		at := from + 1 + len(o.option)
		joined := at < len(t.s) && t.s[at] != ' '
		if joined != o.joined || t.s[from+1:at] != o.option || !strings.Contains(before, o.command) {
			continue
		}
		at = t.skip(at, " ")
		at += t.quoteAt(at)
		if end := t.unquoted(at, false); end > at && t.s[at] != '-' && !shown(t.s[at:end]) {
			t.add(span{"password", at, end, false})
			t.named = max(t.named, end)
		}
		return
	}
}
