import type { DocumentAnalysis } from '../../analysis.ts';
import type { ProjectConfig } from '../../config.ts';
import { formatAmount } from '../../cost/money.ts';
import type { Workload } from '../../model/workload.ts';
import { type Lever, leversOf } from '../levers.ts';
import type { Block } from './render.ts';

/** The levers of all pod sets, each once. */
export function leversOfWorkload(
  workload: Workload,
  document: DocumentAnalysis,
  config: ProjectConfig,
): readonly Lever[] {
  const all = workload.podSets.flatMap((podSet) =>
    leversOf(workload, podSet, document, config).map((lever) => ({ ...lever, podSet: podSet.name })),
  );
  const levers = [...new Map(all.map((lever) => [`${lever.name} ${lever.hourly}`, lever])).values()];
  const several = new Set(levers.map(({ podSet }) => podSet)).size > 1;
  return levers.map(({ podSet, ...lever }) => (several ? { ...lever, name: `${podSet}: ${lever.name}` } : lever));
}

/** Other ways to pay for the pods. */
export function leverBlocks(levers: readonly Lever[], ownMachines: readonly string[]): readonly Block[] {
  const table: Block = {
    kind: 'table',
    head: ['Option', '$/h per pod', 'Saves', 'As of'],
    rows: levers.map(({ name, hourly, saved, date }) => [
      name,
      formatAmount(hourly),
      `${Math.round(saved * 100)}%`,
      date ?? 'unknown',
    ]),
  };
  return [
    // The title also keeps two tables apart.
    ...(levers.length === 0 ? [] : [{ kind: 'text', text: 'Cheaper:' } as const, table]),
    ...ownMachines.map((text): Block => ({ kind: 'text', text: `${text}.` })),
  ];
}
