// Draws the timeline on a canvas. What is below a pixel is not drawn one by one: strips take
// the cells of a coarser level, lanes paint a pixel once.

import { Device, firstFrom, Level, Page, pathOf, shortName, Spans } from './model';
import { gutter, height, overviewHeight, overviewTop, pathHeights, Row, rulerTop } from './rows';
import { middle, tick, ticks } from './format';
import { Range, view } from './view';

const names = ['compute', 'comm', 'copy', 'well', 'text', 'dim', 'line', 'mark', 'page', 'step', 'phase', 'gap', 'hidden', 'on-compute', 'on-part', 'sans', 'wait', 'run', 'data', 'crit'] as const;
export type Palette = Record<typeof names[number], string>;

/** The colours of the theme. They are read at each draw, so themes can change at any time. */
export function palette(): Palette {
  const style = getComputedStyle(document.documentElement);
  return Object.fromEntries(names.map(n => [n, style.getPropertyValue('--' + n).trim()])) as Palette;
}

/** Prepare sizes a canvas for the pixels of the screen. It returns null before layout. */
export function prepare(c: HTMLCanvasElement, h: number): CanvasRenderingContext2D | null {
  const w = c.clientWidth, r = devicePixelRatio || 1;
  if (!w) return null;
  h = Math.min(h, 32000 / r); // above it browsers draw nothing
  if (c.width !== Math.round(w * r) || c.height !== Math.round(h * r)) {
    c.width = Math.round(w * r);
    c.height = Math.round(h * r);
    c.style.height = h + 'px';
  }
  const g = c.getContext('2d')!;
  g.setTransform(r, 0, 0, r, 0, 0);
  g.clearRect(0, 0, w, h);
  g.textBaseline = 'middle';
  return g;
}

interface Frame { g: CanvasRenderingContext2D; col: Palette; page: Page; w: number; x: (t: number) => number }

/** Draw paints everything and returns the number of operations that it painted. */
export function draw(c: HTMLCanvasElement, page: Page, list: Row[], end: number, hover: number): number {
  if (c.clientWidth <= gutter) return 0;
  const h = height(list), g = prepare(c, h);
  if (!g) return 0;
  const w = c.clientWidth, { from, to } = view, col = palette();
  g.font = '12px ' + col.sans;
  const f: Frame = { g, col, page, w, x: t => gutter + (t - from) / (to - from) * (w - gutter) };
  overview(f, end);
  ruler(f, h);
  let painted = 0;
  for (const row of list) painted += drawRow(f, row);
  c.dataset.path = String(view.path ? trail(f, list) : 0);
  c.dataset.pathTop = String(list.find(r => r.kind === 'path')?.top ?? '');
  if (view.marked) band(f, view.marked, col.mark, 0.13, h);
  if (view.selected) band(f, view.selected, col.text, 0.09, h);
  if (hover >= gutter) {
    g.fillStyle = col.dim;
    g.fillRect(hover, rulerTop, 1, h - rulerTop);
  }
  return painted;
}

/** The whole run, with what is shown below. */
function overview({ g, col, page, w }: Frame, end: number): void {
  const d = page.devices[view.open], x = (t: number) => gutter + t / end * (w - gutter);
  g.fillStyle = col.well;
  g.fillRect(gutter, overviewTop, w - gutter, overviewHeight);
  strip(g, col, d, overviewTop, overviewHeight, x, 0, end);
  const a = Math.max(gutter, x(view.from)), b = Math.min(w, x(view.to));
  g.fillStyle = col.page;
  g.globalAlpha = 0.7;
  g.fillRect(gutter, overviewTop, a - gutter, overviewHeight);
  g.fillRect(b, overviewTop, w - b, overviewHeight);
  g.globalAlpha = 1;
  g.strokeStyle = col.text;
  g.lineWidth = 1;
  g.strokeRect(a + 0.5, overviewTop + 0.5, Math.max(1, b - a - 1), overviewHeight - 1);
  g.fillStyle = col.dim;
  g.fillText('overview', 0, overviewTop + overviewHeight / 2);
}

function ruler({ g, col, page, w, x }: Frame, h: number): void {
  const [at, step] = ticks(view.from, view.to, (w - gutter) / 110);
  for (const t of at) {
    g.fillStyle = col.line;
    g.fillRect(Math.round(x(t)), rulerTop, 1, h - rulerTop);
    const label = tick(t, step, view.to);
    g.fillStyle = col.dim;
    if (x(t) >= gutter - 1 && x(t) + g.measureText(label).width + 4 < w) g.fillText(label, x(t) + 4, rulerTop + 8);
  }
  const d = page.devices[view.open];
  if (!d.focus) return;
  g.fillStyle = col.dim; // where single operations are stored
  d.focus.at.forEach((at, i) => {
    const a = Math.max(gutter, x(d.at + at)), b = Math.min(w, x(d.at + at + d.focus!.ns[i]));
    if (b > a) g.fillRect(a, rulerTop + 17, Math.max(1, b - a), 2);
  });
}

/** The activity of a device: each column is a bin, filled from below by its parts. */
function strip(g: CanvasRenderingContext2D, col: Palette, d: Device, top: number, h: number, x: (t: number) => number, from: number, to: number): void {
  const perPixel = (to - from) / (x(to) - x(from)), level = levelFor(d, perPixel);
  const first = Math.max(0, Math.floor((from - d.at) / level.bin)), last = Math.min(level.parts[0].length, Math.ceil((to - d.at) / level.bin));
  const [compute, comm, , hidden] = level.parts;
  const end = x(d.at + d.window);
  for (let k = 0; k < 4; k++) {
    if (k === 3 && h < 16) break;
    g.fillStyle = [col.compute, col.comm, col.copy, col.hidden][k];
    g.beginPath();
    for (let i = first; i < last; i++) {
      const v = level.parts[k][i];
      if (!v) continue;
      const below = k === 1 ? compute[i] : k === 2 ? compute[i] + comm[i] : 0;
      const a = x(d.at + i * level.bin), b = Math.min(end, x(d.at + (i + 1) * level.bin));
      if (k === 3) g.rect(a, top + h - 3, Math.max(b - a, 0.6), 3 * hidden[i]);
      else g.rect(a, top + h * (1 - Math.min(1, below + v)), Math.max(b - a, 0.6), Math.min(v, 1 - below) * h);
    }
    g.fill();
  }
}

const levelFor = (d: Device, perPixel: number): Level => d.levels.find(l => l.bin >= perPixel * 0.8) ?? d.levels[d.levels.length - 1];

function drawRow(f: Frame, row: Row): number {
  const { g, col, page, w, x } = f, d = page.devices[row.device], mid = row.top + row.height / 2 + 0.5;
  if (row.height > 8 || row.device % 8 === 0) {
    g.fillStyle = view.open === row.device && row.kind === 'strip' ? col.text : col.dim;
    g.fillText(middle(row.label, 20), row.label.startsWith('  ') ? 10 : 0, mid);
  }
  let painted = 0;
  g.save();
  g.beginPath();
  g.rect(gutter, row.top - 1, w - gutter, row.height + 2);
  g.clip();
  switch (row.kind) {
    case 'strip':
      g.fillStyle = col.well;
      g.fillRect(x(d.at), row.top, x(d.at + d.window) - x(d.at), row.height);
      strip(g, col, d, row.top, row.height, x, view.from, view.to);
      break;
    case 'lane':
      painted = lane(f, row, d);
      break;
    case 'path': {
      const o = pathOf(page, row.device)!, p = o.path, fills = [col.compute, col.comm, col.copy, col.run, col.wait, col.crit, col.data];
      each(f, row, o, p, i => [fills[+p.kind[i]], p.kind[i] === '0' ? col['on-compute'] : +p.kind[i] < 3 ? col['on-part'] : col.text, shortName(page, p.name[i])]);
      break;
    }
    case 'steps':
      each(f, row, d, d.steps!, i => [i % 2 ? col.line : col.step, col.text, page.names[d.steps!.name[i]] + (d.steps!.state[i] ? ' (' + d.steps!.state[i] + ')' : '')]);
      break;
    case 'phases':
      each(f, row, d, d.phases!, i => d.phases!.depth[i] === row.depth ? [col.phase, col.text, page.names[d.phases!.name[i]], col.dim] : null);
      break;
    case 'gaps':
      each(f, row, d, d.gaps!, i => [col.gap, col.text, [page.names[d.gaps!.cause[i]], page.names[d.gaps!.name[i]] ?? ''].filter(Boolean).join(' · '), col.dim]);
      break;
    case 'host':
      each(f, row, d, d.host!, i => {
        const kind = page.names[d.host!.kind[i]];
        return kind ? [({ wait: col.wait, data: col.data, launch: col.run } as Record<string, string>)[kind] ?? col.phase, col.text, page.names[d.host!.name[i]] ?? ''] : null;
      });
      break;
    case 'queue':
      curve(f, row, d, d.queue!, col.run);
      break;
    case 'memory':
      curve(f, row, d, d.memory!, col.phase);
  }
  g.restore();
  return painted;
}

/** The critical path as one line through the rows. What is below two pixels takes the row of its longest piece. It returns the number of
 * stretches. */
function trail({ g, col, page, w, x }: Frame, list: Row[]): number {
  const o = pathOf(page, view.open);
  if (!o) return 0;
  const p = o.path, ys = pathHeights(page, list, p), line = new Path2D();
  let n = 0, last = NaN, begun = NaN, longest = 0, y = 0;
  for (let i = Math.max(0, firstFrom(p.at, view.from - o.at) - 1); i < p.at.length && p.at[i] < view.to - o.at; i++) {
    const a = x(o.at + p.at[i]), b = x(o.at + p.at[i] + p.ns[i]), apart = !(Math.abs(a - last) < 0.5);
    if (isNaN(begun)) { begun = a; longest = -1; }
    if (p.ns[i] > longest) { longest = p.ns[i]; y = ys[p.where[i]]; }
    if (b - begun < 2 && p.at[i + 1] === p.at[i] + p.ns[i]) continue;
    if (apart && !(Math.abs(begun - last) < 0.5)) line.moveTo(begun, y); else line.lineTo(begun, y);
    line.lineTo(b, y);
    n++;
    last = b;
    begun = NaN;
  }
  g.save();
  g.beginPath();
  g.rect(gutter, rulerTop, w - gutter, 1e5);
  g.clip();
  for (const [colour, width] of [[col.page, 5], [col.text, 2]] as [string, number][]) {
    g.strokeStyle = colour;
    g.lineWidth = width;
    g.stroke(line);
  }
  g.restore();
  return n;
}

/** Text in a box, cut in the middle. */
function text(f: Frame, s: string, a: number, b: number, y: number, colour: string): void {
  const left = Math.max(a, gutter), n = Math.floor((Math.min(b, f.w) - left - 9) / 6.5);
  if (n < Math.min(6, s.length) || !s) return; // less of a name tells nothing
  f.g.fillStyle = colour;
  f.g.fillText(middle(s, n), left + 5, y);
}

function lane(f: Frame, row: Row, d: Device): number {
  const { g, col, page, x, w } = f, l = row.lane!, fills = [col.compute, col.comm, col.copy];
  g.fillStyle = col.well;
  const a = Math.max(gutter, x(d.at)), b = Math.min(w, x(d.at + d.window));
  if (!d.focus) g.fillRect(a, row.top, b - a, row.height);
  else d.focus.at.forEach((at, i) => g.fillRect(x(d.at + at), row.top, x(d.at + at + d.focus!.ns[i]) - x(d.at + at), row.height));
  let painted = 0, done = -1; // x up to which pixels are painted
  for (let i = Math.max(0, firstFrom(l.at, view.from - d.at) - 64); i < l.at.length; i++) {
    const from = x(d.at + l.at[i]);
    if (from > w) break;
    const to = x(d.at + l.at[i] + l.ns[i]), width = to - from;
    if (to < gutter || width < 0.5 && to < done + 0.5) continue;
    const k = +l.class[i];
    g.fillStyle = fills[k];
    g.fillRect(from, row.top, Math.max(width - (width > 3 ? 1 : 0), 0.7), row.height);
    done = Math.max(done, to);
    painted++;
    if (width > 34) text(f, shortName(page, l.name[i]), from, to, row.top + row.height / 2 + 0.5, k ? col['on-part'] : col['on-compute']);
  }
  return painted;
}

/** Draws intervals that have a fill, a colour of text and a name. */
function each(f: Frame, row: Row, d: Device, s: Spans, look: (i: number) => [string, string, string, string?] | null): void {
  const { g, x, w } = f, last = firstFrom(s.at, view.to - d.at);
  let done = -1;
  for (let i = 0; i < last; i++) {
    const a = x(d.at + s.at[i]), b = x(d.at + s.at[i] + s.ns[i]);
    if (b < gutter || a > w || b - a < 0.5 && b < done + 0.5) continue;
    const l = look(i);
    if (!l) continue;
    // A light line of a pixel would not be seen.
    g.fillStyle = b - a < 3 ? l[3] ?? l[0] : l[0];
    g.fillRect(a, row.top, Math.max(1, b - a - (b - a > 3 ? 1 : 0)), row.height);
    done = b;
    text(f, l[2], a, b, row.top + row.height / 2 + 0.5, l[1]);
  }
}

/** Draws values of bins as a filled curve; below zero they are not known. */
function curve(f: Frame, row: Row, d: Device, values: number[], colour: string): void {
  const { g, col, x } = f, most = values.reduce((n, v) => Math.max(n, v), 0);
  g.fillStyle = col.well;
  g.fillRect(x(d.at), row.top, x(d.at + d.window) - x(d.at), row.height);
  if (!most) return;
  const first = Math.max(0, Math.floor((view.from - d.at) / d.bin)), last = Math.min(values.length, Math.ceil((view.to - d.at) / d.bin));
  g.fillStyle = colour;
  g.beginPath();
  for (let i = first; i < last; i++) {
    if (values[i] <= 0) continue;
    const h = values[i] / most * row.height, a = x(d.at + i * d.bin);
    g.rect(a, row.top + row.height - h, Math.max(0.6, x(d.at + (i + 1) * d.bin) - a), h);
  }
  g.fill();
}

function band({ g, x, w }: Frame, r: Range, fill: string, alpha: number, h: number): void {
  const a = Math.max(gutter, x(r[0])), b = Math.min(w, x(r[1]));
  if (b < gutter || a > w) return;
  g.fillStyle = fill;
  g.globalAlpha = alpha;
  g.fillRect(a, rulerTop, Math.max(1, b - a), h - rulerTop);
  g.globalAlpha = 1;
  g.fillRect(a, rulerTop, 1, h - rulerTop);
  g.fillRect(b - 1, rulerTop, 1, h - rulerTop);
}
