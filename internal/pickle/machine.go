package pickle

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"assay/internal/redact"
)

// Bytes of memory that count toward the limit.
const (
	perValue  = 8
	perObject = 48
	perText   = 64
	grownStep = 32 << 20
)

// chunkSize is the number of values that are allocated at once for the items of
// small containers.
const chunkSize = 64 << 10

// A machine executes the instructions of one pickle.
type machine struct {
	in     *input
	doc    *Doc
	at     int64 // offset of the instruction
	stack  []Value
	marks  []int // heights of the stack
	memo   paged[Value]
	sparse map[uint64]Value     // of numbers that do not follow each other
	chunk  []Value              // room for items
	lists  [1 << listBits]int32 // by hash: lists that others may share the items of; see shares

	used, limit, told int64
	grown             func(int64)
}

func newMachine(in io.Reader, limit int64, grown func(int64)) *machine {
	return &machine{in: newInput(in), doc: &Doc{index: make(map[string]int)}, limit: limit, grown: grown}
}

// take counts memory before it is allocated, and returns an error at the limit.
func (m *machine) take(bytes int) error {
	if m.used += int64(bytes); m.used > m.limit {
		return &LimitError{m.limit}
	}
	if m.grown != nil && m.used-m.told >= grownStep {
		m.told = m.used
		m.grown(m.used)
	}
	return nil
}

var (
	errStack = errors.New("an instruction asks for more values than there are")
	errMark  = errors.New("an instruction asks for a mark, and there is none")
)

// run executes all instructions up to STOP.
func (m *machine) run() error {
	for {
		m.gets()
		m.at = m.in.offset()
		op, err := m.in.byte()
		if err != nil {
			return err
		}
		if op == opStop {
			root, err := m.pop()
			if err != nil {
				return err
			}
			m.doc.Root, m.doc.Complete = root, true
			return nil
		}
		if err := m.step(op); err != nil {
			return err
		}
	}
}

// gets executes a run of BINGET and LONG_BINGET instructions, as long as none can fail.
// step executes the others. Three of four instructions of a large snapshot are one of these
// two.
func (m *machine) gets() {
	const longest = 5
	rest, stack := m.in.rest, m.stack
	for len(rest) >= longest && len(stack) < cap(stack) {
		n, size := uint(0), 0
		switch rest[0] {
		case opBinGet:
			n, size = uint(rest[1]), 2
		case opLongBinGet:
			n, size = uint(binary.LittleEndian.Uint32(rest[1:])), longest
		}
		if size == 0 || n >= uint(m.memo.n) {
			break
		}
		stack = append(stack, *m.memo.at(int(n)))
		rest = rest[size:]
	}
	m.in.rest, m.stack = rest, stack
}

// step executes one instruction. The most frequent ones come first.
func (m *machine) step(op byte) error {
	switch op {
	case opBinGet:
		return m.get(m.in.uint(1))
	case opLongBinGet:
		return m.get(m.in.uint(4))
	case opMemoize:
		return m.put(uint64(m.memo.n+len(m.sparse)), nil)
	case opBinPut:
		return m.put(m.in.uint(1))
	case opLongBinPut:
		return m.put(m.in.uint(4))
	case opMark:
		m.marks = append(m.marks, len(m.stack))
		return m.take(3 * perValue) // two copies while the list grows, and one for unwind
	case opEmptyDict:
		return m.pushObject(Dict, nil)
	case opEmptyList:
		return m.pushObject(List, nil)
	case opEmptyTuple:
		return m.pushObject(Tuple, nil)
	case opEmptySet:
		return m.pushObject(Set, nil)
	case opSetItems:
		return m.addMarked(Dict)
	case opAppends:
		return m.addMarked(List)
	case opAddItems:
		return m.addMarked(Set)
	case opAppend:
		return m.addTop(List, 1)
	case opSetItem:
		return m.addTop(Dict, 2)
	case opTuple, opList, opDict, opFrozenSet:
		return m.collect(op)
	case opTuple1, opTuple2, opTuple3:
		return m.tuple(int(op) - opTuple1 + 1)
	}
	return m.scalar(op)
}

// scalar executes the instructions that push a number or text, and passes others to rest.
func (m *machine) scalar(op byte) error {
	switch op {
	case opNone:
		return m.push(valueNone)
	case opNewTrue, opNewFalse:
		return m.push(newBool(op == opNewTrue))
	case opBinInt1:
		return m.pushUint(1)
	case opBinInt2:
		return m.pushUint(2)
	case opBinInt:
		n, err := m.in.uint(4)
		return m.pushInt(int64(int32(n)), err)
	case opLong1:
		return m.long(1)
	case opLong4:
		return m.long(4)
	case opBinFloat:
		bits, err := m.in.bigEndian()
		return m.pushFloat(math.Float64frombits(bits), err)
	case opShortUnicode, opShortString:
		return m.text(m.in.uint(1))
	case opBinUnicode, opBinString:
		return m.text(m.in.uint(4))
	case opBinUnicode8:
		return m.text(m.in.uint(8))
	case opShortBinBytes:
		return m.skipBytes(m.in.uint(1))
	case opBinBytes:
		return m.skipBytes(m.in.uint(4))
	case opBinBytes8, opByteArray8:
		return m.skipBytes(m.in.uint(8))
	case opInt, opLong, opFloat, opString, opUnicode, opPut, opGet:
		return m.line(op)
	}
	return m.rest(op)
}

// rest executes rare instructions, and refuses those that are not plain data.
func (m *machine) rest(op byte) error {
	switch op {
	case opProto:
		p, err := m.in.byte()
		if err == nil && p > maxProtocol {
			err = fmt.Errorf("it is of protocol %d, want at most %d", p, maxProtocol)
		}
		return err
	case opFrame:
		_, err := m.in.uint(8)
		return err
	case opPop:
		if n := len(m.marks); n > 0 && m.marks[n-1] == len(m.stack) {
			m.marks = m.marks[:n-1]
			return nil
		}
		_, err := m.pop()
		return err
	case opPopMark:
		from, err := m.popMark()
		if err == nil {
			m.stack = m.stack[:from]
		}
		return err
	case opDup:
		v, err := m.top()
		if err != nil {
			return err
		}
		return m.push(v)
	}
	if r, ok := refusals[op]; ok {
		return m.refuse(r.name, r.how)
	}
	return fmt.Errorf("0x%02x is no instruction of a pickle", op)
}

func (m *machine) refuse(name string, how operandForm) error {
	const most = 200
	r := &Refused{Op: name}
	part := func(text string) string {
		if len(text) > most {
			text = redact.Cut(text, most) + "..."
		}
		if !utf8.ValidString(text) {
			return "..."
		}
		return text
	}
	switch how {
	case operandLines, operandLine:
		line, err := m.in.lineText()
		if err != nil {
			return err
		}
		r.What = part(string(line))
		if how == operandLine {
			break
		}
		if line, err = m.in.lineText(); err != nil {
			return err
		}
		r.What += "." + part(string(line))
	case operandStack:
		if n := len(m.stack); n >= 2 {
			module, _ := m.doc.Text(m.stack[n-2])
			name, _ := m.doc.Text(m.stack[n-1])
			r.What = part(module) + "." + part(name)
		}
	}
	return r
}
