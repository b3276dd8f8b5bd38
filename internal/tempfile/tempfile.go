// Package tempfile keeps a list of what must not outlive the process: temporary
// files and directories, and child processes. A signal to end removes all of it
// before the process ends.
package tempfile

import (
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// A Registry lists temporary files and functions to call when a signal ends the
// process. The zero Registry is empty and does not watch for signals; it watches
// from the first entry on until [Registry.Close]. Its methods may be called
// concurrently.
//
// Signals that are ignored, as nohup sets them, stay ignored. After SIGINT, SIGTERM
// or SIGHUP the exit status is 128 and the number of the signal, as shells report it.
type Registry struct {
	mu      sync.Mutex // held from a signal to the end of the process
	paths   map[string]bool
	actions map[int]func()
	next    int

	signals chan os.Signal // nil if not watched
	watched chan struct{}  // closed when the watch has ended
}

// Create makes a file by calling open, which returns it under a name that is
// unique, and lists it. No signal can end the process in between.
func (r *Registry) Create(open func() (*os.File, error)) (*os.File, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch()
	f, err := open()
	if err != nil {
		return nil, err
	}
	r.list(f.Name())
	return f, nil
}

// Mkdir makes a temporary directory as [os.MkdirTemp] does, and lists it.
func (r *Registry) Mkdir(pattern string) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch()
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	r.list(dir)
	return dir, nil
}

func (r *Registry) list(path string) {
	if r.paths == nil {
		r.paths = make(map[string]bool)
	}
	r.paths[path] = true
}

// Remove removes a listed file, or a directory with all that is in it.
func (r *Registry) Remove(path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.paths, path)
	return os.RemoveAll(path)
}

// Rename gives a listed file its final name. The file is then no longer temporary.
// If it cannot be renamed it stays listed.
func (r *Registry) Rename(temp, path string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := os.Rename(temp, path); err != nil {
		return err
	}
	delete(r.paths, temp)
	return nil
}

// OnSignal lists a function that a signal calls before files are removed, such as
// one that ends a child process. The function it returns takes it off the list.
func (r *Registry) OnSignal(action func()) (cancel func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch()
	if r.actions == nil {
		r.actions = make(map[int]func())
	}
	id := r.next
	r.next++
	r.actions[id] = action
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.actions, id)
	}
}

// Exit removes what is listed as a signal would, and ends the process with a status.
func (r *Registry) Exit(status int) {
	r.mu.Lock()
	r.clear()
	os.Exit(status)
}

// watch begins to watch for signals, with the lock held.
func (r *Registry) watch() {
	if r.signals != nil {
		return
	}
	r.signals, r.watched = make(chan os.Signal, 1), make(chan struct{})
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) { // nohup and background jobs want it so
			signal.Notify(r.signals, s)
		}
	}
	go r.wait(r.signals, r.watched)
}

func (r *Registry) wait(signals <-chan os.Signal, watched chan<- struct{}) {
	defer close(watched)
	s, ok := <-signals
	if !ok {
		return
	}
	r.mu.Lock()
	r.clear()
	status := 128
	if number, ok := s.(syscall.Signal); ok {
		status += int(number)
	}
	os.Exit(status)
}

// clear calls the functions and removes the files, with the lock held.
func (r *Registry) clear() {
	for _, action := range r.actions {
		action()
	}
	for path := range r.paths {
		os.RemoveAll(path)
	}
	r.actions, r.paths = nil, nil
}

// Close removes the files that are still listed and ends the watch for signals. A
// signal that has come still ends the process. The Registry can be used again.
func (r *Registry) Close() {
	r.mu.Lock()
	r.actions = nil
	r.clear()
	signals, watched := r.signals, r.watched
	r.signals, r.watched = nil, nil
	r.mu.Unlock()
	if signals != nil {
		signal.Stop(signals)
		close(signals)
		<-watched
	}
}
