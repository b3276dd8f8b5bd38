package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"assay/nsys"
	"assay/nsys/ncu"
	"assay/trace"
)

// isNsysReport reports whether a file is a report of Nsight Systems. Only nsys can read
// its format. The first bytes differ between versions, so the name decides.
func isNsysReport(path string, head []byte) bool {
	return len(head) > 0 && slices.Contains([]string{".nsys-rep", ".qdrep"}, strings.ToLower(filepath.Ext(path)))
}

// exportCommand converts a report to a database; the names of both files are appended.
var exportCommand = []string{"nsys", "export", "--type=sqlite", "--force-overwrite=true"}

// loadNsysReport runs nsys, if it is on the PATH, to export the report to a temporary
// database, and reads the database.
func loadNsysReport(f *File, sel trace.Select, in *Input) error {
	program, err := exec.LookPath(exportCommand[0])
	if err != nil {
		return &Refusal{f.Path, "is an Nsight Systems report, which only nsys can read, and nsys is not on the PATH",
			withFile("run nsys export --type sqlite FILE", f.Path)}
	}
	report, done, err := f.inPlace("assay-*" + filepath.Ext(f.Path))
	if err != nil {
		return err
	}
	defer done()
	dir, err := f.Temp.Mkdir("assay-*")
	if err != nil {
		return fmt.Errorf("%s: cannot be exported: %w", f.Path, err)
	}
	defer f.Temp.Remove(dir)
	database := filepath.Join(dir, "export.sqlite")
	f.say(fmt.Sprintf("%s: exporting with %s to a temporary database; export it yourself to wait only once: %s",
		f.Path, program, withFile("nsys export --type sqlite FILE", f.Path)))
	command := f.newChild(program, append(slices.Clone(exportCommand[1:]), "--output="+database, report)...)
	defer command.end()
	command.Dir = dir
	var output tail
	command.Stdout, command.Stderr = &output, &output
	if err = command.start(f); err == nil {
		err = command.Wait()
	}
	if err != nil {
		return cmp.Or(command.late(f.Path, "nsys"), notExported(f.Path, "nsys", err, &output))
	}
	if in.Trace, err = nsys.ReadSQLite(database, f.Path, sel); err != nil {
		return err
	}
	return f.searchTexts(database, in)
}

func notExported(path, program string, err error, output *tail) error {
	return fmt.Errorf("%s: %s cannot export it (%w): %s; it may take a newer %[2]s, or the one that recorded it", path, program, err, output.lastLine())
}

// isNcuReport reports whether a file is a report of Nsight Compute, by its name: see
// isNsysReport.
func isNcuReport(path string, head []byte) bool {
	return len(head) > 0 && strings.EqualFold(filepath.Ext(path), ".ncu-rep")
}

// loadNcuReport runs ncu, if it is on the PATH, to print the report as a table, and reads
// the table.
func loadNcuReport(f *File, sel trace.Select, in *Input) error {
	const by = "ncu --import FILE --csv --page details > FILE.csv"
	program, err := exec.LookPath("ncu")
	if err != nil {
		return &Refusal{f.Path, "is an Nsight Compute report, which only ncu can read, and ncu is not on the PATH",
			withFile("run "+by, f.Path)}
	}
	report, done, err := f.inPlace("assay-*.ncu-rep")
	if err != nil {
		return err
	}
	defer done()
	f.say(fmt.Sprintf("%s: exporting with %s; export it yourself to wait only once: %s", f.Path, program, withFile(by, f.Path)))
	command := f.newChild(program, "--import", report, "--csv", "--page", "details")
	defer command.end()
	var output tail
	command.Stderr = &output
	out, err := command.StdoutPipe()
	if err != nil {
		return fmt.Errorf("%s: cannot be exported: %w", f.Path, err)
	}
	if err := command.start(f); err != nil {
		return notExported(f.Path, "ncu", err, &output)
	}
	var read error
	in.Counters, read = ncu.Read(io.TeeReader(out, &output), f.Path, ncu.Limits{Memory: sel.Limits.Memory})
	io.Copy(io.Discard, out) // a limit may have ended the reading early
	if err := command.Wait(); err != nil {
		return cmp.Or(command.late(f.Path, "ncu"), notExported(f.Path, "ncu", err, &output))
	}
	return read
}

// inPlace returns the name of a file with the content of f, for programs that need one. It is
// the name of f itself if f is a regular file that is not compressed; its content is then read
// in parallel for the hash. Otherwise it is the name of a temporary copy.
func (f *File) inPlace(pattern string) (path string, done func() error, err error) {
	if !f.whole || f.Compression != "none" {
		if path, err = f.spill(pattern); err != nil {
			return "", nil, err
		}
		return path, func() error { return f.Temp.Remove(path) }, nil
	}
	if path, err = filepath.Abs(f.Path); err != nil {
		return "", nil, err
	}
	if f.max > 0 && sizeOf(path) > f.max {
		return "", nil, fmt.Errorf("%s: %w", f.Path, trace.InputLimit(f.max))
	}
	hashed := make(chan error, 1)
	go func() {
		_, err := f.drain()
		hashed <- err
	}()
	return path, func() error {
		if err := <-hashed; err != nil {
			return pathError(err)
		}
		return nil
	}, nil
}

// spill writes the content to a temporary file and returns its name.
func (f *File) spill(pattern string) (name string, err error) {
	temp, err := f.Temp.CreateTemp(pattern)
	if err != nil {
		return "", fmt.Errorf("%s: cannot be unpacked: %w", f.Path, err)
	}
	_, err = io.Copy(temp, f)
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		f.Temp.Remove(temp.Name())
		return "", fmt.Errorf("%s: cannot be unpacked to %s: %w", f.Path, filepath.Dir(temp.Name()), reason(err))
	}
	return temp.Name(), nil
}

// A tail is a writer that keeps the last bytes written to it.
type tail struct{ b []byte }

const tailLen = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	t.b = t.b[max(0, len(t.b)-tailLen):]
	return len(p), nil
}

// lastLine returns the last line that is not blank.
func (t *tail) lastLine() string {
	lines := bytes.FieldsFunc(t.b, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines) {
		if s := strings.TrimSpace(string(line)); s != "" {
			return strings.ToValidUTF8(s, "�")
		}
	}
	return "it said nothing"
}
