// The rows of the timeline: where they are, and what is at a point of them.

import { Device, firstFrom, Lane, Page, parts, Path, pathOf, shares, shortName, Spans } from './model';
import { bytes, digits, duration, percent } from './format';
import { Range, view } from './view';

export const gutter = 132;          // for the labels of rows
export const overviewTop = 4, overviewHeight = 26;
export const rulerTop = 40;
const firstRow = 62;

export type RowKind = 'steps' | 'strip' | 'path' | 'phases' | 'host' | 'lane' | 'gaps' | 'queue' | 'memory';
export interface Row { kind: RowKind; top: number; height: number; label: string; device: number; lane?: Lane; depth?: number }

/** Rows lays out all rows: a strip for each device, and everything of the open one. */
export function rows(page: Page): Row[] {
  const out: Row[] = [], devices = page.devices, many = devices.length > 16, several = devices.length > 1;
  let top = firstRow;
  const add = (kind: RowKind, height: number, label: string, device: number, more: Partial<Row> = {}) => {
    out.push({ kind, top, height, label: several && kind !== 'strip' ? '  ' + label : label, device, ...more });
    top += height + (height < 10 ? 1 : 3);
  };
  devices.forEach((d, i) => {
    const open = view.open === i;
    if (open && d.steps) add('steps', 18, 'steps', i);
    add('strip', open ? 34 : many ? 8 : 18, several ? d.label : 'activity', i);
    if (!open) return;
    if (view.path && pathOf(page, i)) add('path', 16, 'critical path', i);
    if (d.phases) {
      const deepest = Math.min(3, Math.max(0, ...d.phases.depth));
      for (let depth = 0; depth <= deepest; depth++) add('phases', 18, depth ? '' : 'phases', i, { depth });
    }
    for (const lane of d.lanes ?? []) add('lane', 18, 'stream ' + lane.stream, i, { lane });
    if (d.gaps) add('gaps', 16, 'longest idle', i);
    if (d.host) add('host', 16, 'launching thread', i);
    if (d.queue) add('queue', 26, 'launch queue', i);
    if (d.memory) add('memory', 26, 'memory', i);
    if (several) top += 6;
  });
  return out;
}

export const height = (list: Row[]) => { const last = list[list.length - 1]; return last ? last.top + last.height + 8 : firstRow; };

/** Heights of the line of the critical path in each place of it: at the foot of a row, so that names stay legible. */
export function pathHeights(page: Page, list: Row[], p: Path): number[] {
  const line = list.find(r => r.kind === 'path')!;
  return p.places.map(place => {
    const d = page.devices[place.device], open = page.devices[view.open], own = d && d.rank === open.rank && d.input === open.input;
    const row = place.host ? own && list.find(r => r.kind === 'host')
      : list.find(r => r.kind === 'lane' && r.device === place.device && r.lane!.stream === place.stream);
    return foot(row || list.find(r => r.kind === 'strip' && r.device === place.device) || line);
  });
}
const foot = (r: Row) => r.top + r.height - 3;

/** A Hit is what is at a point: lines for the tooltip, and its range if it has one. */
export interface Hit { time: number; row?: Row; range?: Range; lines: string[] }

/** Into says where in a window something begins. */
export const into = (at: number) => at > 0 ? `${duration(at)} after the start of the window` : 'from the start of the window';

const time = (range: Range, at: number) => `${duration(range[1] - range[0])}, ${into(at)}`;

/** At finds what is at a time of a row. Slack is how much time two pixels are. */
export function at(page: Page, list: Row[], y: number, t: number, slack: number): Hit {
  const row = list.find(r => y >= r.top - 1 && y <= r.top + r.height + 1);
  if (!row) return { time: t, lines: [] };
  const d = page.devices[row.device], local = t - d.at;
  const hit = (s: Spans, i: number, lines: string[]): Hit => {
    const range: Range = [d.at + s.at[i], d.at + s.at[i] + s.ns[i]];
    return { time: t, row, range, lines: [lines[0], time(range, s.at[i]), ...lines.slice(1)].filter(Boolean) };
  };
  const name = (i: number) => page.names[i] ?? '', short = (i: number) => shortName(page, i);
  const owner = view.path ? pathOf(page, view.open) : undefined;
  if (owner) {
    const p = owner.path, i = nearest(p, t - owner.at, slack);
    if (i >= 0 && (row.kind === 'path' || Math.abs(pathHeights(page, list, p)[p.where[i]] - y) <= 4)) {
      const range: Range = [owner.at + p.at[i], owner.at + p.at[i] + p.ns[i]], what = name(p.class[i]);
      return { time: t, row, range, lines: ['Critical path: ' + what + (p.waits[i] ? ' before ' : ', ') + short(p.name[i]), time(range, p.at[i]),
        p.count[i] > 1 ? `the longest of ${p.count[i]} pieces that are joined` : '', p.cause[i] >= 0 ? 'it waited for: ' + name(p.cause[i]) : '',
        p.next[i] >= 0 ? `${name(p.next[i])} could have come ${duration(p.slack[i])} later` : ''].filter(Boolean) };
    }
  }
  switch (row.kind) {
    case 'lane': {
      const l = row.lane!, i = nearest(l, local, slack);
      if (i >= 0) return hit(l, i, [short(l.name[i]), ['compute', 'communication', 'copy or memset'][+l.class[i]] + ' on stream ' + l.stream]);
      return { time: t, row, lines: stored(d, local) ? [] : ['Single operations are not in the page here.', 'The activity row has their sum.'] };
    }
    case 'steps': {
      const s = d.steps!, i = nearest(s, local, slack);
      if (i >= 0) return hit(s, i, [name(s.name[i]), s.state[i], s.parts.map((p, k) => `${parts[k]} ${percent(p[i] / s.ns[i])}`).join(', ')]);
      break;
    }
    case 'phases': {
      const p = d.phases!;
      for (let i = Math.min(p.at.length, firstFrom(p.at, local + slack)) - 1; i >= 0; i--)
        if (p.depth[i] === row.depth && p.at[i] + p.ns[i] >= local - slack) return hit(p, i, [name(p.name[i])]);
      break;
    }
    case 'gaps': {
      const g = d.gaps!, i = nearest(g, local, slack);
      if (i >= 0) return hit(g, i, ['idle: ' + (name(g.cause[i]) || 'cause unknown'), g.name[i] >= 0 ? 'in ' + name(g.name[i]) : '',
        g.after[i] >= 0 ? 'after ' + short(g.after[i]) : '', g.until[i] >= 0 ? 'before ' + short(g.until[i]) : '']);
      break;
    }
    case 'host': {
      const h = d.host!, i = nearest(h, local, slack);
      if (i >= 0) return hit(h, i, [hostKind(name(h.kind[i])) + (h.name[i] >= 0 ? ': ' + name(h.name[i]) : '')]);
      break;
    }
    case 'strip': {
      const s = shares(d, local - slack, local + slack);
      return { time: t, row, lines: [d.label, into(local), s.map((v, k) => v > 0.001 ? `${parts[k]} ${percent(v)}` : '').filter(Boolean).join(', ')] };
    }
    case 'queue':
    case 'memory': {
      const list = row.kind === 'queue' ? d.queue! : d.memory!, v = list[Math.floor(local / d.bin)];
      if (v !== undefined && v >= 0) return { time: t, row, lines: [row.kind === 'queue' ? `${digits(v / 100)} operations launched and not started` : bytes(v) + ' allocated', into(local)] };
    }
  }
  return { time: t, row, lines: [] };
}

export const hostKind = (kind: string) => ({ operator: 'CPU operator', python: 'Python code', wait: 'waiting for the GPU', launch: 'CUDA API call', data: 'data loading', annotation: 'annotated range', profiler: 'profiler overhead' } as Record<string, string>)[kind] ?? (kind || 'nothing recorded');

/** Stored reports whether single operations at a time are in the page. */
export function stored(d: Device, t: number): boolean {
  if (!d.focus) return true;
  const i = firstFrom(d.focus.at, t + 1) - 1;
  return i >= 0 && t <= d.focus.at[i] + d.focus.ns[i];
}

// Nearest returns the last interval that is at a time, or touches it, or -1.
function nearest(s: Spans, t: number, slack: number): number {
  const last = firstFrom(s.at, t + slack) - 1;
  for (let i = last; i >= Math.max(0, last - 8); i--) if (s.at[i] + s.ns[i] >= t) return i;
  for (let i = last; i >= Math.max(0, last - 8); i--) if (s.at[i] + s.ns[i] >= t - slack) return i;
  return -1;
}

/** Sums returns the names with the most time of operations in a range, of the open device,
 * and what part of the range has single operations. */
export function operations(page: Page, d: Device, from: number, to: number): { top: { name: number; ns: number; count: number }[]; known: number } {
  const a = from - d.at, b = to - d.at, ns = new Map<number, number>(), count = new Map<number, number>();
  for (const l of d.lanes ?? []) {
    for (let i = Math.max(0, firstFrom(l.at, a) - 64); i < l.at.length && l.at[i] < b; i++) {
      const part = Math.min(b, l.at[i] + l.ns[i]) - Math.max(a, l.at[i]);
      if (part <= 0) continue;
      ns.set(l.name[i], (ns.get(l.name[i]) ?? 0) + part);
      count.set(l.name[i], (count.get(l.name[i]) ?? 0) + 1);
    }
  }
  const top = [...ns].sort((x, y) => y[1] - x[1]).slice(0, 3).map(([name, ns]) => ({ name, ns, count: count.get(name)! }));
  let known = Math.max(0, Math.min(b, d.window) - Math.max(a, 0));
  if (d.focus) {
    const whole = known;
    known = 0;
    d.focus.at.forEach((at, i) => { known += Math.max(0, Math.min(b, at + d.focus!.ns[i]) - Math.max(a, at)); });
    known = whole ? Math.min(1, known / whole) : 1;
  } else known = 1;
  return { top, known };
}
