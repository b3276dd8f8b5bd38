import { h, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Block, Grid, Item, Section } from './model';
import { copy, count, markdown, middle } from './format';
import { Heats, Lanes } from './layers';

/** Sections of the report that have no form of their own here. Long ones are folded. */
export function Sections({ list, tell }: { list: Section[]; tell: (s: string) => void }) {
  if (!list.length) return null;
  return <section id="details"><h2>Details</h2>{list.map((s, i) => <details open={i === 0}><summary>{s.title}{s.lead && <span class="of"> {s.lead}</span>}</summary><Blocks list={s.blocks ?? []} tell={tell} /></details>)}</section>;
}

export function Blocks({ list, tell }: { list: Block[]; tell: (s: string) => void }) {
  return <Fragment>{list.map(b => b.table ? <Sortable grid={b.table} tell={tell} /> : b.list ? <List items={b.list} /> : b.gantt ? <Lanes gantt={b.gantt} /> : b.heat ? <Heats map={b.heat} /> : <p class={b.strong ? 'strong' : ''}>{b.text}</p>)}</Fragment>;
}

const List = ({ items }: { items: Item[] }) => <ul>{items.map(i => <li>{i.mark && <b class="mark">{i.mark}</b>} <Words item={i} />{i.code && <Fragment> <code>{i.code}</code></Fragment>}
  {i.source && <span class="of"> ({i.url && /^https:\/\//.test(i.url) ? <a href={i.url} target="_blank" rel="noopener noreferrer">{i.source}</a> : i.source})</span>}
  {i.sub && <List items={i.sub} />}</li>)}</ul>;

// In some texts backticks enclose code.
const Words = ({ item: i }: { item: Item }) => <Fragment>{i.ticks ? (i.text ?? '').split('`').map((part, k) => k % 2 ? <code>{part}</code> : part) : i.text}</Fragment>;

// The number that a printed cell begins with, for sorting. What is no number comes last.
const units: Record<string, number> = { ns: 1e-9, 'µs': 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };
function number(cell: string): number {
  const m = /^[<>~]?([+−-]?)([\d,]+(?:\.\d+)?)(?:\s*([^\s\d]+))?/.exec(cell.trim());
  return m ? (m[1] === '−' || m[1] === '-' ? -1 : 1) * parseFloat(m[2].replace(/,/g, '')) * (units[m[3] ?? ''] ?? 1) : -Infinity;
}

const few = 15;

// How much of a cell is shown: of a name that has no spaces to break it at, one line.
const most = (g: Grid, k: number) => g.columns[k].name ? 90 : 400;

function Sortable({ grid: g, tell }: { grid: Grid; tell: (s: string) => void }) {
  const [sort, setSort] = useState<[number, boolean] | null>(null), [all, setAll] = useState(false), [query, setQuery] = useState('');
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = g.rows.filter(r => words.every(w => r.some(c => c.toLowerCase().includes(w))));
  if (sort) {
    const [k, down] = sort;
    rows.sort((a, b) => { const o = g.columns[k].number ? number(a[k]) - number(b[k]) : a[k] < b[k] ? -1 : a[k] > b[k] ? 1 : 0; return down ? -o : o; });
  }
  const shown = all ? rows : rows.slice(0, few);
  const toMarkdown = () => copy(markdown(g.columns.map(c => c.title), rows.slice(0, 200), g.columns.map(c => !!c.number))).then(() => tell(`Copied ${count(Math.min(200, rows.length))} rows`));
  return <div class="grid"><div class="bar"><span class="grow" />
    {g.rows.length > few && <input type="search" placeholder="Filter" value={query} onInput={e => setQuery(e.currentTarget.value)} aria-label={'filter ' + (g.title ?? 'rows')} />}
    {g.rows.length > 1 && <button class="quiet" onClick={toMarkdown}>Copy as Markdown</button>}</div>
    <div class="scroll"><table><thead><tr>{g.columns.map((c, k) => <th class={c.number ? '' : 'left'} scope="col" aria-sort={sort?.[0] === k ? (sort[1] ? 'descending' : 'ascending') : 'none'}>
      <button onClick={() => setSort([k, sort?.[0] === k ? !sort[1] : !!c.number])}>{c.title}{sort?.[0] === k ? (sort[1] ? ' ↓' : ' ↑') : ''}</button></th>)}</tr></thead>
      <tbody>{shown.map(r => <tr>{r.map((cell, k) => <td class={g.columns[k].name ? 'name' : g.columns[k].number ? '' : cell.length > 36 ? 'left prose' : 'left'} title={cell.length > most(g, k) ? cell : undefined}>{middle(cell, most(g, k))}</td>)}</tr>)}</tbody></table></div>
    {rows.length > shown.length && <button class="more" onClick={() => setAll(true)}>{count(rows.length - shown.length)} more</button>}
    {g.more && <p class="of">{g.more}</p>}{g.note && <p class="of">{g.note}</p>}</div>;
}
