package pyprof

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/profile"
)

// The parts of a marshal file, written by hand.
func mInt(n int32) string { return "i" + string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
func mFloat(x float64) string {
	return "g" + string(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
}
func mText(s string) string { return "z" + string([]byte{byte(len(s))}) + s }
func mTuple(parts ...string) string {
	return ")" + string([]byte{byte(len(parts))}) + strings.Join(parts, "")
}
func mDict(parts ...string) string { return "{" + strings.Join(parts, "") + "0" }
func mRef(n int32) string          { return "r" + mInt(n)[1:] }
func marked(s string) string       { return string([]byte{s[0] | flagRef}) + s[1:] }
func mKey(file string, line int32, name string) string {
	return mTuple(mText(file), mInt(line), mText(name))
}

func TestProf(t *testing.T) {
	stats := func(cc, nc int32, tt, ct float64, callers string) string {
		return mTuple(mInt(cc), mInt(nc), mFloat(tt), mFloat(ct), callers)
	}
	call := func(nc, cc int32, tt, ct float64) string { return mTuple(mInt(nc), mInt(cc), mFloat(tt), mFloat(ct)) }
	plain := mDict(mKey("a.py", 1, "f"), stats(1, 1, 0.5, 2, mDict()), mKey("~", 0, "<built-in method sum>"), stats(2, 5, 1.5, 1.5, mDict(mKey("a.py", 1, "f"), call(5, 2, 1.5, 1.5))))
	want := []string{"function  count primitive self total", "a.py:1 f: 1 1 500000000 2000000000", "{built-in method sum}: 5 2 1500000000 1500000000",
		"edge  count self total", "{built-in method sum}: 5 1500000000 1500000000 caller=a.py:1 f"}
	for _, tt := range []struct {
		name, in string
		want     []string
	}{
		{"plain", plain, want},
		{"keys and names by reference, the dict too", marked(mDict(
			marked(mTuple(marked(mText("a.py")), mInt(1), mText("f"))), stats(1, 1, 0.5, 2, mDict()), // references 0 to 2: the dict, the tuple, the text
			mKey("~", 0, "<built-in method sum>"), stats(2, 5, 1.5, 1.5, mDict(mRef(1), call(5, 2, 1.5, 1.5))))), want},
		{"long tuples, text of Python 2, whole numbers", mDict("(\x03\x00\x00\x00t\x04\x00\x00\x00a.pyI\x01\x00\x00\x00\x00\x00\x00\x00u\x01\x00\x00\x00f",
			mTuple("l\x01\x00\x00\x00\x07\x00", mInt(7), "f\x040.25", mInt(2), mDict("(\x03\x00\x00\x00R\x00\x00\x00\x00"+mInt(2)+"s\x01\x00\x00\x00g", mInt(3)))),
			[]string{"function  count primitive self total", "a.py:1 f: 7 7 250000000 2000000000", "a.py:2 g: ? ? ? ?", "edge  count self total", "a.py:1 f: 3 ? ? caller=a.py:2 g"}},
		{"a time below zero", mDict(mKey("a.py", 1, "f"), stats(1, 1, -0.5, 2, mDict())),
			[]string{"function  count primitive self total", "a.py:1 f: 1 1 0 2000000000", "data-loss negative-time ×1 at in@49"}},
		{"cut", plain[:len(plain)-1], append(want, "data-loss input-truncated ×1 at in@"+strconv.Itoa(len(plain)-1))},
		{"cut before the first function", plain[:20], []string{"error in@20: ends in a value: the file is cut: copy it again, or let the profiler write it to its end"}},
		{"empty dict", "{0", []string{"function  count primitive self total"}},
		{"no dict", mInt(3), []string{"error in@1: not a dict, which a file of pstats is"}},
		{"code", "{c", []string{`error in@2: a value of type 'c', which no file of pstats has`}},
		{"a key that is none", mDict(mInt(3), mInt(4)), []string{"error in@11: a key that is not a tuple of file, line and function"}},
		{"a value that is none", mDict(mKey("a", 1, "f"), mInt(4)), []string{`error in@19: statistics of "a:1 f" that are not a tuple of five`}},
		{"callers that are none", mDict(mKey("a", 1, "f"), stats(1, 1, 1, 1, mInt(1))), []string{`error in@49: callers of "a:1 f" that are not a dict`}},
		{"a time that is none", mDict(mKey("a", 1, "f"), stats(1, 1, math.NaN(), 1, mDict())), []string{`error in@46: a time of "a:1 f" that is not a number`}},
		{"a time without end", mDict(mKey("a", 1, "f"), stats(1, 1, 1, math.Inf(1), mDict())), []string{`error in@46: a time of "a:1 f" that is too large for 64 bits`}},
		{"a reference to nothing", "{" + mRef(5), []string{"error in@6: a reference to value 5, which does not exist"}},
		{"a length below zero", "{s\xff\xff\xff\xff", []string{"error in@6: a length of -1, over the limit of 65536"}},
		{"a length over the limit", "{u\x01\x00\x01\x00", []string{"error in@6: a length of 65537, over the limit of 65536"}},
		{"a tuple over the limit", "{)\x11", []string{"error in@3: a length of 17, over the limit of 16"}},
		{"nesting", "{" + strings.Repeat(")\x01", 20), []string{"error in@13: values nest deeper than 6, which those of pstats do not"}},
		{"a number over 64 bits", "{l\x05\x00\x00\x00" + strings.Repeat("\x01\x00", 4) + "\x08\x00", []string{"error in@16: a number too large for 64 bits"}},
		{"a number of many digits", "{l\x06\x00\x00\x00", []string{"error in@6: a number of 6 digits of 15 bits, over the limit of 5"}},
	} {
		if diff := cmp.Diff(tt.want, counts(ReadProf, tt.in, Limits{})); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tt.name, diff)
		}
	}
}

// TestProfShared: one dict of callers that many functions refer to is small in the
// file and is not walked for ever.
func TestProfShared(t *testing.T) {
	var callers strings.Builder
	callers.WriteString("\xfb")
	for range 60_000 {
		callers.WriteString(mKey("a", 1, "g") + mInt(1))
	}
	callers.WriteString("0")
	in := "{" + mKey("a", 1, "f") + mTuple(mInt(1), mInt(1), mFloat(1), mFloat(1), callers.String())
	for range 60 {
		in += mKey("a", 1, "f") + mTuple(mInt(1), mInt(1), mFloat(1), mFloat(1), mRef(0))
	}
	got := counts(ReadProf, in+"0", Limits{})
	if len(got) != 1 || !strings.HasSuffix(got[0], "more than 2097152 calls, the limit") {
		t.Errorf("got %.300s", strings.Join(got, "\n"))
	}
}

// TestSeconds: digits are read, not rounded through floating point.
func TestSeconds(t *testing.T) {
	for in, want := range map[string]int64{
		"0.000001": 1000, "17.98387": 17_983_870_000, "9007199.254740993": 9007199254740993, "3": 3_000_000_000, ".5": 500_000_000,
		"0.0000000019": 1, "-0.5": -500_000_000, "9223372036.854775807": math.MaxInt64,
	} {
		if got, err := seconds(in); got != want || err != nil {
			t.Errorf("%s is %d ns, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", ".", "-", "1.2.3", "1e5", "0x1", " 1", "9223372036.854775808", "99999999999999999999"} {
		if got, err := seconds(in); err == nil {
			t.Errorf("%q is %d ns, want an error", in, got)
		}
	}
}

// TestProfDamaged: of a file with a bad byte, each function before it is as
// Python's own pstats reads it from the whole file, and an issue has the place.
func TestProfDamaged(t *testing.T) {
	whole, err := os.ReadFile(filepath.Join(profiles, "cprofile.prof"))
	if err != nil {
		t.Fatal(err)
	}
	want := wantedOf(t, "cprofile.prof")
	for _, from := range []int{len(whole) - 1, len(whole) * 9 / 10, len(whole) / 2} {
		// The first type of a value behind a place: 0xff is none. Other bytes are of
		// numbers, whose damage nothing shows.
		at := from
		var tables *profile.Tables
		for ; at < len(whole) && (tables == nil || tables.Complete); at++ {
			bad := append([]byte(nil), whole...)
			bad[at] = 0xff
			if tables, err = ReadProf(bytes.NewReader(bad), "in", Limits{}); err != nil {
				t.Fatalf("byte %d of %d: %v", at, len(whole), err)
			}
		}
		if at--; tables.Complete || at > from+20 {
			t.Fatalf("byte %d of %d: no damage is seen up to byte %d", from, len(whole), at)
		}
		same := 0
		table := tables.List[0]
		for _, row := range table.Rows {
			if w, ok := want[row.Name]; ok && near(cell(table, row, "self"), w.Self, 1) && near(cell(table, row, "total"), w.Total, 1) && cell(table, row, "count") == w.Calls {
				same++
			}
		}
		is := tables.Issues[0]
		if least := len(want) * at / len(whole) * 8 / 10; same < least || is.Code != "input-damaged" || is.First.Offset < int64(at) {
			t.Errorf("byte %d of %d: %d of %d functions are as in the whole, want %d; %+v", at, len(whole), same, len(want), least, is)
		}
	}
	tables, err := ReadProf(bytes.NewReader(append(whole, whole...)), "in", Limits{})
	if err != nil || len(tables.List[0].Rows) != len(want) || tables.Issues[0].Code != "trailing-data" || tables.Issues[0].First.Offset != int64(len(whole)) {
		t.Errorf("two files in one: %v, %+v", err, tables.Issues)
	}
}
