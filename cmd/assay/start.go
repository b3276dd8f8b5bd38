package main

import "fmt"

// minFiles is the number of files that a command with one input opens at the same time, rounded up.
const minFiles = 16

// checkSystem returns an error if the limit on open files is too low. It is called first, so that a
// command does not fail in the middle. The package early checks the address space.
func checkSystem() error {
	if !openFiles(minFiles) {
		return fmt.Errorf("the limit on open files (ulimit -n) leaves fewer than %d, but assay needs that many; raise the limit", minFiles)
	}
	return nil
}
