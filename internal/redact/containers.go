package redact

import (
	"strconv"
	"strings"
)

// putty masks the lines of a private key of PuTTY: "Private-Lines: N", followed by N lines.
func (t *text) putty(from, to int) {
	if from < t.named {
		return
	}
	at := t.skip(to, " \t")
	start := at
	for start < len(t.s) && '0' <= t.s[start] && t.s[start] <= '9' {
		start++
	}
	lines, err := strconv.Atoi(t.s[at:min(start, at+6)])
	if err != nil {
		return
	}
	end := start
	for range lines + 1 {
		n := strings.IndexByte(t.s[end:], '\n')
		if n < 0 {
			end = len(t.s)
			break
		}
		end += n + 1
	}
	if i := strings.Index(t.s[start:end], "Private-MAC"); i >= 0 {
		end = start + i
	}
	t.named = max(t.named, end)
	start = t.skip(start, " \t\r\n")
	end = start + len(strings.TrimRight(t.s[start:max(start, end)], " \t\r\n"))
	if body := t.s[start:end]; !shown(body) {
		t.add(span{"private-key", start, end, false})
	}
}

// privateMembers are the secret members of a JSON Web Key.
var privateMembers = set("d p q dp dq qi k")

// jwk masks the secret members of the JSON Web Key whose member "kty" is at an offset.
func (t *text) jwk(from, to int) {
	const far = 8 << 10
	quote := t.quoteAt(to)
	if from < t.keyed || quote == 0 {
		return
	}
	low := max(t.keyed, from-far)
	start := low + 1 + strings.LastIndexByte(t.s[low:from], '{')
	end := min(len(t.s), to+far)
	if i := strings.IndexByte(t.s[to:end], '}'); i >= 0 {
		end = to + i
	}
	t.keyed = end
	for at := start; at < end; {
		at = t.member(at, end)
	}
}

// member examines the next quoted name from an offset on. It masks the value if the name is that of
// a secret member of a JSON Web Key, and returns where to continue.
func (t *text) member(at, end int) int {
	i := strings.IndexAny(t.s[at:end], `"'`)
	if i < 0 {
		return end
	}
	name := at + i + 1
	size := 0
	for size <= 2 && name+size < end && isAlnum(t.s[name+size]) {
		size++
	}
	if !privateMembers[t.s[name:name+size]] {
		return name
	}
	quote := t.quoteAt(name + size)
	colon := t.skip(name+size+quote, " \t\r\n")
	if quote == 0 || colon >= end || t.s[colon] != ':' {
		return name
	}
	value := t.skip(colon+1, " \t\r\n")
	n := t.quoteAt(value)
	if n == 0 {
		return name
	}
	from, to := t.inQuotes(value, n, setting{quoted: true})
	if !shown(t.s[from:to]) {
		t.add(span{"private-key", from, to, false})
	}
	return max(name, to)
}

// pgpass masks the password of a line of .pgpass: host:port:database:user:password. The mark is the
// port, or the asterisk for any port.
func (t *text) pgpass(from, to int) {
	const longestField = 64
	host := from
	for low := max(0, from-longestField); host > low && (isNameByte(t.s[host-1]) || t.s[host-1] == '*'); {
		host--
	}
	if from < t.named || host == from || host > 0 && !t.beginsHost(host, from) {
		return
	}
	at := to
	for range 2 { // database and user
		i := at
		for i < len(t.s) && i-at < longestField && t.s[i] > ' ' && strings.IndexByte(":/\"'", t.s[i]) < 0 {
			i++
		}
		if i == at || i >= len(t.s) || t.s[i] != ':' {
			return
		}
		at = i + 1
	}
	end := t.unquoted(at, false)
	secret := t.s[at:end]
	if secret == "" || placeholders().MatchString(secret[:min(len(secret), longestName)]) || shown(secret) ||
		strings.Trim(secret, digits) == "" {
		return
	}
	t.add(span{"password", at, end, false})
	t.named = max(t.named, end)
}

// beginsHost reports whether s[from:to] is a host although other text may be written before it: the
// name of a file and a line, the directory of a socket. A number of groups, as in an IPv6 address,
// is none, and in a pattern with asterisks only a name with a domain is one.
func (t *text) beginsHost(from, to int) bool {
	const longestGroup = 4
	before, host := t.s[:from], t.s[from:to]
	switch {
	case strings.IndexByte(":/@", before[from-1]) < 0, strings.HasSuffix(before, `\:`):
		return true
	case strings.HasPrefix(t.s[to:], ":*:"):
		return host == "localhost" || strings.Contains(host, ".")
	}
	return len(host) > longestGroup || strings.Trim(host, digits+"abcdefABCDEF") != ""
}
