// Package jsonscan finds the bounds of JSON values in a byte slice, and in a stream through a
// window ([Stream]). It also writes JSON for people ([Write]).
//
// It is made for the JSON that profilers really write. It checks structure (positions of quotes,
// brackets, commas and colons) and accepts deviations that leave the structure clear: control
// characters and invalid UTF-8 in strings, unknown escapes, bare NaN and Infinity, a comma before a
// closing bracket. The caller, for example package trace, interprets the values.
//
// Structure is checked in a value's outer two levels, which contain the relevant parts of trace
// events. Deeper arrays and objects only need to close their strings and balance their brackets, so
// they may nest without limit.
//
// All functions that scan take a slice and an index and return indices into the same slice. They
// allocate nothing. An input that ends inside a value gives [ErrShort]; any other result does not
// change if more bytes follow. Long runs of text are scanned eight bytes at a time.
//
//   - jsonscan.go, word.go: values in a slice, and the search in words of eight bytes
//   - stream.go: values in a stream
//   - unquote.go: the text of a string
//   - jsontext.go: the writer
package jsonscan
