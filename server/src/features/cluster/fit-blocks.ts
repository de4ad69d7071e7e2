import type { DocumentAnalysis } from '../../analysis.ts';
import { plural } from '../../cost/money.ts';
import type { FitFacts, GroupFit, PoolFit } from '../../fleet/fit-question.ts';
import { clusterWords } from '../../model/nodes-of-others.ts';
import type { Workload } from '../../model/workload.ts';
import { shorten } from '../../yaml/shorten.ts';
import { visible } from '../cost-report/html-text.ts';
import type { Block } from '../hover/render.ts';

/** `fits now in pool a100 (6 free)`; undefined without a connected cluster. */
export function fitTitle(workload: Workload, document: DocumentAnalysis): string | undefined {
  const fit = document.fitOf(workload);
  return fit && visible(shorten(fit.line, maxTitle));
}

const maxTitle = 120;

/** More pools make a table that nobody reads. */
const maxPools = 8;

/** On which pools of the connected cluster the pods could run, and why not on the others. */
export function fitBlocks(workload: Workload, document: DocumentAnalysis): readonly Block[] {
  const fit = document.fitOf(workload);
  const time = document.clusterTime();
  if (fit === undefined || time === undefined) return [];
  const notes = [
    ...(fit.wayOut === null || fit.outcome === 'fits' ? [] : [`To run: ${fit.wayOut}`]),
    ...noteLines(fit),
  ];
  const several = fit.groups.length > 1;
  return [
    { kind: 'text', text: `${capital(clusterWords(fit.context, time))}: ${fit.line}` },
    ...(fit.usage === null ? [] : [{ kind: 'text', text: capital(fit.usage) } as const]),
    ...fit.groups.flatMap((group): readonly Block[] => (group.pools.length === 0 ? [] : [tableOf(group, several)])),
    ...(notes.length === 0 ? [] : [{ kind: 'list', title: 'Would it run?', items: notes } as const]),
  ];
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function tableOf({ name, pools }: GroupFit, several: boolean): Block {
  const rows = pools
    .slice(0, maxPools)
    .map((pool) => [
      pool.name,
      pool.fits === 0 ? 'no' : plural(pool.fits, 'pod'),
      pool.free === null ? '' : String(pool.free),
      reasonText(pool),
    ]);
  return { kind: 'table', head: [several ? `Pool for ${name}` : 'Pool', 'Fits now', 'Free', 'Why not'], rows };
}

/** Nodes that cannot run the pod matter only if it does not fit elsewhere in the pool. */
function reasonText({ fits, reasons }: PoolFit): string {
  if (fits > 0) return '';
  const [first, second] = reasons;
  if (first === undefined) return '';
  const shown = [first, second].flatMap((reason) => (reason === undefined ? [] : [`${reason.nodes} ${reason.plain}`]));
  return shown.join(', ');
}

function noteLines(fit: FitFacts): readonly string[] {
  const words = fit.groups.flatMap((group) => group.words ?? [])[0];
  return [
    ...fit.growth.map(
      ({ pool, by, nodes, blocked }) =>
        `Pool ${pool} (${by}): ${blocked ?? (nodes === null ? 'can add nodes' : `can add ${plural(nodes, 'node')}`)}`,
    ),
    ...fit.preempted.slice(0, 3).map(({ namespace, name, node }) => `Would preempt ${namespace}/${name} on ${node}`),
    ...fit.quotas.map(({ plain }) => plain),
    ...fit.gaps.map((gap) => `Not considered: ${gap}`),
    ...(words === undefined ? [] : [`In the scheduler's words: ${words}`]),
  ];
}
