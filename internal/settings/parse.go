package settings

import (
	"bytes"
	"fmt"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// The limits of a settings file. The largest built-in one has 40 KB, about 7,000
// tokens and a depth of 5. Settings come from pull requests, and the memory of the
// YAML package grows with the square of the depth: 64 KiB of "[" would take 6 GB.
const (
	MaxBytes  = 64 << 10
	maxTokens = 24 << 10
	maxDepth  = 16
)

// A LimitError says where a file of settings is over a limit, as "7: column 12: ...".
type LimitError struct {
	Line, Column int
	what         string
}

func (e *LimitError) Error() string {
	return fmt.Sprintf("%d: column %d: %s", e.Line, e.Column, e.what)
}

// Parse parses YAML of at most [MaxBytes]. Before the tree is built, which is where
// memory may grow, it counts tokens and the depth of collections. A *[LimitError]
// says what is over a limit; other errors are those of the YAML package. A mark of
// the byte order is left out.
//
// Anchors and aliases are refused: a file of a few lines with aliases of aliases
// stands for millions of values, and no setting needs one.
func Parse(text []byte) (*ast.File, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if len(text) > MaxBytes {
		head := text[:MaxBytes]
		line := bytes.Count(head, []byte("\n"))
		return nil, &LimitError{line + 1, len(head) - bytes.LastIndexByte(head, '\n'), fmt.Sprintf("the file has more than %d KiB, the limit for settings", MaxBytes>>10)}
	}
	tokens := lexer.Tokenize(string(text))
	if err := checkTokens(tokens); err != nil {
		return nil, err
	}
	return parser.Parse(tokens, 0)
}

// checkTokens returns an error if there are too many tokens, if collections nest
// too deep, or if there is an anchor or alias.
func checkTokens(tokens token.Tokens) error {
	var d depth
	for i, t := range tokens {
		what := ""
		switch d.next(t); {
		case i >= maxTokens:
			what = fmt.Sprintf("the file has more than %d YAML tokens, the limit for settings", maxTokens)
		case d.levels() > maxDepth:
			what = fmt.Sprintf("values are nested deeper than %d levels, the limit for settings", maxDepth)
		case t.Type == token.AnchorType, t.Type == token.AliasType, t.Type == token.MergeKeyType:
			what = "anchors, aliases and merge keys are not supported in settings; write the value out"
		default:
			continue
		}
		err := &LimitError{Line: 1, Column: 1, what: what}
		if t.Position != nil {
			err.Line, err.Column = t.Position.Line, t.Position.Column
		}
		return err
	}
	return nil
}

// A depth counts the collections that are open at a token. In block style an entry
// closes all collections that begin at its column or to the right of it. Entries in
// block style within flow style, which YAML does not allow and the parser nests, count
// until the flow ends.
type depth struct {
	flow  int
	stray int          // block entries within flow style
	block []int        // columns, rising
	last  *token.Token // the token before
}

func (d *depth) levels() int { return d.flow + d.stray + len(d.block) }

func (d *depth) next(t *token.Token) {
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		d.flow++
	case token.SequenceEndType, token.MappingEndType:
		if d.flow = max(0, d.flow-1); d.flow == 0 {
			d.stray = 0
		}
	case token.SequenceEntryType, token.MappingKeyType:
		d.open(t)
	case token.MappingValueType:
		if d.last != nil && d.last.Type != token.MappingKeyType {
			d.open(d.last) // the key
		}
	case token.DocumentHeaderType, token.DocumentEndType:
		*d = depth{}
	}
	d.last = t
}

// open notes an entry that begins with t.
func (d *depth) open(t *token.Token) {
	if t.Position == nil {
		return
	}
	if d.flow > 0 {
		if t.Type == token.SequenceEntryType {
			d.stray++
		}
		return
	}
	for len(d.block) > 0 && d.block[len(d.block)-1] >= t.Position.Column {
		d.block = d.block[:len(d.block)-1]
	}
	d.block = append(d.block, t.Position.Column)
}
