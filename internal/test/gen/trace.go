package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"

	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
)

// traceCommand writes a trace, or with -troubles one for each known problem. A name that
// ends in .gz is compressed; one that ends in .sqlite is written as an export of Nsight
// Systems; "-" is standard output. The truth about the file is written as JSON to the file
// given by -truth.
func traceCommand(flags *flag.FlagSet) func() error {
	preset := flags.String("preset", "big", "scenario: big or one of "+strings.Join(presetNames(), ", "))
	size := flags.String("size", "100m", "bytes of JSON that big has at least; k, m and g are decimal")
	rank := flags.Int("rank", 0, "rank whose trace to write")
	ranks := flags.Int("ranks", 0, "number of ranks of the job (default: that of the scenario)")
	out := flags.String("o", "-", "output file; .gz is compressed, and .sqlite is an export of Nsight Systems")
	truth := flags.String("truth", "", "file for the truth as JSON")
	troubles := flags.String("troubles", "", "directory for runs with one problem each, in separate directories; replaces -preset")
	return func() error {
		if *troubles != "" {
			return writeTroubles(*troubles)
		}
		sc, err := scenario(*preset, *size)
		if err != nil {
			return err
		}
		if *ranks > 0 {
			sc.Ranks = *ranks
		}
		t, err := writeTrace(*out, sc, *rank)
		if err != nil || *truth == "" {
			return err
		}
		text, err := json.MarshalIndent(t, "", "  ")
		if err != nil {
			return err
		}
		return os.WriteFile(*truth, append(text, '\n'), 0o666)
	}
}

// writeTroubles writes the traces of all troubles, and for each the expected
// first finding.
func writeTroubles(dir string) error {
	for _, tr := range tracegen.Troubles() {
		folder := filepath.Join(dir, tr.Name)
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return err
		}
		for rank, story := range tr.Ranks {
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("rank%d.json", rank)), story.JSON, 0o666); err != nil {
				return err
			}
		}
		about := fmt.Sprintf("first finding: %s\nlooks like:    %s\nlimits:        %s\n", cmp.Or(tr.Rule, "none"), cmp.Or(tr.Near, "nothing else"), cmp.Or(tr.Limits, "the defaults"))
		if err := os.WriteFile(filepath.Join(folder, "about.txt"), []byte(about), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func presetNames() (names []string) {
	for _, p := range tracegen.Presets() {
		names = append(names, p.Name)
	}
	return names
}

func scenario(preset, size string) (tracegen.Scenario, error) {
	if preset == "big" {
		n, err := parseSize(size)
		return tracegen.Big(n), err
	}
	for _, p := range tracegen.Presets() {
		if p.Name == preset {
			return p.Make(), nil
		}
	}
	return tracegen.Scenario{}, fmt.Errorf("no preset %q; there are big, %s", preset, strings.Join(presetNames(), ", "))
}

// parseSize reads a number of bytes such as 300m.
func parseSize(s string) (int64, error) {
	digits, unit := s, int64(1)
	for i, letter := range []string{"k", "m", "g"} {
		if cut, ok := strings.CutSuffix(strings.ToLower(s), letter); ok {
			digits = cut
			unit = []int64{1e3, 1e6, 1e9}[i]
			break
		}
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 1 || n > math.MaxInt64/unit {
		return 0, fmt.Errorf("size %q is not a number of bytes from 1 up", s)
	}
	return n * unit, nil
}

// writeTrace generates into the named file and removes an incomplete file.
func writeTrace(name string, sc tracegen.Scenario, rank int) (tracegen.Truth, error) {
	if name == "-" {
		return tracegen.Generate(os.Stdout, sc, rank)
	}
	if strings.HasSuffix(name, ".sqlite") {
		return export(name, sc, rank)
	}
	f, err := os.Create(name)
	if err != nil {
		return tracegen.Truth{}, err
	}
	t, err := generate(f, strings.HasSuffix(name, ".gz"), sc, rank)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(name)
	}
	return t, err
}

// export writes the run as an export and replaces an existing file.
func export(name string, sc tracegen.Scenario, rank int) (tracegen.Truth, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return tracegen.Truth{}, err
	}
	rec, err := nsysgen.Record(name, io.Discard, sc, rank)
	if err != nil {
		os.Remove(name)
	}
	return rec.Truth, err
}

func generate(f io.Writer, compress bool, sc tracegen.Scenario, rank int) (tracegen.Truth, error) {
	if !compress {
		return tracegen.Generate(f, sc, rank)
	}
	b := bufio.NewWriterSize(f, 1<<16)
	z := gzip.NewWriter(b)
	t, err := tracegen.Generate(z, sc, rank)
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = b.Flush()
	}
	return t, err
}
