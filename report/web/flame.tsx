import { h, Fragment } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Page, shortName } from './model';
import { palette, prepare } from './draw';
import { middle, percent, quantity } from './format';
import { listen } from './view';

interface Node { name: string; full: string; value: number; self: number; depth: number; x: number; parent: number }
interface Tree { title: string; unit: string; total: number; nodes: Node[] }

/** Stacks of a profile, as the file has them. */
function stacks(page: Page): Tree[] {
  return page.flames.map(f => {
    const nodes: Node[] = [], path: number[] = [], used: number[] = [];
    f.depth.forEach((depth, i) => {
      const parent = depth ? path[depth - 1] ?? -1 : -1, x = (parent >= 0 ? nodes[parent].x : 0) + (used[parent + 1] ?? 0), value = f.value[i];
      used[parent + 1] = (used[parent + 1] ?? 0) + value;
      path[depth] = i;
      nodes.push({ name: shortName(page, f.name[i]), full: page.names[f.name[i]], value, self: value, depth, x, parent });
      if (parent >= 0) nodes[parent].self -= value;
    });
    return { title: 'Stacks: ' + f.title, unit: f.unit, total: f.total, nodes };
  });
}

/** GPU time by module: paths of modules are stacks, too. */
function modules(page: Page): Tree[] {
  const t = page.tables.find(t => t.id === 'modules');
  if (!t) return [];
  const total = t.columns.findIndex(c => c.title === 'total'), sums = new Map<string, number>(), below = new Map<string, string[]>();
  t.columns[0].values!.forEach((name, i) => sums.set(page.names[name], (sums.get(page.names[name]) ?? 0) + t.columns[total].values![i]));
  sums.delete('');
  for (const path of sums.keys()) {
    let up = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    while (up && !sums.has(up)) up = up.slice(0, Math.max(0, up.lastIndexOf('/')));
    below.set(up, [...(below.get(up) ?? []), path]);
  }
  const nodes: Node[] = [];
  const children = (path: string) => (below.get(path) ?? []).filter(p => sums.get(p)! > 0).sort((a, b) => sums.get(b)! - sums.get(a)! || (a < b ? -1 : 1));
  const walk = (path: string, up: string, x: number, depth: number, parent: number): number => {
    const value = sums.get(path)!, at = nodes.length;
    nodes.push({ name: path.slice(up ? up.length + 1 : 0), full: path, value, self: value, depth, x, parent });
    let next = x;
    for (const c of children(path)) { const v = walk(c, path, next, depth + 1, at); next += v; nodes[at].self = Math.max(0, nodes[at].self - v); }
    return value;
  };
  let x = 0;
  for (const c of children('')) x += walk(c, '', x, 0, -1);
  return x ? [{ title: 'GPU time by module', unit: 'ns', total: x, nodes }] : [];
}

const rowHeight = 20;
const hue = (s: string) => { let n = 7; for (const c of s.replace(/_?\d+/g, '')) n = (n * 31 + c.charCodeAt(0)) >>> 0; return n % 6; };

export function Flames({ page }: { page: Page }) {
  const trees = useMemo(() => [...stacks(page), ...modules(page)].filter(t => t.nodes.length), []), [chosen, choose] = useState(0);
  if (!trees.length) return null;
  return <section id="flame"><h2>Flame graph</h2>
    {trees.length > 1 && <div class="tabs" role="tablist" aria-label="flame graphs">{trees.map((t, i) => <button role="tab" aria-selected={i === chosen} onClick={() => choose(i)}>{middle(t.title, 40)}</button>)}</div>}
    <Graph key={chosen} tree={trees[chosen]} /></section>;
}

function Graph({ tree: t }: { tree: Tree }) {
  const canvas = useRef<HTMLCanvasElement>(null), [zoomed, zoom] = useState(-1), [query, setQuery] = useState(''), [over, hover] = useState(-1);
  const depth = Math.min(60, t.nodes.reduce((n, x) => Math.max(n, x.depth), 0) + 1), low = query.toLowerCase();
  const found = (n: Node) => low !== '' && n.full.toLowerCase().includes(low);
  const [left, width] = zoomed < 0 ? [0, t.total] : [t.nodes[zoomed].x, t.nodes[zoomed].value];
  const show = (v: number) => quantity(v, t.unit);
  const matched = useMemo(() => { // nested hits count once
    let sum = 0, end = -1;
    for (const n of t.nodes) if (n.x >= end && found(n)) { sum += n.value; end = n.x + n.value; }
    return sum;
  }, [query]);
  const paint = () => {
    const c = canvas.current!, g = prepare(c, depth * rowHeight);
    if (!g) return;
    const col = palette(), style = getComputedStyle(document.documentElement), fills = [0, 1, 2, 3, 4, 5].map(i => style.getPropertyValue('--f' + i)), w = c.clientWidth;
    g.font = '12px ' + col.sans;
    t.nodes.forEach((n, i) => {
      const a = Math.max(0, (n.x - left) / width * w), b = Math.min(w, (n.x + n.value - left) / width * w);
      if (b - a < 0.4 || n.depth >= depth) return;
      const hit = found(n), y = n.depth * rowHeight;
      g.fillStyle = low ? (hit ? col.mark : col.well) : fills[hue(n.name)];
      g.globalAlpha = i === over ? 0.75 : 1;
      g.fillRect(a, y, Math.max(0.5, b - a - 1), rowHeight - 1);
      g.globalAlpha = 1;
      const k = Math.floor((b - a - 8) / 6.5);
      if (k > 2) { g.fillStyle = hit ? col.page : col.text; g.fillText(middle(n.name, k), a + 4, y + rowHeight / 2); }
    });
  };
  useEffect(() => {
    paint();
    const size = new ResizeObserver(paint), stop = listen(paint);
    size.observe(canvas.current!);
    return () => { size.disconnect(); stop(); };
  }, [zoomed, query, over]);
  const at = (e: MouseEvent) => {
    const box = canvas.current!.getBoundingClientRect(), x = left + (e.clientX - box.left) / box.width * width, d = Math.floor((e.clientY - box.top) / rowHeight);
    return t.nodes.findIndex(n => n.depth === d && x >= n.x && x < n.x + n.value);
  };
  const key = (e: KeyboardEvent) => {
    const i = over < 0 ? Math.max(0, zoomed) : over, n = t.nodes[i], beside = t.nodes.map((x, k) => k).filter(k => t.nodes[k].parent === n.parent);
    let next = i;
    if (e.key === 'ArrowUp') next = n.parent;
    else if (e.key === 'ArrowDown') next = t.nodes.findIndex(x => x.parent === i);
    else if (e.key === 'ArrowLeft') next = beside[beside.indexOf(i) - 1] ?? i;
    else if (e.key === 'ArrowRight') next = beside[beside.indexOf(i) + 1] ?? i;
    else if (e.key === 'Enter') zoom(i);
    else if (e.key === 'Escape') zoom(-1);
    else return;
    if (next >= 0) hover(next);
    e.preventDefault();
    e.stopPropagation();
  };
  const n = t.nodes[over] ?? t.nodes[zoomed];
  return <Fragment>
    <div class="bar"><p class="of grow" role="status">{n ? <span><b>{middle(n.full, 90)}</b> {show(n.value)}, {percent(n.value / t.total)} of {show(t.total)}; self {show(n.self)}</span>
      : `${t.title}. Width is total cost, % of ${show(t.total)}. A click zooms.`}</p>
      {zoomed >= 0 && <button class="quiet" onClick={() => zoom(-1)}>Reset zoom</button>}
      {query && <span class="of">{percent(matched / t.total)} match</span>}
      <input type="search" placeholder="Highlight" value={query} onInput={e => setQuery(e.currentTarget.value)} aria-label="highlight in the flame graph" /></div>
    <canvas ref={canvas} class="flame" tabIndex={0} role="application" aria-roledescription="flame graph" aria-label={t.title + '. Arrow keys move, Enter zooms, Escape resets.'}
      onClick={e => zoom(at(e))} onMouseMove={e => { const i = at(e); if (i !== over) hover(i); }} onMouseLeave={() => hover(-1)} onKeyDown={key} />
    {zoomed >= 0 && <Neighbours tree={t} name={t.nodes[zoomed].full} show={show} />}
  </Fragment>;
}

/** Callers and callees of a function, over all stacks. */
function Neighbours({ tree: t, name, show }: { tree: Tree; name: string; show: (v: number) => string }) {
  const up = new Map<string, number>(), down = new Map<string, number>();
  let total = 0, self = 0, end = -1;
  t.nodes.forEach(n => {
    if (n.full === name) {
      self += n.self;
      if (n.x >= end) { total += n.value; end = n.x + n.value; } // of a recursion the outermost call counts
      const caller = n.parent >= 0 ? t.nodes[n.parent].full : '(no caller)';
      if (caller !== name) up.set(caller, (up.get(caller) ?? 0) + n.value);
    } else if (n.parent >= 0 && t.nodes[n.parent].full === name) down.set(n.full, (down.get(n.full) ?? 0) + n.value);
  });
  const list = (title: string, m: Map<string, number>) => <div><h4>{title}</h4>{m.size ? <table><tbody>{[...m].sort((a, b) => b[1] - a[1]).slice(0, 8).map(([k, v]) =>
    <tr><td class="share">{percent(v / total)}</td><td>{show(v)}</td><td class="name" title={k}>{middle(k, 70)}</td></tr>)}</tbody></table> : <p class="of">none</p>}</div>;
  return <div class="neighbours"><p class="of">% of the total cost of <code>{middle(name, 80)}</code>, {show(total)}; self {show(self)}</p>{list('Callers', up)}{list('Callees', down)}</div>;
}
