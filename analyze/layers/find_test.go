package layers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// roleOf has the letters of kernels in the models of tests.
var roleOf = map[string]role{"n": norm, "a": attends, "s": scans, "x": experts, "g": product, "c": convolve, "v": activate, "+": adds,
	"o": softmax, "!": stop, "e": stop}

// A model is kernels as words: name/role, with ' behind it in the backward pass. [ is before the first kernel of a layer and ] behind the last one; | begins a
// step. Kernels of one name are equal.
func model(text string) (list []kernel, layers [][2]int) {
	tokens := make(map[string]int32)
	first, from := true, 0
	for word := range strings.FieldsSeq(text) {
		switch word {
		case "[":
			from = len(list)
			continue
		case "]":
			layers = append(layers, [2]int{from, len(list)})
			continue
		case "|":
			first = true
			continue
		}
		if _, ok := tokens[word]; !ok {
			tokens[word] = int32(len(tokens))
		}
		name, back := strings.CutSuffix(word, "'")
		_, letter, _ := strings.Cut(name, "/")
		list = append(list, kernel{token: tokens[word], work: int32(len(list)), first: first,
			nature: nature{role: roleOf[letter], back: back, looksUp: letter == "e"}})
		first = false
	}
	return list, layers
}

// times repeats a text n times.
func repeat(n int, text ...string) string { return strings.Repeat(strings.Join(text, " ")+" ", n) }

const (
	attention = "qkv/g rope attn/a proj/g"
	gated     = "up/g act/v down/g"
	plainNorm = "[ ln/n " + attention + " add/+ ln/n " + gated + " add/+ ]"
	head      = "ln/n head/g argmax/!"
)

// models are kernels with their layers.
var models = []struct{ name, text string }{
	{"norms before", "emb/e " + repeat(5, plainNorm) + head},
	{"norms behind", "emb/e ln/n mask1 mask2 " + repeat(6, "[ q/g k/g v/g attn/a proj/g add/+ ln/n up/g gelu/v down/g add/+ ln/n ]") + "pool/g tanh/v"},
	{"another first norm", "emb/e [ rms/n " + attention + " addrms/n " + gated + " ] " + repeat(7, "[ addrms/n "+attention+" addrms/n "+gated+" ]") + "addrms/n head/g argmax/!"},
	{"norms of queries and keys with the name of all others", "emb/e " + repeat(9, "[ rms/n qkv/g rms/n rms/n rope attn/a reduce/a proj/g rms/n "+gated+" ]") + "rms/n head/g argmax/!"},
	{"four norms", "emb/e " + repeat(4, "[ rms/n "+attention+" rms/n add/+ rms/n "+gated+" rms/n add/+ ]") + "rms/n head/g argmax/!"},
	{"side by side", "emb/e " + repeat(4, "[ ln/n qkv/g attn/a proj/g up/g gelu/v down/g add/+ ]") + head},
	{"modulated", "patch/c " + repeat(8, "[ mod/g ln/n scale "+attention+" gate ln/n scale up/g gelu/v down/g gate ]") + "ln/n out/g"},
	{"no norm is known", "emb/e " + repeat(6, "[ fused1 qkv/g attn/a proj/g fused2 up/g act/v down/g ]") + "fused3 head/g argmax/!"},
	{"first layers are dense", "emb/e " + repeat(3, plainNorm) + repeat(9, "[ ln/n "+attention+" add/+ ln/n gate/g topk/x grouped/x act/v grouped/x sum/x add/+ ]") + head},
	{"one dense layer", "emb/e " + plainNorm + " " + repeat(9, "[ ln/n "+attention+" add/+ ln/n gate/g topk/x grouped/x act/v grouped/x sum/x add/+ ]") + head},
	{"attention each third layer", "emb/e " + repeat(4, repeat(2, "[ ln/n in/g conv/s scan/s out/g add/+ ln/n "+gated+" add/+ ]"), plainNorm) + head},
	{"mixers without a network", "emb/e " + repeat(3, repeat(3, "[ ln/n in/g scan/s out/g add/+ ]"), plainNorm) + head},
	{"two in turns", "emb/e " + repeat(5, "[ ln/n qkv/g cast attn2/a proj/g ln/n "+gated+" ] [ ln/n qkv/g cast attn3/a merge/a proj/g ln/n "+gated+" ]") + head},
	{"encoder and decoder", "emb/e " + repeat(4, plainNorm) + "ln/n emb/e " + repeat(4, "[ ln/n "+attention+" add/+ ln/n q/g cross/a proj/g add/+ ln/n "+gated+" add/+ ]") + head},
	{"no embedding between them", "emb/e " + repeat(4, plainNorm) + "last/n pick " + repeat(5, "[ ln/n qkv2/g attn2/a proj2/g add/+ ln/n "+gated+" add/+ ]") + head},
	{"draft and target", repeat(3, "emb/e "+repeat(2, "[ ln/n qkvd/g attnd/a projd/g ln/n upd/g act/v downd/g ]")+"ln/n headd/g sample/!") + "emb/e " + repeat(6, plainNorm) + head},
	{"stage of a pipeline", repeat(6, plainNorm)},
	{"training", "emb/e " + repeat(4, plainNorm) + "ln/n head/g loss/! loss/!' headb/g' headw/g' ln/n' " +
		repeat(4, "[ add/+' downb/g downw/g actb/v' upb/g upw/g ln/n' gamma/n' add/+' projb/g projw/g attn/a' qkvb/g qkvw/g ln/n' gamma/n' ]") + "embb/!' adam/!"},
	{"recomputation", "emb/e " + repeat(4, plainNorm) + "ln/n head/g loss/! loss/!' headb/g' ln/n' " +
		repeat(4, plainNorm, "[ downb/g downw/g actb/v' upb/g upw/g ln/n' gamma/n' projb/g projw/g attn/a' qkvb/g qkvw/g ln/n' gamma/n' ]") + "adam/!"},
	{"one forward, one backward in turns", repeat(5, repeat(3, plainNorm),
		repeat(3, "[ downb/g actb/v' upb/g ln/n' projb/g attn/a' qkvb/g ln/n' gamma/n' ]"))},
	{"attention is computed again", "emb/e " + repeat(4, plainNorm) + "ln/n head/g loss/! loss/!' headb/g' ln/n' " +
		repeat(4, "[ downb/g downw/g actb/v' upb/g upw/g ln/n' gamma/n' projb/g projw/g attn/a attn/a' qkvb/g qkvw/g ln/n' gamma/n' ]") + "adam/!"},
	{"attention and a scan side by side", "emb/e " + repeat(5, "[ ln/n in/g attn/a conv/s scan/s out/g add/+ ln/n "+gated+" add/+ ]") + head},
	{"no norm at the end", "emb/e " + repeat(5, "[ ln/n "+attention+" ln/n "+gated+" ]") + "head/g argmax/!"},
	{"nothing before the first norm behind", "emb/e " + repeat(5, "[ "+attention+" add/+ ln/n "+gated+" add/+ ln/n ]") + "head/g argmax/!"},
	{"latent attention", "emb/e " + repeat(2, "[ rms/n down/g rms/n rms/n up/g kv/g rope attn/a v/g proj/g rms/n "+gated+" ]") +
		repeat(6, "[ rms/n down/g rms/n rms/n up/g kv/g rope attn/a v/g proj/g rms/n gate/g topk/x experts/x act/v experts/x ]") + "rms/n head/g argmax/!"},
	{"softmax of a program", "emb/e " + repeat(5, "[ ln/n qkv/g scores/g scale soft/o values/g proj/g add/+ ln/n "+gated+" add/+ ]") + head},
	{"another kernel in one layer", "emb/e " + repeat(3, plainNorm) + "[ ln/n qkv2/g reduce/g rope attn/a proj/g add/+ ln/n " + gated + " add/+ ] " + repeat(3, plainNorm) + head},
	{"a fused epilogue in one layer", "emb/e " + repeat(3, plainNorm) + "[ ln/n " + attention + " add/+ ln/n up/g act/v downadd/g ] " + repeat(3, plainNorm) + head},
	{"extra kernels", "emb/e " + repeat(3, plainNorm, "[ ln/n qkv/g extra rope attn/a proj/g add/+ ln/n up/g act/v down/g add/+ ]") + repeat(4, plainNorm) + head},
	{"record begins within a layer", "rope attn/a proj/g add/+ ln/n " + gated + " add/+ " + repeat(5, plainNorm) + head},
	{"unknown attention", "emb/e " + repeat(6, "[ ln/n qkv/g mystery proj/g add/+ ln/n up/g act/v down/g add/+ ]") + head},
	{"embeddings in each layer", "emb/e " + repeat(6, "[ ln/n q/g k/g bias/e scores/g soft/o values/g proj/g add/+ ln/n up/g act/v down/g add/+ ]") + head},
	{"a norm of the embeddings", "emb/e ln/n " + repeat(5, plainNorm) + head},
	{"a norm of the embeddings, and the first layer adds nothing", "emb/e rms/n [ rms/n " + attention + " addrms/n " + gated + " ] " + repeat(7, "[ addrms/n "+attention+" addrms/n "+gated+" ]") + "addrms/n head/g argmax/!"},
	{"a norm of the embeddings with positions", "emb/e add/+ ln/n mask " + repeat(5, plainNorm) + head},
	{"a norm of the embeddings, and one more kernel in the first layer", "emb/e embln/n [ ln/n extra " + attention + " add/+ ln/n " + gated + " add/+ ] " + repeat(5, plainNorm) + head},
	{"a norm of the embeddings of layers with norms behind", "emb/e ln/n mask " + repeat(5, "[ q/g k/g v/g attn/a proj/g add/+ ln/n up/g gelu/v down/g add/+ ln/n ]") + "pool/g tanh/v"},
	{"three layers", "emb/e " + repeat(3, plainNorm) + head},
}

// layersOf returns the layers of a list of kernels as pairs of indices.
func layersOf(list []kernel) (out [][2]int) {
	for _, l := range newFinder(list).find() {
		out = append(out, [2]int{l.from, l.to})
	}
	return out
}

func TestBoundaries(t *testing.T) {
	for _, m := range models {
		for steps := 1; steps <= 3; steps++ {
			list, want := model(repeat(steps, "|", m.text))
			if got := layersOf(list); !slices.Equal(got, want) {
				t.Errorf("%s, %d steps: got layers\n%v, want\n%v", m.name, steps, got, want)
				break
			}
		}
	}
}

// TestRenamed: the numbers of kernels do not matter, only which are equal.
func TestRenamed(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 1))
	for _, m := range models {
		list, want := model(m.text)
		other := make([]int32, len(list))
		for i, p := range r.Perm(len(list)) {
			other[i] = int32(p)
		}
		for i := range list {
			list[i].token = other[list[i].token]
		}
		if got := layersOf(list); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", m.name, got, want)
		}
	}
}

// TestDisturbed: in one of many steps a kernel is missing, repeated, or another one. Boundaries in the other steps stay.
func TestDisturbed(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 2))
	for _, m := range models {
		one, want := model("| " + m.text)
		for kind := range 3 {
			list, _ := model(repeat(4, "|", m.text))
			at := len(one) + 1 + r.IntN(len(one)-1)
			shift := 0
			switch kind {
			case 0:
				list, shift = slices.Delete(list, at, at+1), -1
			case 1:
				list, shift = slices.Insert(list, at, kernel{token: list[at].token, nature: list[at].nature}), 1
			case 2:
				list[at] = kernel{token: 1000}
			}
			got := layersOf(list)
			for step, by := range []int{0, 0, 2*len(one) + shift, 3*len(one) + shift} {
				if step == 1 {
					continue
				}
				for _, l := range want {
					if !slices.Contains(got, [2]int{l[0] + by, l[1] + by}) {
						t.Errorf("%s, disturbance %d of kernel %d: step %d has no layer %v", m.name, kind, at-len(one), step, l)
						break
					}
				}
			}
		}
	}
}

// TestNone: what has no layers has none.
func TestNone(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 3))
	words := strings.Fields(attention + " " + gated + " ln/n add/+ copy cast head/g")
	for _, n := range []int{50, 500, 5000} {
		var random []string
		for range n {
			random = append(random, words[r.IntN(len(words))])
		}
		none(t, "random", strings.Join(random, " "))
	}
	net := ""
	for level := range 9 {
		net += fmt.Sprintf("conv%d/c gn%d/n silu%d/v conv%db/c ", level, level, level, level)
		if level%3 == 1 {
			net += "attn/a "
		}
	}
	none(t, "blocks of other sizes", repeat(3, "|", net))
	none(t, "a loop", repeat(200, "mul/g"))
	none(t, "a loop of a few", repeat(200, "mul/g add/+ norm/n"))
	none(t, "nothing", "")
}

// none checks that kernels have no layers that are like each other.
func none(t *testing.T, name, text string) {
	t.Helper()
	list, _ := model(text)
	f := newFinder(list)
	m := &measurer{finder: f, sequence: &sequence{kernels: list, steps: make([]int32, len(list))}}
	if got := m.groupsOf(f.find()); len(got) > 0 {
		t.Errorf("%s: got %d layers, the first one from %d to %d", name, len(got), got[0].from, got[0].to)
	}
}

// TestVariant: in the only step, one kernel within a layer is another one of its role, is missing, or is followed by one more. All layers stay.
func TestVariant(t *testing.T) {
	r := rand.New(rand.NewPCG(test.Seed(t), 4))
	for _, m := range models {
		for try := range 30 {
			list, want := model(m.text)
			n := r.IntN(len(want))
			l := want[n]
			// The first and the last layer of a model show where layers begin.
			if l[1]-l[0] < 6 || n == 0 || n == len(want)-1 || want[n-1][1] != l[0] || want[n+1][0] != l[1] {
				continue
			}
			at := l[0] + 1 + r.IntN(l[1]-l[0]-2) // neither the first kernel of the layer nor the last one
			if k := list[at].role; k == attends || k == scans || k == softmax || k == norm || list[at].looksUp {
				continue
			}
			shift := 0
			switch try % 3 {
			case 0:
				list[at].token = 1000
			case 1:
				list, shift = slices.Insert(list, at, kernel{token: 1000}), 1
			case 2:
				list, shift = slices.Delete(list, at, at+1), -1
			}
			for i := range want {
				if want[i][0] > at {
					want[i][0] += shift
				}
				if want[i][1] > at {
					want[i][1] += shift
				}
			}
			if got := layersOf(list); !slices.Equal(got, want) {
				t.Errorf("%s, change %d of kernel %d: got\n%v, want\n%v", m.name, try%3, at, got, want)
			}
		}
	}
}
