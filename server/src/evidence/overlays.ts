import type { CrossReferences } from '../model/cross-references.ts';
import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';

/** Whether a kustomize overlay adds accelerators to a workload of its base. */
export function getsDevicesFromOverlay({ manifest }: Workload, crossReferences: CrossReferences | undefined): boolean {
  const { apiVersion, kind, name } = manifest;
  return name !== null && crossReferences?.overlaysAddAccelerators(groupOf(apiVersion), kind, name) === true;
}
