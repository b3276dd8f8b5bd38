package transformer

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Model has the dimensions of the decoder of a language model.
type Model struct {
	Type                    string // model_type
	Layers, Hidden, Vocab   int64
	Heads, KVHeads, HeadDim int64
	Window                  int64 // tokens that a query attends to; 0 for all before it

	MLP       float64 // elements of the matrices of a dense MLP
	MoE       float64 // the same of all experts that compute a token, with the router
	MoELayers int64
}

// A family describes how the layers of some model types are built.
type family struct {
	types    []string
	matrices int64  // number of matrices of an MLP: 3 with a gate, 2 without
	experts  string // the member with their number, or ""
	width    string // the member with the width of an expert
}

// families are those whose layers have multi-head or grouped-query attention and an MLP or a
// mixture of experts. Other types are refused, because their layers have other matrices.
var families = []family{
	{[]string{"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "olmo", "olmo2", "granite"}, 3, "", ""},
	{[]string{"gpt_neox", "starcoder2"}, 2, "", ""},
	{[]string{"mixtral"}, 3, "num_local_experts", "intermediate_size"},
	{[]string{"qwen2_moe", "qwen3_moe"}, 3, "num_experts", "moe_intermediate_size"},
	{[]string{"olmoe"}, 3, "num_experts", "intermediate_size"},
}

// MaxBytes is the size of the largest configuration that is read.
const MaxBytes = 1 << 20

// largest is the largest plausible dimension.
const largest = 1 << 24

// A config has the members of a configuration, and the first error of reading one.
type config struct {
	members map[string]json.RawMessage
	err     error
}

// Parse reads a configuration.
func Parse(text []byte) (m Model, err error) {
	if len(text) > MaxBytes {
		return m, fmt.Errorf("the file has more than %d KiB, want config.json of a model", MaxBytes>>10)
	}
	c := config{}
	if err := json.Unmarshal(text, &c.members); err != nil {
		return m, fmt.Errorf("want config.json of a model: %w", err)
	}
	if err := json.Unmarshal(c.members["model_type"], &m.Type); err != nil {
		return m, errors.New("there is no model_type; want config.json of a model")
	}
	i := slices.IndexFunc(families, func(f family) bool { return slices.Contains(f.types, m.Type) })
	if i < 0 {
		return m, fmt.Errorf("assay does not know the layers of model_type %.40q (it knows %s); give the FLOPs of a token instead, as 6e9/token", m.Type, known())
	}
	m.Layers, m.Hidden, m.Vocab = c.number("num_hidden_layers"), c.number("hidden_size"), c.number("vocab_size")
	m.Heads = c.number("num_attention_heads")
	m.KVHeads = c.numberOr("num_key_value_heads", m.Heads)
	if m.HeadDim = c.numberOr("head_dim", 0); m.HeadDim == 0 && c.err == nil {
		if m.HeadDim = m.Hidden / m.Heads; m.HeadDim*m.Heads != m.Hidden {
			return m, fmt.Errorf("hidden_size %d is no multiple of num_attention_heads %d, and there is no head_dim", m.Hidden, m.Heads)
		}
	}
	if !c.isFalse("use_sliding_window") {
		m.Window = c.numberOr("sliding_window", 0)
	}
	m.feedForward(&c, families[i])
	return m, c.err
}

// known lists the model types.
func known() string {
	var all []string
	for _, f := range families {
		all = append(all, f.types...)
	}
	return strings.Join(all, ", ")
}

// feedForward reads the sizes of MLPs and experts.
func (m *Model) feedForward(c *config, f family) {
	if f.experts == "" {
		m.MLP = product(f.matrices, m.Hidden, c.number("intermediate_size"))
		return
	}
	experts, each := c.number(f.experts), c.number("num_experts_per_tok")
	if c.err == nil && each > experts {
		c.err = fmt.Errorf("num_experts_per_tok is %d of %d experts", each, experts)
		return
	}
	m.MoE = product(each, f.matrices, m.Hidden, c.number(f.width)) + product(m.Hidden, experts)
	if shared := c.numberOr("shared_expert_intermediate_size", 0); shared > 0 {
		m.MoE += product(f.matrices, m.Hidden, shared) + float64(m.Hidden) // and its gate
	}
	every := c.numberOr("decoder_sparse_step", 1)
	m.MoELayers = m.Layers / every
	dense := c.list("mlp_only_layers")
	slices.Sort(dense)
	for _, layer := range slices.Compact(dense) {
		if 0 <= layer && layer < m.Layers && (layer+1)%every == 0 {
			m.MoELayers--
		}
	}
	if m.MoELayers < m.Layers {
		m.MLP = product(f.matrices, m.Hidden, c.number("intermediate_size"))
	}
}

// product multiplies dimensions. Those of a file may have a product over 63 bits.
func product(dims ...int64) float64 {
	p := 1.0
	for _, d := range dims {
		p *= float64(d)
	}
	return p
}

// number returns a whole number over 0.
func (c *config) number(name string) int64 {
	raw, ok := c.members[name]
	if !ok {
		c.fail(fmt.Errorf("there is no %s", name))
		return 1
	}
	n, err := strconv.ParseInt(string(raw), 10, 64)
	if err != nil || n < 1 || n > largest {
		c.fail(fmt.Errorf("%s is %.40q, want a whole number from 1 to %d", name, raw, largest))
		return 1
	}
	return n
}

// numberOr returns a whole number over 0, or a default if it is absent, null or 0.
func (c *config) numberOr(name string, absent int64) int64 {
	if raw := string(c.members[name]); raw == "" || raw == "null" || raw == "0" {
		return absent
	}
	return c.number(name)
}

// list returns the whole numbers of a list that may be absent.
func (c *config) list(name string) (out []int64) {
	raw, ok := c.members[name]
	if ok && json.Unmarshal(raw, &out) != nil {
		c.fail(fmt.Errorf("%s is not a list of whole numbers", name))
	}
	return out
}

func (c *config) isFalse(name string) bool { return string(c.members[name]) == "false" }

func (c *config) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

// Matrices returns the number of elements of the matrices that compute a token: projections of
// attention, MLPs or the experts of a token, and the output layer. The table of embeddings
// is looked up, and norms and biases are no matrices.
func (m Model) Matrices() float64 {
	attention := 2 * float64(m.Hidden) * float64(m.HeadDim) * float64(m.Heads+m.KVHeads)
	dense := float64(m.Layers-m.MoELayers) * m.MLP
	return float64(m.Layers)*attention + dense + float64(m.MoELayers)*m.MoE + float64(m.Hidden)*float64(m.Vocab)
}

// Forward returns the FLOPs of the forward pass of one sequence of some tokens: two for each
// element of a matrix and token, and attention over the pairs of a query and the keys up to it.
// It is not known of sequences that are longer than the window of some of the layers.
func (m Model) Forward(tokens int64) (float64, error) {
	if m.Window > 0 && tokens > m.Window {
		return 0, fmt.Errorf("sequences of %d tokens are longer than the sliding window of %d, and the layers that have it are unknown; give the FLOPs of a token instead, as 6e9/token", tokens, m.Window)
	}
	n := float64(tokens)
	pairs := n * (n + 1) / 2
	flops := 2*n*m.Matrices() + 4*float64(m.Layers)*float64(m.Heads)*float64(m.HeadDim)*pairs
	if math.IsInf(flops, 0) || flops > 1e24 {
		return 0, errors.New("the dimensions give over 1e24 FLOPs")
	}
	return flops, nil
}

// Training is how many forward passes a training step costs: its own, and twice that in the
// backward pass, for the gradients of inputs and of weights.
const Training = 3
