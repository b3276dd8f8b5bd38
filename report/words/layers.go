package words

import (
	"strings"

	"assay/internal/label"
)

// Layers returns the name of a kind of layers, in plural: "MoE layers".
func Layers(kind string) string {
	name := strings.TrimSuffix(kind, "-layer")
	switch name {
	case "layer", "":
		return "layers"
	case "moe":
		name = "MoE"
	case "ssm":
		name = "SSM"
	}
	return label.Clip(label.Clean(name), 30) + " layers"
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
