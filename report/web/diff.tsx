import { h } from 'preact';
import { useState } from 'preact/hooks';
import { Change, Diff, Movers, Page, shortName } from './model';
import { copy, count, duration, markdown, middle, percent, signed, signedDuration } from './format';

const per = (d: Diff) => d.per === 'step' ? 'per step and GPU' : d.per === 'window' ? 'per window and GPU' : '';

/** The change of the step or window, part by part: each bar starts where the last ended. */
export function Waterfall({ page, diff: d }: { page: Page; diff: Diff }) {
  if (!d.budget?.length) return null;
  let at = d.base;
  const steps = d.budget.map(c => { const from = at; at += c.new - c.base; return { c, from, to: at }; });
  const edges = [d.base, d.new, ...steps.flatMap(s => [s.from, s.to])], low = Math.min(...edges), high = Math.max(...edges), pad = (high - low) * 0.08 || high * 0.01 || 1;
  const axis = low - pad > 0.5 * high ? low - pad : 0; // the axis begins at 0 unless the change is small
  const x = (v: number) => (v - axis) / (high + pad - axis) * 100;
  const row = (name: string, from: number, to: number, cls: string, text: string, was = '') => <tr class={cls === 'whole' ? 'sum' : ''}><td class="left">{name}</td>
    <td class="wide"><span class="fall"><i class={cls} style={{ left: Math.min(x(from), x(to)) + '%', width: Math.max(0.3, Math.abs(x(to) - x(from))) + '%' }} /></span></td><td>{text}</td><td class="of">{was}</td></tr>;
  return <section id="budget"><h2>What changed</h2><p class="of">{per(d)}; parts and deltas sum to the whole{axis > 0 ? `. The axis begins at ${duration(axis)}` : ''}.</p>
    <div class="scroll"><table class="waterfall"><thead><tr><th class="left" scope="col">part</th><th class="left" scope="col">time</th><th scope="col">change</th><th scope="col">baseline to new</th></tr></thead><tbody>
      {row('baseline', axis, d.base, 'whole', duration(d.base))}
      {steps.map(s => row(page.names[s.c.name], s.from, s.to, s.to > s.from ? 'up' : 'down', signedDuration(s.to - s.from), `${duration(s.c.base)} to ${duration(s.c.new)}`))}
      {row('new', axis, d.new, 'whole', duration(d.new), d.base ? signed(percent(Math.abs(d.new / d.base - 1)), d.new - d.base) : '')}
    </tbody></table></div></section>;
}

const few = 15;

export function Moved({ page, diff: d, tell }: { page: Page; diff: Diff; tell: (s: string) => void }) {
  const list = d.movers ?? [], [tab, setTab] = useState(list[0]?.id), [query, setQuery] = useState(''), [all, setAll] = useState(false);
  const [sort, setSort] = useState<[string, boolean]>(['change', true]);
  if (!list.length) return null;
  const m: Movers = list.find(x => x.id === tab) ?? list[0], delta = (c: Change) => c.new - c.base;
  const words = query.toLowerCase().split(/\s+/).filter(Boolean), hits = m.rows.filter(c => words.every(w => page.names[c.name].toLowerCase().includes(w)));
  const value = (c: Change) => sort[0] === 'name' ? shortName(page, c.name) : sort[0] === 'base' ? c.base : sort[0] === 'new' ? c.new : Math.abs(delta(c));
  hits.sort((a, b) => { const x = value(a), y = value(b), o = x < y ? -1 : x > y ? 1 : 0; return (sort[1] ? -o : o) || Math.abs(delta(b)) - Math.abs(delta(a)); });
  const up = Math.max(0, ...m.rows.map(delta)), down = Math.max(0, ...m.rows.map(c => -delta(c)));
  const zero = down / (up + down || 1) * 100, width = (v: number) => Math.abs(v) / (up + down || 1) * 100, shown = all ? hits : hits.slice(0, few);
  const toMarkdown = () => copy(markdown(['name', 'change', 'baseline', 'new'], hits.slice(0, 200).map(c => [shortName(page, c.name), signedDuration(delta(c)), duration(c.base), duration(c.new)]), [false, true, true, true])).then(() => tell('Copied'));
  const heading = (id: string, title: string, left = false) => <th class={left ? 'left' : ''} scope="col" aria-sort={sort[0] === id ? (sort[1] ? 'descending' : 'ascending') : 'none'}><button onClick={() => setSort([id, sort[0] === id ? !sort[1] : id !== 'name'])}>{title}{sort[0] === id ? (sort[1] ? ' ↓' : ' ↑') : ''}</button></th>;
  return <section id="tables"><h2>Largest changes</h2>
    <div class="bar"><div class="tabs" role="tablist" aria-label="parts">{list.map(x => <button role="tab" aria-selected={x === m} onClick={() => { setTab(x.id); setAll(false); }}>{x.title}</button>)}</div><span class="grow" />
      <input id="filter" type="search" placeholder="Filter (/)" value={query} onInput={e => setQuery(e.currentTarget.value)} aria-label={'filter ' + m.title} />
      <button class="quiet" data-markdown onClick={toMarkdown}>Copy as Markdown</button></div>
    <p class="of" role="status">{upper(m.of)} {per(d)}: {duration(m.base)} to {duration(m.new)}, {signedDuration(m.new - m.base)}{words.length ? `. The ${count(hits.length)} rows that match: ${signedDuration(hits.reduce((n, c) => n + delta(c), 0))}` : ''}</p>
    <div class="scroll"><table><thead><tr>{heading('change', 'change')}<th class="left" scope="col"><span class="of">less, more</span></th>{heading('name', m.title.toLowerCase(), true)}{heading('base', 'baseline')}{heading('new', 'new')}</tr></thead>
      <tbody>{shown.map(c => <tr><td>{signedDuration(delta(c))}</td>
        <td class="wide"><span class="fall"><i class={delta(c) > 0 ? 'up' : 'down'} style={{ left: (delta(c) > 0 ? zero : zero - width(delta(c))) + '%', width: Math.max(0.4, width(delta(c))) + '%' }} /></span></td>
        <td class="name" title={page.names[c.name]}>{middle(shortName(page, c.name), 60)}{c.note && <span class="tag">{c.note}</span>}</td><td>{duration(c.base)}</td><td>{duration(c.new)}</td></tr>)}</tbody></table></div>
    {hits.length > shown.length && <button class="more" onClick={() => setAll(true)}>{count(hits.length - shown.length)} more</button>}
    {!hits.length && <p class="of">No row has “{query}”.</p>}
  </section>;
}

const upper = (s: string) => s && s[0].toUpperCase() + s.slice(1);
