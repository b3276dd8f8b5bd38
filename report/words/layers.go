package words

import (
	"strconv"
	"strings"

	"assay/internal/label"
)

// Layer returns the name of a kind of layers: "MoE layer", and of the second kind of that name "MoE layer (second kind)".
func Layer(kind string) string { return layerNamed(kind, "layer") }

// Layers returns the name of a kind of layers, in plural.
func Layers(kind string) string { return layerNamed(kind, "layers") }

func layerNamed(kind, word string) string {
	after := ""
	if i := strings.LastIndex(kind, "-"); i >= 0 {
		if n, err := strconv.Atoi(kind[i+1:]); err == nil {
			kind, after = kind[:i], " (kind "+strconv.Itoa(n)+")"
			if n == 2 {
				after = " (second kind)"
			}
		}
	}
	name := strings.TrimSuffix(kind, "-layer")
	switch name {
	case "layer", "":
		return word + after
	case "moe":
		name = "MoE"
	}
	return label.Clip(label.Clean(strings.ReplaceAll(name, "-", " ")), 30) + " " + word + after
}

// layerParts are the names of the parts of layers that are not their ids.
var layerParts = map[string]string{"mlp": "MLP", "moe": "MoE", "norm": "norms", "": "time without kernels"}

// LayerPart returns the name of a part of a layer.
func LayerPart(id string) string {
	if name, ok := layerParts[id]; ok {
		return name
	}
	return label.Clip(label.Clean(id), 30)
}
