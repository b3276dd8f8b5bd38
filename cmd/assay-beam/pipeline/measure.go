package pipeline

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	// The file systems of inputs and outputs.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/gcs"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/trace"
)

type beamContext = context.Context

func init() { register.Function2x2(recordOutline) }

// A record is a part with its outline, as it passes between workers.
type record struct {
	partial.Record
	Outline []byte // JSON of a partial.Outline
}

// encoded returns what passes between workers.
func encoded[T any](v T) ([]byte, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(v)
	return b.Bytes(), err
}

// decoded returns what a worker sent.
func decoded[T any](b []byte) (v T, err error) {
	err = gob.NewDecoder(bytes.NewReader(b)).Decode(&v)
	return v, err
}

// measureFn measures the file of a path, as assay does. It emits the record by its name,
// or the reason why the file could not be read.
type measureFn struct {
	Memory int64
	MadeBy string
}

func (f *measureFn) ProcessElement(ctx beamContext, path string, emit func(string, []byte), fail func(int, []byte)) error {
	r, err := f.measure(ctx, path)
	if err != nil {
		fail(0, []byte(err.Error()))
		return nil
	}
	b, err := encoded(r)
	if err != nil {
		return err
	}
	emit(r.Name, b)
	return nil
}

func (f *measureFn) measure(ctx context.Context, path string) (record, error) {
	local, remove, err := localCopy(ctx, path)
	if err != nil {
		return record{}, err
	}
	defer remove()
	file, err := ingest.Open(local, nil)
	if err != nil {
		return record{}, renamed(err, local, path)
	}
	defer file.Close()
	file.Path = path
	need := analyze.Needs()
	need.Limits = trace.LimitsOf(f.Memory / 2)
	in, err := ingest.Load(file, need)
	if err != nil {
		return record{}, renamed(err, local, path)
	}
	opt := partial.Options{Options: analyze.DefaultOptions(), Memory: f.Memory / 8}
	opt.MaxRows = int(f.Memory >> 15)
	part, err := partial.Measure(in, opt)
	if err == nil {
		err = part.Saved()
	}
	if err != nil {
		return record{}, err
	}
	r, err := part.Encode(f.MadeBy)
	if err != nil {
		return record{}, err
	}
	outline, err := json.Marshal(part.Outline())
	return record{r, outline}, err
}

// localCopy returns the path of a local file with the content of an object of a remote file
// system, and a function that removes it. A local file is its own copy. Readers of
// databases need a file.
func localCopy(ctx context.Context, path string) (local string, remove func(), err error) {
	if !strings.Contains(path, "://") {
		return path, func() {}, nil
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return "", nil, err
	}
	defer fs.Close()
	from, err := fs.OpenRead(ctx, path)
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	defer from.Close()
	dir, err := os.MkdirTemp("", "assay-beam")
	if err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(dir) }
	local = filepath.Join(dir, "input"+filepath.Ext(path))
	to, err := os.Create(local)
	if err == nil {
		_, err = io.Copy(to, from)
		if closed := to.Close(); err == nil {
			err = closed
		}
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("%s: %w", path, err)
	}
	return local, remove, nil
}

// renamed returns an error that names the object instead of its copy.
func renamed(err error, local, path string) error {
	if local == path {
		return err
	}
	return fmt.Errorf("%s", strings.ReplaceAll(err.Error(), local, path))
}

// uniqueFn emits each record once: a file may match two patterns.
type uniqueFn struct{}

func (f *uniqueFn) ProcessElement(name string, records func(*[]byte) bool, emit func(string, []byte), summaries func(int, []byte)) {
	var b []byte
	if !records(&b) {
		return
	}
	emit(name, b)
	if r, err := decoded[record](b); err == nil {
		r.Collectives, r.Outline = nil, nil
		if b, err := encoded(r); err == nil {
			summaries(0, b)
		}
	}
}

// recordOutline returns the outline of a record under one key.
func recordOutline(name string, b []byte) (int, []byte) {
	r, err := decoded[record](b)
	if err != nil {
		panic(fmt.Errorf("record %s: %w", name, err))
	}
	return 0, r.Outline
}

// writeFn writes the files of a record to the directory run of the output, the summary
// last. A worker that repeats it writes the same.
type writeFn struct{ Output string }

func (f *writeFn) ProcessElement(ctx beamContext, name string, b []byte) error {
	r, err := decoded[record](b)
	if err != nil {
		return err
	}
	dir := join(f.Output, "run")
	if r.Collectives != nil {
		if err := writeFile(ctx, join(dir, r.CollectivesName()), r.Collectives); err != nil {
			return err
		}
	}
	return writeFile(ctx, join(dir, r.JSONName()), r.JSON)
}

// join returns the path of a file in a directory, which may be of a remote file system.
func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// writeFile writes a file. On a local file system it appears when it is complete, as
// objects do on others.
func writeFile(ctx context.Context, path string, text []byte) error {
	if !strings.Contains(path, "://") {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		to, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".")
		if err != nil {
			return err
		}
		defer os.Remove(to.Name())
		_, err = to.Write(text)
		if closed := to.Close(); err == nil {
			err = closed
		}
		if err == nil {
			err = os.Chmod(to.Name(), 0o644)
		}
		if err == nil {
			err = os.Rename(to.Name(), path)
		}
		return err
	}
	fs, err := filesystem.New(ctx, path)
	if err != nil {
		return err
	}
	defer fs.Close()
	to, err := fs.OpenWrite(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	_, err = to.Write(text)
	if closed := to.Close(); err == nil {
		err = closed
	}
	return err
}
