package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	"assay/internal/test/layergen"
)

// layersCommand writes the capture of a model whose layers are known.
func layersCommand(flags *flag.FlagSet) func() error {
	seed := flags.Uint64("seed", 1, "of the variations")
	scenes := func() []layergen.Scene { return slices.Concat(layergen.Scenes(*seed), layergen.NearMisses(*seed)) }
	var names []string
	for _, s := range scenes() {
		names = append(names, s.Name)
	}
	name := flags.String("scene", "", "one of "+strings.Join(names, ", "))
	out, truth := flags.String("o", "", "`FILE` of the trace"), flags.String("truth", "", "`FILE` of its layers")
	return func() error {
		for _, s := range scenes() {
			if s.Name != *name || *out == "" {
				continue
			}
			c := layergen.Generate(s.Config)
			err := os.WriteFile(*out, c.JSON, 0o666)
			if *truth != "" {
				text, _ := json.MarshalIndent(c.Runs, "", "  ")
				err = errors.Join(err, os.WriteFile(*truth, text, 0o666))
			}
			return err
		}
		return fmt.Errorf("want -o FILE and -scene, one of %s", strings.Join(names, ", "))
	}
}
