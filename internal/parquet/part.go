package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strings"

	"assay/internal/tabular"
)

// Limits of a dictionary. A column with more distinct values is written without one.
const (
	dictionaryValues = 1 << 16
	dictionaryBytes  = 1 << 20
)

// A list has values: words for numbers, texts for texts.
type list struct {
	words []int64
	texts []string
}

func (l *list) len() int { return max(len(l.words), len(l.texts)) }

func (l *list) add(word int64, text string, isText bool) {
	if isText {
		l.texts = append(l.texts, text)
	} else {
		l.words = append(l.words, word)
	}
}

func (l *list) reset() { l.words, l.texts = l.words[:0], l.texts[:0] }

// A part has the values of a column in a row group. Nulls have no value, only a level.
type part struct {
	*tabular.Column

	definition, repetition []uint8 // one for each entry; nil if there is nothing to say

	plainly  bool     // without a dictionary: there are too many values, as there were in an earlier group
	index    []uint32 // of each value in the dictionary
	texts    map[string]uint32
	words    map[int64]uint32
	distinct list
	size     int // of the texts of the dictionary, in bytes

	values list // without a dictionary

	n         int   // entries
	nulls     int64 // entries without a value
	low, high int64
	ranged    bool // there is a lowest and a highest
	scratch   []byte
}

func (p *part) entries() int { return p.n }

func (p *part) reset() {
	p.definition, p.repetition, p.index, p.scratch = p.definition[:0], p.repetition[:0], p.index[:0], p.scratch[:0]
	p.distinct.reset()
	p.values.reset()
	clear(p.texts)
	clear(p.words)
	p.n, p.nulls, p.size, p.ranged = 0, 0, 0, false
}

func (p *part) isText() bool { return p.Type == tabular.Text || p.Type == tabular.Structured }

// levels returns the largest level of definition and of repetition.
func (p *part) levels() (definition, repetition int) {
	if p.Optional {
		definition = 1
	}
	if p.List {
		return definition + 2, 1
	}
	return definition, 0
}

// add adds the cell of a row and returns about how many bytes it takes.
func (p *part) add(c *tabular.Cell) int {
	most, _ := p.levels()
	switch {
	case !p.List && (c.Known || most == 0):
		p.entry(most, 0)
		return p.value(c)
	case !p.List, !c.Known:
		p.entry(0, 0)
		p.nulls++
		return 1
	case len(c.List) == 0:
		p.entry(most-2, 0)
		p.nulls++
		return 1
	}
	size := 0
	for i := range c.List {
		if !c.List[i].Known {
			p.entry(most-1, min(i, 1))
			p.nulls++
			size++
			continue
		}
		p.entry(most, min(i, 1))
		size += p.value(&c.List[i])
	}
	return size
}

func (p *part) entry(definition, repetition int) {
	p.n++
	if d, r := p.levels(); d > 0 {
		p.definition = append(p.definition, uint8(definition))
		if r > 0 {
			p.repetition = append(p.repetition, uint8(repetition))
		}
	}
}

// value adds a value that is known.
func (p *part) value(c *tabular.Cell) int {
	word, size := c.Int, 8
	switch p.Type {
	case tabular.Int:
		if !p.ranged {
			p.low, p.high, p.ranged = word, word, true
		}
		p.low, p.high = min(p.low, word), max(p.high, word)
	case tabular.Float:
		word, p.plainly = int64(math.Float64bits(c.Float)), true
	case tabular.Bool:
		p.plainly = true
	default:
		size = 4 + len(c.Text)
	}
	if !p.plainly {
		if at, ok := p.place(word, c.Text); ok {
			p.index = append(p.index, at)
			return 4
		}
		p.spill()
	}
	p.values.add(word, c.Text, p.isText())
	return size
}

// place returns the index of a value in the dictionary, which it is added to. It returns false if the dictionary is
// full.
func (p *part) place(word int64, text string) (at uint32, ok bool) {
	isText := p.isText()
	if n := len(p.index); n > 0 { // neighbours are often equal
		last := p.index[n-1]
		if isText && p.distinct.texts[last] == text || !isText && p.distinct.words[last] == word {
			return last, true
		}
	}
	if isText {
		at, ok = p.texts[text]
	} else {
		at, ok = p.words[word]
	}
	switch {
	case ok:
		return at, true
	case p.distinct.len() >= dictionaryValues || p.size+len(text) > dictionaryBytes:
		return 0, false
	}
	at = uint32(p.distinct.len())
	p.distinct.add(word, text, isText)
	if p.texts == nil {
		p.texts, p.words = map[string]uint32{}, map[int64]uint32{}
	}
	if isText {
		p.texts[text] = at
		p.size += len(text)
	} else {
		p.words[word] = at
	}
	return at, true
}

// spill gives the dictionary up.
func (p *part) spill() {
	p.plainly = true
	for _, at := range p.index {
		if p.isText() {
			p.values.texts = append(p.values.texts, p.distinct.texts[at])
		} else {
			p.values.words = append(p.values.words, p.distinct.words[at])
		}
	}
	p.index, p.texts, p.words = p.index[:0], nil, nil
	p.distinct = list{}
}

// indexed reports whether the part is written with a dictionary.
func (p *part) indexed() bool { return !p.plainly && p.distinct.len() > 0 }

// dictionary returns the content of the page with the distinct values.
func (p *part) dictionary() []byte { return p.plain(&p.distinct) }

// page returns the content of the page with the entries.
func (p *part) page() []byte {
	out := p.scratch[:0]
	if d, r := p.levels(); d > 0 {
		if r > 0 {
			out = level(out, p.repetition, r)
		}
		out = level(out, p.definition, d)
	}
	if p.indexed() {
		width := max(1, bits.Len(uint(p.distinct.len()-1)))
		out = hybrid(append(out, byte(width)), p.index, width)
	} else {
		p.scratch = out
		out = p.plain(&p.values)
	}
	p.scratch = out
	return out
}

// level appends levels with the length of what they take.
func level(out []byte, levels []uint8, most int) []byte {
	at := len(out)
	out = hybrid(append(out, 0, 0, 0, 0), levels, bits.Len(uint(most)))
	binary.LittleEndian.PutUint32(out[at:], uint32(len(out)-at-4))
	return out
}

// plain appends values without a dictionary to what the page has.
func (p *part) plain(values *list) []byte {
	out := p.scratch
	switch p.Type {
	case tabular.Bool:
		packed := make([]uint8, len(values.words))
		for i, word := range values.words {
			packed[i] = uint8(word)
		}
		out = pack(out, packed, (len(packed)+7)/8*8, 1)
	default:
		for _, word := range values.words {
			out = binary.LittleEndian.AppendUint64(out, uint64(word))
		}
		for _, text := range values.texts {
			text = strings.ToValidUTF8(text, "\uFFFD") // which the format demands
			out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
			out = append(out, text...)
		}
	}
	p.scratch = out
	return out
}
