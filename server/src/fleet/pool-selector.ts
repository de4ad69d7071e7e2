import { isGpuLabel, isInstanceTypeLabel } from '../catalog/index.ts';
import type { LabelValue, LivePool, LiveTaint } from './cluster-view.ts';

/** A toleration as a manifest writes it. */
export interface WrittenToleration {
  readonly key: string;
  readonly operator: 'Exists' | 'Equal';
  readonly value?: string;
  readonly effect: string;
}

/** The labels by which pods select a pool: the one that names it, else the GPU and the instance type of its nodes. Empty if it has none. */
export function poolSelector({ label, labels }: LivePool): readonly LabelValue[] {
  if (label !== null) return [label];
  const first = (is: (key: string) => boolean) => labels.filter(({ key }) => is(key)).slice(0, 1);
  return [...first(isGpuLabel), ...first(isInstanceTypeLabel)];
}

/** The tolerations that pods need on nodes with these taints. `PreferNoSchedule` keeps no pod off. */
export function tolerationsOf(taints: readonly LiveTaint[]): readonly WrittenToleration[] {
  return taints
    .filter(({ effect }) => effect !== 'PreferNoSchedule')
    .map(({ key, value, effect }) =>
      value === '' ? { key, operator: 'Exists', effect } : { key, operator: 'Equal', value, effect },
    );
}
