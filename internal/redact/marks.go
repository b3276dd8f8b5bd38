package redact

// A mark is a text that begins, or is part of, what may hide a secret. Marks are
// searched without regard to case; what is found decides with regard to it.
type mark struct {
	text  string // in lower case
	look  func(t *text, from, to int)
	named bool // a word of the name of a variable
}

// marks are all that is searched: those of the token formats, and those of other
// places of secrets.
func marks() []mark {
	list := []mark{
		{"://", (*text).address, false},
		{"bearer", (*text).bearer, false},
		{"basic", (*text).basic, false},
		{"private key", (*text).privateKey, false},
		{"login ", (*text).login, false},
		{"-u", (*text).user, false},
		{"--user", (*text).user, false},
		{"--proxy-user", (*text).user, false},
		{" -p", (*text).option, false},
		{" -a ", (*text).option, false},
		{"--password-stdin", (*text).piped, false},
		{"sudo -s", (*text).piped, false},
		{"@tcp(", (*text).driver, false},
		{"@unix(", (*text).driver, false},
		{"private-lines:", (*text).putty, false},
		{"kty", (*text).jwk, false},
		{":5432:", (*text).pgpass, false},
		{":6432:", (*text).pgpass, false},
		{":*:", (*text).pgpass, false},
		{"secretstr(", (*text).constructor, false},
		{"secretbytes(", (*text).constructor, false},
		{"basicauth(", (*text).constructor, false},
		{"digestauth(", (*text).constructor, false},
		{"login(", (*text).loginCall, false},
	}
	for _, word := range []string{"token", "secret", "pass", "pwd", "key", "cred", "auth", "bearer", "sig", "cookie", "dsn", "jwt", "_pat", "sessionid", "sessid", "webhook"} {
		list = append(list, mark{word, (*text).name, true})
	}
	forms := compiled()
	for i := range forms {
		f := &forms[i]
		list = append(list, mark{lowerCase(f.mark), func(t *text, at, _ int) {
			if from, to, ok := f.match(t, at); ok {
				t.add(span{f.kind, from, to, true})
			}
		}, false})
	}
	return list
}

// An index finds the marks of a text in one pass. It knows by three bytes, without
// their case, whether a mark may begin with them.
type index struct {
	lists  [1 << 15]uint8 // by the three bytes: a place in begins, or 0
	begins [][]mark
}

// three returns the place of three bytes in an index, of each the five bits that are
// equal in both cases.
func three(a, b, c byte) uint { return uint(a&31)<<10 | uint(b&31)<<5 | uint(c&31) }

// newIndex returns the index of marks, which have two bytes or more.
func newIndex(list []mark) *index {
	x := &index{begins: make([][]mark, 1, 256)}
	add := func(at uint, k mark) {
		if x.lists[at] == 0 {
			x.lists[at] = uint8(len(x.begins))
			x.begins = append(x.begins, nil)
		}
		l := &x.begins[x.lists[at]]
		*l = append(*l, k)
	}
	for _, k := range list {
		if len(k.text) > 2 {
			add(three(k.text[0], k.text[1], k.text[2]), k)
			continue
		}
		for c := range byte(32) {
			add(three(k.text[0], k.text[1], c), k)
		}
	}
	if len(x.begins) > 256 {
		panic("redact: too many marks") // the table is part of the program
	}
	return x
}

// begin reports whether s begins with the mark, without regard to case.
func (k *mark) begin(s string) bool {
	if len(s) < len(k.text) {
		return false
	}
	for i := range len(k.text) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != k.text[i] {
			return false
		}
	}
	return true
}

func lowerCase(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c - 'A' + 'a'
		}
	}
	return string(b)
}
