import { h } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Page, parts, whole } from './model';
import { palette, prepare } from './draw';
import { duration, middle, percent, signedDuration } from './format';
import { showStep } from './input';
import { listen } from './view';

const label = 100, edge = 4; // room for the upper half of the first label

/** The steps of ranks against the median rank of each step: a straggler is a row, a slow step a column. */
export function Heat({ page }: { page: Page }) {
  const devices = useMemo(() => page.devices.map((d, i) => ({ d, i })).filter(x => x.d.steps?.at.length), []);
  const columns = Math.max(0, ...devices.map(x => x.d.steps!.at.length));
  if (devices.length < 2 || !columns) return null;
  return <Map page={page} devices={devices} columns={columns} />;
}

const metrics = ['step time', parts[0], parts[1], parts[3]], partOf = [-1, 0, 1, 3];

type Devices = { d: Page['devices'][number]; i: number }[];

const valueOf = (devices: Devices, row: number, j: number, metric: number): number | undefined => { const s = devices[row].d.steps!; return partOf[metric] < 0 ? s.ns[j] : s.parts[partOf[metric]][j]; };

const medians = (devices: Devices, columns: number, metric: number) => Array.from({ length: columns }, (_, j) => {
  const v = devices.map((_, i) => valueOf(devices, i, j, metric)).filter(v => v !== undefined).sort((a, b) => a - b);
  return v.length % 2 ? v[v.length >> 1] : (v[v.length / 2 - 1] + v[v.length / 2]) / 2;
});

/** The largest distance of a rank from the median rank, as a part of its step. */
function spread(devices: Devices, columns: number, metric: number) {
  const median = medians(devices, columns, metric);
  let most = 0;
  devices.forEach(({ d }, i) => median.forEach((m, j) => {
    const v = valueOf(devices, i, j, metric);
    if (v !== undefined) most = Math.max(most, Math.abs(v - m) / (d.steps!.ns[j] || 1));
  }));
  return most;
}

// Ranks that wait for each other have steps of equal length. Their parts differ.
const equal = 0.01;

function first(devices: Devices, columns: number) {
  const all = metrics.map((_, m) => spread(devices, columns, m));
  return all[0] < equal ? all.indexOf(Math.max(...all)) : 0;
}

function Map({ page, devices, columns }: { page: Page; devices: Devices; columns: number }) {
  const canvas = useRef<HTMLCanvasElement>(null), [metric, setMetric] = useState(() => first(devices, columns)), [at, setAt] = useState<[number, number] | null>(null);
  const value = (row: number, j: number) => valueOf(devices, row, j, metric);
  const median = useMemo(() => medians(devices, columns, metric), [metric]);
  const off = (row: number, j: number) => { const v = value(row, j); return v === undefined ? 0 : (v - median[j]) / (devices[row].d.steps!.ns[j] || 1); };
  // Below 3% of a step even noise would have full colour.
  const worst = useMemo(() => Math.max(0.03, spread(devices, columns, metric)), [metric]);
  const cell = devices.length > 16 ? 10 : 24;
  const paint = () => {
    const c = canvas.current!, g = prepare(c, devices.length * cell + 2 * edge);
    if (!g) return;
    const col = palette(), style = getComputedStyle(document.documentElement), more = style.getPropertyValue('--more'), less = style.getPropertyValue('--less');
    const w = (c.clientWidth - label) / columns;
    g.font = '12px ' + col.sans;
    devices.forEach(({ d }, i) => {
      if (cell > 14 || i % Math.ceil(14 / cell) === 0) { g.fillStyle = col.dim; g.fillText(middle(d.label, 14), 0, edge + i * cell + cell / 2); }
      for (let j = 0; j < columns; j++) {
        const v = value(i, j), x = label + j * w, o = off(i, j);
        if (v === undefined) continue;
        g.fillStyle = col.well;
        g.fillRect(x, edge + i * cell, Math.max(0.5, w - 1), cell - 1);
        g.globalAlpha = Math.min(1, Math.abs(o) / worst);
        g.fillStyle = o > 0 ? more : less;
        g.fillRect(x, edge + i * cell, Math.max(0.5, w - 1), cell - 1);
        g.globalAlpha = 1;
        if (cell > 14 && w > 62) { g.fillStyle = Math.abs(o) / worst > 0.6 ? col.page : col.text; g.textAlign = 'center'; g.fillText(duration(v), x + w / 2, edge + i * cell + cell / 2); g.textAlign = 'left'; }
      }
    });
    if (at) { g.strokeStyle = col.text; g.lineWidth = 2; g.strokeRect(label + at[1] * w, edge + at[0] * cell, Math.max(2, w - 1), cell - 1); }
  };
  useEffect(() => {
    paint();
    const size = new ResizeObserver(paint), stop = listen(paint);
    size.observe(canvas.current!);
    return () => { size.disconnect(); stop(); };
  }, [metric, at]);
  const cellAt = (e: MouseEvent): [number, number] | null => {
    const box = canvas.current!.getBoundingClientRect(), x = e.clientX - box.left - label;
    const row = Math.floor((e.clientY - box.top - edge) / cell), j = Math.floor(x / ((box.width - label) / columns));
    return x >= 0 && row >= 0 && row < devices.length && j < columns && value(row, j) !== undefined ? [row, j] : null;
  };
  const open = (c: [number, number] | null) => {
    if (!c || value(...c) === undefined) return;
    showStep(page, devices[c[0]].i, c[1], whole(page));
    document.getElementById('timeline')!.scrollIntoView({ behavior: 'smooth' });
  };
  const key = (e: KeyboardEvent) => {
    const by = ({ ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] } as Record<string, number[]>)[e.key];
    if (by) {
      const [i, j] = at ?? [0, 0];
      setAt([Math.max(0, Math.min(devices.length - 1, i + by[0])), Math.max(0, Math.min(columns - 1, j + by[1]))]);
    } else if (e.key === 'Enter') open(at);
    else return;
    e.preventDefault();
    e.stopPropagation();
  };
  const told = at && value(...at) !== undefined ? (() => {
    const [i, j] = at, s = devices[i].d.steps!, v = value(i, j)!;
    return `${devices[i].d.label}, ${page.names[s.name[j]]}: ${metrics[metric]} ${duration(v)}, ${signedDuration(v - median[j])} against the median rank`;
  })() : `% of the step, against the median rank of each step; full colour at ${percent(worst)}. A click shows the step.`;
  return <section id="ranks"><h2>Ranks and steps</h2>
    <div class="bar"><div class="tabs" role="tablist" aria-label="measure">{metrics.map((m, i) => <button role="tab" aria-selected={i === metric} onClick={() => setMetric(i)}>{m}</button>)}</div>
      <span class="of">less <span class="ramp" /> more</span></div>
    <p class="of" role="status">{told}</p>
    <canvas ref={canvas} class="heat" tabIndex={0} role="application" aria-roledescription="heat map" aria-label="Steps of all ranks. Arrow keys move, Enter shows the step."
      onMouseMove={e => setAt(cellAt(e))} onMouseLeave={() => setAt(null)} onClick={e => open(cellAt(e))} onKeyDown={key} />
  </section>;
}
