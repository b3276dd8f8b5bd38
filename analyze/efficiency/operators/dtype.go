package operators

// A category orders types for promotion: a float and an integer make a float.
type category uint8

const (
	boolean category = iota
	integer
	floating
)

// A dtype is a type of elements.
type dtype struct {
	width    int64 // bytes of an element as the dimensions count them
	category category
	packed   int64 // values in one element
}

// dtypes has the types by the names that traces give them: C++ names, of gcc or of clang.
var dtypes = map[string]dtype{
	"bool":                  {1, boolean, 1},
	"unsigned char":         {1, integer, 1},
	"signed char":           {1, integer, 1},
	"char":                  {1, integer, 1},
	"short":                 {2, integer, 1},
	"short int":             {2, integer, 1},
	"unsigned short":        {2, integer, 1},
	"int":                   {4, integer, 1},
	"unsigned int":          {4, integer, 1},
	"long":                  {8, integer, 1},
	"long int":              {8, integer, 1},
	"unsigned long":         {8, integer, 1},
	"float":                 {4, floating, 1},
	"double":                {8, floating, 1},
	"c10::Half":             {2, floating, 1},
	"c10::BFloat16":         {2, floating, 1},
	"c10::Float8_e4m3fn":    {1, floating, 1},
	"c10::Float8_e4m3fnuz":  {1, floating, 1},
	"c10::Float8_e5m2":      {1, floating, 1},
	"c10::Float8_e5m2fnuz":  {1, floating, 1},
	"c10::Float8_e8m0fnu":   {1, floating, 1},
	"c10::Float4_e2m1fn_x2": {1, floating, 2},
	"c10::complex<float>":   {8, floating, 1},
	"c10::complex<double>":  {16, floating, 1},
}

// scalarTypes has the types by the numbers of c10::ScalarType, which arguments such as
// dtype and out_dtype have as values.
var scalarTypes = map[string]string{
	"0": "unsigned char", "1": "signed char", "2": "short", "3": "int", "4": "long",
	"5": "c10::Half", "6": "float", "7": "double", "9": "c10::complex<float>", "10": "c10::complex<double>",
	"11": "bool", "15": "c10::BFloat16", "23": "c10::Float8_e5m2", "24": "c10::Float8_e4m3fn",
	"25": "c10::Float8_e5m2fnuz", "26": "c10::Float8_e4m3fnuz",
}
