import { h, Fragment } from 'preact';
import { useState } from 'preact/hooks';
import { Budget, Finding, Head, Fact, Page, Place, partColours, parts, whole } from './model';
import { duration, percent } from './format';
import { show } from './view';
import { Asked } from './table';

/** The verdict with the numbers beside it. */
export function Verdict({ head, facts }: { head: Head; facts?: Fact[] }) {
  return <Fragment>
    <div class="hero"><div><p class="eyebrow">{head.kind}</p><h1 class={head.headline.length > 60 ? 'long' : ''}>{head.headline}</h1>
      {head.sentence && <p class="lede">{head.sentence}</p>}{head.cause && <p class="lede">Cause: {head.cause}</p>}</div>
      {facts && <dl class="facts">{facts.map(f => <div><dd>{f.value}</dd><dt>{f.name}</dt></div>)}</dl>}</div>
    {head.warnings?.map(w => <p class="note" role="note"><b>Data is missing.</b> {w}</p>)}
  </Fragment>;
}

/** The four parts of the window. */
export function BudgetBar({ budget: b }: { budget: Budget }) {
  const share = (k: number) => b.parts[k] / b.window;
  return <div class="budget">
    <div class="stack" role="img" aria-label={`% of ${b.of}: ` + parts.map((p, k) => `${p} ${percent(share(k))}`).join(', ')}>
      {parts.map((p, k) => b.parts[k] > 0 && <i style={{ width: share(k) * 100 + '%', background: `var(${partColours[k]})` }} />)}</div>
    <dl>{parts.map((p, k) => <div><dt><i class="swatch" style={{ background: `var(${partColours[k]})` }} />{p}</dt><dd><b>{percent(share(k))}</b> {duration(b.parts[k], 3)}</dd></div>)}</dl>
    <p class="of">% of {b.of}, {duration(b.window, 3)}. Exposed: not overlapped by compute.</p>
  </div>;
}

const signs: Record<string, string> = { critical: '▲', warning: '●', info: '○' };

/** How many cards are open at first. */
const few = 6;

export function Findings({ page, ask }: { page: Page; ask: (a: Asked) => void }) {
  const list = page.findings ?? [], [all, setAll] = useState(false);
  return <section id="findings"><h2>Findings</h2>
    {!list.length && <p class="of">No finding exceeds a limit.</p>}
    <div class="cards">{(all ? list : list.slice(0, few)).map(f => <Card finding={f} page={page} ask={ask} />)}</div>
    {list.length > few && <button class="more" onClick={() => setAll(!all)}>{all ? `Show the first ${few}` : `${list.length - few} more findings`}</button>}
  </section>;
}

function Card({ finding: f, page, ask }: { finding: Finding; page: Page; ask: (a: Asked) => void }) {
  const [open, setOpen] = useState(false), fixes = f.fixes ?? [];
  const more = [f.evidence?.length && 'evidence', fixes.length > 1 && `${fixes.length - 1} more ${fixes.length > 2 ? 'fixes' : 'fix'}`, f.confirm && 'how to confirm'].filter(Boolean);
  return <article class={'card ' + f.level}>
    <p class="level">{signs[f.level] ?? ''} {f.level}</p>
    <h3>{f.title}</h3>
    {f.savings && <div class="gain">{f.gain ? <span class="track"><i style={{ width: Math.min(100, f.gain * 100) + '%' }} /></span> : null}{f.savings}</div>}
    {f.cause && <p class="why"><b>Cause:</b> {f.cause}</p>}
    {fixes[0] && <p class="fix"><b>Fix:</b> <Fix fix={fixes[0]} /></p>}
    <footer>{f.places?.map(p => <button onClick={() => go(page, p, ask)}>{p.ns > 0 ? 'Show in timeline: ' : 'Show in table: '}{p.label}</button>)}
      {more.length > 0 && <button class="quiet" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? '▾ less' : '▸ ' + more.join(', ')}</button>}</footer>
    {open && <div class="rest">
      {f.evidence?.length ? <Fragment><h4>Evidence</h4><ul>{f.evidence.map(e => <li>{e}</li>)}</ul></Fragment> : null}
      {fixes.length > 1 && <Fragment><h4>More fixes</h4><ul>{fixes.slice(1).map(x => <li><Fix fix={x} /></li>)}</ul></Fragment>}
      {f.confirm && <Fragment><h4>To confirm</h4><p>{f.confirm}</p></Fragment>}
      <p class="of">Rule <code>{f.rule}</code>. Run <code>assay explain {f.rule}</code> for its definition and limits.</p>
    </div>}
  </article>;
}

const Fix = ({ fix }: { fix: { text: string; source?: string; url?: string } }) =>
  <Fragment>{fix.text}{fix.url && /^https:\/\//.test(fix.url) && <Fragment> (<a href={fix.url} target="_blank" rel="noopener noreferrer">{fix.source}</a>)</Fragment>}</Fragment>;

/** Goes to the place of a finding and marks it. */
function go(page: Page, p: Place, ask: (a: Asked) => void): void {
  if (p.ns > 0) {
    const margin = p.ns * 0.15;
    show(p.at - margin, p.at + p.ns + margin, whole(page), { open: p.device, marked: [p.at, p.at + p.ns], selected: undefined });
  } else if (p.table) ask({ table: p.table, query: p.query ?? '' });
  document.getElementById(p.ns > 0 ? 'timeline' : 'tables')?.scrollIntoView({ behavior: 'smooth', block: 'start' });
}
