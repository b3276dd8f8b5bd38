package proton

import (
	"bytes"
	"fmt"

	"assay/internal/diag"
	"assay/internal/lazyregexp"
)

// Tool is the name of the tool in tables.
const Tool = "proton"

// Limits bound the resources for reading one input. A field that is 0 has the default value.
type Limits struct {
	Nodes int // of a tree; the time of further ones counts for a node without a name
}

const (
	defaultNodes = 1 << 18
	maxDepth     = 512
	maxName      = 4 << 10
)

// treeStart matches the beginning of a tree: an array whose first object has one of the members of a node.
var treeStart = lazyregexp.New(`^\s*\[\s*\{\s*"(?:children|frame|metrics)"\s*:`)

// SniffTree reports whether a file that begins with head is a tree of Proton.
func SniffTree(head []byte) bool {
	return treeStart().Match(head) && bytes.Contains(head, []byte(`"frame"`)) && !bytes.Contains(head, []byte(`"ph"`))
}

// rootStack matches the scopes of an event of a trace.
var rootStack = lazyregexp.New(`"call_stack"\s*:\s*\[\s*"ROOT"`)

// SniffTrace reports whether a file that begins with head is a Chrome trace of Proton: an event has the scopes that it
// ran in, from the root on.
func SniffTrace(head []byte) bool {
	head = bytes.TrimSpace(head)
	return bytes.HasPrefix(head, []byte("{")) && bytes.Contains(head, []byte(`"ph"`)) && rootStack().Match(head)
}

// cutIssue says that a file breaks off.
func cutIssue(file string, at int64, err error) diag.Issue {
	return diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: file, Offset: at},
		Help: fmt.Sprintf("The file cannot be read to its end (%s). What follows is missing from every total. Let Proton write it again (proton.finalize()).", err)}
}

// damagedIssue says that numbers were left out.
func damagedIssue(file string, n int64) diag.Issue {
	return diag.Issue{Code: "value-malformed", Severity: diag.DataLoss, Count: n, First: diag.Pos{File: file},
		Help: "Numbers that are negative, too large or no numbers were left out."}
}
