import type { Confidence, Role, Workload } from '../model/workload.ts';

const order: Readonly<Record<Confidence, number>> = { guess: 0, likely: 1, certain: 2 };

/** Whether a workload is there for something, at least as surely as a rule needs: warnings ask for `likely`, and so does most advice. */
export function hasRole({ role, roleConfidence }: Workload, wanted: Role, least: Confidence = 'likely'): boolean {
  return role === wanted && order[roleConfidence] >= order[least];
}
