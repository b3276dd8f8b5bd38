package forms

import (
	"bytes"
)

// A stamp is a date and time found in a text.
type stamp struct {
	ns           int64 // since 1970, as if the zone was UTC
	dated, zoned bool  // the year, or the zone, is in the text
	month        int
	leap         bool // 29 February of a year that is not in the text
	from, to     int  // its position in the text
}

const (
	second = int64(1e9)
	day    = 86400 * second
)

// findStamp finds the first date and time in a text. It ignores a time without a date, because
// times before and after midnight could not be ordered.
func findStamp(b []byte) (stamp, bool) {
	for i := 2; i+5 < len(b); i++ {
		n := bytes.IndexByte(b[i:], ':')
		if n < 0 {
			return stamp{}, false
		}
		if i += n; i+5 >= len(b) {
			return stamp{}, false
		}
		if b[i+3] != ':' {
			continue
		}
		h, ok1 := two(b, i-2)
		m, ok2 := two(b, i+1)
		s, ok3 := two(b, i+4)
		if !ok1 || !ok2 || !ok3 || h > 23 || m > 59 || s > 60 || i-3 >= 0 && isDigit(b[i-3]) {
			continue
		}
		if st, ok := dateBefore(b, i-2); ok {
			st.to = i + 6
			st.ns += int64(h*3600+m*60+s) * second
			st.fraction(b)
			return st, true
		}
	}
	return stamp{}, false
}

// two reads two digits.
func two(b []byte, at int) (int, bool) {
	if at < 0 || at+1 >= len(b) || !isDigit(b[at]) || !isDigit(b[at+1]) {
		return 0, false
	}
	return int(b[at]-'0')*10 + int(b[at+1]-'0'), true
}

// fraction reads the digits after the seconds, and a zone.
func (st *stamp) fraction(b []byte) {
	if st.to+1 < len(b) && (b[st.to] == '.' || b[st.to] == ',') && isDigit(b[st.to+1]) {
		scale := second / 10
		for st.to++; st.to < len(b) && isDigit(b[st.to]); st.to++ {
			st.ns += int64(b[st.to]-'0') * scale
			scale /= 10
		}
	}
	st.zone(b)
}

// zone reads a zone: Z, UTC, GMT, +02:00, +0200 or -0330, the last ones also after a space, as gunicorn writes them. Other
// digits after a sign may be the number of a process.
func (st *stamp) zone(b []byte) {
	rest := b[st.to:]
	space := len(rest) > 0 && rest[0] == ' '
	word := bytes.TrimPrefix(rest, []byte(" "))
	minutes := 4
	switch {
	case len(rest) > 0 && rest[0] == 'Z':
		st.zoned = true
		st.to++
		return
	case (bytes.HasPrefix(word, []byte("UTC")) || bytes.HasPrefix(word, []byte("GMT"))) && (len(word) == 3 || !isWord(word[3])):
		st.zoned = true
		st.to += len(rest) - len(word) + 3
		return
	case len(word) < 5 || word[0] != '+' && word[0] != '-':
		return
	case len(word) >= 6 && word[3] == ':' && !space:
	case len(word) == 5 || !isWord(word[5]) && word[5] != '-' && word[5] != '.':
		minutes = 3
	default:
		return
	}
	h, ok1 := two(word, 1)
	m, ok2 := two(word, minutes)
	if !ok1 || !ok2 || minutes == 3 && (h > 14 || m%15 != 0 || m > 45) {
		return
	}
	offset := int64(h*60+m) * 60 * second
	if word[0] == '+' {
		offset = -offset
	}
	st.ns += offset
	st.zoned = true
	st.to += len(rest) - len(word) + minutes + 2
}

func isWord(c byte) bool {
	return isDigit(c) || c == '_' || c == '+' || c == ':' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// dateBefore reads the date that ends before a time: 2025-07-18, 2025/07/18,
// 20250718, 07-18, or the letter and date of glog, whose month has one digit or two:
// E521 is 21 May.
func dateBefore(b []byte, at int) (stamp, bool) {
	end := at
	for end > 0 && (b[end-1] == ' ' || b[end-1] == 'T') && at-end < 3 {
		end--
	}
	if end == at {
		return stamp{}, false
	}
	start := end
	for start > 0 && (isDigit(b[start-1]) || b[start-1] == '-' || b[start-1] == '/') && end-start < 10 {
		start--
	}
	text := b[start:end]
	st := stamp{from: start}
	var y, m, d int
	switch {
	case len(text) == 10 && (text[4] == '-' || text[4] == '/') && text[7] == text[4]:
		y, m, d = number4(text), number2(text[5:]), number2(text[8:])
		st.dated = true
	case len(text) == 8 && bytes.IndexByte(text, '-') < 0 && bytes.IndexByte(text, '/') < 0:
		y, m, d = number4(text), number2(text[4:]), number2(text[6:])
		st.dated = true
	case len(text) == 5 && (text[2] == '-' || text[2] == '/'):
		y, m, d = 1970, number2(text), number2(text[3:])
	case (len(text) == 3 || len(text) == 4) && start > 0 && bytes.IndexByte([]byte("IWEFD"), b[start-1]) >= 0:
		y, d = 1970, number2(text[len(text)-2:])
		m = int(text[len(text)-3] - '0')
		if len(text) == 4 {
			m = number2(text)
		}
	default:
		return stamp{}, false
	}
	if y < 1970 || y > 2200 || m < 1 || m > 12 || d < 1 || d > 31 {
		return stamp{}, false
	}
	st.month, st.leap = m, !st.dated && m == 2 && d == 29
	st.ns = days(y, m, d) * day
	return st, true
}

// number2 and number4 read digits, and return -1 for others.
func number2(b []byte) int {
	n, ok := two(b, 0)
	if !ok {
		return -1
	}
	return n
}

func number4(b []byte) int {
	hi, lo := number2(b), number2(b[2:])
	if hi < 0 || lo < 0 {
		return -1
	}
	return hi*100 + lo
}

// days returns the days from 1970-01-01 to a date of the Gregorian calendar.
func days(y, m, d int) int64 {
	if m <= 2 {
		y--
	}
	era := y / 400
	yoe := y - era*400
	doy := (153*((m+9)%12)+2)/5 + d - 1
	return int64(era*146097 + yoe*365 + yoe/4 - yoe/100 + doy - 719468)
}
