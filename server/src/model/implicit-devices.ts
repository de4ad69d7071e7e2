import type { GpuModel, Vendor } from '../catalog/index.ts';
import { gpusByLabel, instanceType } from '../catalog/index.ts';
import type { Cursor, Located } from '../yaml/cursor.ts';
import { isTemplated } from '../yaml/cursor.ts';
import type { DeviceChoice, DeviceRange } from './device-choices.ts';
import { lookUp } from './manifest.ts';
import { parseQuantity } from './quantity.ts';
import type { ObjectName } from './referenced.ts';
import type { RequestedResource } from './requested-resource.ts';
import type { AcceleratorForm, ModelFrom } from './workload.ts';

// Accelerators requested by other means than a resource name in a container: annotations, instance types, claims.

/** What one pod takes without requesting it in a container's `resources`. */
export interface ImplicitDevices {
  /** The resource that the controller requests, or the name as written. */
  readonly requested: RequestedResource;
  /** Where the request is written. */
  readonly at: Cursor | undefined;
  readonly form: AcceleratorForm;
  readonly vendor: Vendor | null;
  /** Number as written, for one pod. */
  readonly perPod: number | null;
  /** Devices per unit; null if unknown. */
  readonly each: number | null;
  /** All devices of a node, so `perPod` follows from the node. */
  readonly all?: boolean;
  /** Devices of one pod, if alternatives differ in their number. */
  readonly between?: DeviceRange;
  readonly choices?: readonly DeviceChoice[];
  /** The MIG profile of a slice, or the mode of an AMD partition. */
  readonly profile?: string;
  /** The memory that determines the share of a card, if nothing else does. */
  readonly memoryMiB?: number;
  /** The possible models, if the request itself names them. */
  readonly models?: readonly GpuModel[];
  readonly modelFrom?: ModelFrom;
  /** The object in another file that defines the devices. */
  readonly from?: ObjectName;
}

/** All devices of an instance type; the number is null for unknown types. */
export function devicesOfInstance(requested: RequestedResource, type: Located<string> | undefined): ImplicitDevices {
  const instance = type === undefined ? undefined : instanceType(type.value);
  const gpu = instance?.gpu ?? null;
  return {
    requested,
    at: type?.at,
    form: 'whole',
    vendor: null,
    perPod: instance?.gpuCount ?? null,
    each: 1,
    models: gpu === null ? [] : gpusByLabel('node.kubernetes.io/instance-type', type?.value ?? ''),
    modelFrom: 'instance-type',
  };
}

/**
 * GPU fractions of KAI and Run:ai, which pods request with annotations instead of a resource.
 * https://github.com/NVIDIA/KAI-Scheduler/blob/main/docs/gpu-sharing/README.md
 */
export function annotatedFractions(annotations: readonly Located<string>[]): readonly ImplicitDevices[] {
  const fraction = lookUp(annotations, 'gpu-fraction');
  const memory = lookUp(annotations, 'gpu-memory');
  const annotation = fraction ?? memory;
  if (annotation === undefined) return [];
  const count = numberOf(lookUp(annotations, 'gpu-fraction-num-devices'), 1);
  const cards = count !== null && Number.isInteger(count) && count > 0 ? count : null;
  const amount = numberOf(annotation, Number.NaN);
  const known = amount !== null && amount > 0 && Number.isFinite(amount) && cards !== null;
  if (fraction !== undefined) {
    const perPod = known ? amount * cards : null;
    return [
      {
        requested: { kind: 'annotation', name: 'gpu-fraction' },
        at: annotation.at,
        form: 'shared',
        vendor: 'nvidia',
        perPod,
        each: 1,
      },
    ];
  }
  return [
    {
      requested: { kind: 'annotation', name: 'gpu-memory' },
      at: annotation.at,
      form: 'shared',
      vendor: 'nvidia',
      perPod: cards,
      each: null,
      ...(known ? { memoryMiB: amount } : {}),
    },
  ];
}

function numberOf(located: Located<string> | undefined, unset: number): number | null {
  if (located === undefined) return unset;
  return isTemplated(located.at) ? null : parseQuantity(located.value);
}
