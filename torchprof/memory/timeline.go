package memory

import "assay/internal/diag"

// A Category is the purpose of memory as determined by PyTorch's profiler.
type Category uint8

// The categories, by the numbers of the files.
const (
	Parameter Category = iota
	OptimizerState
	Input
	Temporary
	Activation
	Gradient
	AutogradDetail
	Unknown
	Categories = 8
)

var categoryNames = [Categories]string{
	"parameters", "optimizer state", "inputs", "temporaries", "activations", "gradients", "autograd detail", "unknown",
}

// String returns the category's name, such as "activations".
func (c Category) String() string { return categoryNames[min(int(c), Categories-1)] }

// Sizes has the bytes of each category.
type Sizes [Categories]int64

// A Timeline is the memory of one device by category, over time.
type Timeline struct {
	Times []int64 // ns, ascending
	Sizes []Sizes // allocated from each time until the next

	Start Sizes // allocated before the first time

	Records  int64
	Complete bool
	Issues   []diag.Issue
}
