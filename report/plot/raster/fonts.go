package raster

import (
	"fmt"
	"sync"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"golang.org/x/image/font/opentype"
)

// Fonts are the fonts of all pictures.
type Fonts struct{ Regular, Bold *opentype.Font }

// Parsed returns the fonts, which any number of goroutines may use at a time.
var Parsed = sync.OnceValues(func() (f Fonts, err error) {
	if f.Regular, err = opentype.Parse(liberationsansregular.TTF); err != nil {
		return f, fmt.Errorf("embedded font: %w", err)
	}
	if f.Bold, err = opentype.Parse(liberationsansbold.TTF); err != nil {
		return f, fmt.Errorf("embedded font: %w", err)
	}
	return f, nil
})
