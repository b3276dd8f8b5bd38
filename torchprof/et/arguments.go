package et

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"assay/internal/jsonwalk"
	"assay/trace"
)

// mostArguments is the number of operators whose arguments are kept.
const mostArguments = 1 << 20

var errMany = errors.New("too many operators")

// Arguments returns the arguments of the operators of an execution trace as texts of Kineto. A file that breaks off has
// those before.
func Arguments(in io.Reader) *trace.Executed {
	r := jsonwalk.NewReader(in)
	all := &trace.Executed{ByRecord: make(map[int64]trace.Arguments)}
	out := all.ByRecord
	_ = r.Object(func(key string) (err error) {
		switch key {
		case "pid":
			all.PID, err = r.Text()
			return err
		case "nodes":
		default:
			return r.Skip()
		}
		return r.Array(func() error {
			var n struct {
				node
				Number int64 `json:"rf_id"`
			}
			if _, err := r.Value(&n); err != nil {
				return err
			}
			for _, a := range n.Attrs {
				if v, ok := a.Value.(float64); ok && a.Name == "rf_id" {
					n.Number = int64(v)
				}
			}
			if it, ok := n.arguments(); ok && n.Number > 0 {
				out[n.Number] = it
			}
			if len(out) > mostArguments {
				return errMany
			}
			return nil
		})
	})
	return all
}

// arguments returns the arguments of a node.
func (n *node) arguments() (out trace.Arguments, ok bool) {
	in := struct {
		Values []json.RawMessage `json:"values"`
		Shapes []json.RawMessage `json:"shapes"`
		Types  []string          `json:"types"`
	}{Types: n.Types}
	if json.Unmarshal(n.Inputs, &in) != nil && (json.Unmarshal(n.Inputs, &in.Values) != nil || json.Unmarshal(n.Shapes, &in.Shapes) != nil) {
		return out, false
	}
	if len(in.Types) == 0 || len(in.Shapes) != len(in.Types) || len(in.Values) != len(in.Types) {
		return out, false
	}
	types, values := make([]string, len(in.Types)), make([]string, len(in.Types))
	for i, kind := range in.Types {
		of, single := strings.CutPrefix(kind, "Tensor(")
		switch list := strings.HasPrefix(kind, "GenericList["); {
		case single && !strings.Contains(of, "nullptr"):
			types[i] = strings.TrimSuffix(of, ")")
			continue
		case list && strings.Contains(kind, "Tensor("):
			types[i] = "TensorList"
			continue
		case list:
			types[i] = "ScalarList"
		case kind != "None" && !single:
			types[i] = "Scalar"
		}
		in.Shapes[i] = json.RawMessage("[]")
		if text := strings.Trim(string(in.Values[i]), `"`); types[i] != "" && text != "<None>" {
			values[i] = map[string]string{"true": "True", "false": "False"}[text]
			if values[i] == "" {
				values[i] = text
			}
		}
	}
	texts := [3]string{}
	for i, list := range []any{in.Shapes, types, values} {
		b, err := json.Marshal(list)
		if err != nil || len(b) > maxArguments {
			return out, false
		}
		texts[i] = string(b)
	}
	return trace.Arguments{Op: n.Name, Dims: texts[0], Types: texts[1], Concrete: texts[2]}, true
}

// maxArguments is the number of bytes of the arguments of one operator.
const maxArguments = 64 << 10
