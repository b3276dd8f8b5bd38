package config

import (
	"bytes"
	"strconv"
	"strings"

	"assay/logs"
)

// Programs print their configuration at the start, so only the beginning of a log is read.
const (
	mostBytes   = 8 << 20
	longestLine = 256 << 10
	mostLines   = 3000 // of one configuration
	mostForeign = 64   // lines of other processes in a row, within one configuration
)

// A Reader finds settings in a text that is written to it.
type Reader struct {
	left int    // bytes that are still read
	rest []byte // a line that is not complete
	n    int64  // lines so far

	open *open
	list []logs.Setting
	at   map[string]int // index in list by program and key
}

// An open is a configuration of several lines that has begun.
type open struct {
	prefix  string // of its lines: "(main_task pid=7) "
	lit     *literal
	yaml    []indented // the open keys, if it is YAML
	lines   int
	foreign int
}

// An indented is a key of YAML and its indentation.
type indented struct {
	column int
	key    string
}

// NewReader returns a reader.
func NewReader() *Reader { return &Reader{left: mostBytes, at: map[string]int{}} }

// Write reads more of the text. It returns no error.
func (r *Reader) Write(p []byte) (int, error) {
	n := len(p)
	p = p[:min(len(p), r.left)]
	r.left -= len(p)
	for {
		line, rest, found := bytes.Cut(p, []byte("\n"))
		if room := longestLine - len(r.rest); len(line) > room {
			line = line[:room]
		}
		if !found {
			if r.left > 0 {
				r.rest = append(r.rest, line...)
			}
			return n, nil
		}
		p = rest
		if len(r.rest) > 0 {
			r.rest = append(r.rest, line...)
			line = r.rest
		}
		r.n++
		r.line(line)
		r.rest = r.rest[:0]
	}
}

// Settings returns the settings of all complete lines, in their order.
func (r *Reader) Settings() []logs.Setting { return r.list }

// starts are the texts before the arguments of one program, which are on one line. The text may end with
// their bracket; otherwise the line ends them.
var starts = []struct {
	producer, text string
	bracket        bool
}{
	{"SGLang", "server_args=ServerArgs(", true},
	{"vLLM", "non-default args: {", true},
	{"vLLM", "LLM engine (v", false},
	{"vLLM", "Chunked prefill is enabled with ", false},
}

// sentences are the texts before the value of one setting, as programs print it or get it in a command line.
var sentences = []struct{ producer, text, path string }{
	{"Megatron-LM", "micro_batch_size .", "micro_batch_size"},
	{"Megatron-LM", "--micro-batch-size", "micro_batch_size"},
	{"Megatron-LM", "--micro_batch_size", "micro_batch_size"},
	{"Hugging Face Trainer", "Instantaneous batch size per device =", "per_device_train_batch_size"},
	{"Hugging Face Trainer", "per_device_train_batch_size=", "per_device_train_batch_size"},
	{"Hugging Face Trainer", "--per_device_train_batch_size", "per_device_train_batch_size"},
	{"torchtitan", "Trainer is initialized with local batch size", "training.local_batch_size"},
	{"DeepSpeed", "train_micro_batch_size_per_gpu ", "train_micro_batch_size_per_gpu"},
}

// line reads one line.
func (r *Reader) line(raw []byte) {
	if len(raw) == 0 || r.open == nil && bytes.IndexByte(raw, '_') < 0 && bytes.IndexByte(raw, ':') < 0 && bytes.IndexByte(raw, '=') < 0 {
		return
	}
	text := strings.TrimRight(plain(raw), "\r ")
	if r.open != nil && r.continued(text) {
		return
	}
	for _, s := range starts {
		if _, args, found := strings.Cut(text, s.text); found {
			r.arguments(s.producer, args, s.bracket)
			return
		}
	}
	if strings.Contains(text, "batch") {
		r.sentence(text)
	}
	if _, mesh, found := strings.Cut(text, "Building device mesh with parallelism: "); found {
		r.add("torchtitan", "device_mesh", meshSize(mesh))
	} else if _, size, found := strings.Cut(text, "using world size: "); found {
		size, _, _ = strings.Cut(size, ",")
		r.add("Megatron-LM", "world_size", strings.TrimSpace(size))
	}
	prefix, content := afterPrefix(text)
	switch {
	case r.open != nil: // a line of another process
	case strings.HasPrefix(content, "{'") || strings.HasPrefix(content, `{"`):
		r.open = &open{prefix: prefix, lit: r.literal("")}
		r.continued(text)
	case strings.HasSuffix(content, ":") && settings().roots[content[:len(content)-1]]:
		r.open = &open{prefix: prefix, yaml: []indented{{0, content[:len(content)-1]}}}
	case strings.Contains(content, "="):
		r.words(content)
	}
}

// sentence reads the value of a setting that a line states.
func (r *Reader) sentence(text string) {
	for _, s := range sentences {
		before, value, found := strings.Cut(text, s.text)
		if !found || before != "" && strings.IndexByte(" \t(,>'\"", before[len(before)-1]) < 0 {
			continue // as of min_train_micro_batch_size_per_gpu
		}
		value = strings.TrimLeft(value, " .=")
		if end := strings.IndexAny(value, " \t)'\""); end >= 0 {
			value = value[:end]
		}
		r.add(s.producer, s.path, strings.ReplaceAll(strings.TrimRight(value, ","), ",", ""))
	}
}

// meshSize returns the number of GPUs of a mesh, "pp=1, dp_replicate=1, dp_shard=8, cp=1, tp=1, ep=1, etp=1", or "". Experts are
// divided over GPUs that other dimensions count.
func meshSize(mesh string) string {
	size := int64(1)
	for part := range strings.SplitSeq(mesh, ", ") {
		name, text, ok := strings.Cut(part, "=")
		n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 32)
		if !ok || err != nil || n < 1 || size*n > 1<<20 {
			return ""
		}
		if name != "ep" && name != "etp" {
			size *= n
		}
	}
	return strconv.FormatInt(size, 10)
}

func (r *Reader) literal(producer string) *literal {
	return &literal{emit: func(path, value string) { r.add(producer, path, value) }}
}

// arguments reads the arguments of a call, or a dictionary, that begin with s.
func (r *Reader) arguments(producer, s string, bracket bool) {
	lit := r.literal(producer)
	if _, config, found := strings.Cut(s, "with config: "); found && !bracket {
		s = config
	}
	lit.line("(")
	lit.line(s)
	if !bracket && !lit.done { // the line ends the arguments
		lit.line(")")
	}
}

// continued reads a line of an open configuration, and reports whether it is one.
func (r *Reader) continued(text string) bool {
	o := r.open
	content, same := strings.CutPrefix(text, strings.TrimRight(o.prefix, " "))
	if o.lines++; o.lines > mostLines || o.foreign > mostForeign {
		r.open = nil
		return false
	}
	if o.yaml != nil {
		if !same || !r.yamlLine(o, strings.TrimPrefix(content, strings.Repeat(" ", len(o.prefix)-len(strings.TrimRight(o.prefix, " "))))) {
			r.open = nil
			return false
		}
		return true
	}
	content = strings.TrimLeft(content, " ")
	if !same || content == "" || strings.IndexByte(`'"{}[](),`, content[0]) < 0 {
		o.foreign++ // of another process
		return false
	}
	o.foreign = 0
	o.lit.line(content)
	if o.lit.done || o.lit.strange {
		r.open = nil
	}
	return true
}

// yamlLine reads a line of YAML: a key with or without a value, or an element of a list, which is skipped.
func (r *Reader) yamlLine(o *open, content string) bool {
	inner := strings.TrimLeft(content, " ")
	column := len(content) - len(inner)
	if inner == "" || strings.HasPrefix(inner, "- ") {
		return inner != ""
	}
	name, value, found := strings.Cut(inner, ":")
	if !found || strings.ContainsAny(name, " \t'\"([{") {
		return false
	}
	for len(o.yaml) > 0 && o.yaml[len(o.yaml)-1].column >= column {
		o.yaml = o.yaml[:len(o.yaml)-1]
	}
	var path []string
	for _, k := range o.yaml {
		path = append(path, k.key)
	}
	if value = strings.Trim(value, " '\""); value != "" {
		r.add("", joined(path, name), value)
		return true
	}
	o.yaml = append(o.yaml, indented{column, name})
	return len(o.yaml) <= deepest
}

// words reads the words "path=value" of a command line.
func (r *Reader) words(content string) {
	for word := range strings.FieldsSeq(content) {
		path, value, found := strings.Cut(strings.TrimLeft(word, "+'\""), "=")
		root, _, nested := strings.Cut(path, ".")
		if found && nested && settings().roots[root] {
			r.add("", path, strings.Trim(value, "'\""))
		}
	}
}

// add adds a setting that the table has.
func (r *Reader) add(producer, path, value string) {
	k, known := settings().find(path, producer)
	if !known {
		return
	}
	value, valid := k.valid(value)
	if !valid {
		return
	}
	id := k.producer + "\x00" + path
	if i, found := r.at[id]; found {
		r.list[i].Varies = r.list[i].Varies || r.list[i].Value != value
		r.list[i].Value = value
		return
	}
	r.at[id] = len(r.list)
	r.list = append(r.list, logs.Setting{Producer: k.producer, Key: strings.Clone(path), Name: k.name, Value: strings.Clone(value), Line: r.n})
}

// afterPrefix divides a line into what Ray writes before a line of a worker, "(name pid=7) ", and the line.
func afterPrefix(text string) (prefix, content string) {
	if strings.HasPrefix(text, "(") {
		if n := strings.Index(text, ") "); n > 0 && strings.Contains(text[:n], "pid=") {
			return text[:n+2], text[n+2:]
		}
	}
	return "", text
}

// plain returns a line without escape sequences of a terminal.
func plain(line []byte) string {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return string(line)
	}
	var b strings.Builder
	for len(line) > 0 {
		n := bytes.IndexByte(line, 0x1b)
		if n < 0 {
			b.Write(line)
			break
		}
		b.Write(line[:n])
		end := bytes.IndexFunc(line[n:], func(c rune) bool { return c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' })
		if end < 0 {
			break
		}
		line = line[n+end+1:]
	}
	return b.String()
}
