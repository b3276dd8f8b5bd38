// The interactive page. The text that the file has in its body stays until this is ready.

import { h, Fragment, render } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { load, Page, whole } from './model';
import { BudgetBar, Findings, Verdict } from './findings';
import { Timeline } from './timeline';
import { Heat } from './heat';
import { Asked, Tables } from './table';
import { Flames } from './flame';
import { Charts } from './charts';
import { RooflineChart } from './roofline';
import { Lanes, Planes } from './planes';
import { Calls } from './calls';
import { Blocks, Sections } from './sections';
import { Moved, Waterfall } from './diff';
import { middle } from './format';
import { address, change, listen, readAddress, show } from './view';

const keys: [string, string][] = [
  ['W S', 'zoom in and out'], ['A D', 'move left and right'], ['N P', 'next and previous step'], ['F', 'fit the selection'], ['C', 'show or hide the critical path'], ['0', 'show all'],
  ['/', 'filter the table'], ['M', 'copy the table as Markdown'], ['T', 'light, dark, or as the system'], ['Esc', 'clear the selection, leave a field'], ['?', 'this list'],
];
const gestures: [string, string][] = [
  ['drag', 'measure'], ['Shift + drag', 'move'], ['click', 'select'], ['double click', 'fit'], ['Ctrl + scroll', 'zoom'], ['Shift + scroll', 'move'],
];

type Theme = 'auto' | 'light' | 'dark';
const themes: Record<Theme, string> = { auto: '◐ System', light: '☀ Light', dark: '☾ Dark' };

/** Storage throws in frames without it. */
function remembered(): Theme {
  try { const t = localStorage.getItem('assay-theme'); if (t === 'light' || t === 'dark') return t; } catch { /* none */ }
  return 'auto';
}

function App({ page }: { page: Page }) {
  const [theme, setTheme] = useState<Theme>(remembered), [help, setHelp] = useState(false), [said, say] = useState(''), [asked, ask] = useState<Asked | null>(null), [followed, setFollowed] = useState<number | null>(null);
  const timer = useRef(0);
  const tell = (s: string) => { say(s); clearTimeout(timer.current); timer.current = setTimeout(() => say(''), 1800) as unknown as number; };
  const next = () => setTheme(t => t === 'auto' ? 'light' : t === 'light' ? 'dark' : 'auto');
  // Before the page is ready: it may be printed at once.
  useLayoutEffect(() => {
    document.documentElement.dataset.theme = theme;
    try { localStorage.setItem('assay-theme', theme); } catch { /* none */ }
    change({}); // canvases take the new colours
  }, [theme]);
  useLayoutEffect(() => {
    const system = matchMedia('(prefers-color-scheme: dark)'), redraw = () => change({});
    // Paper is white, whatever the screen is.
    const paper = () => { document.documentElement.dataset.theme = 'light'; redraw(); }, screen = () => { document.documentElement.dataset.theme = theme; redraw(); };
    const key = (e: KeyboardEvent) => {
      const field = (e.target as HTMLElement).matches?.('input,select,textarea');
      if (e.key === 'Escape') { if (field) (e.target as HTMLElement).blur(); setHelp(false); }
      if (field || e.ctrlKey || e.metaKey || e.altKey) return;
      if (e.key === '/') { e.preventDefault(); document.getElementById('filter')?.focus(); }
      else if (e.key === '?') setHelp(x => !x);
      else if (e.key.toLowerCase() === 't') next();
      else if (e.key.toLowerCase() === 'm') document.querySelector<HTMLElement>('[data-markdown]')?.click();
    };
    system.addEventListener('change', redraw);
    addEventListener('keydown', key);
    addEventListener('beforeprint', paper);
    addEventListener('afterprint', screen);
    return () => { system.removeEventListener('change', redraw); removeEventListener('keydown', key); removeEventListener('beforeprint', paper); removeEventListener('afterprint', screen); };
  }, [theme]);
  const follow = (name: number) => { setFollowed(name); document.getElementById('calls')?.scrollIntoView({ behavior: 'smooth' }); };
  const sections = ([['findings', 'Findings', !page.diff && !page.history], ['budget', 'Change', !!page.diff?.budget], ['timeline', 'Timeline', page.devices.length > 0], ['ranks', 'Ranks', page.devices.filter(d => d.steps).length > 1],
    ['lanes', 'Roles', page.bars.length > 0], ['planes', 'Charts', page.planes.length > 0], ['values', 'Values', page.charts.length > 0], ['roofline', 'Roofline', !!page.roofline], ['tables', 'Tables', page.tables.length > 0 || !!page.diff?.movers],
    ['calls', 'Callers', page.graphs.length > 0], ['flame', 'Flame graph', page.flames.length > 0 || page.tables.some(t => t.id === 'modules')],
    ['details', 'Details', page.sections.length > 0], ['capture', 'Capture', page.capture.length > 0]] as [string, string, boolean][]).filter(s => s[2]);
  const go = (id: string) => (e: MouseEvent) => { e.preventDefault(); document.getElementById(id)?.scrollIntoView({ behavior: 'smooth' }); };
  return <Fragment>
    <header class="top"><b>assay</b><span class="file" title={page.title}>{middle(page.title, 60)}</span>
      <nav aria-label="sections">{sections.map(([id, name]) => <a href={'#' + id} onClick={go(id)}>{name}</a>)}</nav>
      <span class="grow" /><span role="status" class="said">{said}</span>
      <button class="quiet" onClick={next} title="light, dark, or as the system (T)">{themes[theme]}</button><button class="quiet" onClick={() => setHelp(true)} aria-label="keys">?</button></header>
    {help && <Help close={() => setHelp(false)} timeline={page.devices.length > 0} />}
    <main>
      <Verdict head={page.head} facts={page.facts} />
      {page.budget && <BudgetBar budget={page.budget} />}
      {page.head.first && <div class="first"><b>What to do first</b><ol>{page.head.first.map(f => <li>{f}</li>)}</ol></div>}
      {page.diff && <Waterfall page={page} diff={page.diff} />}
      {page.diff && <Moved page={page} diff={page.diff} tell={tell} />}
      {!page.diff && !page.history && <Findings page={page} ask={ask} />}
      {page.devices.length > 0 && <Timeline page={page} tell={tell} />}
      <Heat page={page} />
      <Lanes page={page} />
      <Planes page={page} />
      <Charts page={page} />
      {page.roofline && <RooflineChart page={page} roofline={page.roofline} />}
      {page.tables.length > 0 && <Tables page={page} asked={asked} tell={tell} follow={follow} />}
      <Calls page={page} asked={followed} />
      <Flames page={page} />
      <Sections list={page.sections} tell={tell} />
      {page.capture.length > 0 && <section id="capture">{page.capture.map(s => <Fragment><h2>{s.title}</h2><Blocks list={s.blocks ?? []} tell={tell} /></Fragment>)}</section>}
    </main></Fragment>;
}

function Help({ close, timeline }: { close: () => void; timeline: boolean }) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => box.current!.focus(), []);
  const shown = timeline ? keys : keys.slice(5);
  return <div class="help" onClick={close}><div ref={box} role="dialog" aria-modal="true" aria-label="keys" tabIndex={-1} onClick={e => e.stopPropagation()}>
    <h2>Keys</h2><dl>{shown.map(([k, what]) => <div><dt>{k.split(' ').map(x => <kbd>{x}</kbd>)}</dt><dd>{what}</dd></div>)}</dl>
    {timeline && <Fragment><h2>Timeline</h2><dl>{gestures.map(([k, what]) => <div><dt>{k}</dt><dd>{what}</dd></div>)}</dl></Fragment>}
    <button onClick={close}>Close</button></div></div>;
}

async function start(): Promise<void> {
  const page = await load(), end = whole(page), root = document.documentElement;
  if (page.devices.length) {
    if (!readAddress(location.hash, end, page.devices.length)) show(0, end, end);
    addEventListener('hashchange', () => readAddress(location.hash, end, page.devices.length));
    let written = 0;
    listen(() => { // browsers limit how often the address may change
      clearTimeout(written);
      written = setTimeout(() => { try { history.replaceState(null, '', address()); } catch { /* pages without an address */ } }, 150) as unknown as number;
    });
  }
  const app = document.createElement('div');
  app.id = 'app';
  render(<App page={page} />, app);
  document.getElementById('app')!.replaceWith(app);
  change({});
  root.dataset.ready = performance.now().toFixed(0);
}

start().catch(e => { document.documentElement.dataset.failed = String(e); });
