package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Stored has the bytes of an element of each kind of matrix, with the scales of quantized ones.
type Stored struct {
	Plain     float64 // router, output layer, and what is not quantized
	Attention float64
	MLP       float64 // also of shared experts
	Experts   float64
	Cache     float64 // of an element of the key-value cache
	Type      string  // "bf16" or "fp16": what is not quantized
	Scheme    string  // of the quantized matrices: "fp8", "mxfp4" …, or ""
}

// quantization has the members of quantization_config that decide how many bytes a weight has.
type quantization struct {
	Method    string          `json:"quant_method"`
	Algorithm string          `json:"quant_algo"`
	Bits      int64           `json:"bits"`
	WBit      int64           `json:"w_bit"`
	Group     int64           `json:"group_size"`
	Block     []int64         `json:"weight_block_size"`
	In4, In8  bool            `json:"-"`
	Load4     bool            `json:"load_in_4bit"`
	Load8     bool            `json:"load_in_8bit"`
	NotMods   []string        `json:"modules_to_not_convert"`
	Ignore    []string        `json:"ignore"`
	Ignored   []string        `json:"ignored_layers"`
	Excluded  []string        `json:"exclude_modules"`
	Groups    json.RawMessage `json:"config_groups"`
	Cache     *scheme         `json:"kv_cache_scheme"`
	CacheAlgo string          `json:"kv_cache_quant_algo"`
}

// A scheme is how the numbers of one kind are stored.
type scheme struct {
	Bits  int64  `json:"num_bits"`
	Type  string `json:"type"`
	Group int64  `json:"group_size"`
}

// StoredOf reads how the weights of a model are stored. It returns an error for what it does not know,
// because a byte more or less for each weight is another answer.
func StoredOf(text []byte) (s Stored, err error) {
	var c struct {
		Dtype, TorchDtype string
		Quantization      *quantization
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &members); err != nil {
		return s, fmt.Errorf("want config.json of a model: %w", err)
	}
	for name, to := range map[string]any{"dtype": &c.Dtype, "torch_dtype": &c.TorchDtype, "quantization_config": &c.Quantization} {
		if raw := members[name]; len(raw) > 0 && json.Unmarshal(raw, to) != nil {
			return s, fmt.Errorf("%s has another form than assay knows", name)
		}
	}
	if c.Dtype == "" {
		c.Dtype = c.TorchDtype
	}
	switch c.Dtype {
	case "", "bfloat16": // configurations without a type are of models in bfloat16
		s.Type = "bf16"
	case "float16":
		s.Type = "fp16"
	default:
		return s, fmt.Errorf("torch_dtype is %.20q, which servers convert; write the type that is served, bfloat16 or float16", c.Dtype)
	}
	const plain = 2
	s.Plain, s.Attention, s.MLP, s.Experts, s.Cache = plain, plain, plain, plain, plain
	if c.Quantization != nil {
		err = s.quantize(c.Quantization)
	}
	return s, err
}

// quantize sets the bytes of quantized matrices.
func (s *Stored) quantize(q *quantization) error {
	each, name, err := q.perElement()
	if err != nil {
		return err
	}
	s.Scheme, s.Experts = name, each
	if strings.EqualFold(q.Method, "mxfp4") { // of which only the experts are
		return nil
	}
	s.MLP = each
	if !q.leaves("self_attn") {
		s.Attention = each
	}
	if q.Cache != nil && q.Cache.Bits == 8 || strings.HasPrefix(strings.ToUpper(q.CacheAlgo), "FP8") {
		s.Cache = 1
	}
	return nil
}

// leaves reports whether modules with a name are not quantized in any layer. Exceptions of single layers do
// not count: without them a floor is lower, and stays one.
func (q *quantization) leaves(name string) bool {
	for _, list := range [][]string{q.NotMods, q.Ignore, q.Ignored, q.Excluded} {
		for _, m := range list {
			if strings.Contains(m, name) && !strings.ContainsAny(m, "0123456789") {
				return true
			}
		}
	}
	return false
}

// perElement returns the bytes of a quantized weight with its share of scales and zeros, and the name of the
// scheme.
func (q *quantization) perElement() (bytes float64, name string, err error) {
	const fp16, fp32 = 2, 4
	bits := max(q.Bits, q.WBit)
	switch method := strings.ToLower(q.Method); {
	case method == "fp8" || method == "fbgemm_fp8":
		if len(q.Block) == 2 && q.Block[0] > 0 && q.Block[1] > 0 {
			return 1 + fp32/(float64(q.Block[0])*float64(q.Block[1])), "fp8", nil
		}
		return 1, "fp8", nil
	case method == "mxfp4":
		return 0.5 + 1./32, "mxfp4", nil // one byte of scale for 32 elements
	case (method == "awq" || method == "gptq") && (bits == 4 || bits == 8):
		return grouped(bits, q.Group, fp16+float64(bits)/8), fmt.Sprintf("int%d", bits), nil // a scale and a zero for each group
	case method == "bitsandbytes" && q.Load4:
		return 0.5, "4 bits", nil
	case method == "bitsandbytes" && q.Load8:
		return 1, "int8", nil
	case method == "modelopt" && strings.EqualFold(q.Algorithm, "FP8"):
		return 1, "fp8", nil
	case method == "modelopt" && strings.EqualFold(q.Algorithm, "NVFP4"):
		return 0.5 + 1./16, "nvfp4", nil // one byte of scale for 16 elements
	case method == "compressed-tensors":
		return q.compressed()
	}
	return 0, "", fmt.Errorf("quantization_config has quant_method %.30q, which assay does not know", q.Method)
}

// grouped returns the bytes of an element of some bits, of which each group has more bytes.
func grouped(bits, group int64, more float64) float64 {
	each := float64(bits) / 8
	if group > 0 {
		each += more / float64(group)
	}
	return each
}

// compressed returns the bytes of the one scheme of compressed-tensors.
func (q *quantization) compressed() (bytes float64, name string, err error) {
	var groups map[string]struct {
		Weights *scheme `json:"weights"`
	}
	if json.Unmarshal(q.Groups, &groups) != nil || len(groups) == 0 {
		return 0, "", errors.New("quantization_config has no config_groups that assay knows")
	}
	for _, g := range groups {
		if g.Weights == nil || g.Weights.Bits != 4 && g.Weights.Bits != 8 {
			return 0, "", errors.New("quantization_config has weights of other than 4 or 8 bits")
		}
		const scale = 2
		one, kind := grouped(g.Weights.Bits, g.Weights.Group, scale), g.Weights.Type
		if kind == "float" {
			kind = "fp"
		}
		if one != bytes && bytes != 0 {
			return 0, "", errors.New("quantization_config has groups of weights with different bits")
		}
		bytes, name = one, fmt.Sprintf("%s%d", kind, g.Weights.Bits)
	}
	return bytes, name, nil
}
