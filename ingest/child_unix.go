//go:build unix

package ingest

import (
	"os/exec"
	"syscall"
)

// inGroup makes a process that is not started the first of a group of its own.
func inGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup ends a started process and all of its group.
func killGroup(c *exec.Cmd) error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
