// Pointer and keys of the timeline. Plain scrolling scrolls the page: only with a modifier
// does it zoom.

import { Page } from './model';
import { at, gutter, Hit, overviewHeight, overviewTop, rows } from './rows';
import { change, Range, show, view } from './view';

interface Drag { x: number; time: number; from: number; to: number; mode: 'overview' | 'pan' | 'select'; moved: boolean }

export interface Input { hover: number; stop(): void; }

/** Connects a canvas. Tooltip is called with what is under the pointer, or null. */
export function connect(c: HTMLCanvasElement, page: Page, end: number, redraw: () => void, tooltip: (hit: Hit | null, e: PointerEvent | null) => void): Input {
  let drag: Drag | null = null;
  const input: Input = { hover: -1, stop: () => undefined };
  const width = () => Math.max(1, c.clientWidth - gutter), length = () => view.to - view.from;
  const time = (x: number) => view.from + (x - gutter) / width() * length();
  const place = (e: MouseEvent): [number, number] => {
    const box = c.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const hit = (x: number, y: number) => at(page, rows(page), y, time(x), 2 * length() / width());
  const zoom = (factor: number, t: number) => show(t - (t - view.from) * factor, t + (view.to - t) * factor, end);
  const pan = (dt: number) => show(view.from + dt, view.to + dt, end);
  const fit = (r: Range, margin = 0.1) => show(r[0] - (r[1] - r[0]) * margin, r[1] + (r[1] - r[0]) * margin, end);
  const open = (device: number) => change({ open: device, rank: page.devices[device].rank, selected: undefined });

  const down = (e: PointerEvent) => {
    const [x, y] = place(e);
    if (e.button || x < gutter) return;
    c.setPointerCapture(e.pointerId);
    const mode = y < overviewTop + overviewHeight ? 'overview' : e.shiftKey ? 'pan' : 'select';
    drag = { x, time: time(x), from: view.from, to: view.to, mode, moved: false };
  };
  const move = (e: PointerEvent) => {
    const [x, y] = place(e);
    input.hover = x;
    if (drag) {
      drag.moved ||= Math.abs(x - drag.x) > 3;
      const span = drag.to - drag.from;
      if (drag.mode === 'overview') {
        const mid = (x - gutter) / width() * end;
        show(mid - span / 2, mid + span / 2, end);
      } else if (drag.mode === 'pan') {
        const dt = (drag.x - x) / width() * span;
        show(drag.from + dt, drag.to + dt, end);
      } else if (drag.moved) {
        const t = Math.max(0, Math.min(end, time(x)));
        change({ selected: [Math.max(0, Math.min(drag.time, t)), Math.min(end, Math.max(drag.time, t))] });
      }
    }
    tooltip(x < gutter || y < overviewTop + overviewHeight || drag?.moved ? null : hit(x, y), e);
    redraw();
  };
  const up = (e: PointerEvent) => {
    const was = drag, [x, y] = place(e);
    drag = null;
    if (was?.moved) return;
    const found = hit(Math.max(x, gutter), y);
    if (was?.mode === 'overview' && x >= gutter) {
      const mid = (x - gutter) / width() * end;
      return show(mid - length() / 2, mid + length() / 2, end);
    }
    if (found.row && page.devices.length > 1 && (found.row.kind === 'strip' || x < gutter)) return open(found.row.device);
    if (x >= gutter) change({ selected: found.range, marked: undefined });
  };
  const wheel = (e: WheelEvent) => {
    const [x] = place(e);
    if (e.ctrlKey || e.metaKey || e.altKey) {
      e.preventDefault();
      zoom(Math.exp(Math.max(-60, Math.min(60, e.deltaY)) * 0.006), time(Math.max(gutter, x)));
    } else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      e.preventDefault();
      pan((e.deltaX || e.deltaY) / width() * length());
    }
  };
  const key = (e: KeyboardEvent) => {
    if ((e.target as HTMLElement).matches?.('input,select,textarea') || e.ctrlKey || e.metaKey || e.altKey) return;
    const mid = (view.from + view.to) / 2, focused = document.activeElement === c;
    const t = c.matches(':hover') && input.hover >= gutter ? time(input.hover) : mid;
    switch (e.key.length === 1 ? e.key.toLowerCase() : e.key) {
      case 'w': case '+': case '=': zoom(0.7, t); break;
      case 's': case '-': zoom(1 / 0.7, t); break;
      case 'a': pan(-length() * 0.2); break;
      case 'd': pan(length() * 0.2); break;
      case 'ArrowLeft': if (!focused) return; pan(-length() * 0.2); break;
      case 'ArrowRight': if (!focused) return; pan(length() * 0.2); break;
      case 'ArrowUp': case 'ArrowDown': {
        const next = view.open + (e.key === 'ArrowDown' ? 1 : -1);
        if (!focused || next < 0 || next >= page.devices.length) return;
        open(next);
        break;
      }
      case 'f': { const r = view.selected ?? view.marked; if (r) fit(r); break; }
      case '0': show(0, end, end); break;
      case 'c': change({ path: !view.path }); break;
      case 'n': step(page, end, 1); break;
      case 'p': step(page, end, -1); break;
      case 'Escape': change({ selected: undefined, marked: undefined }); return;
      default: return;
    }
    e.preventDefault();
  };
  const leave = () => { input.hover = -1; tooltip(null, null); redraw(); };
  const fitted = () => { if (view.selected) fit(view.selected, 0.2); };

  const own: [string, (e: never) => void][] = [['pointerdown', down], ['pointermove', move], ['pointerup', up], ['pointerleave', leave], ['dblclick', fitted]];
  own.forEach(([name, f]) => c.addEventListener(name, f as EventListener));
  c.addEventListener('wheel', wheel, { passive: false });
  document.addEventListener('keydown', key);
  input.stop = () => {
    own.forEach(([name, f]) => c.removeEventListener(name, f as EventListener));
    c.removeEventListener('wheel', wheel);
    document.removeEventListener('keydown', key);
  };
  return input;
}

/** Moves to the step after or before the one in the middle, or to the first. */
function step(page: Page, end: number, by: number): void {
  const d = page.devices[view.open], s = d.steps;
  if (!s?.at.length) return;
  const mid = (view.from + view.to) / 2 - d.at, distance = (i: number) => Math.abs(s.at[i] + s.ns[i] / 2 - mid);
  let near = 0;
  for (let i = 1; i < s.at.length; i++) if (distance(i) < distance(near)) near = i;
  const far = view.to - view.from > end * 0.9;
  const i = far ? (by > 0 ? 0 : s.at.length - 1) : distance(near) > s.ns[near] * 0.2 ? near : Math.max(0, Math.min(s.at.length - 1, near + by));
  showStep(page, view.open, i, end);
}

export function showStep(page: Page, device: number, i: number, end: number): void {
  const d = page.devices[device], s = d.steps!, from = d.at + s.at[i], margin = s.ns[i] * 0.03;
  show(from - margin, from + s.ns[i] + margin, end, { open: device, selected: undefined, marked: undefined });
}
