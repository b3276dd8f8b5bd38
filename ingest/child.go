package ingest

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// DefaultExportTime is the maximum time for which nsys or ncu may run to export one report.
// An export of 1 GB takes a few minutes.
const DefaultExportTime = time.Hour

// A child is a process that exports a report. It is killed, with all processes that it
// started, when its time is over or when a signal ends assay.
type child struct {
	*exec.Cmd
	ctx    context.Context
	time   time.Duration
	cancel func()
}

// newChild returns a child for f that is not started. The caller must call its end method
// when the process has ended.
func (f *File) newChild(program string, args ...string) *child {
	const pipes = 5 * time.Second // how long its own children may keep its pipes open after it has ended
	limit := f.ExportTime
	if limit <= 0 {
		limit = DefaultExportTime
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	c := &child{Cmd: exec.CommandContext(ctx, program, args...), ctx: ctx, time: limit, cancel: cancel}
	inGroup(c.Cmd)
	c.Cancel = func() error { return killGroup(c.Cmd) }
	c.WaitDelay = pipes
	return c
}

// start starts the process and registers it, so that a signal to assay kills it.
func (c *child) start(f *File) error {
	if err := c.Start(); err != nil {
		return err
	}
	stop, off := c.cancel, f.Temp.OnSignal(func() { killGroup(c.Cmd) })
	c.cancel = func() { off(); stop() }
	return nil
}

// end releases the resources of the child.
func (c *child) end() { c.cancel() }

// late returns the error of a child whose time is over, or nil.
func (c *child) late(path, program string) error {
	if !errors.Is(c.ctx.Err(), context.DeadlineExceeded) {
		return nil
	}
	return fmt.Errorf("%s: %s did not export it within %s and was stopped; give it more time with --export-timeout, or export it yourself",
		path, program, c.time)
}
