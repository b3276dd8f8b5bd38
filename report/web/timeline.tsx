import { h, Fragment } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Device, Page, partColours, parts, pathOf, shares, shortName, whole } from './model';
import { hostKind, Hit, into, operations, rows } from './rows';
import { draw } from './draw';
import { connect, Input } from './input';
import { copy, duration, middle, percent, quoted } from './format';
import { change, listen, Range, show, view } from './view';

export function Timeline({ page, tell }: { page: Page; tell: (s: string) => void }) {
  const canvas = useRef<HTMLCanvasElement>(null), tip = useRef<HTMLDivElement>(null);
  const [, moved] = useState(0), [command, setCommand] = useState(false), end = whole(page);
  useEffect(() => {
    const c = canvas.current!;
    let input: Input | null = null;
    const paint = () => {
      const begun = performance.now(), n = draw(c, page, rows(page), end, input?.hover ?? -1);
      c.dataset.ms = (performance.now() - begun).toFixed(1);
      c.dataset.painted = String(n);
    };
    input = connect(c, page, end, paint, (hit, e) => tooltip(tip.current!, hit, e));
    const off = listen(() => { paint(); moved(n => n + 1); });
    const size = new ResizeObserver(paint); // the first call comes when the canvas is laid out
    size.observe(c);
    return () => { off(); size.disconnect(); input!.stop(); };
  }, []);
  const d = page.devices[view.open], range = view.selected ?? view.marked ?? [view.from, view.to] as Range;
  const path = pathOf(page, view.open)?.path;
  const left = page.devices.reduce((n, d) => n + (d.left ?? 0), 0);
  return <section id="timeline" aria-label="Timeline">
    <div class="bar"><h2>Timeline</h2><span class="grow" />
      <span class="of hint">drag to measure, Ctrl + scroll to zoom, W A S D, ? for all keys</span>
      {page.devices.length > 1 && <select aria-label="unfolded GPU" value={view.open} onChange={e => change({ open: +e.currentTarget.value, selected: undefined })}>
        {page.devices.map((d, i) => <option value={i}>{d.label}</option>)}</select>}
      {path && <button class="quiet" aria-pressed={view.path} onClick={() => change({ path: !view.path })}>{view.path ? 'Hide' : 'Show'} critical path</button>}
      <button class="quiet" onClick={() => show(0, end, end, { selected: undefined, marked: undefined })}>Show all</button>
      <button class="quiet" aria-expanded={command} onClick={() => setCommand(!command)}>Commands for this range</button></div>
    {command && <Command device={d} range={range} tell={tell} />}
    <canvas ref={canvas} class="timeline" tabIndex={0} role="application" aria-roledescription="timeline" aria-describedby="selection"
      aria-label={`Timeline of ${page.devices.length === 1 ? d.label : page.devices.length + ' GPUs'}. W and S zoom, A and D move, N and P go to the next and the previous step.`} />
    <div ref={tip} class="tip" aria-hidden="true" />
    <Selection page={page} device={d} range={range} />
    {path?.note && <p class="of">{path.note}</p>}
    {page.aligned && <p class="of">{page.aligned}</p>}
    {left > 0 && <p class="of">Single operations are in the page where the thin line under the ruler is; {left.toLocaleString('en-US')} operations elsewhere are only in the activity row. A viewer of traces shows all.</p>}
  </section>;
}

/** What is in the selected, marked or shown range of the open device. */
function Selection({ page, device: d, range: [from, to] }: { page: Page; device: Device; range: Range }) {
  const what = view.selected ? 'Selected' : view.marked ? 'Marked' : 'Shown', share = shares(d, from - d.at, to - d.at);
  const { top, known } = operations(page, d, from, to);
  const line = `${what}: ${duration(to - from)}, ${into(from - d.at)}${page.devices.length > 1 ? ' of ' + d.label : ''}`;
  const sums = parts.map((p, k) => `${p} ${percent(share[k])}`).join(', ');
  const [live, say] = useState('');
  useEffect(() => { // a reader of screens hears where the movement ends
    const later = setTimeout(() => say(line + '. ' + sums), 400);
    return () => clearTimeout(later);
  }, [line, sums]);
  return <div class="selection">
    <span id="selection" role="status" class="unseen">{live}</span>
    <b>{line}</b>
    <span class="legend">{parts.map((p, k) => <span><Swatch k={k} />{p} <b>{percent(share[k])}</b></span>)}
      {d.levels[0].parts[3].some(v => v > 0) && <span><i class="swatch hidden" />overlapped by compute</span>}</span>
    {top.length > 0 && <ol>{top.map(o => <li><b>{duration(o.ns)}</b> in {o.count.toLocaleString('en-US')} × <code title={page.names[o.name]}>{middle(shortName(page, o.name), 60)}</code></li>)}
      {known < 0.999 && <li class="of">of the {percent(known)} of the range that has single operations here</li>}</ol>}
    {d.host && <HostLegend page={page} device={d} />}
  </div>;
}

function HostLegend({ page, device: d }: { page: Page; device: Device }) {
  const kinds = [...new Set(d.host!.kind)].map(k => page.names[k]).filter(Boolean), colour: Record<string, string> = { wait: 'wait', data: 'data', launch: 'run' };
  const of = (c: string) => kinds.filter(k => (colour[k] ?? 'other') === c).map(hostKind).join(', ');
  return <span class="legend of">launching thread: {['run', 'wait', 'data', 'other'].filter(of).map(c => <span><i class={'swatch host-' + c} />{of(c)}</span>)}</span>;
}

export const Swatch = ({ k }: { k: number }) => <i class="swatch" style={{ background: `var(${partColours[k]})` }} />;

/** The command that measures the range from the capture itself. */
function Command({ device: d, range, tell }: { device: Device; range: Range; tell: (s: string) => void }) {
  // Times of captures exceed what a number holds exactly.
  const stamp = (t: number) => { const ns = BigInt(d.start) + BigInt(Math.round(t - d.at)); const s = ns.toString().padStart(4, '0'); return `ts:${s.slice(0, -3)}.${s.slice(-3)}`; };
  const text = `assay report ${quoted(d.input)} --from ${stamp(range[0])} --to ${stamp(range[1])} -o range`;
  // A range is at least 1 ns, because assay open refuses 0.
  const open = `assay open ${quoted(d.input)} --at ${stamp(range[0])} --for ${Math.max(1, Math.round(range[1] - range[0]))}ns`;
  const line = (what: string, s: string) => <Fragment><p>{what}</p><code>{s}</code> <button onClick={() => copy(s).then(() => tell('Copied'))}>Copy</button></Fragment>;
  return <div class="note">{line(`This command makes a report of the range, with ${duration(range[1] - range[0])} as the whole capture:`, text)}
    {line('This command opens the range in Perfetto, with every event of the capture:', open)}</div>;
}

function tooltip(el: HTMLDivElement, hit: Hit | null, e: PointerEvent | null): void {
  if (!hit?.lines.length || !e) {
    el.style.display = 'none';
    return;
  }
  el.replaceChildren(...hit.lines.map(s => {
    const p = document.createElement('p');
    p.textContent = middle(s, 260);
    return p;
  }));
  el.style.display = 'block';
  const box = el.getBoundingClientRect();
  el.style.left = Math.max(6, Math.min(e.clientX + 14, innerWidth - box.width - 8)) + 'px';
  el.style.top = (e.clientY + 18 + box.height > innerHeight ? e.clientY - box.height - 12 : e.clientY + 18) + 'px';
}
