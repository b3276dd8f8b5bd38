// Loadtrace reads traces and keeps nothing of them: what is left is the cost of
// reading, for benchmarks of whole processes.
//
//	loadtrace FILE...
package main

import (
	"fmt"
	"os"

	"assay/internal/ingest"
	"assay/trace"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := load(path); err != nil {
			fmt.Fprintln(os.Stderr, "loadtrace:", err)
			os.Exit(3)
		}
	}
}

func load(path string) error {
	f, err := ingest.Open(path, os.Stdin)
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := trace.Read(f, f.Path, trace.SelectAll())
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d events, %d issues\n", path, t.Events, len(t.Issues))
	return nil
}
