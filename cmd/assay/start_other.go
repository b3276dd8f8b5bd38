//go:build !unix

package main

// endOnQuit does nothing, because this system does not have the signal.
func endOnQuit() {}

// openFiles reports whether the process may open n more files. This system has no
// limit that a user sets.
func openFiles(int) bool { return true }
