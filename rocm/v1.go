package rocm

import (
	"strings"

	"assay/internal/database"
	"assay/trace"
)

// readV1 reads a database of rocprof v1, a by-product of its CSV and JSON. Rows of all tables have the index of the call
// that they belong to.
func readV1(c *capture, db *database.Database) {
	columns := []string{"BeginNs", "EndNs", "dev-id", "queue-id", "Name", "pid", "stream-id", "Index"}
	for _, table := range []string{"OPS", "COPY"} {
		c.scan(db, table, columns, func(row *database.Row) {
			kind := trace.Kernel
			if table == "COPY" {
				kind = trace.Memcpy
			}
			w := newWork(kind)
			w.start, w.end, w.device, w.queue, w.pid = when(row, 0), when(row, 1), row.Num(2), row.Num(3), row.Num(5)
			w.stream, w.correlation = row.Num(6), row.Num(7)
			w.name = v1Name(&w.kind, string(row.Text(4)))
			c.add(&w)
		})
	}
	for _, table := range []string{"HIP", "HSA", "ROCTX"} {
		c.scan(db, table, []string{"BeginNs", "EndNs", "pid", "tid", "Name", "Index"}, func(row *database.Row) {
			name := string(row.Text(4))
			d := callDomain(name)
			if table == "ROCTX" {
				d = domain{trace.Annotation, "roctx"}
			}
			c.host(d, []byte(name), row.Num(2), row.Num(3), when(row, 0), when(row, 1), row.Num(5))
		})
	}
}

// v1Name returns the name of an operation, and sets its kind where the name states it.
func v1Name(kind *trace.Kind, name string) []byte {
	switch {
	case strings.HasPrefix(name, "Copy"):
		*kind = trace.Memcpy
		return memcpyName([]byte(name))
	case strings.HasPrefix(name, "FillBuffer"):
		*kind = trace.Memset
		return []byte("Memset")
	}
	return kernelName([]byte(name))
}
