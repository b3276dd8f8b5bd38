import { h, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Axis, Bars, Page, Part, Plane } from './model';
import { palette, prepare } from './draw';
import { duration, middle } from './format';
import { listen } from './view';

/** Planes of points: results of sweeps, kernels in a roofline. */
export const Planes = ({ page }: { page: Page }) => <Fragment>{page.planes.map((p, i) => <section id={i ? undefined : 'planes'}><h2>{p.title}</h2>
  {p.note && <p class="of">{p.note}</p>}
  {p.legend && <p class="legend of">{p.legend.map(s => <span><i class="swatch" style={{ background: s.color || 'var(--text)' }} />{s.text}</span>)}</p>}
  <div class={'charts' + (p.parts.length === 1 ? ' single' : '')}>{p.parts.map(x => <Points plane={p} part={x} />)}</div>
  {p.left && <p class="of">{p.left}</p>}</section>)}</Fragment>;

/** A bar for each role of a step, or the like. */
export const Lanes = ({ page }: { page: Page }) => <Fragment>{page.bars.map((b, i) => <Lane bars={b} first={!i} />)}</Fragment>;

function Lane({ bars: b, first }: { bars: Bars; first: boolean }) {
  const sum = (r: Bars['rows'][0]) => r.parts.reduce((n, p) => n + p.ns, 0), most = Math.max(1, ...b.rows.map(sum));
  const text = (color: string) => b.legend.find(s => s.color === color)?.text ?? '';
  return <section id={first ? 'lanes' : undefined}><h2>{b.title}</h2>{b.note && <p class="of">{b.note}</p>}
    <p class="legend of">{b.legend.map(s => <span><i class="swatch" style={{ background: s.color }} />{s.text}</span>)}</p>
    <dl class="rolebars">{b.rows.map(r => <Fragment><dt title={r.name}>{middle(r.name, 40)}</dt>
      <dd class="stack" role="img" aria-label={`${r.name}: ` + r.parts.map(p => `${text(p.color)} ${duration(p.ns, 3)}`).join(', ')}>
        {r.parts.map(p => <i style={{ width: p.ns / most * 100 + '%', background: p.color }} title={`${text(p.color)} ${duration(p.ns, 3)}`}>{p.ns > most / 12 ? duration(p.ns, 3) : ''}</i>)}</dd></Fragment>)}</dl></section>;
}

const high = 320, leftMargin = 92, bottom = 44, top = 14;

const place = (a: Axis, v: number) => {
  const f = a.log ? Math.log : (x: number) => x, share = (f(v) - f(a.from)) / (f(a.to) - f(a.from));
  return isFinite(share) ? Math.max(0, Math.min(1, share)) : 0;
};

function Points({ plane, part: s }: { plane: Plane; part: Part }) {
  const canvas = useRef<HTMLCanvasElement>(null), [over, hover] = useState(-1);
  const spot = (i: number, w: number): [number, number] => [leftMargin + place(s.x, s.dots[i].x) * w, top + (1 - place(s.y, s.dots[i].y)) * (high - top - bottom)];
  const paint = () => {
    const c = canvas.current!, g = prepare(c, high);
    if (!g) return;
    const col = palette(), w = c.clientWidth - leftMargin - 10, h = high - top - bottom;
    const x = (v: number) => leftMargin + place(s.x, v) * w, y = (v: number) => top + (1 - place(s.y, v)) * h;
    g.font = '11.5px ' + col.sans;
    g.fillStyle = col.line;
    s.y.at.forEach(v => g.fillRect(leftMargin, Math.round(y(v)), w, 1));
    g.fillStyle = col.dim;
    g.fillRect(leftMargin, top + h, w, 1);
    g.textAlign = 'right';
    s.y.at.forEach((v, i) => g.fillText(s.y.text[i], leftMargin - 6, y(v)));
    g.textAlign = 'center';
    let end = -Infinity; // of the last label
    s.x.at.forEach((v, i) => {
      const half = g.measureText(s.x.text[i]).width / 2;
      if (x(v) - half < end + 8) return;
      end = x(v) + half;
      g.fillText(s.x.text[i], Math.min(x(v), c.clientWidth - half), top + h + 13);
    });
    g.fillText(s.x.title, leftMargin + w / 2, high - 10);
    for (const r of s.regions ?? []) {
      if (r.points.length < 3) continue;
      g.globalAlpha = 0.35;
      g.fillStyle = r.color || col.well;
      g.beginPath();
      r.points.forEach(p => g.lineTo(x(p[0]), y(p[1])));
      g.fill();
      g.globalAlpha = 1;
      g.fillStyle = col.dim;
      g.textAlign = r.right ? 'right' : 'left';
      g.fillText(r.label ?? '', x(r.at[0]) + (r.right ? -6 : 6), y(r.at[1]) + (r.right ? -10 : 10));
    }
    g.textAlign = 'left';
    for (const r of s.curves ?? []) {
      g.strokeStyle = r.color || col.text;
      g.lineWidth = 1.5;
      g.beginPath();
      r.points.forEach(p => g.lineTo(x(p[0]), y(p[1])));
      g.stroke();
    }
    const labels: [number, number, number][] = []; // drawn: from, to, y
    s.dots.forEach((d, i) => {
      const [px, py] = spot(i, w);
      g.fillStyle = d.color || col.text;
      g.globalAlpha = over >= 0 && over !== i ? 0.5 : 0.9;
      g.beginPath();
      g.arc(px, py, Math.max(3, d.r), 0, 7);
      g.fill();
      g.globalAlpha = 1;
      if (!d.label) return;
      const long = g.measureText(d.label).width, a = px + d.r + 5 + long > leftMargin + w ? px - d.r - 5 - long : px + d.r + 5;
      if (labels.some(l => a < l[1] + 3 && a + long > l[0] - 3 && Math.abs(py - l[2]) < 12)) return; // the line below the plane has it
      labels.push([a, a + long, py]);
      g.fillStyle = col.text;
      g.fillText(d.label, a, py - 8);
    });
    g.textAlign = 'right';
    g.fillStyle = col.dim;
    for (const r of s.curves ?? []) { // above the end of the line, or below it if points are there
      const last = r.points[r.points.length - 1];
      if (!r.label || !last) continue;
      const end = x(last[0]), from = end - g.measureText(r.label).width, at = y(last[1]);
      const free = (py: number) => !s.dots.some((_, i) => { const [dx, dy] = spot(i, w); return dx > from - 5 && dx < end + 5 && Math.abs(dy - py) < 10; });
      g.fillText(r.label, end, [at - 10, at + 12, at - 22, at + 24].find(free) ?? at - 10);
    }
    g.textAlign = 'left';
  };
  useEffect(() => {
    paint();
    const size = new ResizeObserver(paint), stop = listen(paint);
    size.observe(canvas.current!);
    return () => { size.disconnect(); stop(); };
  }, [over]);
  const move = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect(), mx = e.clientX - box.left, my = e.clientY - box.top;
    let best = -1, near = 24;
    s.dots.forEach((d, i) => { const [px, py] = spot(i, box.width - leftMargin - 10), away = Math.hypot(px - mx, py - my) - d.r; if (away < near) { near = away; best = i; } });
    if (best !== over) hover(best);
  };
  const d = s.dots[over], keyed = s.dots.filter(d => d.listed);
  const told = d ? (d.listed ? d.label + ' ' : '') + d.text : 'The values of a point are here when the pointer is on it.';
  return <figure><figcaption>{s.title ? <b>{s.title}</b> : <span class="of">{s.y.title}</span>}</figcaption>
    <canvas ref={canvas} class="chart tall" role="img" aria-label={`${s.title || plane.title}: ${s.dots.length} points, ${s.y.title} against ${s.x.title}`} onMouseMove={move} onMouseLeave={() => hover(-1)} />
    <p class="of" role="status">{middle(told, 200)}</p>
    {keyed.length > 0 && <ol class="dots">{keyed.slice(0, 10).map(d => <li title={d.text}>{middle(d.text!, 140)}</li>)}</ol>}</figure>;
}
