package pickle

// The instructions, named as in Python's pickletools.
const (
	opMark          = '('
	opStop          = '.'
	opPop           = '0'
	opPopMark       = '1'
	opDup           = '2'
	opFloat         = 'F'
	opInt           = 'I'
	opBinInt        = 'J'
	opBinInt1       = 'K'
	opLong          = 'L'
	opBinInt2       = 'M'
	opNone          = 'N'
	opString        = 'S'
	opBinString     = 'T'
	opShortString   = 'U'
	opUnicode       = 'V'
	opBinUnicode    = 'X'
	opAppend        = 'a'
	opDict          = 'd'
	opAppends       = 'e'
	opGet           = 'g'
	opBinGet        = 'h'
	opLongBinGet    = 'j'
	opList          = 'l'
	opPut           = 'p'
	opBinPut        = 'q'
	opLongBinPut    = 'r'
	opSetItem       = 's'
	opTuple         = 't'
	opSetItems      = 'u'
	opBinFloat      = 'G'
	opEmptyDict     = '}'
	opEmptyList     = ']'
	opEmptyTuple    = ')'
	opBinBytes      = 'B'
	opShortBinBytes = 'C'

	opProto        = 0x80 // protocol 2
	opTuple1       = 0x85
	opTuple2       = 0x86
	opTuple3       = 0x87
	opNewTrue      = 0x88
	opNewFalse     = 0x89
	opLong1        = 0x8a
	opLong4        = 0x8b
	opShortUnicode = 0x8c // protocol 4
	opBinUnicode8  = 0x8d
	opBinBytes8    = 0x8e
	opEmptySet     = 0x8f
	opAddItems     = 0x90
	opFrozenSet    = 0x91
	opMemoize      = 0x94
	opFrame        = 0x95
	opByteArray8   = 0x96 // protocol 5
)

const maxProtocol = 5

// An operandForm is where a refused instruction has the name that it would look up.
type operandForm uint8

const (
	operandHidden operandForm = iota // it is on the stack, unnamed
	operandLines                     // two lines follow: module and name
	operandStack                     // the two texts on top of the stack
	operandLine                      // one line follows
)

// refusals are the instructions that call or look up something.
var refusals = map[byte]struct {
	name string
	how  operandForm
}{
	'c': {"GLOBAL", operandLines}, 'i': {"INST", operandLines}, 0x93: {"STACK_GLOBAL", operandStack},
	'R': {"REDUCE", operandHidden}, 'b': {"BUILD", operandHidden}, 'o': {"OBJ", operandHidden},
	0x81: {"NEWOBJ", operandHidden}, 0x92: {"NEWOBJ_EX", operandHidden},
	0x82: {"EXT1", operandHidden}, 0x83: {"EXT2", operandHidden}, 0x84: {"EXT4", operandHidden},
	'P': {"PERSID", operandLine}, 'Q': {"BINPERSID", operandHidden},
	0x97: {"NEXT_BUFFER", operandHidden}, 0x98: {"READONLY_BUFFER", operandHidden},
}
