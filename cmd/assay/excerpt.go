package main

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"assay/internal/excerpt"
	"assay/internal/label"
	"assay/summary"
)

// excerpting has the flags that take a part of a JSON document.
type excerpting struct {
	fields    []string
	find      string
	top, skip int
	most      size
	given     []string // flags that were given
}

// register registers the flags. A command that has --top for its tables keeps it.
func (x *excerpting) register(flags *pflag.FlagSet) {
	flags.StringSliceVar(&x.fields, "fields", nil, "with --format json: only these members, `NAME`[,NAME...] such as verdict or kernels.name; \"assay schema\" describes them; rows that look alike then also get their keys")
	flags.StringVar(&x.find, "find", "", "with --format json: only rows that have `TEXT` in one of their texts, in upper or lower case")
	if flags.Lookup("top") == nil {
		flags.IntVar(&x.top, "top", 0, "with --format json: the first `N` rows of each list (default: all)")
	}
	flags.IntVar(&x.skip, "skip", 0, "with --format json: leave out the first `N` rows of each list")
	x.most.least = excerpt.LeastBytes
	flags.Var(&x.most, "max-bytes", "with --format json: print at most `SIZE` bytes; the member \"excerpt\" counts what is left out")
}

// check returns a message if the flags are wrong for the format and the document, or "".
func (x *excerpting) check(flags *pflag.FlagSet, format, name string) string {
	own := []string{"fields", "find", "skip", "max-bytes"}
	if strings.HasPrefix(flags.Lookup("top").Usage, "with --format json") {
		own = append(own, "top")
	}
	for _, flag := range own {
		if flags.Changed(flag) {
			x.given = append(x.given, flag)
		}
	}
	switch {
	case len(x.given) == 0:
		return ""
	case format != "json":
		return fmt.Sprintf("--%s takes a part of the JSON; add --format json", x.given[0])
	case flags.Changed("top") && x.top < 1 && slices.Contains(own, "top"):
		return fmt.Sprintf("--top is %d, want a number of rows from 1 on", x.top)
	case x.skip < 0:
		return fmt.Sprintf("--skip is %d, want a number of rows", x.skip)
	case flags.Changed("fields") && len(x.fields) == 0:
		return "--fields is empty, want names such as verdict or kernels.name"
	}
	return checkFields(x.fields, name)
}

// longestField bounds the names of fields, because the search for near ones takes the square of their length.
const longestField = 200

// checkFields returns a message with the nearest names if a document has no such field, or "".
func checkFields(fields []string, name string) string {
	if len(fields) == 0 {
		return ""
	}
	d, _ := outputNamed(name)
	described := d.described(false)
	for _, field := range fields {
		if len(field) > longestField {
			return fmt.Sprintf("a field of --fields has %d letters, and no name is longer than %d: %s", len(field), longestField, label.Clip(label.Clean(field[:longestField]), 60))
		}
		names := strings.Split(field, ".")
		if names[len(names)-1] == excerpt.RowID && len(names) > 1 {
			names = names[:len(names)-1]
		}
		known, here := described.Lookup(names)
		if known {
			continue
		}
		return fmt.Sprintf("the JSON has no field %q; %s", field, nearFields(field, here, described.Paths(2)))
	}
	return ""
}

// nearFields suggests fields for a wrong one: those of the same object with a similar name, or else those elsewhere
// that end in the same name, or all of the same object.
func nearFields(field string, here, all []string) string {
	const shown = 8
	last := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	similar := func(a, b string) bool { return label.Edits(a, b) <= max(1, len(a)/5) }
	for _, look := range []struct {
		in   []string
		near func(name string) bool
	}{
		{here, func(name string) bool { return similar(last(field), last(name)) }},
		{all, func(name string) bool { return similar(field, name) }},
		{all, func(name string) bool { return similar(last(field), last(name)) }},
		{all, func(name string) bool { return strings.Contains(last(name), last(field)) }},
	} {
		near := slices.DeleteFunc(slices.Clone(look.in), func(name string) bool { return !look.near(name) })
		switch n := min(shown, len(near)); n {
		case 0:
		case 1:
			return "near it is " + near[0]
		default:
			return "near it are " + series(near[:n], " and ")
		}
	}
	text := "there are " + strings.Join(here[:min(3*shown, len(here))], ", ")
	if more := len(here) - 3*shown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text + `; "assay schema" describes them`
}

// firstMembers are the answers of the documents, which stay when there is no room for the rest.
var firstMembers = []string{"verdict", "findings", "headline", "findings_delta", "result", "gates", "answers", "question", "why", "rows"}

// wholeMembers are those of them whose texts are sentences; the rows of sums have names.
var wholeMembers = firstMembers[:len(firstMembers)-1]

// keysOf returns the members that identify a row of a list, or nil.
func keysOf(path string, texts func(member string) []string) []string {
	switch path {
	case "findings":
		return []string{"rule", "subject"}
	case "rows": // sums by keys
		return texts("by")
	}
	return summary.KeysOf(path)
}

// part returns the result with only the part that the flags ask for.
func (x *excerpting) part(r result) result {
	if len(x.given) == 0 {
		return r
	}
	whole := r.encode
	r.encode = func(w io.Writer) error {
		var text bytes.Buffer
		if err := whole(&text); err != nil {
			return err
		}
		doc, err := excerpt.Parse(text.String())
		if err != nil {
			return err
		}
		_, err = w.Write(doc.Take(excerpt.Options{Fields: x.fields, Find: x.find, Top: x.top, Skip: x.skip, MaxBytes: int(x.most.bytes), Keys: keysOf, First: firstMembers, Whole: wholeMembers, More: moreFlags}))
		return err
	}
	return r
}

// moreFlags words the flags that get what was left out.
func moreFlags(path string, shown int, rows bool) string {
	switch {
	case path == "":
		return "raise --max-bytes"
	case rows:
		return fmt.Sprintf("--fields %s --skip %d", path, shown)
	}
	return fmt.Sprintf("--fields %s, or raise --max-bytes", path)
}
