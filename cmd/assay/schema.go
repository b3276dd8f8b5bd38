package main

import (
	"fmt"
	"io"

	"github.com/spf13/pflag"

	"assay/internal/jsonscan"
	"assay/internal/jsonschema"
)

func schemaCommand() *command {
	return &command{
		name: "schema", args: "[NAME]",
		does: "print the JSON Schema of an output, or list the outputs",
		example: `  assay schema
  assay schema summary
  assay schema summary | jq '."$defs".Kernel.properties | keys'
`,
		run: runSchema,
	}
}

func runSchema(e env, c *command, args []string) error {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return usageError(e, c, fmt.Sprintf("one output at a time, and %d were named", len(args)))
	}
	if len(args) == 0 {
		return e.print(mask(outputList()).as(func(all []jsonDocument, w io.Writer) error {
			for _, d := range all {
				fmt.Fprintf(w, "%-12s %-20s %s\n", d.name, d.id, d.title)
			}
			return nil
		}))
	}
	d, ok := outputNamed(args[0])
	if !ok {
		var names []string
		for _, d := range outputList() {
			names = append(names, d.name)
		}
		return usageError(e, c, fmt.Sprintf("no output is named %q, want %s", args[0], either(names)))
	}
	return e.print(mask(d.described(false)).as(func(s *jsonschema.Schema, w io.Writer) error { return jsonscan.Write(w, s) }))
}
