package efficiency

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"assay/internal/label"
)

// Name returns the operator without the namespace of PyTorch, and its inputs:
// "mm 8944×1024, 1024×2816".
func (o *Operator) Name() string {
	return strings.TrimSpace(strings.TrimPrefix(o.Op, "aten::") + " " + DimsText(o.Dims))
}

// mostTensors is the maximum number of tensors of a list in a text.
const mostTensors = 4

// DimsText returns the dimensions of the tensors among inputs that were recorded as JSON: "8944×1024,
// 1024×2816". Inputs without dimensions are left out. It returns "" if dims is not a list of dimensions.
func DimsText(dims string) string {
	if text, ok := plainDims(dims); ok {
		return text
	}
	var inputs []json.RawMessage
	if dims == "" || json.Unmarshal([]byte(dims), &inputs) != nil {
		return ""
	}
	var parts []string
	for _, in := range inputs {
		if text := tensorText(in); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// plainDims is a fast version of [DimsText] for lists of lists of whole numbers, which nearly all are. It
// returns false for other texts.
func plainDims(dims string) (text string, ok bool) {
	rest, opened := strings.CutPrefix(dims, "[[")
	rest, closed := strings.CutSuffix(rest, "]]")
	if !opened || !closed {
		return "", false
	}
	var out strings.Builder
	for tensor := range strings.SplitSeq(rest, "],[") {
		if tensor == "" {
			continue
		}
		if out.Len() > 0 {
			out.WriteString(", ")
		}
		for i, from := 0, 0; i <= len(tensor); i++ {
			switch {
			case i < len(tensor) && tensor[i] >= '0' && tensor[i] <= '9':
				continue
			case i == from, i-from > 18, tensor[from] == '0' && i > from+1, i < len(tensor) && tensor[i] != ',':
				return "", false // not a plain decimal number
			}
			if from > 0 {
				out.WriteString("×")
			}
			out.WriteString(tensor[from:i])
			from = i + 1
		}
	}
	return out.String(), true
}

// tensorText returns the dimensions of a tensor, or of a list of tensors in brackets.
func tensorText(raw json.RawMessage) string {
	var shape []int64
	if json.Unmarshal(raw, &shape) == nil {
		numbers := make([]string, len(shape))
		for i, n := range shape {
			numbers[i] = strconv.FormatInt(n, 10)
		}
		return strings.Join(numbers, "×")
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	var parts []string
	for i, in := range list {
		if i == mostTensors {
			parts = append(parts, fmt.Sprintf("%d more", len(list)-i))
			break
		}
		var shape []int64
		if json.Unmarshal(in, &shape) != nil {
			return ""
		}
		parts = append(parts, tensorText(in))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// TypesText returns the short names of the types of tensors, each once: "bf16, float".
func TypesText(types string) string {
	var list []string
	if types == "" || json.Unmarshal([]byte(types), &list) != nil {
		return ""
	}
	var out []string
	for _, t := range list {
		if t == "" || strings.HasPrefix(t, "Scalar") || t == "TensorList" {
			continue
		}
		short, ok := shortTypes[t]
		if !ok {
			short = strings.TrimPrefix(t, "c10::")
		}
		if len(out) == 0 || out[len(out)-1] != short {
			out = append(out, short)
		}
	}
	return label.Clip(label.Clean(strings.Join(out, ", ")), 40)
}

// shortTypes maps types in traces to their usual short names.
var shortTypes = map[string]string{
	"c10::BFloat16": "bf16", "c10::Half": "fp16", "float": "fp32", "double": "fp64", "long int": "int64", "long": "int64", "int": "int32",
	"short": "int16", "short int": "int16", "signed char": "int8", "char": "int8", "unsigned char": "uint8", "bool": "bool",
	"c10::Float8_e4m3fn": "fp8", "c10::Float8_e4m3fnuz": "fp8", "c10::Float8_e5m2": "fp8", "c10::Float8_e5m2fnuz": "fp8", "c10::Float4_e2m1fn_x2": "fp4",
}
