package forms

import (
	"bytes"
	"flag"
	"fmt"
	"slices"
	"sort"
	"testing"

	"assay/internal/test"
)

var update = flag.Bool("update", false, "write builtin.go anew, from the files of forms")

// builtInFileOrder is the order of the files, and so of the forms: specific ones first.
func builtInFileOrder(t *testing.T) []string {
	var names []string
	for name := range BuiltIn() {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(names) < 3 {
		t.Fatalf("%d files of forms", len(names))
	}
	return names
}

// TestBuiltInSource: the texts shown to users equal the forms in use.
func TestBuiltInSource(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("// Code generated from the *.yaml files by go test ./logs/forms -update. DO NOT EDIT.\n\npackage forms\n\n")
	b.WriteString("// builtInEntries returns the forms of the files. They are made when a text is read.\nfunc builtInEntries() []entry {\nreturn []entry{\n")
	files := BuiltIn()
	var ids []string
	for _, name := range builtInFileOrder(t) {
		entries, lines, err := entriesOf([]byte(files[name]))
		if err != nil {
			t.Fatalf("%s:%v", name, err)
		}
		for i, e := range entries {
			if _, err := e.form(); err != nil {
				t.Fatalf("%s:%d: %v", name, lines[i], err)
			}
			if slices.Contains(ids, e.ID) {
				t.Errorf("%s:%d: form id %q is taken", name, lines[i], e.ID)
			}
			if e.Source == "" || e.Era == "" || len(e.Samples) == 0 {
				t.Errorf("%s:%d: form %q: want source, era and samples", name, lines[i], e.ID)
			}
			ids = append(ids, e.ID)
			e.Samples = nil // for tests and people
			fmt.Fprintf(&b, "%#v,\n", e)
		}
	}
	b.WriteString("}\n}\n")
	text := bytes.ReplaceAll(b.Bytes(), []byte("forms.entry{"), []byte("{"))
	for _, empty := range []string{`, From:""`, `, Alone:false`, `, Also:[]string(nil)`, `, Split:""`, `, Is:""`, `, Last:false`, `, Match:""`, `, Step:""`, `, Labels:map[string]string(nil)`,
		`, Fields:map[string]string(nil)`, `, Nest:map[string]string(nil)`, `, Replicas:false`, `, Closed:false`, `, Listed:false`, `, FallbackFor:""`, `, Starts:false`, `, End:""`, `, Lines:0`, `, Unverified:false`, `, Samples:[]forms.entrySample(nil)`} {
		text = bytes.ReplaceAll(text, []byte(empty), nil)
	}
	test.Generated(t, "builtin.go", text, *update)
}
