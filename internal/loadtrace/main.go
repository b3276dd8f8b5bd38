// Loadtrace reads traces and keeps nothing of them: what is left is the cost of
// reading, for measurements of whole processes and counts of instructions.
//
//	loadtrace FILE...
//
// Names that end in .gz are decompressed. Files are not hashed, as the command
// does: where instructions are counted, the CPU is a model without instructions
// for that, and the hash would outweigh the reading.
package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"assay/internal/inflate"
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
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		in = inflate.NewReader(f)
	}
	t, err := trace.Read(in, path, trace.SelectAll())
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d events, %d issues\n", path, t.Events, len(t.Issues))
	return nil
}
