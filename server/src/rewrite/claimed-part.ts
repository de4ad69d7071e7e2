import type { MigProfile } from '../catalog/index.ts';
import { asText, type Cursor, getIn, items } from '../yaml/cursor.ts';
import { appendItem, insertKey, removeItem, removeKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Edits, joinEdits } from './fix.ts';

// The only request of a claim's spec as a part of a GPU instead of a whole one, or as a larger part. Undefined if the claim has several requests or
// alternatives, if its selectors or its configuration may exclude the result, or if the text cannot be edited without damage.

/** How several pods share the GPU of one claim. */
export interface ClaimSharing {
  readonly pods: number;
  readonly strategy: 'TimeSlicing' | 'MPS';
}

/** A MIG slice. https://github.com/NVIDIA/k8s-dra-driver-gpu, the class mig.nvidia.com and the attribute `profile` */
export function asClaimedSlice(document: YamlDocument, spec: Cursor | undefined, { name }: MigProfile): Edits {
  const found = plainRequest(spec, 'gpu.nvidia.com');
  return (
    found &&
    joinEdits(
      replaceScalar(document, found.deviceClass, 'mig.nvidia.com'),
      select(document, found.request, `device.attributes['gpu.nvidia.com'].profile == '${name}'`),
    )
  );
}

/**
 * A partition of an AMD GPU that is divided already. Whole GPUs without modes have no attribute `partitionProfile`, so the type is compared first.
 * https://github.com/ROCm/k8s-gpu-dra-driver/blob/main/docs/driver-attributes.md
 */
export function asClaimedPartition(document: YamlDocument, spec: Cursor | undefined, mode: string): Edits {
  const found = plainRequest(spec, 'gpu.amd.com');
  const own = "device.attributes['gpu.amd.com']";
  return (
    found &&
    select(document, found.request, `${own}.type == 'amdgpu-partition' && ${own}.partitionProfile == '${mode}'`)
  );
}

/**
 * A part of the GPU's memory, which only the scheduler counts: nothing limits what a process takes. Needs the fields of v1 and v1beta2.
 * https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu, the guide to consumable capacity
 */
export function asClaimedMemory(document: YamlDocument, spec: Cursor | undefined, mebibytes: number): Edits {
  const found = plainRequest(spec, 'gpu.nvidia.com', true);
  if (found === undefined || !found.isExact) return undefined;
  return insertKey(document, found.request, 'capacity', { requests: { memory: `${mebibytes}Mi` } });
}

/**
 * The whole GPU, which all pods that name the claim share.
 * https://github.com/NVIDIA/k8s-dra-driver-gpu/blob/main/api/nvidia.com/resource/v1beta1/sharing.go
 */
export function asSharedClaim(
  document: YamlDocument,
  spec: Cursor | undefined,
  { pods, strategy }: ClaimSharing,
): Edits {
  const found = plainRequest(spec, 'gpu.nvidia.com', true);
  const requests = found?.name === undefined ? {} : { requests: [found.name] };
  const mps = { mpsConfig: { defaultActiveThreadPercentage: Math.floor(100 / pods) } };
  const parameters = {
    apiVersion: 'resource.nvidia.com/v1beta1',
    kind: 'GpuConfig',
    sharing: { strategy, ...(strategy === 'MPS' && mps) },
  };
  const config = { ...requests, opaque: { driver: 'gpu.nvidia.com', parameters } };
  return found && insertKey(document, getIn(spec, 'devices'), 'config', [config], { after: 'requests' });
}

/** What is claimed instead of a part. */
export type LargerClaim =
  | { readonly as: 'profile'; readonly from: string; readonly name: string }
  | { readonly as: 'memory'; readonly mebibytes: number }
  | { readonly as: 'whole' };

/** A larger part of a GPU than the present one, or a whole GPU. */
export function toLargerClaim(document: YamlDocument, spec: Cursor | undefined, larger: LargerClaim): Edits {
  const request = onlyRequest(spec);
  const deviceClass = getIn(request, 'deviceClassName');
  const capacity = getIn(request, 'capacity');
  const selectors = items(getIn(request, 'selectors')).map((at) => ({
    at,
    expression: getIn(at, 'cel', 'expression'),
  }));
  if (request === undefined || getIn(spec, 'devices', 'constraints') !== undefined) return undefined;
  if (larger.as === 'memory') {
    const memory = getIn(capacity, 'requests', 'memory');
    return memory && replaceScalar(document, memory, `${larger.mebibytes}Mi`);
  }
  const ofPart = selectors.filter(({ expression }) => /\bprofile\b|partitionProfile/.test(asText(expression) ?? ''));
  const [part, ...others] = ofPart;
  if (larger.as === 'profile') {
    const text = asText(part?.expression) ?? '';
    if (part?.expression === undefined || others.length > 0 || text.split(`'${larger.from}'`).length !== 2)
      return undefined;
    return replaceScalar(document, part.expression, text.replace(`'${larger.from}'`, `'${larger.name}'`));
  }
  if (capacity !== undefined) return removeKey(document, capacity);
  if (part === undefined || others.length > 0 || !isOnlyOfPart(asText(part.expression) ?? '')) return undefined;
  return joinEdits(
    asText(deviceClass) === 'mig.nvidia.com' && deviceClass !== undefined
      ? replaceScalar(document, deviceClass, 'gpu.nvidia.com')
      : [],
    selectors.length === 1 ? removeKey(document, part.at.parent ?? part.at) : removeItem(document, part.at),
  );
}

/** Whether an expression selects nothing but a kind of part. */
function isOnlyOfPart(expression: string): boolean {
  return expression
    .split('&&')
    .every((one) => /\.(?:type|profile|partitionProfile) == (['"])[\w.+-]+\1$/.test(one.trim()));
}

interface PlainRequest {
  readonly request: Cursor;
  readonly deviceClass: Cursor;
  readonly name: string | undefined;
  /** The fields are under `exactly`. */
  readonly isExact: boolean;
}

/**
 * The only request of a claim, if it is for one GPU of a class and nothing configures it.
 * @param anyType whether selectors by type, memory or device may remain
 */
function plainRequest(spec: Cursor | undefined, className: string, anyType = false): PlainRequest | undefined {
  const request = onlyRequest(spec);
  const deviceClass = getIn(request, 'deviceClassName');
  if (request === undefined || deviceClass === undefined || asText(deviceClass) !== className) return undefined;
  const devices = getIn(spec, 'devices');
  if (getIn(devices, 'config') !== undefined || getIn(devices, 'constraints') !== undefined) return undefined;
  if (getIn(request, 'capacity') !== undefined) return undefined;
  // Slices have other types and other memory.
  const isOpen = items(getIn(request, 'selectors')).some((one) =>
    /\btype\b|capacity|uuid/i.test(asText(getIn(one, 'cel', 'expression')) ?? 'type'),
  );
  if (isOpen && !anyType) return undefined;
  const name = asText(getIn(items(getIn(devices, 'requests'))[0], 'name'));
  return { request, deviceClass, name, isExact: request.step === 'exactly' };
}

function onlyRequest(spec: Cursor | undefined): Cursor | undefined {
  const [written, ...others] = items(getIn(spec, 'devices', 'requests'));
  return others.length > 0 ? undefined : (getIn(written, 'exactly') ?? written);
}

function select(document: YamlDocument, request: Cursor, expression: string): Edits {
  const selectors = getIn(request, 'selectors');
  const selector = { cel: { expression } };
  return selectors === undefined
    ? insertKey(document, request, 'selectors', [selector], { after: 'deviceClassName' })
    : appendItem(document, selectors, selector);
}
