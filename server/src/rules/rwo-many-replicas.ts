import { partOf } from '../catalog/word-patterns.ts';
import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { claimTemplates, isDiskClass, type SharedDisk, sharedDisk, volumeParts } from '../evidence/disk-classes.ts';
import { rolloutOf, startsFirst } from '../evidence/rollout.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import { isValues } from '../model/values.ts';
import { firstOf } from '../model/values-parts.ts';
import type { PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Several pods mount a claim that only one node can use.
 *
 * ## Why
 *
 * A ReadWriteOnce volume is attached to one node. GPU pods rarely fit on the same node, so all but the first one wait for the volume
 * ("Multi-Attach error") and never start. A claim with ReadWriteMany or ReadOnlyMany, or the claim templates of a StatefulSet, serve pods on
 * several nodes.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: PersistentVolumeClaim
 * metadata: {name: models}
 * spec:
 *   accessModes: [ReadWriteOnce]
 *   resources: {requests: {storage: 200Gi}}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   replicas: 3
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:2.1
 *           resources: {limits: {nvidia.com/gpu: 1}}
 *           volumeMounts: [{name: models, mountPath: /models}]
 *       volumes:
 *         - name: models
 *           persistentVolumeClaim: {claimName: models}
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: PersistentVolumeClaim
 * metadata: {name: models}
 * spec:
 *   accessModes: [ReadWriteMany]
 *   resources: {requests: {storage: 200Gi}}
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   replicas: 3
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: registry.example/server:2.1
 *           resources: {limits: {nvidia.com/gpu: 1}}
 *           volumeMounts: [{name: models, mountPath: /models}]
 *       volumes:
 *         - name: models
 *           persistentVolumeClaim: {claimName: models}
 * ```
 *
 * With one replica, a rolling update has the same problem (information): the new pod starts before the old one releases the volume. Strategy Recreate
 * stops the old pod first.
 *
 * The same applies to the volume of a NIMService or of its NIMCache, which its replicas and the pods of a multi-node model share.
 *
 * ## Fix safety
 *
 * Unsafe: nothing serves during a rollout.
 *
 * ## When it is silent
 *
 * If the pods must run on one node, for shares of a GPU, for storage classes of file systems that several nodes can mount anyway and of local
 * disks, and if the claim is not in the same project. In the values of charts, which may make a StatefulSet, it is
 * **information**, except for those of app-template.
 *
 * ## Sources
 *
 * - [vllm-project/production-stack#107](https://github.com/vllm-project/production-stack/issues/107)
 * - [Kubernetes: access modes](https://kubernetes.io/docs/concepts/storage/persistent-volumes/#access-modes)
 * - [NVIDIA/k8s-nim-operator#574](https://github.com/NVIDIA/k8s-nim-operator/pull/574)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest({ root, kind }, { report }) {
    if (kind !== 'NIMCache' && kind !== 'NIMService') return;
    const pvc = getIn(root, 'spec', 'storage', 'pvc');
    const disk = asBoolean(getIn(pvc, 'create')) === true ? sharedDisk(pvc) : undefined;
    if (disk !== undefined) report(ofDisk(disk));
  },
  podSet(podSet, context) {
    const { min, max } = podSet.pods;
    // An autoscaler that may start a second pod needs a volume for it, too.
    const pods = min === null ? null : Math.max(min, max ?? 0);
    if (context.workload.role === 'definition' || !requestsAccelerators(podSet)) return;
    const isShared =
      pods !== null && pods > 1 && podSet.accelerators.some(({ form }) => form === 'whole') && !isOnOneNode(podSet);
    if (isShared && isValues(context.workload) && !checkListed(podSet, pods, context))
      checkValues(podSet, pods, context);
    checkClaims(podSet, context);
    if (context.workload.partial) return;
    const words = isShared ? (min === pods ? `${pods}` : `up to ${pods}`) : undefined;
    if (words !== undefined && context.workload.kind === 'NIMService') checkNim(words, context);
    const replaces = startsFirst(rolloutOf(context.workload));
    for (const volume of podSet.volumes) checkVolume(volume, words, replaces, context);
  },
});

/** Reports claims of disks for several nodes that the object itself describes, in a StatefulSet or in values. */
function checkClaims({ pod, volumes }: PodSet, { workload, report }: PodSetContext): void {
  const parts = isValues(workload) ? volumeParts(pod) : claimTemplates(workload.manifest.root);
  const listed = volumes
    .map(({ at, source }) => getIn(at, source))
    .filter((one) => getIn(one, 'claimName') === undefined);
  for (const part of [...parts, ...listed]) {
    const disk = asBoolean(getIn(part, 'enabled')) === false ? undefined : sharedDisk(part);
    if (disk === undefined) continue;
    report(ofDisk(disk));
    return;
  }
}

function ofDisk({ storageClass, span }: SharedDisk): Parameters<PodSetContext['report']>[0] {
  const message = `Class ${shorten(storageClass, 40)} provides disks that only one node can mount, but the claim is ReadWriteMany: it stays Pending`;
  return { message, span };
}

/**
 * @param pods how many mount it from more than one node; undefined: only one may
 * @param replaces whether a rollout starts a new pod before it stops the old one
 */
function checkVolume(
  { at }: PodSet['volumes'][number],
  pods: string | undefined,
  replaces: boolean,
  context: PodSetContext,
): void {
  const claimName = getIn(at, 'persistentVolumeClaim', 'claimName');
  const name = asText(claimName);
  if (claimName === undefined || name === undefined || isTemplated(claimName) || isIncomplete(at)) return;
  const claim = context.crossReferences.volumeClaim(context.workload.namespace, name);
  if (claim === undefined || claim.siblingFolder) return;
  const { accessModes, storageClass, isProvisioned } = claim.facts;
  const single = accessModes.length > 0 && accessModes.every((mode) => /^ReadWriteOnce(?:Pod)?$/.test(mode));
  const isDisk = isProvisioned && accessModes.includes('ReadWriteMany') && isDiskClass(storageClass ?? '');
  if (replaces && !isDisk && accessModes.length === 1 && accessModes[0] === 'ReadWriteOncePod') {
    context.report({
      message: `Only one pod can use ReadWriteOncePod claim ${shorten(name, 30)}, but a rollout starts the new pod before it stops the old one and never ends`,
      span: spanOf(claimName),
    });
    return;
  }
  if (!isDisk && (!single || mountsAnywhere.test(storageClass ?? ''))) return;
  if (!isDisk && pods === undefined) {
    if (replaces) reportRollout(claimName, name, context);
    return;
  }
  const source = claim.file === null ? '' : ` (${shorten(claim.file)})`;
  const problem = isDisk
    ? `has class ${storageClass}, a disk that only one node can mount: it stays Pending`
    : `is mounted by ${pods} pods: those on a different node from the first never start`;
  context.report({
    message: `${isDisk ? 'ReadWriteMany' : accessModes[0]} claim ${shorten(name, 40)}${source} ${problem}`,
    span: spanOf(claimName),
  });
}

/** The old pod keeps the volume on its node, and usually all of that node's accelerators, until the new one is ready. */
function reportRollout(at: Cursor, claim: string, { workload, podSet, document, report }: PodSetContext): void {
  if (!podSet.accelerators.some(({ form }) => form === 'whole') || isOnOneNode(podSet)) return;
  const spec = getIn(workload.manifest.root, 'spec');
  report({
    severity: 'info',
    message: `A rollout starts the new pod while the old one holds ReadWriteOnce claim ${shorten(claim, 30)}: on another node, it waits forever; use Recreate`,
    span: spanOf(at),
    oncePerFile: true,
    fixes: () =>
      getIn(spec, 'strategy') === undefined
        ? [fix('Use strategy Recreate', 'unsafe', insertKey(document, spec, 'strategy', { type: 'Recreate' }))]
        : [],
  });
}

/** The claim of a NIMService itself, or of its NIMCache, which all its pods mount. */
function checkNim(pods: string, { workload, crossReferences, report }: PodSetContext): void {
  const storage = getIn(workload.manifest.root, 'spec', 'storage');
  const [pvc, cache] = [getIn(storage, 'pvc'), getIn(storage, 'nimCache', 'name')];
  const mode = getIn(pvc, 'volumeAccessMode');
  const name = asText(cache);
  const isOwn = cache === undefined && asBoolean(getIn(pvc, 'create')) === true;
  const found =
    name === undefined || isTemplated(cache)
      ? undefined
      : crossReferences.volumeClaim(workload.namespace, name, 'apps.nvidia.com/NIMCache');
  const modes = isOwn ? [asText(mode) ?? ''] : found?.siblingFolder ? [] : (found?.facts.accessModes ?? []);
  const storageClass = isOwn ? asText(getIn(pvc, 'storageClass')) : found?.facts.storageClass;
  const at = isOwn ? mode : cache;
  const [single] = modes;
  if (at === undefined || isTemplated(at) || single === undefined || !/^ReadWriteOnce(?:Pod)?$/.test(single)) return;
  if (mountsAnywhere.test(storageClass ?? '')) return;
  const what = isOwn ? 'The volume' : `NIMCache ${shorten(name ?? '', 40)}`;
  report({
    message: `${what} is ${single}, but ${pods} pods mount it: those on a different node from the first never start`,
    span: spanOf(at),
  });
}

/** The claims that the common library makes of its list of volumes, one for all pods. */
function checkListed({ volumes, containers }: PodSet, pods: number, { workload, report }: PodSetContext): boolean {
  if (mayBeCompleted(workload)) return false;
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }) => name)));
  for (const { at, name, source } of volumes.filter((volume) => mounted.has(volume.name))) {
    const claim = getIn(at, source);
    const mode = getIn(claim, 'accessMode');
    const isOwn = source === 'persistentVolumeClaim' && getIn(claim, 'claimName') === undefined;
    if (!isOwn || mode === undefined || isTemplated(mode) || isIncomplete(claim)) continue;
    const single = asText(mode) ?? '';
    if (!/^ReadWriteOnce(?:Pod)?$/.test(single) || mountsAnywhere.test(asText(getIn(claim, 'storageClass')) ?? ''))
      continue;
    report({
      message: `${single} volume ${shorten(name, 40)} is mounted by ${pods} pods: those on a different node from the first never start`,
      span: spanOf(mode),
    });
    return true;
  }
  return false;
}

/** The one volume that most charts make of a part of their values; a StatefulSet has one for each pod. */
function checkValues({ pod }: PodSet, pods: number, context: PodSetContext): void {
  if (checkStack(pod, pods, context)) return;
  const { report, document } = context;
  const { text } = document;
  const [part] = volumeParts(pod);
  const modes = firstOf(part, ['accessMode', 'accessModes']);
  if (part === undefined || modes === undefined || asBoolean(getIn(part, 'enabled')) === false) return;
  const textOf = (at: Cursor) => text.slice(spanOf(at).start, spanOf(at).end);
  if (/stateful/i.test(text) || mountsAnywhere.test(textOf(part)) || asText(getIn(part, 'existingClaim'))) return;
  if (!/^\W*ReadWriteOnce(?:Pod)?\W*$/.test(textOf(modes))) return;
  report({
    severity: 'info',
    message: `${pods} pods share one ReadWriteOnce volume: those on a different node from the first never start, unless each has its own`,
    span: spanOf(modes),
  });
}

/** The one claim that vLLM's chart makes for all engines of a model: https://github.com/vllm-project/production-stack/blob/main/helm/templates/pvc.yaml */
function checkStack(model: Cursor, pods: number, { report }: PodSetContext): boolean {
  const [storage, modes] = [getIn(model, 'pvcStorage'), getIn(model, 'pvcAccessMode')];
  if (storage === undefined || getIn(model, 'modelURL') === undefined) return false;
  const storageClass = getIn(model, 'storageClass');
  if ([storage, modes, storageClass].some((at) => isTemplated(at) || isIncomplete(at))) return true;
  const isSingle = items(modes).every((mode) => /^ReadWriteOnce(?:Pod)?$/.test(asText(mode) ?? ''));
  if (!isSingle || mountsAnywhere.test(asText(storageClass) ?? '')) return true;
  const isDefault = items(modes).length === 0;
  report({
    ...(isDefault && { severity: 'info' }),
    message: `${pods} engines share the model's one claim, which is ReadWriteOnce${isDefault ? ' by default' : ''}: those on a different node from the first never start`,
    span: isDefault ? keySpanOf(storage) : spanOf(modes ?? storage),
  });
  return true;
}

/** Classes of shared file systems, which do not enforce the access mode, and of local disks, which keep all pods on one node. */
const mountsAnywhere = partOf(
  'nfs efs ceph-?fs azure-?file filestore',
  'lustre gluster juicefs weka vast beegfs gpfs',
  'local host-?path',
);

function isOnOneNode({ selectors, pod }: PodSet): boolean {
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return (
    getIn(pod, 'nodeName') !== undefined ||
    getIn(pod, 'affinity', 'podAffinity', required) !== undefined ||
    selectors.some(({ key }) => key === 'kubernetes.io/hostname')
  );
}
