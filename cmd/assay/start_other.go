//go:build !unix

package main

// endOnQuit does nothing, because this system does not have the signal.
func endOnQuit() {}

// openFiles reports whether the process may open n more files. Users of this system cannot set such
// a limit.
func openFiles(int) bool { return true }
