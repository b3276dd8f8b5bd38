package ingest

import "assay/trace"

// Events returns a reader of the events of f as they are written. It returns nil if f is not
// Chrome JSON; use [Load] for such a file.
func Events(f *File, sel trace.Select) (*trace.Reader, error) {
	head, err := f.Peek()
	if err != nil {
		return nil, err
	}
	if format := formatOf(f.Path, head); format == nil || format.name != "chrome-trace" {
		return nil, nil
	}
	f.max = sel.Limits.Input
	return trace.NewReader(f, f.Path, sel), nil
}
