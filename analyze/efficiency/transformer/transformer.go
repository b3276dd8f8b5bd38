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
	Latent                  Latent // zero without latent attention
	Window                  int64  // tokens that a query attends to; 0 for all before it
	Windowed                int64  // layers that have the window

	MLP       float64 // elements of the matrices of a dense MLP
	Experts   Experts // zero without experts
	MoELayers int64
}

// Latent has the sizes of multi-head latent attention, whose cache has one compressed vector and one
// rotated key for each token, for all heads.
type Latent struct {
	Query, KV    int64 // ranks of the compressions; Query is 0 if queries are not compressed
	Plain, Rope  int64 // width of the part of a key without and with rotation
	ValueHeadDim int64
}

// Experts are those of one layer of a mixture.
type Experts struct {
	Count, Active        int64
	Each, Shared, Router float64 // elements of the matrices
}

// perToken returns the elements of the matrices that compute a token.
func (e Experts) perToken() float64 { return float64(e.Active)*e.Each + e.Shared + e.Router }

// A family describes how the layers of some model types are built.
type family struct {
	types    []string
	matrices int64  // number of matrices of an MLP: 3 with a gate, 2 without
	experts  string // the member with their number, or ""
	width    string // the member with the width of an expert
	shared   string // the member with the number of shared experts of this width, or ""
}

// families are those whose layers have multi-head, grouped-query or latent attention and an MLP or a
// mixture of experts. Other types are refused, because their layers have other matrices.
var families = []family{
	{types: []string{"llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "olmo", "olmo2", "granite"}, matrices: 3},
	{types: []string{"gpt_neox", "starcoder2"}, matrices: 2},
	{types: []string{"mixtral", "gpt_oss"}, matrices: 3, experts: "num_local_experts", width: "intermediate_size"},
	{types: []string{"qwen2_moe", "qwen3_moe"}, matrices: 3, experts: "num_experts", width: "moe_intermediate_size"},
	{types: []string{"olmoe"}, matrices: 3, experts: "num_experts", width: "intermediate_size"},
	{types: []string{"deepseek_v2", "deepseek_v3", "kimi_k2", "glm4_moe"}, matrices: 3, experts: "n_routed_experts", width: "moe_intermediate_size", shared: "n_shared_experts"},
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
	m.latent(&c)
	if m.HeadDim = c.numberOr("head_dim", 0); m.HeadDim == 0 && m.Latent.KV == 0 && c.err == nil {
		if m.HeadDim = m.Hidden / m.Heads; m.HeadDim*m.Heads != m.Hidden {
			return m, fmt.Errorf("hidden_size %d is no multiple of num_attention_heads %d, and there is no head_dim", m.Hidden, m.Heads)
		}
	}
	if !c.isFalse("use_sliding_window") {
		m.Window = c.numberOr("sliding_window", 0)
	}
	m.windowed(&c)
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

// windowed reads which layers have the window: a list, or the rule of the model type without one.
func (m *Model) windowed(c *config) {
	var list []string
	if raw := c.members["layer_types"]; len(raw) > 0 && string(raw) != "null" {
		if json.Unmarshal(raw, &list) != nil || int64(len(list)) != m.Layers {
			c.fail(fmt.Errorf("layer_types has not one type for each of %d layers", m.Layers))
			return
		}
		for _, kind := range list {
			switch kind {
			case "full_attention":
			case "sliding_attention":
				m.Windowed++
			default:
				c.fail(fmt.Errorf("layer_types has %.40q, whose matrices assay does not know", kind))
			}
		}
	}
	switch {
	case m.Window == 0 || list != nil:
		if m.Window == 0 {
			m.Windowed = 0
		}
	case m.Type == "gemma2" || m.Type == "gpt_oss":
		m.Windowed = (m.Layers + 1) / 2 // every other layer, from the first on
	case m.Type == "gemma3_text":
		m.Windowed = m.Layers - m.Layers/c.numberOr("sliding_window_pattern", 6)
	case strings.HasPrefix(m.Type, "qwen"):
		m.Windowed = m.Layers - min(m.Layers, c.numberOr("max_window_layers", m.Layers))
	default:
		m.Windowed = m.Layers
	}
}

// latent reads the sizes of latent attention, if the layers have it.
func (m *Model) latent(c *config) {
	if m.Latent.KV = c.numberOr("kv_lora_rank", 0); m.Latent.KV == 0 {
		return
	}
	m.Latent.Query = c.numberOr("q_lora_rank", 0)
	m.Latent.Plain, m.Latent.Rope = c.number("qk_nope_head_dim"), c.number("qk_rope_head_dim")
	m.Latent.ValueHeadDim = c.number("v_head_dim")
}

// feedForward reads the sizes of MLPs and experts.
func (m *Model) feedForward(c *config, f family) {
	if f.experts == "" {
		m.MLP = product(f.matrices, m.Hidden, c.number("intermediate_size"))
		return
	}
	e := Experts{Count: c.number(f.experts), Active: c.number("num_experts_per_tok")}
	if c.err == nil && e.Active > e.Count {
		c.err = fmt.Errorf("num_experts_per_tok is %d of %d experts", e.Active, e.Count)
		return
	}
	e.Each, e.Router = product(f.matrices, m.Hidden, c.number(f.width)), product(m.Hidden, e.Count)
	if f.shared != "" {
		if n := c.numberOr(f.shared, 0); n > 0 {
			e.Shared = float64(n) * e.Each
		}
	} else if shared := c.numberOr("shared_expert_intermediate_size", 0); shared > 0 {
		e.Shared = product(f.matrices, m.Hidden, shared) + float64(m.Hidden) // and its gate
	}
	m.Experts, m.MoELayers = e, m.mixtures(c)
	if m.MoELayers < m.Layers {
		m.MLP = product(f.matrices, m.Hidden, c.number("intermediate_size"))
	}
}

// mixtures returns the number of layers with experts.
func (m *Model) mixtures(c *config) int64 {
	first := min(c.numberOr("first_k_dense_replace", 0), m.Layers)
	if every := c.numberOr("moe_layer_freq", 1); every != 1 {
		c.fail(fmt.Errorf("moe_layer_freq is %d, want 1", every))
	}
	every := c.numberOr("decoder_sparse_step", 1)
	n := m.Layers/every - first
	dense := c.list("mlp_only_layers")
	slices.Sort(dense)
	for _, layer := range slices.Compact(dense) {
		if 0 <= layer && layer < m.Layers && (layer+1)%every == 0 {
			n--
		}
	}
	return max(n, 0)
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
	split, whole := m.attention()
	dense := float64(m.Layers-m.MoELayers) * m.MLP
	return float64(m.Layers)*(split+whole) + dense + float64(m.MoELayers)*m.Experts.perToken() + float64(m.Hidden)*float64(m.Vocab)
}

// attention returns the elements of the projections of a layer: those that tensor parallelism divides by
// heads, and those that each GPU has whole.
func (m Model) attention() (split, whole float64) {
	l := m.Latent
	if l.KV == 0 {
		return 2 * float64(m.Hidden) * float64(m.HeadDim) * float64(m.Heads+m.KVHeads), 0
	}
	whole = product(m.Hidden, l.KV+l.Rope)
	split = product(l.KV, m.Heads, l.Plain+l.ValueHeadDim) + product(m.Heads, l.ValueHeadDim, m.Hidden)
	if l.Query > 0 {
		return split + product(l.Query, m.Heads, l.Plain+l.Rope), whole + product(m.Hidden, l.Query)
	}
	return split + product(m.Hidden, m.Heads, l.Plain+l.Rope), whole
}

// perPair returns the FLOPs of one head for a pair of a query and a key.
func (m Model) perPair() float64 {
	if l := m.Latent; l.KV > 0 {
		return 2 * float64(l.Plain+l.Rope+l.ValueHeadDim)
	}
	return 4 * float64(m.HeadDim)
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
	flops := 2*n*m.Matrices() + float64(m.Layers)*float64(m.Heads)*m.perPair()*pairs
	if math.IsInf(flops, 0) || flops > 1e24 {
		return 0, errors.New("the dimensions give over 1e24 FLOPs")
	}
	return flops, nil
}

// Training is how many forward passes a training step costs: its own, and twice that in the
// backward pass, for the gradients of inputs and of weights.
const Training = 3
