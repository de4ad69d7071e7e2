import type { Confidence, Role, Workload } from '../../model/workload.ts';

/** `Serving (likely, by vllm)`: what a workload was taken for, how sure that is, and what says so; undefined where nothing does. */
export function roleWords({ role, roleConfidence, roleFrom }: Workload): string | undefined {
  const name = names[role];
  if (name === undefined) return undefined;
  return `${name} (${sure[roleConfidence]}${roleFrom === null ? '' : `, by ${roleFrom}`})`;
}

const names: Readonly<Partial<Record<Role, string>>> = {
  serving: 'Serving',
  training: 'Training',
  batch: 'Batch work',
  interactive: 'Interactive',
  infrastructure: 'Infrastructure',
  definition: 'A definition: nothing runs from it by itself',
};

const sure: Readonly<Record<Confidence, string>> = { certain: 'certain', likely: 'likely', guess: 'a guess' };
