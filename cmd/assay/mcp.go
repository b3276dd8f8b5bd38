package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"assay/analyze/critical/change"
	"assay/internal/agent"
	"assay/internal/diag"
	"assay/internal/membudget"
	"assay/judge/rule"
	"assay/summary"
)

func mcpCommand() *command {
	return &command{
		name: "mcp", args: "[FOLDER...]",
		does: "answer a language model's questions about the captures in folders, by the Model Context Protocol on standard input and output",
		example: `  assay mcp                     # captures in the working directory
  assay mcp /data/traces /data/logs
  claude mcp add assay -- assay mcp /data/traces
`,
		run: runMCP,
	}
}

func runMCP(e env, c *command, args []string) error {
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	timeout := flags.Duration("timeout", 2*time.Minute, "`TIME` limit of one question")
	memory := size{least: membudget.Least}
	flags.Var(&memory, "max-memory", "`SIZE` limit for the memory of one question (default: as of the other commands); two are answered at a time")
	cache := size{text: "512MB", bytes: 512e6}
	flags.Var(&cache, "cache", "`SIZE` limit for the memory of what was read before")
	hide := flags.Bool("redact", false, "also hide user names and e-mail addresses; tokens and passwords are always masked")
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if *timeout <= 0 {
		return usageError(e, c, fmt.Sprintf("--timeout is %s, want a time, for example 2m", *timeout))
	}
	if len(args) == 0 {
		args = []string{"."}
	}
	config := agentConfig(args)
	config.Timeout, config.Cache, config.Run = *timeout, cache.bytes, runChild
	if memory.text != "" {
		config.Limits = append(config.Limits, "--max-memory="+memory.text)
	}
	if *hide {
		config.Limits = append(config.Limits, "--redact")
	}
	server, err := agent.New(config)
	if err != nil {
		return fmt.Errorf("cannot read the folder: %w", diag.PathOnly(err))
	}
	if isTerminal(e.stdin) {
		e.say("assay mcp: waiting for a client on standard input; \"assay help agents\" tells how to set one up")
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return server.Serve(ctx, e.stdin, e.stdout) // answers are what commands printed, so they are masked
}

// agentConfig returns what the server needs of the commands.
func agentConfig(folders []string) agent.Config {
	c := agent.Config{
		Folders: folders, Version: version(), Jobs: min(2, runtime.NumCPU()),
		Keys: keysOf, First: firstMembers, Whole: wholeMembers, CheckFields: checkFields, Names: fieldsOfNames(), Guides: rule.Guides(),
	}
	for _, k := range change.Kinds {
		does := k.Does
		if k.Value != "" {
			does = k.Value + ": " + does
		}
		c.Changes = append(c.Changes, agent.Word{Name: k.Name, Does: does})
	}
	for _, d := range outputList() {
		c.Documents = append(c.Documents, agent.Word{Name: d.name, Does: d.title})
	}
	return c
}

// fieldsOfNames returns the fields with names: the noun of each kind of rows with its main measure, and the metrics of
// logs.
func fieldsOfNames() (out []string) {
	for _, m := range summary.Members() {
		k := m.Kind()
		if k == nil {
			continue
		}
		for _, c := range k.Columns {
			if c.JSON != "" && (c.Name == k.Noun || c.Name == k.Main().Name || c.Form > 0) {
				if field := m.Name() + "." + c.JSON; !slices.Contains(out, field) {
					out = append(out, field)
				}
			}
		}
	}
	return append(out, "series.metric", "series.name", "settings.key", "settings.value")
}

// passed are the variables of the environment that a command of the server gets. Without a PATH it starts no other
// program, without those of a workflow it writes no step summary, and without a folder for temporary files it writes
// none.
var passed = []string{"GOGC", "GOMAXPROCS", "HOME", "LANG", "LC_ALL", "SYSTEMROOT", "TZ"}

const nowhere = "no-temporary-files"

// runChild runs a command of this program in a process of its own, whose end frees all of its memory.
func runChild(ctx context.Context, dir string, args []string) (agent.Output, error) {
	self, err := os.Executable()
	if err != nil {
		return agent.Output{}, err
	}
	child := exec.CommandContext(ctx, self, args...)
	child.Args[0], child.Dir, child.WaitDelay = "assay", dir, 5*time.Second
	child.Env = []string{"TMPDIR=" + os.DevNull + "/" + nowhere, "TMP=" + nowhere, "TEMP=" + nowhere}
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); slices.Contains(passed, strings.ToUpper(name)) {
			child.Env = append(child.Env, pair)
		}
	}
	if runtime.GOOS != "windows" {
		child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	}
	var out, talk bytes.Buffer
	child.Stdout, child.Stderr = &out, &talk
	done := endsWithParent(child)
	err = child.Run()
	done()
	if ctx.Err() != nil {
		return agent.Output{}, ctx.Err()
	}
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return agent.Output{}, err
	}
	result := agent.Output{JSON: out.Bytes(), Messages: talk.String(), Status: child.ProcessState.ExitCode()}
	if len(result.JSON) == 0 && result.Messages == "" {
		result.Messages = fmt.Sprintf("the command ended with status %d", result.Status)
	}
	return result, nil
}
