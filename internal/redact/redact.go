package redact

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
)

// Mask returns text without its secrets, each replaced by its kind in brackets. Masking the result
// again changes nothing.
func Mask(text string) string { return replace(text, func(span, string) {}) }

// Count returns the number of secrets in a text. Each occurrence counts.
func Count(text string) int64 { return int64(len(find(text))) }

// Secrets returns the secrets of a text, in their order.
func Secrets(text string) (all []string) {
	for _, f := range find(text) {
		all = append(all, text[f.from:f.to])
	}
	return all
}

// replace returns text with each secret replaced by its kind. It calls each for every secret.
func replace(text string, each func(f span, secret string)) string {
	const most = 4 // rounds, because a replacement may join texts that look like a secret again
	for range most {
		found := find(text)
		if found == nil {
			break
		}
		var b strings.Builder
		done := 0
		for _, f := range found {
			each(f, text[f.from:f.to])
			b.WriteString(text[done:f.from])
			b.WriteString("[" + f.kind + "]")
			done = f.to
		}
		b.WriteString(text[done:])
		text = b.String()
	}
	return text
}

// A Redactor rewrites texts. Its result for a text does not depend on the order of texts, except
// for names of users, which [Redactor.Learn] must collect first. It is not safe for concurrent use.
type Redactor struct {
	users bool              // also hide names of users
	names map[string]string // placeholders of users; nil until they are numbered
	found map[string]bool   // names of users
	name  *regexp.Regexp    // matches any of them

	seed    maphash.Seed
	secrets map[uint64]bool // hashes of the secrets that were hidden
}

// New returns a Redactor of secrets and, if users is set, of user names and email addresses.
func New(users bool) *Redactor {
	return &Redactor{users: users, secrets: map[uint64]bool{}, seed: maphash.MakeSeed(), found: map[string]bool{}}
}

// Secrets returns how many different secrets were hidden.
func (r *Redactor) Secrets() int { return len(r.secrets) }

// homes and caches are directories named after users.
var (
	homes  = lazyregexp.New(`(?:/home/|/Users/|\\Users\\)([^/\\\s"':;,()]{1,64})`)
	caches = lazyregexp.New(`/torchinductor_([A-Za-z0-9._-]{1,64})`)
	emails = lazyregexp.New(`\b([A-Za-z0-9._%+-]{1,64})@([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b`)
)

// shared are names that do not identify a person.
var shared = []string{"user", "users", "root", "shared", "public", "default", "runner", "ubuntu", "admin"}

// Learn collects the names of users in a text. It must see all texts before the first is rewritten,
// because a name in one of them is hidden in all.
func (r *Redactor) Learn(text string) {
	if !r.users || !strings.ContainsAny(text, `/\`) {
		return
	}
	for _, where := range []*regexp.Regexp{homes(), caches()} {
		for _, m := range where.FindAllStringSubmatch(text, -1) {
			if len(r.found) < mostNames {
				r.found[m[1]] = true
			}
		}
	}
}

// mostNames is the largest number of user names that get numbers of their own; a machine has fewer.
const mostNames = 1000

// Text returns text without its secrets and, if wanted, without names of users.
func (r *Redactor) Text(text string) string {
	text = replace(text, func(_ span, secret string) { r.secrets[maphash.String(r.seed, secret)] = true })
	if !r.users {
		return text
	}
	r.number()
	if strings.Contains(text, "@") {
		text = emails().ReplaceAllString(text, "[email]")
	}
	hide := func(where *regexp.Regexp) {
		text = where.ReplaceAllStringFunc(text, func(m string) string {
			name := where.FindStringSubmatch(m)[1]
			return strings.TrimSuffix(m, name) + cmp.Or(r.names[name], "[user]")
		})
	}
	hide(homes())
	hide(caches())
	for range 2 { // two adjacent names share the separator between them, so one pass misses the second
		if r.name == nil {
			break
		}
		text = r.name.ReplaceAllStringFunc(text, func(m string) string {
			name := r.name.FindStringSubmatch(m)[1]
			return strings.Replace(m, name, r.names[name], 1)
		})
	}
	return text
}

// number gives each collected name its placeholder, in alphabetical order, so that the order of the
// texts does not matter.
func (r *Redactor) number() {
	if r.names != nil {
		return
	}
	r.names = map[string]string{}
	var words []string
	for i, name := range slices.Sorted(maps.Keys(r.found)) {
		r.names[name] = fmt.Sprintf("[user-%d]", i+1)
		if len(name) >= 4 && !slices.Contains(shared, strings.ToLower(name)) {
			words = append(words, regexp.QuoteMeta(name))
		}
	}
	if words != nil {
		// As a part of a path, or between characters that separate words.
		r.name = regexp.MustCompile(`(?:^|[/\\_.:@ -])(` + strings.Join(words, "|") + `)(?:$|[/\\_.:@ -])`)
	}
}
