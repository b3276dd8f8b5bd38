package agent

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"assay/internal/excerpt"
)

// An Output is what a command printed.
type Output struct {
	JSON     []byte
	Messages string // of standard error
	Status   int
}

// A kept is what a command printed, ready for questions. doc is nil if it printed no JSON.
type kept struct {
	doc      *excerpt.Document
	messages string
}

// treeBytes is how much memory a byte of JSON takes as a tree, about.
const treeBytes = 6

// commandLine returns the folder in which the command runs and its arguments. Names are relative to the folder, as a
// user would give them, unless the files are in several folders.
func (s *Server) commandLine(c *call) (dir string, args []string) {
	dir = s.folders[0].name
	if len(c.files) > 0 {
		dir = c.files[0].in.name
	}
	name := func(f found) string {
		switch {
		case dir != c.files[0].in.name || anyOutside(c.files):
			return f.path()
		case f.name == "-":
			return "." + string(filepath.Separator) + "-" // not standard input
		}
		return f.name
	}
	args = append(args, c.tool.command...)
	if !c.tool.plain {
		args = append(append(args, "--format=json"), s.Limits...)
	}
	args = append(args, c.flags...)
	var inputs []string
	for _, f := range c.files {
		if f.flag != "" {
			args = append(args, f.flag+"="+name(f))
		} else {
			inputs = append(inputs, name(f))
		}
	}
	if len(inputs) > 0 {
		args = append(append(args, "--"), inputs...)
	}
	return dir, args
}

// anyOutside reports whether files are in several folders.
func anyOutside(files []found) bool {
	for _, f := range files {
		if f.in != files[0].in {
			return true
		}
	}
	return false
}

// read runs the command of a call, or returns what it printed before if the files are the same.
func (s *Server) read(ctx context.Context, c *call) (*kept, error) {
	for _, f := range c.files {
		if (f.flag != "" || c.tool.noLinks) && f.linksOut() {
			return nil, fmt.Errorf("%s has a symbolic link that leads out of the folders that the server reads, or more than %d files: one of them may be", f.name, mostFiles)
		}
	}
	dir, args := s.commandLine(c)
	prints, whole := fingerprint(c.files)
	key := dir + "\x00" + strings.Join(args, "\x00") + "\x00" + prints
	return s.cache.get(ctx, key, func() (*kept, int64, error) {
		select {
		case s.slots <- struct{}{}:
			defer func() { <-s.slots }()
		case <-ctx.Done():
			return nil, -1, ctx.Err()
		}
		out, err := s.Run(ctx, dir, args)
		if err != nil {
			return nil, -1, err
		}
		k := &kept{messages: out.Messages}
		bytes := int64(len(out.Messages))
		if len(out.JSON) > 0 {
			if k.doc, err = excerpt.Parse(string(out.JSON)); err != nil {
				return nil, -1, err
			}
			bytes += treeBytes * int64(len(out.JSON))
		}
		for _, f := range c.files {
			if !f.same() {
				return nil, -1, fmt.Errorf("%s was replaced while it was read; ask again", f.name)
			}
		}
		if now, _ := fingerprint(c.files); !whole || now != prints {
			bytes = -1 // of a file that is being written
		}
		return k, bytes, nil
	})
}

const (
	hashedFiles = 64
	hashedBytes = 64 << 10 // at each end of a file
)

// fingerprint identifies the content of files: names, sizes, times, and a hash of both ends of the first of them.
// whole is false if there are too many files for it.
func fingerprint(files []found) (print string, whole bool) {
	h, n := sha256.New(), 0
	for _, f := range files {
		err := filepath.WalkDir(f.path(), func(path string, d fs.DirEntry, err error) error {
			if n++; n > mostFiles {
				return errors.New("too many files")
			}
			if err != nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			fmt.Fprintf(h, "%q %d %d %s\n", path, info.Size(), info.ModTime().UnixNano(), info.Mode())
			if info.Mode().IsRegular() && n <= hashedFiles {
				hashEnds(h, path, info.Size())
			}
			return nil
		})
		if err != nil {
			return "", false
		}
	}
	return string(h.Sum(nil)), true
}

// hashEnds adds the first and the last bytes of a file to a hash.
func hashEnds(h io.Writer, path string, size int64) {
	f, err := os.Open(path)
	if err != nil {
		return
	}
	defer f.Close()
	io.Copy(h, io.LimitReader(f, hashedBytes))
	if size > hashedBytes {
		io.Copy(h, io.NewSectionReader(f, max(hashedBytes, size-hashedBytes), hashedBytes))
	}
}
