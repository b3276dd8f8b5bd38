package ingest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"assay/summary"
)

// leaveExported leaves out reports of Nsight Systems whose database is read, too: nsys gives it the name of the
// report and uses it instead of the report while it is not older.
func (c *Choice) leaveExported() {
	all := slices.Clone(c.Files)
	c.Files = slices.DeleteFunc(c.Files, func(path string) bool {
		ext := filepath.Ext(path)
		if !isNsysReport(path, []byte{0}) {
			return false
		}
		database := strings.TrimSuffix(path, ext) + ".sqlite"
		if !slices.Contains(all, database) || !notOlder(database, path) {
			return false
		}
		c.leave(path, summary.LeftExported)
		return true
	})
}

// notOlder reports whether a file was last changed when another one was, or later.
func notOlder(path, than string) bool {
	a, err1 := os.Stat(path)
	b, err2 := os.Stat(than)
	return err1 == nil && err2 == nil && !a.ModTime().Before(b.ModTime())
}
