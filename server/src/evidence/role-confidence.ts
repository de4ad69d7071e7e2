import type { Confidence, Role, Workload } from '../model/workload.ts';

const order: Readonly<Record<Confidence, number>> = { guess: 0, likely: 1, certain: 2 };

/** Whether a workload has a role with at least the given confidence: warnings, and most findings of severity info, need `likely`. */
export function hasRole({ role, roleConfidence }: Workload, expected: Role, minimum: Confidence = 'likely'): boolean {
  return role === expected && order[roleConfidence] >= order[minimum];
}
