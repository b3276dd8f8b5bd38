package doc

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/label"
)

func TestShortenQuoted(t *testing.T) {
	long := "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>>>(int)"
	for in, want := range map[string]string{
		`kernel "gemm" is 60.0% of work`:                 `kernel "gemm" is 60.0% of work`,
		fmt.Sprintf("kernel %q is 60.0%% of work", long): `kernel "reduce_kernel<512, 1, ReduceOp<floa…" is 60.0% of work`,
		`a lone " stays`:                                 `a lone " stays`,
		`two "a" and "b"`:                                `two "a" and "b"`,
		fmt.Sprintf("%q", strings.Repeat(`\"`, 3)):       fmt.Sprintf("%q", strings.Repeat(`\"`, 3)),
	} {
		if got := ShortenQuoted(in, 36); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// TestBrief: nothing on the screen ends within a sentence.
func TestBrief(t *testing.T) {
	one := "Each of these sentences has exactly as many words as the others do, and one has no end of its own. "
	for n := 1; n < 8; n++ {
		text := strings.TrimSpace(strings.Repeat(one, n))
		got := Brief(text)
		if label.Width(got) > briefColumns || !strings.HasSuffix(got, ".") || strings.Contains(got, label.Ellipsis) || !strings.HasPrefix(text, got) {
			t.Errorf("%d sentences become %q", n, got)
		}
		if n < 3 && got != text {
			t.Errorf("%d sentences become %q", n, got)
		}
	}
	path := "/" + strings.Repeat("a/", 60) + "trace.json"
	if got := Brief("it has rank 0, as " + path + " has"); label.Width(got) != 18+BriefWord+4 || !strings.HasPrefix(got, "it has rank 0, as /a/") || !strings.HasSuffix(got, "trace.json has") {
		t.Errorf("a long path becomes %q", got)
	}
	whole := strings.Repeat("one sentence that goes on, ", 12) + "and on"
	if got := Brief(whole); got != whole {
		t.Errorf("a sentence was cut to %q", got)
	}
}
