package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/summary"
)

// leaveExported leaves out reports of Nsight Systems whose database or directory of tables is read, too: nsys gives it the
// name of the report and uses it instead of the report while it is not older.
func (c *Choice) leaveExported() {
	all := slices.Clone(c.Files)
	c.Files = slices.DeleteFunc(c.Files, func(path string) bool {
		ext := filepath.Ext(path)
		if !isNsysReport(path, []byte{0}) {
			return false
		}
		for _, end := range []string{".sqlite", "_pqtdir"} {
			if export := strings.TrimSuffix(path, ext) + end; slices.Contains(all, export) && notOlder(export, path) {
				c.leave(path, summary.LeftExported)
				return true
			}
		}
		return false
	})
}

// notOlder reports whether a file was last changed when another one was, or later.
func notOlder(path, than string) bool {
	a, err1 := os.Stat(path)
	b, err2 := os.Stat(than)
	return err1 == nil && err2 == nil && !a.ModTime().Before(b.ModTime())
}
