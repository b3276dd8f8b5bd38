// Loadtrace reads traces and discards them. The remaining cost is that of
// reading, for measurements of whole processes and counts of instructions.
//
//	loadtrace FILE...
//
// Names that end in .gz or .zst are decompressed, and "-" is standard input.
// Unlike the command, loadtrace does not hash files: instructions are counted
// on a CPU model without hash instructions, so the hash would dominate the
// count.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

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
	f := os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return err
		}
		defer f.Close()
	}
	var in io.Reader = f
	switch filepath.Ext(path) {
	case ".gz":
		in = inflate.NewReader(f)
	case ".zst":
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return err
		}
		defer z.Close()
		in = z
	}
	t, err := trace.Read(in, path, trace.SelectAll())
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d events, %d issues\n", path, t.Events, len(t.Issues))
	return nil
}
