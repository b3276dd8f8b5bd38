package trace

import (
	"bytes"

	"assay/internal/jsonscan"
)

func sniff(prefix []byte) bool {
	prefix = bytes.TrimPrefix(prefix, []byte("\xef\xbb\xbf"))
	i := jsonscan.Space(prefix, 0)
	if i == len(prefix) {
		return false
	}
	switch prefix[i] {
	case '{':
		return true
	case '[':
		i = jsonscan.Space(prefix, i+1)
		return i == len(prefix) || prefix[i] == '{' || prefix[i] == ']' || prefix[i] == ',' ||
			bytes.Contains(prefix, []byte(`"ph"`))
	}
	// If text precedes the trace, the lines must clearly be a trace.
	at := jsonAfterText(prefix)
	return at > 0 && (bytes.Contains(prefix[at:], []byte(`"traceEvents"`)) || bytes.Contains(prefix[at:], []byte(`"ph"`)))
}
