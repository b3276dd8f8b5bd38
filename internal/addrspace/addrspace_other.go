//go:build !linux

package addrspace

// Left returns false: the limit is unknown on this system.
func Left() (bytes int64, ok bool) { return 0, false }
