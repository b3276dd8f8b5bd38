package et

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
	"assay/internal/test"
	"assay/trace"
)

// The same three operators and two collectives in the form of 2023 and in that of Chakra.
const (
	flat = `{"schema":"1.0.1","pid":7,"nodes":[{"name":"[pytorch|profiler|execution_trace|process]","id":1},` +
		`{"name":"aten::mm","id":3,"rf_id":1,"inputs":[[5,6,0,8,4,"cuda:0"]],"input_shapes":[[4,2],[2,8],[]],"input_types":["Tensor(float)","Tensor(float)","Int"]},` +
		`{"name":"aten::mm","id":4,"input_shapes":[[4,2],[2,8]],"input_types":["Tensor(float)","Tensor(float)"]},{"name":"aten::relu","id":5,"input_shapes":[[9]],"input_types":["Tensor(c10::Half)"]},` +
		`{"name":"record_param_comms","id":8,"inputs":[[1,2,0,3,2,"cuda:0"],"allgather"],"input_shapes":[[3,5],[]],"input_types":["Tensor(c10::BFloat16)","String"]},` +
		`{"name":"record_param_comms","id":9,"inputs":["wait"],"input_shapes":[[]],"input_types":["String"]}]}`
	chakra = `{"schema":"1.1.0-chakra.0.0.4","nodes":[{"id":4,"name":"## process_group:init ##","inputs":{"values":["[]"],"shapes":[[]],"types":["String"]}},` +
		`{"id":5,"name":"aten::mm","inputs":{"values":[],"shapes":[[4,2],[2,8]],"types":["Tensor(float)","Tensor(float)"]}},` +
		`{"id":6,"name":"aten::mm","inputs":{"values":[],"shapes":[[4,2],[2,9]],"types":["Tensor(float)","Tensor(float)"]}},{"id":6,"name":"aten::mm","inputs":{"values":[],"shapes":[[4,2],[2,9]],"types":["Tensor(float)","Tensor(float)"]}},` +
		`{"id":7,"name":"record_param_comms","attrs":[{"name":"collective_name","value":"allreduce"},{"name":"dtype","value":"Float"},{"name":"in_msg_nelems","value":1000},{"name":"pg_size","value":16}]},` +
		`{"id":8,"name":"record_param_comms","attrs":[{"name":"collective_name","value":"allreduce"},{"name":"dtype","value":"Float"},{"name":"in_msg_nelems","value":24},{"name":"pg_size","value":16}]}]}`
)

func printed(t *profile.Tables) (out string) {
	for _, table := range t.List {
		for _, r := range table.Rows {
			out += r.Name
			for _, c := range r.Cells {
				out += fmt.Sprint(" ", c.Value)
			}
			for _, l := range r.Labels {
				out += " " + l.Text
			}
			out += "\n"
		}
	}
	return out
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		flat:   "aten::mm 2 1 float [4, 2], float [2, 8]\naten::relu 1 1 c10::Half [9]\nallgather 1 30 c10::BFloat16\n",
		chakra: "aten::mm 3 2 float [4, 2], float [2, 9]\nallreduce (group of 16) 2 4096 Float\n",
	} {
		got, err := Read(strings.NewReader(text), "et.json", Limits{})
		if err != nil || printed(got) != want || len(got.Issues) > 0 || !Sniff([]byte(text)) {
			t.Errorf("%v\n%swant %s", err, printed(got), want)
		}
		cut, err := Read(strings.NewReader(text[:len(text)-3]), "et.json", Limits{})
		if err != nil || cut.Complete || cut.Issues[0].Code != "input-truncated" {
			t.Error(cut, err)
		}
	}
	got, err := Read(strings.NewReader(flat), "et.json", Limits{Rows: 1})
	if err != nil || len(got.List[0].Rows) != 1 || got.Issues[0].Code != "table-rows-pooled" {
		t.Error(got, err)
	}
}

func TestNot(t *testing.T) {
	for _, text := range []string{`{"schema":"1.0.1","traceEvents":[],"nodes":[]}`, `{"schema":"https://x/1.0.0","nodes":[]}`, `{"schema":"1.0.1","edges":[]}`,
		`{"schemaVersion":1,"nodes":[]}`, `{"schema":1,"nodes":[{"name":"a"}]}`, `[]`, ``} {
		if Sniff([]byte(text)) {
			t.Errorf("%s is taken for an execution trace", text)
		}
	}
	for _, text := range []string{`{"schema":"1.0.1","nodes":[]}`, `{"schema":"1.0.1","nodes":[5,{}]}`, ``} {
		if got, err := Read(strings.NewReader(text), "x", Limits{}); err == nil {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

// TestCorpus: the numbers of nodes of real traces, of a script that shares no code with this.
func TestCorpus(t *testing.T) {
	for name, nodes := range map[string]int64{"param_linear_et_1.0.1": 931, "param_resnet_1gpu_et_1.0.3": 14391, "param_resnet_2gpu_et_1.1.0": 14392} {
		f, err := os.Open(filepath.Join(test.Corpus(t, "inputs"), "execution_trace", name+".json.gz"))
		if err != nil {
			t.Fatal(err)
		}
		in, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Read(in, name, Limits{})
		f.Close()
		if err != nil || got.Records != nodes || len(got.Issues) > 0 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		aten := int64(0)
		for _, r := range got.List[0].Rows {
			if strings.HasPrefix(r.Name, "aten::") {
				aten += r.Cells[0].Value
			}
		}
		if want := map[string]int64{"param_linear_et_1.0.1": 710}[name]; want > 0 && aten != want || want == 0 && aten != 10797 {
			t.Errorf("%s: %d operators of aten", name, aten)
		}
	}
}

func Fuzz(f *testing.F) {
	f.Add(flat)
	f.Add(chakra)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := Read(strings.NewReader(text), "x", Limits{Rows: 20})
		if err != nil {
			return
		}
		for _, table := range got.List {
			if table.Check() != nil {
				t.Fatal(table.Check())
			}
			for _, r := range table.Rows {
				if r.Cells[1].Value < 0 {
					t.Fatalf("%+v", r)
				}
			}
		}
	})
}

// TestArguments: arguments have the texts that Kineto writes, in both generations.
func TestArguments(t *testing.T) {
	const inputs = `[[5,6,0,6,4,"cuda:0"],"<None>",[2,2],1,true,0.5,[[5,6,0,6,4,"cuda:0"]]]`
	const shapes = `[[2,3],[],[[],[]],[],[],[],[[2,3]]]`
	const types = `["Tensor(c10::BFloat16)","None","GenericList[Int,Int]","Int","Bool","Double","GenericList[Tensor(float)]"]`
	want := trace.Arguments{Op: "aten::f", Dims: `[[2,3],[],[],[],[],[],[[2,3]]]`, Types: `["c10::BFloat16","","ScalarList","Scalar","Scalar","Scalar","TensorList"]`,
		Concrete: `["","","[2,2]","1","True","0.5",""]`}
	for _, text := range []string{
		`{"schema":"1.0.1","pid":77,"nodes":[{"name":"aten::f","rf_id":9,"inputs":` + inputs + `,"input_shapes":` + shapes + `,"input_types":` + types + `},{"name":"aten::g","rf_id":10,"inputs":[1]}]}`,
		`{"schema":"1.1.0-chakra.0.0.4","pid":77,"nodes":[{"name":"aten::f","inputs":{"values":` + inputs + `,"shapes":` + shapes + `,"types":` + types + `},"attrs":[{"name":"rf_id","type":"uint64","value":9},{"name":"seq_id","value":-1}]}]}`,
	} {
		got := Arguments(strings.NewReader(text))
		if diff := cmp.Diff(&trace.Executed{PID: "77", ByRecord: map[int64]trace.Arguments{9: want}}, got); diff != "" {
			t.Error(diff)
		}
		if cut := Arguments(strings.NewReader(text[:len(text)-2])); len(cut.ByRecord) > 1 {
			t.Errorf("%+v", cut)
		}
	}
}
