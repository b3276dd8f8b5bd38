package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"assay/internal/redact"
)

// folders are the folders that may be read.
//
// A name is refused if it has "..", is absolute and outside, or leads outside through a symbolic link. [os.Root] does
// the first look, so it never leaves a folder, not even while somebody replaces a part of the path. But the command
// opens files by their names. It gets names without links, and after it has answered, the names are looked up again:
// if they lead elsewhere now, there is no answer. What is left is a program with write access to the folder that
// replaces a part of the path and puts it back while a command runs. Such a program can show the client what the user
// who runs the server can read.
type folders []*folder

type folder struct {
	name  string // absolute, without links
	given string // absolute, as the user gave it
	root  *os.Root
}

// A found is a file or folder that may be read.
type found struct {
	in   *folder
	name string // within the folder, without links
	info fs.FileInfo
	flag string // of the command line; "" for an input
}

// open opens the folders, and refuses those that are none.
func openFolders(names []string) (folders, error) {
	var out folders
	for _, name := range names {
		abs, err := filepath.Abs(name)
		if err != nil {
			return nil, err
		}
		given := abs
		if abs, err = filepath.EvalSymlinks(abs); err != nil {
			return nil, err
		}
		root, err := os.OpenRoot(abs)
		if err != nil {
			return nil, err
		}
		out = append(out, &folder{abs, given, root})
	}
	return out, nil
}

// find returns the file or folder with a name: relative to one of the folders, the first that has it, or absolute.
func (all folders) find(name string) (found, error) {
	if name == "" {
		return found{}, errors.New("the name is empty")
	}
	if slices.Contains(strings.FieldsFunc(name, func(c rune) bool { return c == '/' || c == filepath.Separator || c == '\\' }), "..") {
		return found{}, fmt.Errorf("%q has \"..\"; name files by their path within the folder", name)
	}
	var last error
	for _, f := range all {
		rel := filepath.FromSlash(name)
		if filepath.IsAbs(rel) {
			var err error
			if rel, err = filepath.Rel(f.name, rel); err != nil || !filepath.IsLocal(rel) {
				rel, err = filepath.Rel(f.given, filepath.FromSlash(name))
			}
			if err != nil || !filepath.IsLocal(rel) {
				continue
			}
		}
		if !filepath.IsLocal(rel) {
			continue
		}
		at, err := f.find(rel)
		if err == nil {
			return at, nil
		}
		if last == nil || !errors.Is(err, fs.ErrNotExist) {
			last = err
		}
	}
	if last == nil {
		return found{}, fmt.Errorf("%q is outside of the folders that the server reads: %s", name, all.names())
	}
	if errors.Is(last, fs.ErrNotExist) {
		return found{}, fmt.Errorf("there is no %q in %s", name, all.near(name))
	}
	return found{}, fmt.Errorf("%q cannot be read, or leads out of the folders that the server reads: %s", name, all.names())
}

func (all folders) names() string {
	var names []string
	for _, f := range all {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// near returns the folder in which the last parts of a name are missing, with its content. Clients have no other way
// to learn how files are called.
func (all folders) near(name string) string {
	for dir := filepath.Dir(filepath.FromSlash(name)); filepath.IsLocal(dir) && dir != "."; dir = filepath.Dir(dir) {
		for _, f := range all {
			if has := f.content(dir); has != "" {
				return filepath.Join(f.name, dir) + has
			}
		}
	}
	return all.contents()
}

// contents returns the names of the folders with their content.
func (all folders) contents() string {
	var list []string
	for _, f := range all {
		list = append(list, f.name+f.content("."))
	}
	return strings.Join(list, ", ")
}

const (
	mostNames = 12   // of a content
	mostRead  = 1000 // names that are read; a folder may have millions
)

// content returns the names in a folder as " (a/, b.json, 7 more)", or "" if it has none or cannot be read.
func (f *folder) content(dir string) string {
	if info, err := f.root.Stat(dir); err != nil || !info.IsDir() { // a pipe would wait for a writer
		return ""
	}
	opened, err := f.root.Open(dir)
	if err != nil {
		return ""
	}
	defer opened.Close()
	entries, _ := opened.ReadDir(mostRead)
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") {
			continue
		}
		name := redact.Mask(e.Name())
		if quoted := strconv.Quote(name); quoted != `"`+name+`"` || len(name) > 80 || strings.Contains(name, ", ") {
			name = redact.Cut(quoted, 80)
		}
		if e.IsDir() {
			name += "/"
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if n := len(names) - mostNames; n > 0 {
		names = append(names[:mostNames], fmt.Sprintf("%d more", n))
		if len(entries) == mostRead {
			names[mostNames] = "and more"
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, ", ") + ")"
}

// find looks up a local name.
func (f *folder) find(rel string) (found, error) {
	info, err := f.root.Stat(rel)
	if err != nil {
		return found{}, err
	}
	if !info.IsDir() && !info.Mode().IsRegular() {
		return found{}, errors.New("not a regular file")
	}
	real, err := filepath.EvalSymlinks(filepath.Join(f.name, rel))
	if err != nil {
		return found{}, err
	}
	within, err := filepath.Rel(f.name, real)
	if err != nil || !filepath.IsLocal(within) {
		return found{}, errors.New("leads out")
	}
	return found{in: f, name: within, info: info}, nil
}

// same reports whether the name still leads to the same file or folder.
func (x found) same() bool {
	now, err := x.in.find(x.name)
	return err == nil && now.name == x.name && os.SameFile(now.info, x.info)
}

// mostFiles is the number of files of a folder that are looked at.
const mostFiles = 20_000

// linksOut reports whether a folder has a symbolic link that leads out of the folders that may be read, or more files
// than are looked at: one of them may be such a link. Commands that follow records of other files in a folder are not run then.
func (x found) linksOut() bool {
	if !x.info.IsDir() {
		return false
	}
	n, out := 0, errors.New("leads out")
	err := filepath.WalkDir(x.path(), func(path string, d fs.DirEntry, err error) error {
		if n++; n > mostFiles {
			return out
		}
		if err != nil || d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		rel, err := filepath.Rel(x.in.name, path)
		if err != nil {
			return out
		}
		if _, err := x.in.root.Stat(rel); err != nil {
			return out
		}
		return nil
	})
	return err != nil
}

// path returns the absolute path without links.
func (x found) path() string { return filepath.Join(x.in.name, x.name) }
