import type { FleetNode, Taint, Toleration } from './types.ts';

/** The first taint that keeps the pod off the node; undefined if it tolerates all. `PreferNoSchedule` keeps no pod off. */
export function untolerated(tolerations: readonly Toleration[], node: FleetNode): Taint | undefined {
  return node.taints.find(
    (taint) => taint.effect !== 'PreferNoSchedule' && !tolerations.some((toleration) => tolerates(toleration, taint)),
  );
}

/** Whether a pod may go to a cordoned node. */
export function toleratesCordon(tolerations: readonly Toleration[]): boolean {
  const cordon = { key: 'node.kubernetes.io/unschedulable', value: '', effect: 'NoSchedule' };
  return tolerations.some((toleration) => tolerates(toleration, cordon));
}

/** https://github.com/kubernetes/api/blob/master/core/v1/toleration.go */
export function tolerates({ key, operator, value, effect }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Gt' || operator === 'Lt') return isBeyond(taint.value, value, operator);
  return operator === 'Exists' || ((operator === '' || operator === 'Equal') && value === taint.value);
}

/** A number of a taint above or below that of a toleration; what is not a number is not tolerated. Needs a feature gate of the API server. */
function isBeyond(taint: string, limit: string, operator: 'Gt' | 'Lt'): boolean {
  if (!integer.test(taint) || !integer.test(limit)) return false;
  return operator === 'Gt' ? BigInt(taint) > BigInt(limit) : BigInt(taint) < BigInt(limit);
}

/** Canonical, and no longer than 64 bits need. */
const integer = /^(?:0|-?[1-9]\d{0,18})$/;

const addedByAdmission = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'];

/**
 * The tolerations of a pod once it is admitted: those of not-ready and unreachable nodes are added, unless the pod has one of the key.
 * https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/defaulttolerationseconds/admission.go
 */
export function admitted(tolerations: readonly Toleration[]): readonly Toleration[] {
  const has = (key: string) =>
    tolerations.some(
      (toleration) =>
        (toleration.key === key || toleration.key === '') &&
        (toleration.effect === 'NoExecute' || toleration.effect === ''),
    );
  return [
    ...tolerations,
    ...addedByAdmission
      .filter((key) => !has(key))
      .map((key) => ({ key, operator: 'Exists', value: '', effect: 'NoExecute' })),
  ];
}
