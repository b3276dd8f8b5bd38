package main

import (
	"os/exec"
	"runtime"
	"syscall"
)

// endsWithParent makes the kernel end a child when this process ends, however that happens. The kernel watches the
// thread that starts the child, so the caller keeps it until done is called.
func endsWithParent(child *exec.Cmd) (done func()) {
	runtime.LockOSThread()
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return runtime.UnlockOSThread
}
