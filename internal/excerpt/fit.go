package excerpt

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Mark is the member that says what was left out.
const Mark = "excerpt"

// LeastBytes is the smallest limit of bytes.
const LeastBytes = 1000

// A Document is JSON of which parts are taken. It can be used by several goroutines.
type Document struct{ root *object }

// Parse reads a document, which is one object.
func Parse(text string) (*Document, error) {
	root, err := parse(text)
	if err != nil {
		return nil, err
	}
	return &Document{root}, nil
}

// Take returns the chosen part of the document as JSON.
func (d *Document) Take(o Options) []byte {
	doc := clone(d.root)
	o.rows(doc)
	whole := doc
	doc = choose(o.Fields).keep(doc).(*object)
	o.tellApart(whole, doc)
	doc.members = slices.DeleteFunc(doc.members, func(m member) bool { return m.name == Mark })
	if o.MaxBytes <= 0 {
		return o.marked(doc, cuts{rows: mostItems})
	}
	return o.fit(doc)
}

// mostItems stands for no limit of a list.
const mostItems = 1 << 30

// cuts are the limits that make a document fit.
type cuts struct {
	rows    int      // items of each list
	more    int      // times that are kept in members that come first
	text    int      // bytes of each text; 0 for no limit
	of      reach    // which texts that limit is for
	members []string // of the document that are left out
}

// A reach says which texts a limit is for.
type reach int

const (
	ofNames reach = iota // all but those of members that Options.Whole names
	ofRows               // all but those of members that come first and are no lists
	ofAll
)

// Limits of texts that are tried in turn: names are worth shortening to keep all rows, texts of rows only to keep one of
// them, and the texts of the answer itself only if nothing else is left.
var (
	nameTexts = []int{240, 120}
	rowTexts  = []cuts{{text: 240, of: ofNames}, {text: 400, of: ofRows}, {text: 120, of: ofRows}}
	allTexts  = []int{0, 400, 120, 40}
)

// least are the items of each list that are worth keeping a member for, and how many times these in the members that
// come first. They are tried in turn.
var least = []cuts{{rows: 3, more: 5}, {rows: 1, more: 5}, {rows: 1, more: 2}, {rows: 1, more: 1}}

const markBytes = 900 // of the member that says what is left out, about

// fit shortens long names if all rows fit then. Otherwise it leaves out whole members, the largest first, until some
// items of each list of the others fit, and then takes as many items of these as fit. Texts of the members that come
// first are shortened only if not even one item of each has room.
func (o Options) fit(doc *object) []byte {
	for _, text := range append([]int{0}, nameTexts...) {
		if out := o.marked(doc, cuts{rows: mostItems, text: text, of: ofNames}); len(out) <= o.MaxBytes {
			return out
		}
	}
	doc = o.cut(doc, cuts{rows: o.MaxBytes / 2}) // every item has two bytes at least
	for _, text := range rowTexts {
		for _, c := range least {
			c.text, c.of = text.text, text.of
			var fits bool
			if c.members, fits = o.leave(doc, c); !fits {
				continue
			}
			if out := o.most(doc, c); out != nil {
				return out
			}
		}
	}
	var out []byte
	for _, text := range allTexts {
		c := cuts{rows: 1, text: text, of: ofAll}
		for {
			out = o.marked(doc, c)
			rest := o.order(o.cut(doc, c), true)
			if len(out) <= o.MaxBytes {
				return out
			}
			if len(rest) == 0 || len(rest) == 1 && text != allTexts[len(allTexts)-1] {
				break
			}
			c.members = append(c.members, rest[0].name)
		}
	}
	return out
}

// leave returns the members to leave out so that the rest fits within the limits, the largest first. Members that come
// first are not left out, and if there are none, one other is not.
func (o Options) leave(doc *object, c cuts) (names []string, fits bool) {
	small := o.cut(doc, c)
	room := o.MaxBytes - min(markBytes, o.MaxBytes/6) - len(appendDocument(nil, small, ""))
	if room >= 0 {
		return nil, true
	}
	parts := o.order(small, false)
	if len(parts) == len(o.order(small, true)) {
		parts = parts[:max(0, len(parts)-1)]
	}
	for _, p := range parts {
		names = append(names, p.name)
		if room += p.bytes; room >= 0 {
			return names, true
		}
	}
	return names, false
}

// A part is a member with the bytes that it takes.
type part struct {
	name  string
	bytes int
	first int // 1 for a list that comes first, 2 for what else does
}

// order returns the members of a document in the order in which they are left out: the largest first, and those that
// come first, if all may be left out, at last, their lists before the others.
func (o Options) order(doc *object, all bool) (parts []part) {
	for _, m := range doc.members {
		p := part{name: m.name}
		if slices.Contains(o.First, m.name) {
			if p.first = 2; isList(m.value) {
				p.first = 1
			}
		}
		if m.name != "schema" && (all || p.first == 0) {
			p.bytes = len(appendDocument(nil, &object{[]member{m}}, ""))
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b part) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.bytes, a.bytes))
	})
	return parts
}

func isList(v node) bool {
	_, is := v.(*list)
	return is
}

// most returns the document with as many items of each list as fit; nil if not even one item of each does.
func (o Options) most(doc *object, c cuts) (out []byte) {
	low, high := 0, o.MaxBytes/2 // low fits, high does not; 0 is not tried
	for high-low > 1 {
		middle := min(low+(high-low)/2, 2*low+1) // most limits are small
		c.rows = middle
		if try := o.marked(doc, c); len(try) <= o.MaxBytes {
			low, out = middle, try
		} else {
			high = middle
		}
	}
	return out
}

// cut returns the document within the limits.
func (o Options) cut(doc *object, c cuts) *object {
	out := &object{}
	for _, m := range doc.members {
		if slices.Contains(c.members, m.name) {
			continue
		}
		if m.name != "schema" {
			m.value = cut(m.value, o.limits(m, c))
		}
		out.members = append(out.members, m)
	}
	return out
}

// limits returns the limits of one member.
func (o Options) limits(m member, c cuts) cuts {
	first := slices.Contains(o.First, m.name)
	if first {
		c.rows = min(c.rows, mostItems/16) * max(1, c.more)
	}
	if c.of == ofNames && slices.Contains(o.Whole, m.name) || c.of == ofRows && first && !isList(m.value) || m.name == "schema" {
		c.text = 0
	}
	return c
}

// cut returns the value within the limits.
func cut(v node, c cuts) node {
	switch v := v.(type) {
	case scalar:
		return clip(v, c.text)
	case *list:
		out := &list{skipped: v.skipped, total: v.total, items: make([]node, min(c.rows, len(v.items)))}
		for i := range out.items {
			out.items[i] = cut(v.items[i], c)
		}
		return out
	case *object:
		out := &object{make([]member, 0, len(v.members))}
		for _, m := range v.members {
			if m.name != RowID {
				m.value = cut(m.value, c)
			}
			out.members = append(out.members, m)
		}
		return out
	}
	return v
}

// clip shortens a text that is over the limit of bytes, and ends it with an ellipsis.
func clip(s scalar, most int) scalar {
	if most == 0 || s[0] != '"' || len(s) <= most+2 {
		return s
	}
	end := 1
	for end < len(s)-1 {
		n := 1
		switch {
		case s[end] == '\\' && s[end+1] == 'u':
			if n = 6; s[end+2] == 'd' || s[end+2] == 'D' {
				n = 12 // two surrogates
			}
		case s[end] == '\\':
			n = 2
		default:
			_, n = utf8.DecodeRuneInString(string(s[end:]))
		}
		if end+n > most {
			break
		}
		end += n
	}
	return s[:end] + `…"`
}

// A loss is what was left out of the lists of one path.
type loss struct {
	path         string
	total, shown int
	skipped      int
	rows         bool // the list can be asked for from a row on
}

// A tally has the losses of a document by path, in the order of the document.
type tally struct {
	all []*loss
	at  map[string]*loss
}

// count adds what was left out of the lists in a value.
func (t *tally) count(v node, path string, inRow bool) {
	switch v := v.(type) {
	case *object:
		for _, m := range v.members {
			switch m.value.(type) {
			case *object, *list:
				t.count(m.value, strings.TrimPrefix(path+"."+m.name, "."), inRow)
			}
		}
	case *list:
		if len(v.items) < v.total {
			l := t.at[path]
			if l == nil {
				l = &loss{path: path, skipped: v.skipped, rows: !inRow && v.isRows()}
				t.at[path], t.all = l, append(t.all, l)
			}
			l.total += v.total
			l.shown += len(v.items)
		}
		for _, item := range v.items {
			t.count(item, path, true)
		}
	}
}

// shownLosses is the number of lists that a mark names; a small document names fewer.
func (o Options) shownLosses() int {
	if o.MaxBytes > 0 && o.MaxBytes < 4000 {
		return 3
	}
	return 12
}

// marked returns the JSON of the document within limits, with what they leave out.
func (o Options) marked(doc *object, c cuts) []byte {
	whole := doc
	if c.rows < mostItems || c.text > 0 {
		doc = o.cut(doc, c)
	}
	if mark := o.mark(whole, doc, c); mark != nil {
		at := 0
		if len(doc.members) > 0 && doc.members[0].name == "schema" {
			at = 1
		}
		doc = &object{slices.Insert(slices.Clone(doc.members), at, member{Mark, mark})}
	}
	return append(appendDocument(nil, doc, ""), '\n')
}

// mark returns what was left out of a document, or nil if nothing was.
func (o Options) mark(whole, doc *object, c cuts) *object {
	t := tally{at: map[string]*loss{}}
	t.count(doc, "", false)
	lost := t.all
	slices.SortStableFunc(lost, func(a, b *loss) int {
		if a.rows != b.rows {
			if a.rows {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.total-b.shown, a.total-a.shown)
	})
	mark := &object{}
	add := func(name string, v node) { mark.members = append(mark.members, member{name, v}) }
	if n := min(len(lost), o.shownLosses()); n > 0 {
		l := &list{}
		for _, x := range lost[:n] {
			l.items = append(l.items, x.node())
		}
		add("lists", l)
		if rest := lost[n:]; len(rest) > 0 {
			left := 0
			for _, x := range rest {
				left += x.total - x.shown
			}
			add("more_lists", number(len(rest)))
			add("items_left_out_of_them", number(left))
		}
	}
	if c.text > 0 && slices.ContainsFunc(doc.members, func(m member) bool { return clipped(whole.get(m.name), o.limits(m, c)) }) {
		add("texts_cut_to_bytes", number(c.text))
	}
	if names := c.members; len(names) > 0 {
		l := &list{}
		for _, name := range names[:min(len(names), 3*o.shownLosses())] {
			l.items = append(l.items, scalar(`"`+name+`"`))
		}
		add("members_left_out", l)
		if more := len(names) - len(l.items); more > 0 {
			add("more_members_left_out", number(more))
		}
	}
	if len(mark.members) == 0 {
		return nil
	}
	if o.More != nil {
		add("more", quote(o.more(lost, c)))
	}
	return mark
}

// more words how to get what was left out first.
func (o Options) more(lost []*loss, c cuts) string {
	switch {
	case len(lost) > 0 && lost[0].rows:
		return o.More(lost[0].path, lost[0].skipped+lost[0].shown, true)
	case len(c.members) > 0:
		return o.More(c.members[0], 0, false)
	case len(lost) > 0:
		return o.More(lost[0].path, 0, false)
	}
	return o.More("", 0, false)
}

// node returns the JSON of a loss.
func (l *loss) node() node {
	o := &object{[]member{{"list", scalar(`"` + l.path + `"`)}, {"items", number(l.total)}, {"shown", number(l.shown)}}}
	if l.skipped > 0 {
		o.members = append(o.members, member{"skipped", number(l.skipped)})
	}
	return o
}

func quote(text string) scalar {
	b, _ := json.Marshal(text)
	return scalar(b)
}

func number(n int) scalar { return scalar(strconv.Itoa(n)) }

// clipped reports whether the limit shortens a text.
func clipped(v node, c cuts) bool {
	switch v := v.(type) {
	case scalar:
		return clip(v, c.text) != v
	case *list:
		return slices.ContainsFunc(v.items, func(item node) bool { return clipped(item, c) })
	case *object:
		return slices.ContainsFunc(v.members, func(m member) bool { return clipped(m.value, c) })
	}
	return false
}
