import { acceleratorResource } from '../catalog/index.ts';
import { isPodSpec } from '../evidence/rejection.ts';
import { isUnknown, placesAt } from '../evidence/written.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { isValues } from '../model/values.ts';
import type { AcceleratorRequest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asNumber, asText, type Cursor, entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * An amount of memory, storage or CPU lacks its unit, or a counter has one.
 *
 * ## Why
 *
 * `memory: 64` is 64 bytes, and `cpu: 8000` is 8,000 cores. The API server accepts both. No container starts with a few bytes, and no node has
 * thousands of cores, so the pod fails or stays Pending. Counters of GPU memory have a fixed unit: `nvidia.com/gpumem: 8Gi` requests 8,589,934,592 MiB.
 * Devices have none: `nvidia.com/gpu: 16Gi` is 17,179,869,184 GPUs.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           memory: 64
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           memory: 64Gi
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the unit is a guess.
 *
 * ## When it is silent
 *
 * For 0, for templates, for amounts that are possible, even if small, and for numbers without a unit in the values of a chart, which may add it.
 *
 * ## Sources
 *
 * - [Kubernetes: resource units](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#resource-units-in-kubernetes)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  manifest({ kind, apiVersion, root }, context) {
    const path = claimPaths[`${apiVersion}/${kind}`];
    for (const spec of path === undefined ? [] : placesAt(root, path)) {
      // Volumes that someone made beforehand, such as shares of a file server, may claim any size.
      const storageClass = asText(getIn(spec, 'storageClassName'));
      const isMade = getIn(spec, 'volumeName') !== undefined || /^$|efs|nfs/.test(storageClass ?? '-');
      const size = getIn(spec, 'resources', 'requests', 'storage');
      if (size !== undefined && !isMade) checkBytes(size, 'storage', context);
    }
  },
  podSet(podSet, context) {
    if (!isPodSpec(podSet, context.workload)) return;
    for (const size of placesAt(podSet.pod, 'volumes.*.emptyDir.sizeLimit')) checkBytes(size, 'sizeLimit', context);
  },
  container({ resources, accelerators }, context) {
    for (const request of accelerators) {
      checkCounter(request, context);
      checkDevices(request, context);
    }
    const isPod = isPodSpec(context.podSet, context.workload);
    if (!isPod && !isValues(context.workload)) return;
    for (const holder of ['limits', 'requests']) {
      for (const entry of entries(getIn(resources, holder))) {
        // A chart may add the unit.
        if (!isPod && !/[A-Za-z]$/.test(asText(entry) ?? '')) continue;
        if (/^(memory|ephemeral-storage)$/.test(keyOf(entry))) checkBytes(entry, keyOf(entry), context);
        if (keyOf(entry) === 'cpu') checkCores(entry, context);
      }
    }
  },
});

/** The claims of a manifest. */
const claimPaths = table<string>({
  'v1/PersistentVolumeClaim': 'spec',
  'apps/v1/StatefulSet': 'spec.volumeClaimTemplates.*.spec',
});

/** A counter of memory, such as HAMi's `nvidia.com/gpumem`, has its own unit: the scheduler takes `8Gi` as 8,589,934,592 of them. */
function checkCounter(
  { resource, form, limit, request }: AcceleratorRequest,
  { report, document }: PodSetContext,
): void {
  const unit = acceleratorResource(resource)?.unit;
  const at = (limit ?? request)?.at;
  const share = form === 'percent' && /^(?:nvidia\.com|volcano\.sh\/v)/.test(resource) ? (asNumber(at) ?? 0) : 0;
  if (at !== undefined && share > 100) {
    // https://github.com/Project-HAMi/HAMi/blob/master/pkg/device/nvidia/device.go
    const isCores = resource.endsWith('cores');
    report({
      message: `${resource} is a percentage of one GPU, not ${share}: ${isCores ? 'HAMi assigns the whole GPU' : 'the pod stays Pending'}`,
      span: spanOf(at),
      ...(!isCores && { severity: 'error' }),
    });
  }
  if (form !== 'memory' || at === undefined || unit?.of !== 'memory' || !('mebibytes' in unit)) return;
  const { value, text } = lowerQuantity(at);
  if (isUnknown(at) || value === null || value * unit.mebibytes <= 2 ** 20 || !/[A-Za-z]$/.test(text)) return;
  const meant = Math.round(value / 2 ** 20 / unit.mebibytes);
  const counts = unit.mebibytes === 1 ? 'MiB' : `blocks of ${unit.mebibytes} MiB`;
  report({
    message: `${resource} counts ${counts} and takes no unit: ${text} is ${value.toLocaleString('en-US')} of them, more than any GPU has; did you mean ${meant}?`,
    span: spanOf(at),
    fixes: () => (meant < 1 ? [] : [fix(`Set to ${meant}`, 'unsafe', replaceScalar(document, at, meant))]),
  });
}

/** Devices are counted: `500Mi` are 524,288,000 of them. */
function checkDevices({ resource, form, limit, request }: AcceleratorRequest, { report }: PodSetContext): void {
  const at = (limit ?? request)?.at;
  if (at === undefined || isUnknown(at) || (form !== 'whole' && form !== 'mig' && form !== 'shared')) return;
  const { value, text } = lowerQuantity(at);
  if (value === null || value <= mostDevices || acceleratorResource(resource) === undefined) return;
  report({
    message: `${resource} counts devices: ${shorten(text, 20)} is ${value.toLocaleString('en-US')} of them, more than any node has, and the pod stays Pending`,
    span: spanOf(at),
  });
}

/** Of the largest servers, each shared by more pods than a node can have. */
const mostDevices = 999;

function checkBytes(at: Cursor, what: string, { report, document }: RuleContext): void {
  const { value, text } = lowerQuantity(at);
  // The API server stores 128m of memory as a fraction of a byte.
  if (isUnknown(at) || value === null || value <= 0 || value >= 1024) return;
  const number = /^\d+/.exec(text)?.[0];
  const unit = text.endsWith('m') || Number(number) >= 512 ? 'Mi' : 'Gi';
  const bytes = value < 1 ? 'less than a byte' : `${Math.ceil(value)} ${value === 1 ? 'byte' : 'bytes'}`;
  report({
    message: `${what} ${text} is ${bytes}: ${what === 'storage' ? 'no volume is that small' : 'the pod cannot run'}; did you mean ${number}${unit}?`,
    span: spanOf(at),
    fixes: () =>
      number === undefined
        ? []
        : [fix(`Set to ${number}${unit}`, 'unsafe', replaceScalar(document, at, `${number}${unit}`))],
  });
}

/** The largest servers have about 900 cores. */
const mostCores = 1024;

function checkCores(at: Cursor, { report, document }: PodSetContext): void {
  const { value, text } = lowerQuantity(at);
  if (isUnknown(at) || value === null || value <= mostCores) return;
  const number = /^(\d+)(?:Mi?)?$/.exec(text)?.[1];
  const meant = number === undefined ? undefined : `${number}m`;
  report({
    message: `cpu ${text} is ${value.toLocaleString('en-US')} cores, more than any node has: the pod stays Pending${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    span: spanOf(at),
    fixes: () => (meant === undefined ? [] : [fix(`Set to ${meant}`, 'unsafe', replaceScalar(document, at, meant))]),
  });
}
