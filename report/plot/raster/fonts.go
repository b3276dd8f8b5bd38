package raster

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// parsed returns the fonts of all pictures. They are safe for use by several goroutines.
var parsed = sync.OnceValues(func() (f [2]*opentype.Font, err error) {
	for i, ttf := range [...][]byte{liberationsansregular.TTF, liberationsansbold.TTF} {
		if f[i], err = opentype.Parse(ttf); err != nil {
			return f, fmt.Errorf("embedded font: %w", err)
		}
	}
	return f, nil
})

// Fonts are the fonts of all pictures.
type Fonts struct{ Regular, Bold *Font }

// NewFonts returns the fonts for one goroutine.
func NewFonts() (Fonts, error) {
	f, err := parsed()
	return Fonts{newFont(f[0]), newFont(f[1])}, err
}

// A Font caches the metrics of characters, because the tables of a font are slow to search and a text
// is measured several times until it fits. It must not be used by two goroutines at the same time.
type Font struct {
	*opentype.Font
	buf   sfnt.Buffer
	plain [256]character
	chars map[rune]character
	kerns map[[2]sfnt.GlyphIndex]fixed.Int26_6
}

// A character is a character in a font.
type character struct {
	index   sfnt.GlyphIndex // 0 if the font lacks it
	advance fixed.Int26_6   // in units of the font
	known   bool
}

func newFont(f *opentype.Font) *Font {
	return &Font{Font: f, chars: make(map[rune]character), kerns: make(map[[2]sfnt.GlyphIndex]fixed.Int26_6)}
}

func (f *Font) character(r rune) character {
	if r >= 0 && int(r) < len(f.plain) {
		if c := &f.plain[r]; !c.known {
			*c = f.look(r)
		}
		return f.plain[r]
	}
	c, known := f.chars[r]
	if !known {
		c = f.look(r)
		f.chars[r] = c
	}
	return c
}

// look reads a character from the tables of the font. The embedded fonts are valid, so an error means
// that the font lacks the character.
func (f *Font) look(r rune) character {
	index, err := f.GlyphIndex(&f.buf, r)
	if err != nil {
		return character{known: true}
	}
	advance, err := f.GlyphAdvance(&f.buf, index, f.units(), font.HintingNone)
	if err != nil {
		advance = 0
	}
	return character{index, advance, true}
}

// units returns the size at which a unit of the font is one of [fixed.Int26_6].
func (f *Font) units() fixed.Int26_6 { return fixed.Int26_6(f.UnitsPerEm()) }

// Has reports whether the font has a character.
func (f *Font) Has(r rune) bool { return f.character(r).index != 0 }

// kern returns the kerning of two characters, in units of the font.
func (f *Font) kern(a, b sfnt.GlyphIndex) fixed.Int26_6 {
	pair := [2]sfnt.GlyphIndex{a, b}
	k, known := f.kerns[pair]
	if !known {
		var err error
		if k, err = f.Kern(&f.buf, a, b, f.units(), font.HintingNone); err != nil {
			k = 0
		}
		f.kerns[pair] = k
	}
	return k
}

// Width returns the width of a text, in the unit of size.
func (f *Font) Width(s string, size float64) float64 {
	width, last := fixed.Int26_6(0), character{}
	for _, r := range s {
		c := f.character(r)
		if last.known {
			width += f.kern(last.index, c.index)
		}
		width += c.advance
		last = c
	}
	return float64(width) * (size / float64(f.units()))
}
