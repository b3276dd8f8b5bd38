import { h } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Graph, Page } from './model';
import { bytes, count, duration, middle, percent } from './format';

interface Neighbour { name: number; total: number; count: number }

const few = 12;

/** Who calls a function, and whom it calls, of profiles without stacks. */
export const Calls = ({ page, asked }: { page: Page; asked: number | null }) => page.graphs.length
  ? <section id="calls"><h2>Callers and callees</h2>{page.graphs.map(g => <Pair page={page} graph={g} asked={asked} />)}</section> : null;

function Pair({ page, graph: g, asked }: { page: Page; graph: Graph; asked: number | null }) {
  // The functions in the order of their totals as callees, which begins where most is to be seen.
  const list = useMemo(() => {
    const most = new Map<number, number>();
    g.callee.forEach((n, i) => most.set(n, (most.get(n) ?? 0) + g.total[i]));
    g.caller.forEach(n => most.set(n, most.get(n) ?? 0));
    return [...most].sort((a, b) => b[1] - a[1]).map(x => x[0]);
  }, []);
  const [chosen, choose] = useState(list[0]);
  useEffect(() => { if (asked !== null && list.includes(asked)) choose(asked); }, [asked]);
  const show = (v: number) => g.unit === 'ns' ? duration(v) : g.unit === 'bytes' ? bytes(v) : count(v);
  const side = (of: number[], names: number[]): Neighbour[] => of.flatMap((n, i) => n === chosen ? [{ name: names[i], total: g.total[i], count: g.count?.[i] ?? -1 }] : []).sort((a, b) => b.total - a.total);
  const table = (title: string, rows: Neighbour[]) => {
    const sum = rows.reduce((n, r) => n + r.total, 0);
    return <div><h4>{title}</h4>{rows.length ? <table><tbody>{rows.slice(0, few).map(r => <tr><td class="share">{percent(sum ? r.total / sum : 0)}</td><td>{show(r.total)}</td><td>{r.count < 0 ? '' : count(r.count) + ' ×'}</td>
      <td class="name"><button class="link" title={page.names[r.name]} onClick={() => choose(r.name)}>{middle(page.names[r.name], 60)}</button></td></tr>)}</tbody></table> : <p class="of">none</p>}
      {rows.length > few && <p class="of">{count(rows.length - few)} more</p>}</div>;
  };
  return <div><div class="bar">{page.graphs.length > 1 && <b>{g.title}</b>}<select aria-label={'function of ' + g.title} value={chosen} onChange={e => choose(+e.currentTarget.value)}>
    {list.map(n => <option value={n}>{middle(page.names[n], 90)}</option>)}</select></div>
    <div class="neighbours"><p class="of">Time in the function for each caller, and in each function that it calls, with all that these call. % of the column.</p>{table('Callers', side(g.callee, g.caller))}{table('Callees', side(g.caller, g.callee))}</div></div>;
}
