package redact

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
)

// A Redactor rewrites texts. Equal ones stay equal and different ones different,
// and the same texts in the same order give the same result. It is not safe for
// concurrent use.
type Redactor struct {
	users   bool              // names of users are hidden, too
	secrets map[string]string // placeholders
	kinds   map[string]int    // how many secrets of each kind
	names   map[string]string // placeholders of users; nil until they are numbered
	found   map[string]bool   // names of users
	name    *regexp.Regexp    // any of them
}

// New returns a Redactor of secrets or, if users is set, of the names of users and
// their addresses, too.
func New(users bool) *Redactor {
	return &Redactor{users: users, secrets: map[string]string{}, kinds: map[string]int{}, found: map[string]bool{}}
}

// Secrets returns how many different secrets were hidden.
func (r *Redactor) Secrets() int { return len(r.secrets) }

// Kinds lists the kinds of the secrets with their numbers: "aws 1, hf 2".
func (r *Redactor) Kinds() string {
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(r.kinds)) {
		parts = append(parts, fmt.Sprintf("%s %d", kind, r.kinds[kind]))
	}
	return strings.Join(parts, ", ")
}

// homes are where the files of users are; others are where their names stand
// besides.
var (
	homes  = lazyregexp.New(`(?:/home/|/Users/|\\Users\\)([^/\\\s"':;,()]{1,64})`)
	caches = lazyregexp.New(`/torchinductor_([A-Za-z0-9._-]{1,64})`)
	emails = lazyregexp.New(`\b([A-Za-z0-9._%+-]{1,64})@([A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}\b`)
)

// shared are names that are of no one.
var shared = []string{"user", "users", "root", "shared", "public", "default", "runner", "ubuntu", "admin"}

// Learn notes the names of users in a text. All texts are to be learnt before the
// first is rewritten: a name that one of them shows is hidden in all.
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

// mostNames is how many names of users are told apart; a machine has fewer.
const mostNames = 1000

// Text returns text without its secrets and, if wanted, names of users.
func (r *Redactor) Text(text string) string {
	text = replace(text, func(kind, secret string) string {
		p, ok := r.secrets[secret]
		if !ok {
			r.kinds[kind]++
			p = fmt.Sprintf("[%s-%d]", kind, r.kinds[kind])
			r.secrets[secret] = p
		}
		return p
	})
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
	for range 2 { // two names side by side share what is between them
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

// number gives each name that was learnt its placeholder, by the alphabet, so that
// the order of the texts does not matter.
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
		// As a part of a path, or between marks that part words.
		r.name = regexp.MustCompile(`(?:^|[/\\_.:@ -])(` + strings.Join(words, "|") + `)(?:$|[/\\_.:@ -])`)
	}
}

// Strings rewrites every text that v, a pointer, leads to: fields, elements and
// values of maps, whatever they are called. A field that a later version adds is
// not forgotten.
func (r *Redactor) Strings(v any) {
	if r.users {
		walk(reflect.ValueOf(v), func(s string) string { r.Learn(s); return s })
	}
	walk(reflect.ValueOf(v), r.Text)
}

// walk calls f for every text and stores what it returns.
func walk(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				walk(v.Field(i), f)
			}
		}
	case reflect.Slice, reflect.Array:
		if holdsText(v.Type().Elem()) {
			for i := range v.Len() {
				walk(v.Index(i), f)
			}
		}
	case reflect.Map:
		walkMap(v, f)
	case reflect.String:
		if old := v.String(); v.CanSet() {
			if text := f(old); text != old {
				v.SetString(text)
			}
		}
	}
}

// walkMap rewrites the texts among the values of a map, which cannot be set in
// their place. Its keys are names that assay gave, or settings.
func walkMap(v reflect.Value, f func(string) string) {
	text := v.Type().Elem().Kind() == reflect.String
	if v.Type().Key().Kind() != reflect.String || !text && !holdsText(v.Type().Elem()) {
		return
	}
	keys := v.MapKeys()
	slices.SortFunc(keys, func(a, b reflect.Value) int { return cmp.Compare(a.String(), b.String()) })
	for _, key := range keys {
		if !text {
			walk(v.MapIndex(key), f)
			continue
		}
		if old := v.MapIndex(key).String(); f(old) != old {
			v.SetMapIndex(key, reflect.ValueOf(f(old)).Convert(v.Type().Elem()))
		}
	}
}

// holdsText reports whether values of a type may lead to texts: lists of numbers,
// which may be long, do not.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Struct, reflect.Interface, reflect.Pointer, reflect.Map:
		return t.Kind() != reflect.Pointer || holdsText(t.Elem())
	case reflect.Slice, reflect.Array:
		return holdsText(t.Elem())
	}
	return false
}
