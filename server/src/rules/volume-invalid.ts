import { apiFields } from '../catalog/api-types.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { isSet, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { parseQuantity } from '../model/quantity.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asBoolean,
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { removeKey, replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A volume, a volume mount or a volume claim that the API server rejects.
 *
 * ## Why
 *
 * A volume has exactly one source. A source that refers to another object needs its name: `name` in a ConfigMap, `secretName` in a Secret.
 * Paths inside a volume are relative and must not leave it. A claim requests `storage`, even from a volume that it names; GPUs belong to a container. A PersistentVolume has a
 * size, access modes and a source. A `mountPath` with a mode as in Docker (`/models:ro`) is accepted, but the volume is mounted at a folder of that literal name.
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
 *           nvidia.com/gpu: 1
 *   volumes:
 *     - name: data
 *       emptyDir: {}
 *       persistentVolumeClaim:
 *         claimName: data
 * ```
 *
 * ```yaml valid
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
 *           nvidia.com/gpu: 1
 *   volumes:
 *     - name: data
 *       persistentVolumeClaim:
 *         claimName: data
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of two sources is meant.
 *
 * ## When it is silent
 *
 * For templates and patches.
 *
 * ## Sources
 *
 * - [Kubernetes: volumes](https://kubernetes.io/docs/concepts/storage/volumes/)
 * - [Kubernetes: validation of pods](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest({ root, kind }, context) {
    if (kind === 'PersistentVolumeClaim') {
      const spec = getIn(root, 'spec');
      // A patch of a claim does not name its volume.
      checkClaim(spec, isSet(getIn(spec, 'volumeName')), 'the API server rejects the claim', context);
    }
    if (kind === 'PersistentVolume') checkPersistentVolume(getIn(root, 'spec'), context);
    if (kind === 'NIMService' || kind === 'NIMCache')
      checkNimSize(getIn(root, 'spec', 'storage', 'pvc', 'size'), context);
    if (kind !== 'StatefulSet') return;
    for (const spec of placesAt(root, 'spec.volumeClaimTemplates.*.spec')) {
      checkClaim(spec, true, 'the API server rejects the claims', context);
    }
  },
  podSet(podSet, context) {
    if (!isPodSpec(podSet, context.workload)) return;
    for (const volume of placesAt(podSet.pod, 'volumes.*')) checkVolume(volume, context);
    for (const spec of placesAt(podSet.pod, 'volumes.*.ephemeral.volumeClaimTemplate.spec')) {
      checkClaim(spec, true, rejectionOf(context.workload), context);
    }
  },
  container(container, context) {
    if (!isPodSpec(context.podSet, context.workload)) return;
    for (const mount of placesAt(container.at, 'volumeMounts.*')) checkMount(mount, container.at, context);
  },
});

/** NVIDIA's operator reads the size, which is any text for the API server. */
function checkNimSize(size: Cursor | undefined, { report }: RuleContext): void {
  const text = asText(size);
  if (size === undefined || text === undefined || isUnknown(size) || parseQuantity(text) !== null) return;
  report({
    message: `size "${shorten(text, 30)}" is not a quantity: the API server rejects the claim, and the pod never starts`,
    span: spanOf(size),
  });
}

/** Sources that refer to an object, with the field of its name. */
const namedSources = [
  ['configMap', 'name'],
  ['secret', 'secretName'],
] as const;

function checkVolume(volume: Cursor, context: PodSetContext): void {
  const { report, document, workload } = context;
  const rejection = rejectionOf(workload);
  if (volume.node.kind !== 'map' || isIncomplete(volume)) return;
  const sources = entries(volume).filter((entry) => isSource(entry) && isSet(entry));
  const [first, second] = sources;
  if (first !== undefined && second !== undefined && keyOf(first) !== keyOf(second) && !document.template) {
    report({
      message: `Volume ${nameOf(volume)} has both ${keyOf(first)} and ${keyOf(second)}, but only one is allowed: ${rejection}`,
      span: keySpanOf(second),
      fixes: () => [first, second].map((one) => fix(`Remove ${keyOf(one)}`, 'unsafe', removeKey(document, one))),
    });
  }
  for (const [source, key] of namedSources) {
    const at = getIn(volume, source);
    // Another name is an unknown field.
    const named = entries(at).some((entry) => /name$/i.test(keyOf(entry)) && isSet(entry));
    if (at === undefined || at.node.kind !== 'map' || named || isIncomplete(at) || workload.partial) continue;
    report({ message: `Volume ${nameOf(volume)} needs ${source}.${key}: ${rejection}`, span: keySpanOf(at) });
  }
  const size = getIn(volume, 'emptyDir', 'sizeLimit');
  if (size !== undefined && !isUnknown(size) && (parseQuantity(asText(size) ?? '') ?? 0) < 0) {
    report({ message: `sizeLimit must be at least 0: ${rejection}`, span: spanOf(size) });
  }
  const path = getIn(volume, 'nfs', 'path');
  const written = writtenText(path);
  if (path !== undefined && written !== undefined && !written.startsWith('/')) {
    report({
      message: `The path of an NFS volume must be absolute, not ${shorten(written)}: ${rejection}`,
      span: spanOf(path),
    });
  }
  for (const source of ['configMap', 'secret']) {
    for (const item of placesAt(volume, `${source}.items.*.path`)) {
      checkSteps(item, 'The path of an item', rejection, context);
      const inside = writtenText(item);
      if (inside?.startsWith('/') !== true) continue;
      report({
        message: `The path of an item must be relative, not ${shorten(inside)}: ${rejection}`,
        span: spanOf(item),
      });
    }
  }
  for (const items of ['downwardAPI.items', 'projected.sources.*.downwardAPI.items']) {
    for (const field of placesAt(volume, `${items}.*.fieldRef.fieldPath`)) {
      const named = field.node.kind === 'scalar' && !field.node.templated ? field.node.source : '';
      if (named === '' || readable.test(named) || /[${}<>]/.test(named)) continue;
      report({
        message: `A volume cannot show ${shorten(named, 40)}, only metadata of the pod: ${rejection}`,
        span: spanOf(field),
      });
    }
  }
  const host = getIn(volume, 'hostPath', 'path');
  checkSteps(host, 'hostPath', rejection, context);
}

/** What a volume can show of its own pod: less than a variable. */
const readable = /^metadata\.(?:name|namespace|uid|(?:labels|annotations)(?:\['[^']+'\])?)$/;

function isSource(entry: Cursor): boolean {
  const name = keyOf(entry);
  return name !== 'name' && apiFields('Volume').has(name);
}

function nameOf(volume: Cursor): string {
  return shorten(asText(getIn(volume, 'name')) ?? '', 30);
}

function checkMount(mount: Cursor, container: Cursor, context: PodSetContext): void {
  const { report, workload } = context;
  const rejection = rejectionOf(workload);
  const path = getIn(mount, 'mountPath');
  const written = writtenText(path);
  if (path !== undefined && asText(path) === '') {
    report({ message: `mountPath must not be empty: ${rejection}`, span: spanOf(path) });
  }
  checkMode(path, written, context);
  const inside = getIn(mount, 'subPath');
  const expression = getIn(mount, 'subPathExpr');
  for (const one of [inside, expression]) checkSteps(one, String(one?.step), rejection, context);
  const start = writtenText(inside);
  if (inside !== undefined && start?.startsWith('/') === true) {
    report({
      message: `subPath must be relative, not ${shorten(start)}: ${rejection}`,
      span: spanOf(inside),
      fixes: () => {
        const inner = start.replace(/^\/+/, '');
        return inner === ''
          ? []
          : [fix(`Change to ${shorten(inner)}`, 'unsafe', replaceScalar(context.document, inside, inner))];
      },
    });
  }
  if (isSet(inside) && isSet(expression) && writtenText(inside) !== undefined && !context.document.template) {
    report({ message: `subPath and subPathExpr must not both be set: ${rejection}`, span: keySpanOf(expression) });
  }
  checkRecursion(mount, context);
  const propagation = getIn(mount, 'mountPropagation');
  const security = getIn(container, 'securityContext');
  const privileged = getIn(security, 'privileged');
  if (propagation === undefined || writtenText(propagation) !== 'Bidirectional' || isUnknown(privileged)) return;
  if (asBoolean(privileged) === true || isIncomplete(container) || isIncomplete(security) || workload.partial) return;
  report({
    message: `mountPropagation Bidirectional requires a privileged container: ${rejection}`,
    span: spanOf(propagation),
  });
}

function checkRecursion(mount: Cursor, { report, workload, document }: PodSetContext): void {
  const recursive = getIn(mount, 'recursiveReadOnly');
  const readOnly = getIn(mount, 'readOnly');
  const written = writtenText(recursive);
  if (recursive === undefined || (written !== 'Enabled' && written !== 'IfPossible')) return;
  if (isIncomplete(mount) || isUnknown(readOnly) || asBoolean(readOnly) === true) return;
  report({
    message: `recursiveReadOnly ${written} requires readOnly: true: ${rejectionOf(workload)}`,
    span: spanOf(recursive),
    fixes: () => [fix('Set readOnly to true', 'unsafe', setKey(document, mount, 'readOnly', true))],
  });
}

/** As in Docker's `source:target:mode`, or in the words of a shell. Kubernetes accepts both as the name of a folder. */
function checkMode(path: Cursor | undefined, written: string | undefined, context: PodSetContext): void {
  const { report, document } = context;
  if (path !== undefined && written?.startsWith('~/') === true) {
    report({
      severity: 'warning',
      message: `No shell expands ~: the container finds the volume at "/${shorten(written, 40)}", not in its home`,
      span: spanOf(path),
    });
  }
  const [, folder = '', mode = ''] =
    /^(\/[^:]*):((?:r[ow]|[zZ]|cached|delegated|consistent)(?:[,:].*)?|\/.*)$/.exec(written ?? '') ?? [];
  if (path === undefined || folder === '') return;
  const meant = mode.startsWith('/') ? mode.replace(/:.*/, '') : folder;
  report({
    severity: 'warning',
    message: `mountPath takes no mode such as Docker's :ro: the volume is mounted at "${shorten(written ?? '', 40)}", not at ${shorten(meant, 40)}`,
    span: spanOf(path),
    fixes: () => [fix(`Change to ${meant}`, 'unsafe', replaceScalar(document, path, meant))],
  });
}

function checkSteps(path: Cursor | undefined, what: string, rejection: string, { report }: RuleContext): void {
  const written = writtenText(path);
  if (path === undefined || written === undefined || !written.split('/').includes('..')) return;
  report({ message: `${what} must not contain "..": ${rejection}`, span: spanOf(path) });
}

/** One pod alone, or several. */
function checkModes(spec: Cursor | undefined, rejection: string, report: RuleContext['report']): void {
  const modes = placesAt(spec, 'accessModes.*');
  const alone = modes.find((mode) => writtenText(mode) === 'ReadWriteOncePod');
  if (alone === undefined || modes.every((mode) => asText(mode) === 'ReadWriteOncePod')) return;
  report({ message: `ReadWriteOncePod must be the only access mode: ${rejection}`, span: spanOf(alone) });
}

/**
 * A claim requests storage, and nothing else.
 * @param whole whether no patch can be meant
 */
function checkClaim(spec: Cursor | undefined, whole: boolean, rejection: string, { report }: RuleContext): void {
  const resources = getIn(spec, 'resources');
  const requests = getIn(resources, 'requests');
  if (spec === undefined || [spec, resources, requests].some((one) => isIncomplete(one) || isUnknown(one))) return;
  const requestsNothing = resources === undefined ? whole : entries(requests).length === 0;
  if (requestsNothing && getIn(spec, 'accessModes') !== undefined) {
    report({ message: `A volume claim must request storage: ${rejection}`, span: keySpanOf(resources ?? spec) });
  }
  checkModes(spec, rejection, report);
  if (requests === undefined) return;
  const storage = getIn(requests, 'storage');
  if (storage !== undefined && !isUnknown(storage) && (parseQuantity(asText(storage) ?? '') ?? 1) <= 0) {
    report({ message: `storage must be above 0: ${rejection}`, span: spanOf(storage) });
  }
  const other = entries(requests).find((entry) => keyOf(entry) !== 'storage');
  const modes = getIn(spec, 'accessModes');
  const isWhole = getIn(requests, 'storage') !== undefined && !isIncomplete(modes);
  if (isWhole && (modes === undefined || (modes.node.kind === 'seq' && modes.node.items.length === 0))) {
    report({
      message: `A volume claim needs accessModes, such as ReadWriteOnce: ${rejection}`,
      span: keySpanOf(modes ?? spec),
    });
  }
  if (getIn(requests, 'storage') !== undefined || requests.node.kind !== 'map' || requests.node.entries.length === 0)
    return;
  report({
    message: `A volume claim must request storage, not ${shorten(other === undefined ? 'nothing' : keyOf(other), 40)}: ${rejection}`,
    span: keySpanOf(other ?? requests),
  });
}

/** Fields of a PersistentVolume next to the one that says where it is. */
const volumeSettings = wordSet(
  'accessModes capacity claimRef mountOptions nodeAffinity persistentVolumeReclaimPolicy storageClassName',
  'volumeAttributesClassName volumeMode',
);

/** A volume has a size, a mode and a place. Two of them are hardly a patch. */
function checkPersistentVolume(spec: Cursor | undefined, { report }: RuleContext): void {
  if (spec === undefined || spec.node.kind !== 'map' || isIncomplete(spec)) return;
  const fields = entries(spec);
  const [hasSize, hasModes] = ['capacity', 'accessModes'].map((key) => isSet(getIn(spec, key)));
  const hasPlace = fields.some((field) => !volumeSettings.has(keyOf(field)));
  const missing = [
    ...(hasSize ? [] : ['capacity.storage']),
    ...(hasModes ? [] : ['accessModes']),
    ...(hasPlace ? [] : ['source, such as nfs']),
  ];
  if (missing.length !== 1) return;
  report({
    message: `The PersistentVolume has no ${missing.join()}: the API server rejects it`,
    span: keySpanOf(spec),
  });
}
