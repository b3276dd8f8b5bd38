package profile

const (
	FlameParts = flameParts
	FlameNodes = flameNodes
	FlameDepth = flameDepth
	FlameText  = flameText
)

var ClassifyRow = classifyRow
