import { h } from 'preact';
import { Gantt, HeatMap } from './model';
import { duration, middle } from './format';

/** The kernels of one layer of the model: a row each, on one axis of time. */
export function Lanes({ gantt: g }: { gantt: Gantt }) {
  const room = 78; // % of the lane; the rest is for the time of the last kernels
  return <figure><figcaption><b>{g.title}</b>{g.colors.map(c => <span><span class="swatch" style={{ background: c.color }} />{c.text}</span>)}</figcaption>
    <div class="lanes">{g.rows.map(r => [<span class="name" title={r.name}>{middle(r.name, 60)}</span>,
      <span class="lane"><i style={{ marginLeft: r.at / g.span * room + '%', width: Math.max(0.4, r.ns / g.span * room) + '%', background: g.colors[r.color].color }} />{duration(r.ns)}{r.note}</span>])}</div></figure>;
}

/** By how much each layer takes longer or shorter than the others of its kind: a row is a step, or a rank. */
export function Heats({ map: m }: { map: HeatMap }) {
  const n = Math.max(...m.rows.map(r => r.values.length)), every = Math.ceil(n / 12);
  const text = (v: number) => `${v < 0 ? '−' : '+'}${Math.abs(100 * v).toFixed(1)}%`;
  return <figure><figcaption><b>{m.title}</b><br /><span class="of">{m.lead}; full colour at {Math.round(100 * m.full)}%. shorter <span class="ramp" /> longer</span></figcaption>
    <div class="heats">{m.rows.map(r => [<span>{middle(r.label, 24)}</span>, <span class="cells">{r.values.map((v, i) => v === null ? <i title={`${m.place} ${i}: not known`} /> :
      <i title={`${m.place} ${i}: ${text(v)}`} style={{ background: `var(--${v > 0 ? 'more' : 'less'})`, opacity: Math.min(1, Math.abs(v) / m.full) }} />)}</span>, <span class="of">{r.note}</span>])}
      <span class="of">{m.place}</span><span class="cells" style={{ background: 'none' }}>{Array.from({ length: n }, (_, i) => <span>{i % every ? '' : i}</span>)}</span><span /></div></figure>;
}
