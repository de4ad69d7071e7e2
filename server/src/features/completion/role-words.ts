import type { Confidence, Role, Workload } from '../../model/workload.ts';

/** `Serving (likely, known from vllm)`: the role of a workload, its confidence and its evidence; undefined if unknown. */
export function roleWords({ role, roleConfidence, roleFrom }: Workload): string | undefined {
  const name = names[role];
  if (name === undefined) return undefined;
  return `${name} (${sure[roleConfidence]}${roleFrom === null ? '' : `, known from ${roleFrom}`})`;
}

const names: Readonly<Partial<Record<Role, string>>> = {
  serving: 'Serving',
  training: 'Training',
  batch: 'Batch work',
  interactive: 'Interactive',
  infrastructure: 'Infrastructure',
  definition: 'Definition: runs nothing on its own',
};

const sure: Readonly<Record<Confidence, string>> = { certain: 'certain', likely: 'likely', guess: 'a guess' };
