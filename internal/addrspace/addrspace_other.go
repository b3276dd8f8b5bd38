//go:build !linux

package addrspace

// Left returns how many bytes of addresses the process may still map. It is not ok on
// this system.
func Left() (bytes int64, ok bool) { return 0, false }
