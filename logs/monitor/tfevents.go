package monitor

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"assay/internal/diag"
	"assay/internal/protoscan"
	"assay/logs"
)

const tensorBoard = "TensorBoard"

// maxEvent is the maximum size of a record that is read. Pictures and graphs are larger and
// are skipped.
const maxEvent = 4 << 20

// SniffEvents reports whether head begins an event file of TensorBoard: a record of a
// length, whose content begins with a time and the version of the file.
func SniffEvents(head []byte) bool {
	if len(head) < 12+9 {
		return false
	}
	n := binary.LittleEndian.Uint64(head)
	if n < 9 || n > maxEvent || crc(head[:8]) != binary.LittleEndian.Uint32(head[8:]) {
		return false
	}
	return head[12] == 0x09 // wall_time, a double
}

// ReadEvents reads the scalars of an event file.
func ReadEvents(r io.Reader, name string, limits logs.Limits) (*logs.Log, error) {
	b := logs.NewBuilder(limits)
	in := bufio.NewReaderSize(r, 256<<10)
	var offset int64
	complete := true
	var cause error
	for {
		record, n, err := nextRecord(in)
		at := diag.Pos{File: name, Offset: offset}
		offset += n
		if err == io.EOF {
			break
		}
		if err != nil {
			complete, cause = false, err
			break
		}
		if record != nil {
			event(b, record, at)
		}
	}
	log := b.Log(0, complete)
	if cause != nil {
		log.Issues = append(log.Issues, diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: name, Offset: offset},
			Help: fmt.Sprintf("The event file cannot be read further (%v). Values after this position are missing. If the program still runs, this is its last record; else copy the file again.", cause)})
		if errors.Is(cause, io.ErrUnexpectedEOF) || errors.Is(cause, errRecord) {
			cause = nil
		}
	}
	return log, cause
}

var errRecord = errors.New("a record is damaged")

// nextRecord returns the content of the next record, or nil if it is too large, and the
// number of bytes of the record.
func nextRecord(in *bufio.Reader) (content []byte, n int64, err error) {
	var head [12]byte
	k, err := io.ReadFull(in, head[:])
	if err != nil {
		return nil, int64(k), err
	}
	size := binary.LittleEndian.Uint64(head[:])
	if crc(head[:8]) != binary.LittleEndian.Uint32(head[8:]) || size > 1<<40 {
		return nil, int64(k), errRecord
	}
	n = int64(size) + 16
	if size > maxEvent {
		_, err := io.CopyN(io.Discard, in, int64(size)+4)
		return nil, n, short(err)
	}
	content = make([]byte, size+4)
	if _, err := io.ReadFull(in, content); err != nil {
		return nil, n, short(err)
	}
	return content[:size], n, nil
}

func short(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// event reads an event: wall_time = 1 (double), step = 2, summary = 5.
func event(b *logs.Builder, content []byte, at diag.Pos) {
	t, step := logs.NoTime, logs.NoStep
	step = 0 // a field with the value 0 is not written
	var summaries [][]byte
	fields(content, func(number int, wire byte, v uint64, text []byte) {
		switch {
		case number == 1 && wire == 1:
			if s := math.Float64frombits(v); s > 0 && s < 1<<33 {
				t = int64(s * 1e9)
			}
		case number == 2 && wire == 0:
			step = int64(v)
		case number == 5 && wire == 2:
			summaries = append(summaries, text)
		}
	})
	for _, s := range summaries {
		fields(s, func(number int, wire byte, _ uint64, text []byte) {
			if number == 1 && wire == 2 {
				tagged(b, text, step, t, at)
			}
		})
	}
}

// tagged reads a value of a summary: tag = 1, simple_value = 2 (float), tensor = 8.
func tagged(b *logs.Builder, content []byte, step, t int64, at diag.Pos) {
	tag, v, ok := "", 0.0, false
	fields(content, func(number int, wire byte, bits uint64, text []byte) {
		switch {
		case number == 1 && wire == 2:
			tag = string(text)
		case number == 2 && wire == 5:
			v, ok = float64(math.Float32frombits(uint32(bits))), true
		case number == 8 && wire == 2:
			if x, scalar := scalarOf(text); scalar {
				v, ok = x, true
			}
		}
	})
	if tag == "" || !ok {
		return
	}
	if t != logs.NoTime {
		b.Clock(t, true, true)
	}
	b.Record(tensorBoard, false)
	id := b.Of(metricOfTag(tag), tensorBoard, tag, nil, at)
	run := b.Step(b.Stream(tag), step, at)
	b.Add(id, v, step, t, run)
}

// metricOfTag returns the metric of a tag.
func metricOfTag(tag string) logs.Metric {
	name := map[string]string{"loss": "train.loss", "train/loss": "train.loss", "training/loss": "train.loss", "eval/loss": "eval.loss", "train/grad_norm": "train.grad_norm", "grad_norm": "train.grad_norm", "grad-norm": "train.grad_norm", "train/learning_rate": "train.learning_rate", "lr": "train.learning_rate", "learning-rate": "train.learning_rate", "train/epoch": "train.epoch", "lm loss": "train.loss"}[tag]
	if m, ok := logs.MetricOf(name); ok {
		return m
	}
	return logs.Unnamed(tag)
}

// scalarOf reads a tensor of one float: dtype = 1, tensor_shape = 2, tensor_content = 4,
// float_val = 5, double_val = 6, int_val = 7.
func scalarOf(content []byte) (v float64, ok bool) {
	dtype := uint64(0)
	var raw []byte
	shaped := false
	fields(content, func(number int, wire byte, bits uint64, text []byte) {
		switch {
		case number == 1 && wire == 0:
			dtype = bits
		case number == 2 && wire == 2:
			shaped = len(text) > 0
		case number == 4 && wire == 2:
			raw = text
		case number == 5 && wire == 2 && len(text) == 4, number == 6 && wire == 2 && len(text) == 8:
			raw = text
		case number == 5 && wire == 5:
			v, ok = float64(math.Float32frombits(uint32(bits))), true
		case number == 6 && wire == 1:
			v, ok = math.Float64frombits(bits), true
		}
	})
	switch {
	case shaped && !ok && len(raw) != 4 && len(raw) != 8:
		return 0, false
	case dtype == 1 && len(raw) == 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(raw))), true
	case dtype == 2 && len(raw) == 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(raw)), true
	}
	return v, ok && !shaped
}

// fields calls f with each field of a message of protocol buffers, up to damage.
func fields(b []byte, f func(number int, wire byte, v uint64, text []byte)) {
	protoscan.Each(b, func(it protoscan.Field) { f(it.Number, it.Type, it.Bits, it.Text) })
}
