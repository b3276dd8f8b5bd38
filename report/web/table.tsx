import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Kind, Page, shortName, Table } from './model';
import { bytes, copy, count, digits, duration, flops, markdown, middle, percent } from './format';
import { change, listen, view } from './view';

interface Row { keys: number[]; values: number[]; share: number; class: string }

const isKey = (k: Kind) => k === 'name' || k === 'key';
const adds = (k: Kind) => k === 'ns' || k === 'count' || k === 'bytes' || k === 'flops';

/** Group adds up the rows of a table that differ in their rank alone. */
export function group(t: Table, rank: number | null): Row[] {
  const by = new Map<string, Row>(), keyed = t.columns.map((c, i) => isKey(c.kind) ? i : -1).filter(i => i >= 0), counted = t.columns.findIndex(c => c.kind === 'count');
  const n = t.columns[0].values!.length;
  for (let i = 0; i < n; i++) {
    if (rank !== null && t.rank && t.rank[i] !== rank) continue;
    const keys = keyed.map(k => t.columns[k].values![i]), id = keys.join();
    let row = by.get(id);
    if (!row) by.set(id, row = { keys, values: t.columns.map(() => 0), share: 0, class: t.class?.[i] ?? '' });
    t.columns.forEach((c, k) => {
      if (isKey(c.kind)) row!.values[k] = c.values![i];
      else if (adds(c.kind)) row!.values[k] = c.values![i] < 0 ? row!.values[k] || -1 : Math.max(0, row!.values[k]) + c.values![i]; // below zero: not known
      else if (c.kind === 'max') row!.values[k] = Math.max(row!.values[k], c.values![i]);
    });
  }
  const out = [...by.values()], total = out.reduce((n, r) => n + Math.max(0, r.values[t.share]), 0) || 1;
  for (const r of out) {
    r.share = Math.max(0, r.values[t.share]) / total;
    t.columns.forEach((c, k) => { if (c.kind === 'mean') r.values[k] = r.values[t.share] / Math.max(1, r.values[counted]); });
    t.columns.forEach((c, k) => { // rates last: of sums
      const [, over, under, factor] = c.kind.split(':').map(Number);
      if (factor) r.values[k] = r.values[over] / (r.values[under] || 1) * factor;
    });
  }
  return out;
}

const print = (kind: Kind, v: number) => v < 0 ? '–' : kind === 'count' ? count(v) : kind === 'bytes' ? v ? bytes(v) : '–' : kind === 'flops' ? v ? flops(v) : '–' : kind.startsWith('rate') ? v ? v < 0.01 ? '<0.01' : digits(v, 3) : '–' : duration(v);

// How much of a name there is room for.
const columns = () => Math.max(30, Math.min(52, Math.floor((innerWidth - 880) / 8)));

/** How many rows are open at first. */
const few = 12;

export interface Asked { table: string; query: string } // by a finding

export function Tables({ page, asked, tell, follow }: { page: Page; asked: Asked | null; tell: (s: string) => void; follow: (name: number) => void }) {
  const [tab, setTab] = useState(page.tables[0].id), [query, setQuery] = useState(''), [all, setAll] = useState(false);
  const [sort, setSort] = useState<[column: number, down: boolean]>([-1, true]), [, changed] = useState(0);
  useEffect(() => listen(() => changed(n => n + 1)), []);
  useEffect(() => { if (asked) { setTab(asked.table); setQuery(asked.query); } }, [asked]);
  const t = page.tables.find(t => t.id === tab) ?? page.tables[0], rank = t.rank ? view.rank : null;
  const list = useMemo(() => group(t, rank), [t, rank]), called = page.graphs.some(g => g.table === t.id);
  const name = (k: number, v: number) => t.columns[k].kind === 'name' ? shortName(page, v) : page.names[v];
  const words = query.toLowerCase().split(/\s+/).filter(Boolean), keyed = t.columns.map((c, i) => i).filter(i => isKey(t.columns[i].kind));
  const hits = list.filter(r => words.every(w => keyed.some(k => page.names[r.values[k]].toLowerCase().includes(w))));
  const value = (r: Row): number | string => sort[0] < 0 ? r.share : isKey(t.columns[sort[0]].kind) ? name(sort[0], r.values[sort[0]]) : r.values[sort[0]];
  hits.sort((a, b) => {
    const x = value(a), y = value(b), order = x < y ? -1 : x > y ? 1 : 0;
    return (sort[1] ? -order : order) || b.share - a.share || (name(0, a.values[0]) < name(0, b.values[0]) ? -1 : 1);
  });
  const shown = all ? hits : hits.slice(0, few), rest = hits.slice(shown.length), most = Math.max(...list.map(r => r.share), 1e-9);
  const sum = (rows: Row[]) => rows.reduce((n, r) => n + r.share, 0);
  const ranks = t.rank ? [...new Set(t.rank)].sort((a, b) => a - b) : [], total = list.reduce((n, r) => n + Math.max(0, r.values[t.share]), 0);
  const toMarkdown = () => {
    const head = ['%', ...t.columns.map(c => c.title)], numbers = [true, ...t.columns.map(c => !isKey(c.kind))];
    const cells = hits.slice(0, 200).map(r => [percent(r.share), ...t.columns.map((c, k) => isKey(c.kind) ? name(k, r.values[k]) : print(c.kind, r.values[k]))]);
    copy(markdown(head, cells, numbers)).then(() => tell(`Copied ${count(cells.length)} rows`));
  };
  const heading = (k: number, title: string, kind: Kind) => <th class={kind === 'name' ? 'left' : kind === 'key' ? 'left key' : ''} scope="col" aria-sort={sort[0] === k ? (sort[1] ? 'descending' : 'ascending') : 'none'}>
    <button onClick={() => setSort([k, sort[0] === k ? !sort[1] : !isKey(kind)])}>{title}{sort[0] === k ? (sort[1] ? ' ↓' : ' ↑') : ''}</button></th>;
  return <section id="tables"><h2>Where the time went</h2>
    <div class="bar">
      <div class="tabs" role="tablist" aria-label="tables">{page.tables.map(x => <button role="tab" aria-selected={x === t} onClick={() => { setTab(x.id); setAll(false); setSort([-1, true]); }}>{x.title}</button>)}</div>
      <span class="grow" />
      {ranks.length > 1 && <select aria-label="rank" value={view.rank ?? ''} onChange={e => change({ rank: e.currentTarget.value === '' ? null : +e.currentTarget.value })}>
        <option value="">all {ranks.length} ranks</option>{ranks.map(r => <option value={r}>rank {r}</option>)}</select>}
      <input id="filter" type="search" placeholder="Filter (/)" value={query} onInput={e => setQuery(e.currentTarget.value)} aria-label={'filter ' + t.title} />
      <button class="quiet" data-markdown onClick={toMarkdown}>Copy as Markdown</button>
    </div>
    <p class="of" role="status">% of {t.of}, {print(t.columns[t.share].kind, total)}{rank !== null ? ` of rank ${rank}` : ranks.length > 1 ? `, sum of ${ranks.length} ranks` : ''}{words.length ? `. ${count(hits.length)} of ${count(list.length)} rows match: ${percent(sum(hits))}` : ''}</p>
    <div class="scroll"><table>
      <thead><tr>{heading(-1, '%', 'ns')}{t.columns.map((c, k) => heading(k, c.title, c.kind))}</tr></thead>
      <tbody>{shown.map(r => <tr>
        <td class="share">{r.share > 0 && <i class={'meter ' + meter(t, r)} style={{ width: (r.share / most * 76).toFixed(1) + 'px' }} />}{percent(r.share)}</td>
        {t.columns.map((c, k) => c.kind === 'name' ? <td class="name" title={page.names[r.values[k]]}>{called ? <button class="link" onClick={() => follow(r.values[k])}>{middle(name(k, r.values[k]), columns()) || '–'}</button> : middle(name(k, r.values[k]), columns()) || '–'}</td>
          : c.kind === 'key' ? <td class="key" title={page.names[r.values[k]]}>{middle(name(k, r.values[k]), 26) || '–'}</td>
            : <td>{print(c.kind, r.values[k])}</td>)}
      </tr>)}</tbody>
    </table></div>
    {rest.length > 0 && <button class="more" onClick={() => setAll(true)}>{count(rest.length)} more ({percent(sum(rest))})</button>}
    {all && hits.length > few && <button class="more" onClick={() => setAll(false)}>Show the first {few}</button>}
    {!hits.length && <p class="of">No row has “{query}”.</p>}
  </section>;
}

const meter = (t: Table, r: Row) => r.class === '1' ? 'comm' : r.class === '2' || t.id === 'copies' ? 'copy' : t.id === 'idle' ? 'idle' : 'compute';
