package nsys

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"assay/internal/diag"
	"assay/trace"
)

// SniffJSON reports whether a file that starts with prefix is an export in
// JSON: a line for each row, as nsys export --type jsonlines writes it, or for
// each event, as --type json does.
func SniffJSON(prefix []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimLeft(bytes.TrimPrefix(prefix, []byte("\ufeff")), " \t\r\n"), []byte("\n"))
	if !bytes.HasPrefix(line, []byte("{")) || bytes.Contains(line, []byte(`"traceEvents"`)) {
		return false
	}
	if bytes.HasPrefix(line, []byte(`{"data":[`)) {
		return true
	}
	if bytes.HasPrefix(line, []byte(`{"Type":`)) {
		return bytes.Contains(line, []byte(`Event":{`))
	}
	_, table, ok := bytes.Cut(line, []byte(`"table":"`))
	if !ok {
		return false
	}
	name, _, _ := bytes.Cut(table, []byte(`"`))
	return isTable(string(name))
}

// isTable reports whether an export may have a table of this name.
func isTable(name string) bool {
	if newRowBuffer().wanted[name] != nil {
		return true
	}
	for _, prefix := range []string{
		"CUPTI_", "CUDA_", "CUDNN_", "CUBLAS_", "NVTX_", "TARGET_INFO_", "META_DATA_", "ENUM_", "ANALYSIS_",
		"COMPOSITE_", "SAMPLING_", "OSRT_", "MPI_", "GPU_", "DIAGNOSTIC_", "PROFILER_",
	} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return name == "ProcessStreams"
}

// maxLine is the maximum length of a line in bytes. The first line of the older
// form has all strings of a capture.
const maxLine = 256 << 20

// ReadJSON reads an export in JSON. The file name is used in messages.
//
// If search is not nil, it is a search for secrets. At the end of the input, the settings are
// written to it as [WriteTexts] writes them: the search cannot find them in the input itself,
// where a name and its value, or an option and its argument, are on separate lines.
//
// The error is the reason why nothing could be read. Problems that leave a usable trace are
// in its Issues.
func ReadJSON(in io.Reader, file string, sel trace.Select, search io.Writer) (*trace.Trace, error) {
	limit := sel.Limits.Memory
	if limit == 0 {
		limit = trace.DefaultLimits().Memory
	}
	r := &jsonReader{file: file, rowBuffer: newRowBuffer(), most: limit / 4, in: bufio.NewReaderSize(in, 1<<20)}
	if !sel.GraphNodes {
		r.rowBuffer.withoutNodes()
	}
	if search != nil {
		defer func() { search.Write(r.settings.Bytes()) }() // a search for secrets never fails
		r.texts = &texts{w: &r.settings}
	}
	err := r.read()
	if err != nil && r.good == 0 {
		return nil, err
	}
	if err != nil {
		r.issue("input-truncated", diag.DataLoss,
			fmt.Sprintf("The input could not be read further (%v). Later rows are missing from every total. Copy the file again.", err))
	}
	issues := r.issues.Issues()
	broken := slices.ContainsFunc(issues, func(is diag.Issue) bool { return is.Severity == diag.DataLoss })
	return read(r.rowBuffer, file, sel, broken, issues...)
}

// A jsonReader fills a rowBuffer with the lines of an export.
type jsonReader struct {
	file      string
	rowBuffer *rowBuffer
	in        *bufio.Reader
	most      int64 // bytes that may be kept
	line      int
	good      int64 // lines that were read as rows, events or strings
	issues    diag.Ledger

	texts    *texts // of settings; nil if they are not searched
	settings bytes.Buffer
}

func (r *jsonReader) issue(code string, severity diag.Severity, help string) {
	r.issues.Add(diag.Issue{Code: code, Severity: severity, First: diag.Pos{File: r.file, Line: r.line}, Help: help})
}

func (r *jsonReader) read() error {
	var long []byte
	for {
		part, err := r.in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, part...); len(long) > maxLine {
				return fmt.Errorf("line %d is longer than %d MiB", r.line+1, maxLine>>20)
			}
			continue
		}
		line := part
		if len(long) > 0 {
			line = append(long, part...)
			long = nil
		}
		r.line++
		if line = bytes.TrimSpace(bytes.TrimPrefix(line, []byte("\ufeff"))); len(line) > 0 {
			r.take(line, errors.Is(err, io.EOF))
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case r.rowBuffer.bytes > r.most:
			r.issue("memory-limit", diag.DataLoss, "The rows up to here take a quarter of --max-memory, the most for a JSON export. Later rows are missing from every total. Raise --max-memory, or export with --type sqlite, which needs less.")
			return nil
		}
	}
}

// take adds the content of one line.
func (r *jsonReader) take(line []byte, last bool) {
	deep := nestsDeep(line)
	if deep || !gjson.ValidBytes(line) {
		if last && !deep {
			r.issue("input-truncated", diag.DataLoss, "The input ends within a line, so later rows are missing from every total. Export again.")
			return
		}
		r.issue("line-malformed", diag.DataLoss, "")
		return
	}
	object := gjson.ParseBytes(line)
	switch {
	case !object.IsObject():
	case object.Get("table").Type == gjson.String:
		r.row(object)
	case object.Get("Type").Exists():
		r.event(object)
	case object.Get("data").IsArray():
		r.strings(object.Get("data"))
	}
}

// nestsDeep reports whether the brackets of a line nest deeper than those of any
// export, which has about four levels. The JSON parser is recursive: a line with
// ten million levels would overflow the stack.
func nestsDeep(line []byte) bool {
	const most = 1000
	if bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) <= most {
		return false
	}
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '[' || c == '{':
			if depth++; depth > most {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
}

// row adds one row of the newer form.
func (r *jsonReader) row(object gjson.Result) {
	r.good++
	name := object.Get("table").Str
	if r.texts != nil && isSetting(name) && int64(r.settings.Len()) < r.most/4 {
		if value := object.Get("value"); value.Type == gjson.String {
			r.texts.pair(object.Get("name").Str, value.Str)
		}
	}
	t := r.rowBuffer.table(name)
	if t == nil {
		return
	}
	row := r.rowBuffer.row(t)
	object.ForEach(func(key, value gjson.Result) bool {
		if at, ok := t.index[strings.ToLower(key.Str)]; ok {
			row[at] = r.cell(t, value)
		}
		return true
	})
}

// isSetting reports whether the rows of a table are names and values of settings.
func isSetting(table string) bool {
	return strings.HasPrefix(table, "META_DATA_") || table == "EXPORT_META_DATA" || strings.HasPrefix(table, "TARGET_INFO_")
}

func (r *jsonReader) cell(t *bufferedTable, value gjson.Result) cell {
	switch value.Type {
	case gjson.Number:
		return number(integer(value.Raw))
	case gjson.String:
		return r.rowBuffer.text(t, value.Str)
	case gjson.True:
		return number(1)
	case gjson.False:
		return number(0)
	}
	return null
}

// strings adds the strings of the older form, whose ids are their indexes.
func (r *jsonReader) strings(data gjson.Result) {
	r.good++
	t := r.rowBuffer.table("StringIds")
	id := int64(0)
	data.ForEach(func(_, value gjson.Result) bool {
		row := r.rowBuffer.row(t)
		row[t.index["id"]] = number(id)
		row[t.index["value"]] = r.rowBuffer.text(t, value.String())
		id++
		return r.rowBuffer.bytes <= r.most
	})
}
