// The data of the page, as package page of assay writes them (report/page/data.go), and as
// the page uses them.

export interface Head { kind: string; headline: string; sentence?: string; cause?: string; first?: string[]; warnings?: string[] }
export interface Fact { value: string; name: string }
export interface Budget { window: number; parts: number[]; of: string }
export interface Fix { text: string; source?: string; url?: string }
export interface Place { label: string; device: number; at: number; ns: number; table?: string; query?: string }
export interface Finding {
  rule: string; level: string; title: string; savings?: string; gain?: number; cause?: string;
  evidence?: string[]; fixes?: Fix[]; confirm?: string; places?: Place[];
}

/** Intervals by start. In the file each start is counted from the end of the one before. */
export interface Spans { at: number[]; ns: number[] }
export interface Steps extends Spans { name: number[]; parts: number[][]; state: string[] }
export interface Phases extends Spans { name: number[]; depth: number[] }
export interface Lane extends Spans { stream: number; name: number[]; class: string }
export interface Gaps extends Spans { cause: number[]; name: number[]; after: number[]; until: number[] }
export interface Host extends Spans { kind: number[]; name: number[] }
/** The critical path of the steps of a rank. A cause or next of -1 is none. */
export interface Path extends Spans {
  count: number[]; class: number[]; kind: string; name: number[]; where: number[]; cause: number[]; next: number[]; slack: number[]; waits: number[];
  places: { device: number; stream: number; host?: boolean }[]; note?: string;
}
export interface Focus extends Spans { why: string[] }

/** Cells of one width: of each part, what share of a bin it takes, from 0 to 1. */
export interface Level { bin: number; parts: Float32Array[] }

export interface Device {
  label: string; rank: number; device: number; input: string; start: string; window: number; at: number;
  bin: number; cells: string[]; queue?: number[]; memory?: number[];
  steps?: Steps; phases?: Phases; lanes?: Lane[]; gaps?: Gaps; host?: Host; path?: Path; focus?: Focus; left?: number; leftNS?: number;
  levels: Level[];
  sums: Float64Array[]; // of each part, the sum of all bins before one
}

export type Kind = 'name' | 'key' | 'ns' | 'count' | 'bytes' | 'max' | 'mean' | 'flops' | `rate:${string}`;
export interface Column { title: string; kind: Kind; values?: number[] }
export interface Table { id: string; title: string; of: string; share: number; columns: Column[]; rank?: number[]; class?: string }
export interface Flame { title: string; unit: string; total: number; depth: number[]; name: number[]; value: number[] }
export interface Line { name: string; area?: boolean; x: number[]; y: (number | null)[]; low?: number[]; high?: number[] }
export interface Chart { title: string; note?: string; role: string; unit: string; by: string; lines: Line[]; areas?: boolean }

/** Dots are operators: x in FLOP/byte, y in TFLOP/s, of is the roofline over the GPU time. */
export interface Dot { name: number; x: number; y: number; ns: number; of: number; bound: string }
export interface Roofline { gbps: number; roofs: { name: string; tflops: number }[]; dots: Dot[]; ns: number; note: string }
export interface Axis { title: string; from: number; to: number; log?: boolean; at: number[]; text: string[] }
export interface Region { points: [number, number][]; color?: string; label?: string; at: [number, number]; right?: boolean }
export interface Point { x: number; y: number; r: number; color?: string; label?: string; text?: string; listed?: boolean }
export interface Part { title?: string; x: Axis; y: Axis; regions?: Region[]; curves?: Region[]; dots: Point[] }
export interface Plane { title: string; note?: string; legend?: { color: string; text: string }[]; parts: Part[]; left?: string }
/** Bars on a common scale, divided into times. */
export interface Bars { title: string; note?: string; legend: { color: string; text: string }[]; rows: { name: string; parts: { color: string; ns: number }[] }[] }

/** Who called whom. Caller and callee are numbers of names; a count below 0 is not known. */
export interface Graph { title: string; unit: string; table: string; caller: number[]; callee: number[]; total: number[]; count?: number[] }

export interface Change { name: number; note?: string; base: number; new: number; count?: number }
export interface Movers { id: string; title: string; of: string; base: number; new: number; rows: Change[] }
export interface Diff { per: string; base: number; new: number; budget?: Change[]; movers?: Movers[] }

export interface Item { mark?: string; text?: string; code?: string; ticks?: boolean; source?: string; url?: string; sub?: Item[] }
export interface Grid { title?: string; columns: { title: string; number?: boolean; name?: boolean }[]; rows: string[][]; more?: string; note?: string }
export interface Block { text?: string; strong?: boolean; list?: Item[]; table?: Grid; gantt?: Gantt; heat?: HeatMap }
/** What ran when, in one layer: times in ns; colors has the swatches of the rows. */
export interface Gantt { title: string; span: number; colors: { color: string; text: string }[]; rows: { name: string; at: number; ns: number; color: number; note?: string }[] }
/** Relative differences from the middle of a row; null is unknown. */
export interface HeatMap { title: string; lead: string; place: string; full: number; rows: { label: string; note: string; values: (number | null)[] }[] }
export interface Section { title?: string; lead?: string; blocks?: Block[] }

export interface Page {
  title: string; head: Head; facts?: Fact[]; budget?: Budget; findings?: Finding[]; history?: boolean;
  devices: Device[]; aligned?: string; tables: Table[]; flames: Flame[]; charts: Chart[]; planes: Plane[]; bars: Bars[]; graphs: Graph[]; diff?: Diff; roofline?: Roofline;
  sections: Section[]; capture: Section[]; names: string[]; tidy: Record<string, string>;
}

/** The parts of a window, in the order of all lists of parts. */
export const parts = ['compute', 'exposed comm', 'exposed copies', 'idle'];
export const partColours = ['--compute', '--comm', '--copy', '--idle'];

/** The name of a kernel as it is shown where there is little room. */
export const shortName = (p: Page, i: number) => p.tidy[i] ?? p.names[i] ?? '';

const cellLevels = 90, firstCell = 35, backslash = 92; // as in report/page/timeline.go

/** Levels returns cells of the stored width and of coarser ones, which are sums of them. */
function levels(d: Device): Level[] {
  const parts = d.cells.map(s => {
    const out = new Float32Array(s.length);
    for (let i = 0; i < s.length; i++) {
      const c = s.charCodeAt(i);
      out[i] = (c > backslash ? c - 1 - firstCell : c - firstCell) / cellLevels;
    }
    return out;
  });
  const out = [{ bin: d.bin, parts }];
  for (let fine = out[0]; fine.parts[0].length > 128;) {
    const n = Math.ceil(fine.parts[0].length / 2);
    const coarse = {
      bin: fine.bin * 2,
      parts: fine.parts.map(p => Float32Array.from({ length: n }, (_, i) => (p[2 * i] + (p[2 * i + 1] ?? 0)) / 2)),
    };
    out.push(coarse);
    fine = coarse;
  }
  return out;
}

function prefixSums(p: Float32Array): Float64Array {
  const out = new Float64Array(p.length + 1);
  for (let i = 0; i < p.length; i++) out[i + 1] = out[i] + p[i];
  return out;
}

/** Absolute makes starts of gaps, in place. */
function absolute(s: Spans | undefined): void {
  if (s) for (let i = 1; i < s.at.length; i++) s.at[i] += s.at[i - 1] + s.ns[i - 1];
}

/** Load reads the data out of the document. */
export async function load(): Promise<Page> {
  const el = document.getElementById('data')!;
  const text = atob(el.textContent!.trim()), bytes = new Uint8Array(text.length);
  // Uint8Array.from would call a function for each byte.
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  el.remove();
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  const page: Page = await new Response(stream).json();
  page.devices ??= []; page.tables ??= []; page.flames ??= []; page.charts ??= []; page.planes ??= []; page.bars ??= []; page.graphs ??= [];
  page.sections ??= []; page.capture ??= []; page.names ??= []; page.tidy ??= {};
  for (const d of page.devices) {
    for (const s of [d.steps, d.phases, d.gaps, d.host, d.path, d.focus, ...(d.lanes ?? [])]) absolute(s);
    d.levels = levels(d);
    d.sums = d.levels[0].parts.map(prefixSums);
  }
  for (const c of page.charts) for (const l of c.lines) for (let i = 1; i < l.x.length; i++) l.x[i] += l.x[i - 1];
  return page;
}

/** Shares returns how much of a range of a device each of the four parts takes. */
export function shares(d: Device, from: number, to: number): number[] {
  const upTo = (sums: Float64Array, t: number) => {
    // The last bin may end after the window, and all of its share is before that end.
    const at = t >= d.window ? sums.length - 1 : Math.max(0, Math.min(sums.length - 1, t / d.bin)), i = Math.floor(at);
    return sums[i] + (i + 1 < sums.length ? (sums[i + 1] - sums[i]) * (at - i) : 0);
  };
  const a = Math.max(0, from), b = Math.min(d.window, to), length = b - a;
  if (length <= 0) return [0, 0, 0, 0];
  const out = d.sums.slice(0, 3).map(s => (upTo(s, b) - upTo(s, a)) * d.bin / length);
  return [...out, Math.max(0, 1 - out[0] - out[1] - out[2])];
}

/** FirstFrom returns the index of the first number that is at least t. */
export function firstFrom(list: number[], t: number): number {
  let low = 0, high = list.length;
  while (low < high) {
    const mid = (low + high) >> 1;
    if (list[mid] < t) low = mid + 1; else high = mid;
  }
  return low;
}

/** PathOf returns the device that has the critical path of the rank of a device. */
export const pathOf = (p: Page, i: number): (Device & { path: Path }) | undefined =>
  p.devices.find(o => o.path && o.rank === p.devices[i].rank && o.input === p.devices[i].input) as (Device & { path: Path }) | undefined;

/** Whole returns the end of the last window on the clock of the page. */
export const whole = (p: Page) => p.devices.reduce((n, d) => Math.max(n, d.at + d.window), 0);
