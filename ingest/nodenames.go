package ingest

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// maxNodeNames is the largest size of a file with names of graph nodes that is read.
const maxNodeNames = 64 << 20

// rankAtStart finds the rank in the name of a trace of torchtitan: 000003.1757059120.pt.trace.json.gz.
var rankAtStart = lazyregexp.New(`^(\d{1,6})\.`)

// nodeNamesBeside returns a function that reads the names that PyTorch wrote for the nodes of CUDA graphs (kernel_annotations_rankN.json) of
// the rank of a trace: from its folder, or the one above, as PyTorch looks for them. It returns no names unless there is exactly one such
// file. The file is read when a trace has a node without a name.
func nodeNamesBeside(path string) func() map[int64]trace.NodeName {
	return sync.OnceValue(func() map[int64]trace.NodeName {
		dir := filepath.Dir(path)
		rank, known := rankOfName(path)
		for _, d := range []string{dir, filepath.Dir(dir)} {
			var found []string
			list, _ := filepath.Glob(filepath.Join(escapeGlob(d), "kernel_annotations_rank*.json"))
			for _, file := range list {
				if of, ok := rankOfAnnotations(file); ok && (!known || of == rank) {
					found = append(found, file)
				}
			}
			if len(found) == 1 {
				return readNodeNames(found[0])
			} else if len(found) > 1 {
				return nil // of several processes, whose nodes have the same numbers
			}
		}
		return nil
	})
}

var globWords = lazyregexp.New(`[*?\[\\]`)

// escapeGlob returns a folder as a pattern that matches it only.
func escapeGlob(dir string) string { return globWords().ReplaceAllString(dir, `\$0`) }

var annotationsName = lazyregexp.New(`^kernel_annotations_rank(\d{1,6})(?:_.*)?\.json$`)

func rankOfAnnotations(file string) (rank int, ok bool) {
	return numberIn(annotationsName(), filepath.Base(file))
}

// rankOfName returns the rank that the name of a trace states.
func rankOfName(path string) (rank int, ok bool) {
	if rank, from := rankInPath(path); from != "assumed" {
		return rank, true
	}
	return numberIn(rankAtStart(), filepath.Base(path))
}

func numberIn(re *regexp.Regexp, text string) (int, bool) {
	m := re.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.Atoi(m[1])
	return n, err == nil
}

// readNodeNames reads a file of names; nil if it is none.
func readNodeNames(path string) map[int64]trace.NodeName {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return nodeNames(f)
}

// nodeNames parses an object with a list for each node: of texts, or of objects of which later members replace earlier ones. A text is
// the name, as is the member "str" of older files.
func nodeNames(r io.Reader) map[int64]trace.NodeName {
	var file map[string][]json.RawMessage
	if json.NewDecoder(io.LimitReader(r, maxNodeNames)).Decode(&file) != nil {
		return nil
	}
	out := make(map[int64]trace.NodeName, len(file))
	for key, list := range file {
		node, err := strconv.ParseInt(key, 10, 64)
		if err != nil {
			continue
		}
		var n trace.NodeName
		for _, one := range list {
			var text string
			if json.Unmarshal(one, &text) == nil {
				n.Name = text
				continue
			}
			var of struct {
				Name       *string `json:"name"`
				Str        *string `json:"str"`
				Collective *string `json:"Collective name"`
			}
			if json.Unmarshal(one, &of) != nil {
				continue
			}
			for from, to := range map[*string]*string{of.Str: &n.Name, of.Collective: &n.Collective} {
				if from != nil {
					*to = *from
				}
			}
			if of.Name != nil {
				n.Name = *of.Name
			}
		}
		if n != (trace.NodeName{}) {
			out[node] = n
		}
	}
	return out
}
