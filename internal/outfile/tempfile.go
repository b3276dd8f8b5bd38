package outfile

import (
	"errors"
	"io/fs"
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
// Signals that are ignored, as nohup sets them, stay ignored. After SIGINT, SIGTERM,
// SIGHUP or, on Unix, SIGQUIT the exit status is 128 and the number of the signal, as shells report it.
type Registry struct {
	paths   map[string]bool
	dirs    map[string]bool // made for files that stay
	actions map[int]func()
	next    int

	signals chan os.Signal // nil if not watched
	watched chan struct{}  // closed when the watch has ended
}

// The mutex guards all registries, because the end of the process removes what any
// of them lists. An exit keeps it locked until the process has ended.
var (
	mu   sync.Mutex
	used = make(map[*Registry]bool) // registries with entries
)

// Create makes a file by calling open, which returns it under a name that is
// unique, and lists it. No signal can end the process in between.
func (r *Registry) Create(open func() (*os.File, error)) (*os.File, error) {
	mu.Lock()
	defer mu.Unlock()
	r.watch()
	f, err := open()
	if err != nil {
		return nil, err
	}
	r.list(f.Name())
	return f, nil
}

// MkdirAll makes a directory for files that stay, and those above it, as
// [os.MkdirAll] does. If the directory was not there, it is removed with the listed
// files unless a file is in it then.
func (r *Registry) MkdirAll(path string) error {
	mu.Lock()
	defer mu.Unlock()
	r.watch()
	_, err := os.Stat(path)
	if made := os.MkdirAll(path, 0o777); made != nil || !errors.Is(err, fs.ErrNotExist) {
		return made
	}
	if r.dirs == nil {
		r.dirs = make(map[string]bool)
	}
	r.dirs[path] = true
	return nil
}

// CreateTemp creates a temporary file as [os.CreateTemp] does, and lists it.
func (r *Registry) CreateTemp(pattern string) (*os.File, error) {
	return r.Create(func() (*os.File, error) { return os.CreateTemp("", pattern) })
}

// Mkdir makes a temporary directory as [os.MkdirTemp] does, and lists it.
func (r *Registry) Mkdir(pattern string) (string, error) {
	mu.Lock()
	defer mu.Unlock()
	r.watch()
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	r.list(dir)
	return dir, nil
}

// Add lists a file that is not to stay as it is.
func (r *Registry) Add(path string) {
	mu.Lock()
	defer mu.Unlock()
	r.watch()
	r.list(path)
}

// Keep takes a file off the list, because it is complete.
func (r *Registry) Keep(path string) {
	mu.Lock()
	defer mu.Unlock()
	delete(r.paths, path)
}

func (r *Registry) list(path string) {
	if r.paths == nil {
		r.paths = make(map[string]bool)
	}
	r.paths[path] = true
}

// Remove removes a listed file, or a directory with all that is in it.
func (r *Registry) Remove(path string) error {
	mu.Lock()
	defer mu.Unlock()
	delete(r.paths, path)
	return os.RemoveAll(path)
}

// swap removes old files and gives listed files their final names, in their order. No signal can end
// the process in between. The files are then no longer temporary. One that cannot be renamed, and
// those after it, stay listed.
func (r *Registry) swap(old []string, files []stagedFile) error {
	mu.Lock()
	defer mu.Unlock()
	for _, path := range old {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for _, f := range files {
		if err := os.Rename(f.temp, f.path); err != nil {
			return err
		}
		delete(r.paths, f.temp)
	}
	return nil
}

// OnSignal lists a function that a signal calls before files are removed, such as
// one that ends a child process. The function it returns takes it off the list.
func (r *Registry) OnSignal(action func()) (cancel func()) {
	mu.Lock()
	defer mu.Unlock()
	r.watch()
	if r.actions == nil {
		r.actions = make(map[int]func())
	}
	id := r.next
	r.next++
	r.actions[id] = action
	return func() {
		mu.Lock()
		defer mu.Unlock()
		delete(r.actions, id)
	}
}

// Exit removes what all registries list, as a signal does, and ends the process with
// a status.
func Exit(status int) {
	mu.Lock()
	exit(status)
}

// exit is Exit with the lock held.
func exit(status int) {
	for r := range used {
		r.clear()
	}
	os.Exit(status)
}

// watch begins to watch for signals, with the lock held.
func (r *Registry) watch() {
	if r.signals != nil {
		return
	}
	used[r] = true
	r.signals, r.watched = make(chan os.Signal, 1), make(chan struct{})
	for _, s := range ending() {
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
	mu.Lock()
	status := 128
	if number, ok := s.(syscall.Signal); ok {
		status += int(number)
	}
	exit(status)
}

// clear calls the functions and removes the files, with the lock held.
func (r *Registry) clear() {
	for _, action := range r.actions {
		action()
	}
	for path := range r.paths {
		os.RemoveAll(path)
	}
	for path := range r.dirs {
		os.Remove(path)
	}
	r.actions, r.paths, r.dirs = nil, nil, nil
}

// Close removes the files that are still listed and ends the watch for signals. A
// signal that has come still ends the process. The Registry can be used again.
func (r *Registry) Close() {
	mu.Lock()
	r.actions = nil
	r.clear()
	delete(used, r)
	signals, watched := r.signals, r.watched
	r.signals, r.watched = nil, nil
	mu.Unlock()
	if signals != nil {
		signal.Stop(signals)
		close(signals)
		<-watched
	}
}
