package main

import "fmt"

// minFiles is how many files a command with one input has open at a time, rounded up.
const minFiles = 16

// checkSystem returns an error if the limit on open files leaves too few to work with. It
// is called before anything else. The package early checks the address space.
func checkSystem() error {
	if !openFiles(minFiles) {
		return fmt.Errorf("the limit on open files (ulimit -n) leaves fewer than %d, but assay needs that many; raise the limit", minFiles)
	}
	return nil
}
