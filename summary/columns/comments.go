package columns

import (
	_ "embed"
	"strings"
	"sync"
)

// comments.txt has the first sentence of the comment at each field of the rows, taken from the sources of package
// summary: "Kernel.MinNS", a tab, and the sentence. TestComments compares it with them.
//
//go:embed comments.txt
var commentsFile string

var comments = sync.OnceValue(func() map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(commentsFile) {
		key, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		out[key] = text
	}
	return out
})

// comment returns the sentence at a field of a type, or "".
func comment(typeName, field string) string { return comments()[typeName+"."+field] }
