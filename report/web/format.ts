// Numbers and names as assay prints them.

const units: [number, string][] = [[3600e9, 'h'], [60e9, 'min'], [1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

/** Digits prints a number with so many significant digits and thousands separators. */
export function digits(x: number, n = 4): string {
  if (!x) return '0';
  const whole = Math.floor(Math.log10(Math.abs(x)) + 1e-12) + 1, after = Math.max(0, n - Math.max(whole, 1));
  return x.toLocaleString('en-US', { minimumFractionDigits: Math.min(after, 6), maximumFractionDigits: Math.min(after, 6) });
}

// Seconds up to 600 s, minutes up to 120 min.
export function unitOf(ns: number): [number, string] {
  const a = Math.abs(ns);
  if (a >= 7200e9) return units[0];
  if (a >= 600e9) return units[1];
  return units.slice(2).find(([n]) => a >= n * 0.99995) ?? units[5];
}

export function duration(ns: number, n = 4): string {
  if (!ns) return '0';
  const [size, name] = unitOf(ns);
  return (name === 'ns' ? Math.round(ns).toString() : digits(ns / size, n)) + ' ' + name;
}

export const signed = (text: string, x: number) => (x > 0 ? '+' : x < 0 ? '−' : '±') + text.replace(/^-/, '');
export const signedDuration = (ns: number) => signed(duration(Math.abs(ns)), ns);

export function percent(share: number): string {
  if (!isFinite(share)) return '–';
  if (share > 0 && share < 0.0005) return '<0.1%';
  if (share < 1 && share > 0.9995) return '>99.9%';
  return (share * 100).toFixed(1) + '%';
}

export const count = (n: number) => Math.round(n).toLocaleString('en-US');

/** Number prints a whole number with all its digits. */
export const number = (x: number) => Number.isInteger(x) ? count(x) : digits(x);

export function bytes(n: number): string {
  let i = 0;
  for (; Math.abs(n) >= 1024 && i < 5; i++) n /= 1024;
  return (i ? digits(n) : String(n)) + ' ' + ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'][i];
}

/** Flops prints a number of floating-point operations. */
export function flops(n: number, significant = 3): string {
  let i = 0;
  for (; n >= 999.5 && i < 6; i++) n /= 1000;
  return digits(n, significant) + ' ' + ['', 'k', 'M', 'G', 'T', 'P', 'E'][i] + 'FLOP';
}

/** Quantity prints a value in a unit of a summary. */
export function quantity(x: number, unit: string): string {
  switch (unit) {
    case 'ns': return duration(x);
    case 'byte': case 'bytes': return bytes(x);
    case 'share': return percent(x);
    case 'count': case '': return number(x);
    case 'watt': return number(x) + ' W';
    case 'celsius': return number(x) + ' °C';
  }
  return digits(x) + ' ' + unit;
}

/** Tick prints a label of an axis that ends at end: with the digits that tell ticks apart,
 * and in one unit. */
export function tick(ns: number, step: number, end: number): string {
  if (Math.abs(ns) < step / 2) return '0';
  const [size, name] = [...units.slice(2)].find(([n]) => end >= n && step * 2e4 > n) ?? units[5];
  return (ns / size).toFixed(Math.max(0, Math.min(6, Math.ceil(-Math.log10(step / size) - 1e-9)))) + ' ' + name;
}

/** Ticks returns round places of an axis, at most about n. Round numbers of bytes are of powers of 1024. */
export function ticks(from: number, to: number, n: number, base = 10): [at: number[], step: number] {
  const raw = (to - from) / Math.max(1, n) || 1, unit = base === 10 ? 1 : base ** Math.max(0, Math.floor(Math.log(Math.max(to, 1)) / Math.log(base)));
  const size = unit * 10 ** Math.floor(Math.log10(raw / unit));
  const step = [1, 2, 5, 10].find(m => m * size >= raw * 0.999)! * size, at: number[] = [];
  for (let t = Math.ceil(from / step) * step; t <= to && at.length < 200; t += step) at.push(t);
  return [at, step];
}

/** Middle cuts a name in the middle: both ends tell kernels apart. */
export function middle(s: string, n: number): string {
  if (s.length <= n) return s;
  return n < 4 ? '' : s.slice(0, Math.ceil((n - 1) * 0.6)) + '…' + s.slice(s.length - Math.floor((n - 1) * 0.4));
}

// What is copied goes into comments on pull requests, where these characters mean something.
const cell = (s: string) => s.replace(/\s+/g, ' ').slice(0, 400).replace(/[\\|`*_<>[\]#&@~$]/g, c => '\\' + c);

/** Markdown returns a table. */
export function markdown(head: string[], rows: string[][], numbers: boolean[]): string {
  const line = (cells: string[]) => '| ' + cells.map(cell).join(' | ') + ' |';
  return [line(head), '|' + numbers.map(n => n ? '---:|' : '---|').join(''), ...rows.map(line)].join('\n') + '\n';
}

/** Copy puts text on the clipboard. In frames and on insecure pages only the old way works. */
export async function copy(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    return;
  } catch { /* not allowed here */ }
  const area = document.createElement('textarea');
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand('copy');
  area.remove();
}

/** Quoted returns a word for a shell. */
export const quoted = (s: string) => /^[\w@%+=:,./-]+$/.test(s) ? s : "'" + s.replace(/'/g, `'\\''`) + "'";
