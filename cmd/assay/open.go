package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/pflag"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/loopback"
	"assay/internal/outfile"
	"assay/internal/unit"
	"assay/trace"
	"assay/trace/window"
)

func openCommand() *command {
	return &command{
		name: "open", args: "INPUT... [--at TIME]",
		does: "open a trace in Perfetto at a moment, from a page that this machine serves; or open report.html",
		example: `  assay open trace.json.gz
  assay open trace.json.gz --at 12.3ms --for 4ms
  assay open traces/ --rank 0,3
  assay open out/report.html --no-browser
`,
		run: runOpen,
	}
}

// opening has the flags of the open command.
type opening struct {
	conversion
	at, length string
	port       int
	noBrowser  bool
	idle       time.Duration

	moment window.Time
	show   int64 // length of the range that is shown, in ns
}

// defaultShow is how much of a trace is shown after --at, in ns.
const defaultShow = 10_000_000

func runOpen(e env, c *command, args []string) error {
	o := opening{conversion: conversion{to: toChrome, value: string(analyze.GPUTime)}, show: defaultShow}
	flags := pflag.NewFlagSet(c.name, pflag.ContinueOnError)
	flags.SortFlags = false
	flags.StringVar(&o.at, "at", "", "show the trace from `TIME` on: since the start of the capture (1.2s), the ts of an event (ts:4904305.219) or a date")
	flags.StringVar(&o.length, "for", "", "with --at: show this much `TIME` (default: 10ms)")
	flags.StringVar(&o.window.rank, "rank", "", "`RANKS` of the timeline, for example 0,3,5-7 (default: all of at most 8, else those that stand out)")
	flags.IntVar(&o.port, "port", 0, "`PORT` to listen on (default: any that is free)")
	flags.BoolVar(&o.noBrowser, "no-browser", false, "print the address only")
	flags.DurationVar(&o.idle, "idle", 10*time.Minute, "stop after this `TIME` without a request")
	o.register(flags)
	args, err := parse(e, c, flags, args)
	if err != nil {
		return err
	}
	if wrong := o.check(args); wrong != "" {
		return usageError(e, c, wrong)
	}
	var temp outfile.Registry
	defer temp.Close()
	content, file, err := o.content(e, c, args, &temp)
	if file != nil {
		defer file.Close()
	}
	switch {
	case errors.Is(err, errUsage), err != nil && file == nil:
		return err
	case err != nil:
		e.say("assay %s: %s", c.name, err) // some ranks could not be read
	}
	return errors.Join(err, o.serve(e, c, content, &temp))
}

// check returns a message if the flags are wrong, or "".
func (o *opening) check(args []string) string {
	var err error
	switch {
	case len(args) == 0:
		return "no input: name a trace, a directory of traces, or a report.html"
	case slices.Contains(args, ingest.Stdin):
		return "standard input cannot be opened; name a file"
	case o.length != "" && o.at == "":
		return "--for is how much to show from --at on; give --at, too"
	case o.port < 0 || o.port > 65535:
		return fmt.Sprintf("--port is %d, want a port from 1 to 65535, or 0 for any", o.port)
	case o.idle <= 0:
		return fmt.Sprintf("--idle is %s, want a time, for example 10m", o.idle)
	}
	if o.at != "" {
		if o.moment, err = window.ParseTime(o.at); err != nil {
			return "--at: " + err.Error()
		}
	}
	if o.length != "" {
		if o.show, err = unit.ParseDuration(o.length); err != nil || o.show <= 0 {
			return fmt.Sprintf("--for is %q, want a time, for example 4ms", o.length)
		}
	}
	return ""
}

// content opens the file that is served. A trace in Chrome JSON and a page are served unchanged.
// Other inputs are written as one trace to a temporary file.
func (o *opening) content(e env, c *command, args []string, temp *outfile.Registry) (out loopback.Content, file *os.File, err error) {
	if len(args) == 1 {
		if file, page := openPage(args[0]); page {
			if o.at != "" || o.window.rank != "" {
				file.Close()
				return out, nil, usageError(e, c, "--at and --rank are for traces, and "+args[0]+" is a page")
			}
			out, err = contentOf(file, args[0])
			out.Page = true
			return out, file, err
		}
	}
	o.outputs = []output{timelineOutput}
	r, err := o.open(e, c, args)
	if err != nil {
		return out, nil, err
	}
	if len(r.paths) == 1 && o.window.rank == "" && !o.redact && isChrome(r.paths[0]) {
		show, err := o.rangeOf(r)
		if err != nil {
			return out, nil, err
		}
		if file, err = os.Open(r.paths[0]); err != nil {
			return out, nil, diag.PathOnly(err)
		}
		out, err = contentOf(file, r.paths[0])
		out.Show = show
		return out, file, err
	}
	return o.joined(r, c, args, temp)
}

// joined writes the inputs as one trace to a temporary file.
func (o *opening) joined(r *reading, c *command, args []string, temp *outfile.Registry) (out loopback.Content, file *os.File, err error) {
	file, err = temp.CreateTemp("assay-*.json.gz")
	if err != nil {
		return out, nil, fmt.Errorf("cannot write the timeline: %w", diag.PathOnly(err))
	}
	j, err := o.join(r, c)
	if j == nil {
		return out, nil, errors.Join(err, file.Close())
	}
	var show *loopback.Range
	if o.at != "" {
		first := j.files[0]
		at, wrong := o.time(first.when)
		if wrong != nil {
			return out, nil, errors.Join(err, wrong, file.Close())
		}
		show = o.from(at + first.shift)
	}
	packed := mask(j).as(func(j *joinedTimeline, w io.Writer) error { return outfile.Compressed(file.Name(), w, j.encode) })
	if wrong := buffered(file, packed); wrong != nil {
		return out, nil, errors.Join(err, fmt.Errorf("cannot write the timeline: %w", diag.PathOnly(wrong)), file.Close())
	}
	out, wrong := contentOf(file, file.Name())
	out.Name, out.Title, out.Show = "assay.json.gz", filepath.Base(filepath.Clean(args[0])), show
	return out, file, errors.Join(err, wrong)
}

// contentOf describes an open file.
func contentOf(file *os.File, path string) (loopback.Content, error) {
	info, err := file.Stat()
	if err != nil {
		return loopback.Content{}, diag.PathOnly(err)
	}
	name := label.Printable(filepath.Base(path))
	out := loopback.Content{File: file, Size: info.Size(), Name: name, Path: label.Printable(path), Title: name}
	out.About = unit.Bytes(info.Size())
	if info.Size() > largeTrace {
		out.About += ". This is much for a browser; \"assay trim\" makes a smaller trace."
	}
	return out, nil
}

// largeTrace is the size in bytes above which browsers may fail to load a trace.
const largeTrace = 1 << 30

// openPage opens a file if it is an HTML page.
func openPage(path string) (*os.File, bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	head := make([]byte, 512)
	n, _ := file.ReadAt(head, 0) // an error means a short file, which is not a page
	head = bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(head[:n], []byte("\ufeff"))))
	if bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html")) {
		return file, true
	}
	file.Close()
	return nil, false
}

// isChrome reports whether a file is a trace that the viewer reads as it is.
func isChrome(path string) bool {
	f, err := ingest.OpenWithoutDigest(path, nil)
	if err != nil {
		return false
	}
	defer f.Close()
	rd, err := ingest.Events(f, trace.Select{})
	return err == nil && rd != nil && f.Compression != "zstd"
}

// rangeOf returns the range of time that the viewer shows first, or nil for the whole trace.
func (o *opening) rangeOf(r *reading) (show *loopback.Range, err error) {
	if o.at == "" {
		return nil, nil
	}
	failed := r.all(func(_ int, in *ingest.Input) {
		if in.Trace == nil {
			err = fmt.Errorf("%s: the input has no timeline", in.Path)
			return
		}
		var at int64
		if at, err = o.time(partial.CaptureOf(in.Trace, in.Path)); err == nil {
			show = o.from(at)
		}
	})
	return show, errors.Join(append(failed, err)...)
}

// time returns --at as a time in ns on the clock of a capture.
func (o *opening) time(when window.Capture) (int64, error) {
	at, err := o.moment.On(when)
	if err == nil && (at >= when.End || unit.Plus(at, o.show) <= when.Start) {
		err = fmt.Errorf("%s: --at %s is not in the capture, which takes %s", when.Name, o.at, unit.Duration(when.End-when.Start))
	}
	return at, err
}

// from returns the range that is shown for a start time in ns.
func (o *opening) from(at int64) *loopback.Range {
	return &loopback.Range{Start: at, End: unit.Plus(at, o.show)}
}

// serve serves the content until no browser needs it any more or a signal arrives.
func (o *opening) serve(e env, c *command, content loopback.Content, temp *outfile.Registry) error {
	s, err := loopback.Listen(content, o.port)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("port %d is taken; give another --port, or none for any that is free", o.port)
	case err != nil:
		return fmt.Errorf("cannot listen on 127.0.0.1: %w", err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	defer temp.OnSignal(stop)()
	if err := e.print(mask(s.URL()).as(func(url string, w io.Writer) error { _, err := fmt.Fprintln(w, url); return err })); err != nil {
		return errors.Join(err, s.Close())
	}
	if line := loopback.Tunnel(os.Getenv, s.Port()); line != "" {
		e.say("assay %s: on your own machine, run %q and open the address there", c.name, line)
	}
	if !o.noBrowser {
		if err := loopback.StartBrowser(s.URL()); err != nil {
			e.say("assay %s: the browser cannot be started (%s); open the address yourself", c.name, err)
		}
	}
	e.say("assay %s: serving %s; stop with Ctrl-C", c.name, content.Path)
	idle, err := s.Serve(ctx, o.idle)
	if idle {
		e.say("assay %s: stopped after %s without a request", c.name, o.idle)
	}
	return err
}
