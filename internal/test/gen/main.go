// Gen writes generated inputs to files, to look at them and to measure.
//
//	go run ./internal/test/gen trace -preset big -size 1g -o big.json.gz
//	go run ./internal/test/gen nsys -kernels 1000000 -calls -o big.sqlite
//	go run ./internal/test/gen snapshot -steps 1000 -o snapshot.pickle
//	go run ./internal/test/gen ranks -scenario slow_gpu -o DIR
//	go run ./internal/test/gen ranks -ranks 1000 -o DIR
//	go run ./internal/test/gen layers -scene moe/graphs -o moe.json -truth moe.truth.json
//
// Each subcommand lists its flags with -h.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

// commands are the subcommands. Each adds its flags and returns what it does once they are
// parsed.
var commands = map[string]func(*flag.FlagSet) func() error{
	"trace": traceCommand, "nsys": nsysCommand, "snapshot": snapshotCommand, "ranks": ranksCommand, "layers": layersCommand,
}

func main() {
	err := run(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "gen:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 0 || commands[args[0]] == nil {
		return errors.New("want a subcommand: trace, nsys, snapshot, ranks or layers")
	}
	flags := flag.NewFlagSet("gen "+args[0], flag.ContinueOnError)
	write := commands[args[0]](flags)
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return write()
}
