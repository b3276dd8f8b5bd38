package page_test

import (
	"strings"
	"testing"

	"assay/internal/test/browser"
	"assay/internal/test/samplerun"
)

// TestRoofline: the table has the rates of operators as quotients of their sums, over all
// ranks and of one. The roofline names the operators one by one.
func TestRoofline(t *testing.T) {
	b := browser.Start(t)
	p := show(t, b, htmlOf(t, samplerun.EfficientRanks(2)), wide, "")
	p.quiet()
	var row string
	const mm = `[...document.querySelectorAll('#tables tbody tr')].map(r => [...r.children].map(c => c.innerText).join('|')).find(r => r.includes('|mm|'))`
	p.Eval(`[...document.querySelectorAll('#tables [role=tab]')].find(b => b.innerText === 'Efficiency').click()`, nil)
	p.Wait(`document.querySelector('#tables .of').innerText.startsWith('% of recoverable time')`)
	p.Eval(mm, &row)
	// 2 × 4,055,251 ns and 1 ms; 2 × 2.476 TFLOP; 2 × 2,502,440 ns of roofline.
	if want := "33.8%|mm|8944×1024, 1024×2816|compute|96|9.111 ms|5.005 ms|4.106 ms|4.95 TFLOP|6.657 GiB|544|785|54.9"; !strings.HasSuffix(row, want) {
		t.Errorf("the row is %q, want it to end in %q", row, want)
	}
	var custom string // without a roofline
	p.Eval(`[...document.querySelectorAll('#tables tbody td.key')].map(c => c.title).find(c => c.startsWith('unknown: '))`, &custom)
	if custom != "unknown: no formula for the operator" {
		t.Errorf("the reason of an operator without a roofline is %q", custom)
	}
	p.Eval(`(e => { for (let i = 0; i < 2; i++) setTimeout(() => e.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight', bubbles: true})), 50 * i); })(document.querySelector('#roofline canvas'))`, nil)
	p.Wait(`document.querySelector('#roofline [role=status]').innerText.startsWith('_scaled_dot_product_flash_attention')`)
	var told string
	p.Eval(`document.querySelector('#roofline [role=status]').innerText`, &told)
	if want := "140 FLOP/byte, 90.4 TFLOP/s; 5.445 ms, 18.8% of total GPU time; 19.3% of roofline; memory"; !strings.HasSuffix(told, want) {
		t.Errorf("the second operator is %q, want it to end in %q", told, want)
	}
	p.quiet()
}
