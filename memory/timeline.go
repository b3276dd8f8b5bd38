package memory

import "assay/diag"

// A Category is what memory was for, as PyTorch's profiler works it out.
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

// String returns what the category holds: "activations".
func (c Category) String() string { return categoryNames[min(int(c), Categories-1)] }

// Sizes has the bytes of each category.
type Sizes [Categories]int64

// A Timeline is the memory of one device by category, over time.
type Timeline struct {
	Times []int64 // rising
	Sizes []Sizes // that live from each time on, up to the next

	Start Sizes // what lived before the first time

	Records  int64
	Complete bool
	Issues   []diag.Issue
}
