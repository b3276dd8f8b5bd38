import { h } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Chart, firstFrom, Line, Page } from './model';
import { palette, prepare } from './draw';
import { count, duration, middle, number, quantity, ticks, unitOf } from './format';
import { listen } from './view';

const few = 6, high = 170, leftMargin = 74, bottom = 22;

export function Charts({ page }: { page: Page }) {
  const [query, setQuery] = useState(''), [all, setAll] = useState(false);
  if (!page.charts.length) return null;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = page.charts.filter(c => words.every(w => (c.title + ' ' + (c.note ?? '') + ' ' + c.role).toLowerCase().includes(w)));
  return <section id="values"><div class="bar"><h2>Values over {page.charts[0].by === 'step' ? 'steps' : 'time'}</h2><span class="grow" />
    {page.charts.length > few && <input type="search" placeholder="Filter" value={query} onInput={e => setQuery(e.currentTarget.value)} aria-label="filter charts" />}</div>
    <div class={'charts' + (page.charts.length === 1 ? ' single' : '')}>{(all || words.length ? hits : hits.slice(0, few)).map(c => <Plot key={c.title + c.note} chart={c} />)}</div>
    {!words.length && hits.length > few && <button class="more" onClick={() => setAll(!all)}>{all ? `Show the first ${few}` : `${count(hits.length - few)} more ${hits.length - few > 1 ? 'metrics' : 'metric'}`}</button>}
    {!hits.length && <p class="of">No metric has “{query}”.</p>}
  </section>;
}

const colours = ['--s0', '--s1', '--s2', '--s3', '--s4', '--s5', '--s6', '--s7', '--s8', '--s9'];

function Plot({ chart: c }: { chart: Chart }) {
  const canvas = useRef<HTMLCanvasElement>(null), [at, setAt] = useState<number | null>(null);
  const xs = c.lines.map(l => l.x), from = Math.min(...xs.map(x => x[0] ?? 0)), to = Math.max(...xs.map(x => x[x.length - 1] ?? 0)), span = to - from || 1;
  const tops = stacked(c);
  const values = c.lines.flatMap((l, k) => [...(l.area ? tops[k] : l.y), ...(l.low ?? []), ...(l.high ?? [])]).filter((v): v is number => v !== null);
  const most = values.reduce((n, v) => Math.max(n, v), -Infinity), least = values.reduce((n, v) => Math.min(n, v), Infinity);
  const base = least >= 0 && (least < most * 0.6 || least === most) || c.areas ? Math.min(0, least) : least, range = most - base || Math.abs(most) || 1;
  const paint = () => {
    const el = canvas.current!, g = prepare(el, high);
    if (!g) return;
    const col = palette(), style = getComputedStyle(document.documentElement), w = el.clientWidth - leftMargin - 6, h = high - bottom - 8;
    const x = (t: number) => leftMargin + (t - from) / span * w, y = (v: number) => 8 + h - (v - base) / range * h;
    g.font = '11.5px ' + col.sans;
    const [ys, texts] = c.unit === 'ns' ? times(base, base + range, 4) : valueTicks(base, base + range, c.unit);
    ys.forEach((v, i) => {
      g.fillStyle = col.line; g.fillRect(leftMargin, Math.round(y(v)), w, 1);
      g.fillStyle = col.dim; g.textAlign = 'right'; g.fillText(texts[i], leftMargin - 6, y(v));
    });
    const most = Math.max(2, w / 110), steps = ticks(from, to, most)[0].filter(Number.isInteger);
    const [ts, names] = c.by === 'time' ? times(from, to, most) : [steps, steps.map(number)];
    g.textAlign = 'center';
    g.fillStyle = col.dim;
    ts.forEach((t, i) => g.fillText(names[i], Math.min(x(t), leftMargin + w - 14), high - 8));
    g.textAlign = 'left';
    c.lines.forEach((l, k) => {
      const colour = style.getPropertyValue(colours[k % colours.length]);
      if (l.area) area(g, l, tops[k], k ? tops[k - 1] : [], x, y, colour);
      else if (l.low && l.high) band(g, l, x, y, colour);
      if (!l.area) path(g, l, x, y, colour, w / l.x.length > 14);
    });
    if (at !== null) { g.fillStyle = col.dim; g.fillRect(x(at), 8, 1, h); }
  };
  useEffect(() => {
    paint();
    const size = new ResizeObserver(paint), stop = listen(paint);
    size.observe(canvas.current!);
    return () => { size.disconnect(); stop(); };
  }, [at]);
  const move = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect(), t = from + (e.clientX - box.left - leftMargin) / (box.width - leftMargin - 6) * span;
    setAt(Math.max(from, Math.min(to, t)));
  };
  const told = (l: Line) => {
    const i = at === null ? l.y.length - 1 : Math.max(0, firstFrom(l.x, at + 1) - 1), v = l.y[i];
    return v === null || v === undefined ? '–' : quantity(v, c.unit);
  };
  const when = at === null ? 'last' : c.by === 'time' ? duration(at, 3) : (c.by === 'step' ? 'step ' : 'value ') + count(Math.round(at));
  return <figure><figcaption><b>{middle(c.title, 70)}</b> <span class="of" title={c.note}>{middle(c.note ?? '', 46)}</span></figcaption>
    <canvas ref={canvas} class="chart" role="img" aria-label={`${c.title}: from ${quantity(least, c.unit)} to ${quantity(most, c.unit)}`} onMouseMove={move} onMouseLeave={() => setAt(null)} />
    <p class="legend of"><span>{when}:</span>{c.lines.map((l, k) => <span title={l.name}><i class="swatch" style={{ background: `var(${colours[k % colours.length]})` }} />{middle(l.name, 44)} <b>{told(l)}</b></span>)}</p></figure>;
}

/** The labels of an axis with the same number of digits after the point: as few as tell them apart. */
function even(list: string[]): string[] {
  const after = Math.max(0, ...list.map(s => (/\.(\d+)/.exec(s)?.[1] ?? '').replace(/0+$/, '').length));
  return list.map(s => s === '0' ? s : s.replace(/(\d)(?:\.(\d+))?(?![\d,.])/, (_, last, rest = '') => after ? last + '.' + rest.slice(0, after).padEnd(after, '0') : last));
}

/** Round times of an axis, all in the unit of its end. */
function times(from: number, to: number, n: number): [at: number[], texts: string[]] {
  const [size, name] = unitOf(to), [at] = ticks(from / size, to / size, n);
  return [at.map(t => t * size), even(at.map(t => t ? `${number(+t.toPrecision(6))} ${name}` : '0'))];
}

/** Round values of an axis. Rates are short, because the title of the chart says of what. */
function valueTicks(from: number, to: number, unit: string): [at: number[], texts: string[]] {
  const [at] = ticks(from, to, 4, /^bytes?$/.test(unit) ? 1024 : 10);
  return [at, even(at.map(v => quantity(v, unit).replace(/ [^ ]+\/s$/, '/s')))];
}

/** The upper edges of stacked areas. */
function stacked(c: Chart): number[][] {
  let below: number[] = [];
  return c.lines.map(l => l.area ? (below = l.y.map((v, i) => (v ?? 0) + (below[i] ?? 0))) : []);
}

type Scale = (v: number) => number;

function path(g: CanvasRenderingContext2D, l: Line, x: Scale, y: Scale, colour: string, dots: boolean): void {
  g.strokeStyle = g.fillStyle = colour;
  g.lineWidth = 1.5;
  g.beginPath();
  let pen = false; // a missing value interrupts the line
  l.y.forEach((v, i) => {
    if (v === null) { pen = false; return; }
    if (pen) g.lineTo(x(l.x[i]), y(v)); else g.moveTo(x(l.x[i]), y(v));
    pen = true;
  });
  g.stroke();
  if (dots) l.y.forEach((v, i) => { if (v !== null) g.fillRect(x(l.x[i]) - 2, y(v) - 2, 4, 4); });
}

function band(g: CanvasRenderingContext2D, l: Line, x: Scale, y: Scale, colour: string): void {
  g.fillStyle = colour;
  g.globalAlpha = 0.18;
  g.beginPath();
  l.x.forEach((t, i) => g.lineTo(x(t), y(l.high![i])));
  for (let i = l.x.length - 1; i >= 0; i--) g.lineTo(x(l.x[i]), y(l.low![i]));
  g.fill();
  g.globalAlpha = 1;
}

function area(g: CanvasRenderingContext2D, l: Line, top: number[], below: number[], x: Scale, y: Scale, colour: string): void {
  g.fillStyle = colour;
  g.beginPath();
  l.x.forEach((t, i) => g.lineTo(x(t), y(top[i])));
  for (let i = l.x.length - 1; i >= 0; i--) g.lineTo(x(l.x[i]), y(below[i] ?? 0));
  g.fill();
}
