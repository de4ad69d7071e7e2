import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isUnseen } from '../yaml/cursor.ts';

/** The parts that a ClusterPolicy of NVIDIA's GPU operator lacks. */
export interface MissingOperands {
  readonly spec: Cursor;
  readonly names: readonly string[];
}

/** NVIDIA/gpu-operator@0266f00f:api/nvidia/v1/clusterpolicy_types.go (2026-11-29) */
const required = 'operator daemonsets driver toolkit devicePlugin dcgm dcgmExporter nodeStatusExporter gfd'.split(' ');

/** The required parts that a ClusterPolicy lacks. One with only a few of them is a patch. */
export function missingOperands({ apiVersion, kind, root, document, isPatch }: Manifest): MissingOperands | undefined {
  const spec = getIn(root, 'spec');
  if (kind !== 'ClusterPolicy' || groupOf(apiVersion) !== 'nvidia.com' || spec === undefined) return undefined;
  if (isPatch || document.template || [root, spec].some((part) => isIncomplete(part) || isUnseen(part)))
    return undefined;
  const names = required.filter((name) => getIn(spec, name) === undefined);
  const isWhole = ['driver', 'toolkit', 'devicePlugin'].every((name) => !names.includes(name));
  return isWhole && names.length > 0 ? { spec, names } : undefined;
}
