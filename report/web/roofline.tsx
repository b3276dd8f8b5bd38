import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dot, Page, Roofline } from './model';
import { palette, prepare } from './draw';
import { digits, duration, flops, middle, percent } from './format';
import { listen } from './view';

const high = 420, left = 92, right = 24, top = 12, bottom = 40, tick = 56;

const bounds: [string, string][] = [['compute', '--s0'], ['memory', '--s3'], ['link', '--s4'], ['latency', '--s7']];
const colourOf = (d: Dot) => bounds.find(b => b[0] === d.bound)?.[1] ?? '--s5';

/** Whole powers of ten that include both values. */
const decades = (from: number, to: number): [number, number] => [Math.floor(Math.log10(from)), Math.ceil(Math.log10(to))];

/** Operators in the plane of FLOP/byte and FLOP/s, under the peaks of their GPUs. */
export function RooflineChart({ page, roofline: r }: { page: Page; roofline: Roofline }) {
  const canvas = useRef<HTMLCanvasElement>(null), [at, setAt] = useState(-1);
  const peak = Math.max(...r.roofs.map(x => x.tflops)), ridge = peak * 1e3 / r.gbps;
  const [x0, x1] = decades(Math.min(...r.dots.map(d => d.x)) / 2, Math.max(...r.dots.map(d => d.x), ridge) * 4);
  const [y0, y1] = decades(Math.min(...r.dots.map(d => d.y)) / 2, Math.max(...r.dots.map(d => d.y), peak) * 1.5);
  const place = (w: number) => ({
    x: (v: number) => left + (Math.log10(v) - x0) / (x1 - x0) * (w - left - right),
    y: (v: number) => top + (y1 - Math.log10(v)) / (y1 - y0) * (high - top - bottom),
  });
  const radius = (d: Dot) => 3 + 17 * Math.sqrt(d.ns / (r.ns || 1));
  const paint = () => {
    const el = canvas.current!, g = prepare(el, high);
    if (!g) return;
    const col = palette(), style = getComputedStyle(document.documentElement), w = el.clientWidth, { x, y } = place(w), end = 10 ** x1;
    g.font = '11.5px ' + col.sans;
    const step = Math.ceil((y1 - y0) / 12), wide = Math.max(1, Math.ceil((x1 - x0) * tick / (w - left - right)));
    for (let e = y0; e <= y1; e += step) {
      g.fillStyle = col.line; g.fillRect(left, Math.round(y(10 ** e)), w - left - right, 1);
      g.fillStyle = col.dim; g.textAlign = 'right'; g.fillText(flops(10 ** (e + 12), 1) + '/s', left - 8, y(10 ** e));
    }
    g.textAlign = 'center';
    for (let e = x0; e <= x1; e += wide) {
      g.fillStyle = col.line; g.fillRect(Math.round(x(10 ** e)), top, 1, high - top - bottom);
      g.fillStyle = col.dim; g.fillText(e < 0 ? (10 ** e).toFixed(-e) : String(10 ** e), x(10 ** e), high - bottom + 14);
    }
    g.textAlign = 'right';
    g.fillText('arithmetic intensity (FLOP/byte)', w - right, high - 8);
    g.strokeStyle = col.dim;
    g.lineWidth = 1.5;
    g.save();
    g.beginPath();
    g.rect(left, top, w - left - right, high - top - bottom);
    g.clip();
    for (const roof of r.roofs) {
      const from = roof.tflops * 1e3 / r.gbps;
      g.beginPath();
      g.moveTo(x(10 ** x0), y(10 ** x0 * r.gbps / 1e3));
      g.lineTo(x(from), y(roof.tflops));
      g.lineTo(x(end), y(roof.tflops));
      g.stroke();
    }
    g.lineWidth = 4;
    g.lineJoin = 'round';
    g.strokeStyle = col.page;
    g.fillStyle = col.dim;
    for (const roof of r.roofs) {
      const text = `${roof.name} peak, ${flops(roof.tflops * 1e12)}/s`, to: [number, number] = [w - right - 6, y(roof.tflops) - 9];
      g.strokeText(text, ...to); // on a narrow screen lines are below the text
      g.fillText(text, ...to);
    }
    r.dots.forEach((d, i) => {
      g.beginPath();
      g.arc(x(d.x), y(d.y), radius(d), 0, 2 * Math.PI);
      g.fillStyle = style.getPropertyValue(colourOf(d));
      g.globalAlpha = at < 0 || at === i ? 0.85 : 0.3;
      g.fill();
      g.globalAlpha = 1;
      g.strokeStyle = i === at ? col.text : col.page;
      g.lineWidth = i === at ? 2 : 1;
      g.stroke();
    });
    g.restore();
    g.textAlign = 'left';
  };
  useEffect(() => {
    paint();
    const size = new ResizeObserver(paint), stop = listen(paint);
    size.observe(canvas.current!);
    return () => { size.disconnect(); stop(); };
  }, [at]);
  const nearest = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect(), { x, y } = place(box.width), px = e.clientX - box.left, py = e.clientY - box.top;
    let best = -1, least = 14;
    r.dots.forEach((d, i) => {
      const away = Math.hypot(x(d.x) - px, y(d.y) - py) - radius(d);
      if (away < least) { least = Math.max(away, -1); best = i; } // of dots over each other the last, which is the smallest
    });
    return best;
  };
  const key = (e: KeyboardEvent) => {
    const by = ({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 } as Record<string, number>)[e.key];
    if (!by) return;
    setAt(Math.max(0, Math.min(r.dots.length - 1, at + by)));
    e.preventDefault();
    e.stopPropagation();
  };
  const d = r.dots[at];
  const told = d ? [`${digits(d.x, 3)} FLOP/byte, ${flops(d.y * 1e12)}/s`, `${duration(d.ns)}, ${percent(d.ns / (r.ns || 1))} of total GPU time`, d.of ? percent(d.of) + ' of roofline' : '', d.bound].filter(Boolean).join('; ')
    : `Area: % of total GPU time. Slope: memory, ${digits(r.gbps, 4)} GB/s. Point at an operator, or use the arrow keys.`;
  return <section id="roofline"><h2>Roofline</h2>
    <p class="of" role="status">{d ? <b>{middle(page.names[d.name], 90)}: </b> : ''}{told}</p>
    <canvas ref={canvas} class="chart" tabIndex={0} role="application" aria-roledescription="roofline" aria-label={`Roofline of ${r.dots.length} operators. Arrow keys go from operator to operator.`}
      onMouseMove={e => setAt(nearest(e))} onMouseLeave={() => setAt(-1)} onKeyDown={key} />
    <p class="legend of">{bounds.filter(b => r.dots.some(d => d.bound === b[0])).map(b => <span><i class="swatch" style={{ background: `var(${b[1]})` }} />{b[0]}</span>)}{r.note && <span>{r.note}</span>}</p>
  </section>;
}
