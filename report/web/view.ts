// What the reader looks at. Everything that shows time listens to it.

export type Range = [from: number, to: number];

export interface View {
  from: number; to: number; // shown, on the clock of the page
  selected?: Range;         // by dragging or by a click
  marked?: Range;           // the place of a finding
  open: number;             // the device whose rows are unfolded
  rank: number | null;      // of the tables; null for all
  path: boolean;            // the critical path is drawn
}

export const view: View = { from: 0, to: 1, open: 0, rank: null, path: true };

const listeners = new Set<() => void>();
let queued = 0;

export function listen(f: () => void): () => void {
  listeners.add(f);
  return () => { listeners.delete(f); };
}

/** Change sets fields and calls the listeners once before the next frame. */
export function change(fields: Partial<View>): void {
  Object.assign(view, fields);
  queued ||= requestAnimationFrame(() => {
    queued = 0;
    listeners.forEach(f => f());
  });
}

/** Show moves to a range, kept within the whole and not shorter than 100 ns. */
export function show(from: number, to: number, end: number, others: Partial<View> = {}): void {
  const margin = end * 0.01, length = Math.min(Math.max(to - from, 100), end + 2 * margin);
  const start = Math.min(Math.max(from - (length - (to - from)) / 2, -margin), end + margin - length);
  change({ from: start, to: start + length, ...others });
}

/** Address returns the place as a fragment that can be sent to whoever has the same file. */
export const address = () => `#t=${Math.round(view.from)},${Math.round(view.to)}&d=${view.open}`;

/** ReadAddress moves to a place that a fragment names. It returns false if it names none. */
export function readAddress(fragment: string, end: number, devices: number): boolean {
  const m = /^#t=(-?\d{1,18}),(-?\d{1,18})&d=(\d{1,6})$/.exec(fragment);
  if (!m || +m[3] >= devices || +m[2] <= +m[1]) return false;
  show(+m[1], +m[2], end, { open: +m[3] });
  return true;
}
