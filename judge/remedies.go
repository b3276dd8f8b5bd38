package judge

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// A Source is the guide or page of documentation that a remedy comes from.
type Source struct {
	Title string `json:"title" yaml:"title"`
	URL   string `json:"url" yaml:"url"` // or where in a repository it is
}

// A Remedy is one thing to do, as a page shows it.
type Remedy struct {
	ID     string   `json:"id"`
	Text   string   `json:"text"`             // words in braces are filled in by the rule
	Stacks []string `json:"stacks,omitempty"` // given only where one of these is found, or none of its kind
	Plain  bool     `json:"plain,omitempty"`  // given only where a capture shows a program without PyTorch
	Source Source   `json:"source"`
}

// A remedyEntry is a remedy as its file has it.
type remedyEntry struct {
	Text  string   `yaml:"text"`
	From  string   `yaml:"from"`
	Of    string   `yaml:"of"`
	With  []string `yaml:"with"`
	Rules []string `yaml:"rules"`
	Kept  []string `yaml:"kept"`
	Plain string   `yaml:"plain"`

	id    string
	shape *regexp.Regexp // of a text with words to fill in; nil of others
}

// A remedyBook is the file of remedies.
type remedyBook struct {
	Sources   map[string]Source       `yaml:"sources"`
	Otherwise map[string]string       `yaml:"otherwise"`
	Remedies  map[string]*remedyEntry `yaml:"remedies"`

	byText map[string]*remedyEntry
	shapes []*remedyEntry // those with words to fill in
	added  []*remedyEntry // those with stacks that add them, by id
}

// remedies returns what remedies.yaml says.
var remedies = sync.OnceValue(func() *remedyBook {
	book := builtInRemedies()
	b := &book
	b.byText = map[string]*remedyEntry{}
	for _, id := range slices.Sorted(maps.Keys(b.Remedies)) {
		r := b.Remedies[id]
		r.id = id
		b.byText[r.Text] = r
		if blank().MatchString(r.Text) {
			r.shape = shapeOf(r.Text)
			b.shapes = append(b.shapes, r)
		}
		if len(r.With) > 0 {
			b.added = append(b.added, r)
		}
	}
	return b
})

// blank is a word that a rule fills in.
var blank = lazyregexp.New(`\{[a-z]+\}`)

// shapeOf returns what texts match that were made of one with blanks.
func shapeOf(text string) *regexp.Regexp {
	parts := blank().Split(text, -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return regexp.MustCompile("(?s)^" + strings.Join(parts, ".*") + "$")
}

// say returns the text of a remedy with its blanks filled in: pairs of a word and
// what stands for it.
func say(id string, fill ...string) string {
	text := remedies().Remedies[id].Text
	for i := 0; i+1 < len(fill); i += 2 {
		text = strings.ReplaceAll(text, "{"+fill[i]+"}", fill[i+1])
	}
	return text
}

// entryOf returns the remedy that a step was made of, or nil.
func (b *remedyBook) entryOf(step string) *remedyEntry {
	if r := b.byText[step]; r != nil {
		return r
	}
	for _, r := range b.shapes {
		if r.shape.MatchString(step) {
			return r
		}
	}
	return nil
}

// withoutTorch reports whether a summary shows the kernels of a program that is not of
// PyTorch: no other profiler than those of CUDA recorded it, and no name in it is
// PyTorch's or of what is built on it.
func withoutTorch(s *summary.Summary, stacks []Stack) bool {
	c := court{Summary: s}
	return len(s.Kernels) > 0 && !slices.Contains(c.producers(), "torch") &&
		!slices.ContainsFunc(stacks, func(st Stack) bool { return st.ID != "jax" })
}

// plainly puts in the place of steps for PyTorch what other programs can do.
func (b *remedyBook) plainly(steps []string) (out []string) {
	for _, step := range steps {
		if r := b.entryOf(step); r != nil && r.Plain == "none" {
			continue
		} else if r != nil && r.Plain != "" {
			step = b.Remedies[r.Plain].Text
		}
		if !slices.Contains(out, step) {
			out = append(out, step)
		}
	}
	return out
}

// sourceOf returns where a step of a rule comes from.
func (b *remedyBook) sourceOf(rule, step string) Source {
	if r := b.entryOf(step); r != nil {
		return b.Sources[r.From]
	}
	return b.Sources[b.Otherwise[rule]]
}

// remediesOf returns what findings of a rule may say to do, by id.
func remediesOf(rule string) (out []Remedy) {
	b := remedies()
	plain := map[string]bool{}
	for _, r := range b.Remedies {
		plain[r.Plain] = true
	}
	for _, id := range slices.Sorted(maps.Keys(b.Remedies)) {
		r := b.Remedies[id]
		if !slices.Contains(r.Kept, rule) && !slices.Contains(r.Rules, rule) {
			continue
		}
		one := Remedy{ID: id, Text: r.Text, Stacks: slices.Clone(r.With), Plain: plain[id], Source: b.Sources[r.From]}
		if r.Of != "" {
			one.Stacks = []string{r.Of}
		}
		out = append(out, one)
	}
	return out
}
