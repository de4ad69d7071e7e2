import { nearestOfFew } from '../catalog/spelling.ts';
import { dataKinds, filesNamedIn, filesOfVolume } from '../evidence/config-files.ts';
import { controllerKeys } from '../evidence/config-keys.ts';
import { foldersForFiles } from '../evidence/folder-for-file.ts';
import { pathTree, placesInTree } from '../evidence/path-tree.ts';
import { isPodSpec } from '../evidence/rejection.ts';
import { mayMountMore, volumeNamed } from '../evidence/volume-lifetime.ts';
import { placesAt, writtenText } from '../evidence/written.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { DataKeys } from '../model/data-keys.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asBoolean, asText, type Cursor, getIn, isIncomplete, isTemplated, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar, setKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A pod reads a key or a file that its Secret or ConfigMap does not have, or that is not base64.
 *
 * ## Why
 *
 * The API server accepts the reference. The kubelet then does not create the container (CreateContainerConfigError), or does not mount the
 * volume, while the pod keeps its node and its GPUs. Without `subPath`, a volume that is mounted at the path of a file makes that path a folder. The values in `data` of a Secret are base64; the API server rejects the Secret otherwise.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Secret
 * metadata:
 *   name: hub
 * stringData:
 *   token: hf_example
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       env:
 *         - name: HF_TOKEN
 *           valueFrom:
 *             secretKeyRef: {name: hub, key: tokens}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Secret
 * metadata:
 *   name: hub
 * stringData:
 *   token: hf_example
 * ---
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/server:1.4
 *       env:
 *         - name: HF_TOKEN
 *           valueFrom:
 *             secretKeyRef: {name: hub, key: token}
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the object may lack the key instead.
 *
 * ## When it is silent
 *
 * For optional references, for objects in other files, without any key, with templates or with keys that a controller adds, for placeholders, and for pods without accelerators.
 *
 * ## Sources
 *
 * - [Kubernetes: Secrets](https://kubernetes.io/docs/concepts/configuration/secret/#using-secrets-as-environment-variables)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, { crossReferences, document, report }) {
    for (const { kind, name, key, at, effect } of controllerKeys(manifest)) {
      const found = crossReferences.keysOf(kind, manifest.namespace, name);
      if (found === undefined || found.keys.length === 0 || found.keys.includes(key)) continue;
      const meant = found.keys.length === 1 ? found.keys[0] : nearestOfFew(key, found.keys)[0];
      const has = meant === undefined ? '' : ` (it has ${shorten(meant, 30)})`;
      report({
        message: `${kind} ${shorten(name, 30)} has no key ${shorten(key, 30)}${has}: ${effect}`,
        span: spanOf(at),
        fixes: () =>
          meant === undefined || asText(at) !== key
            ? []
            : [fix(`Change to ${shorten(meant, 40)}`, 'unsafe', replaceScalar(document, at, meant))],
      });
    }
  },
  podSet(podSet, context) {
    const { pod } = podSet;
    if (!requestsAccelerators(podSet) || !isPodSpec(podSet, context.workload)) return;
    for (const { at, value } of placesInTree(pod, readers)) value(at, context);
  },
  container(container, context) {
    if (container.volumeMounts.length === 0 || !requestsAccelerators(context.podSet)) return;
    if (!isPodSpec(context.podSet, context.workload)) return;
    for (const mount of container.volumeMounts) checkSubPath(mount, context);
    checkFiles(container, context);
    checkFolders(container, context);
  },
});

/** Where pods read other objects, with what is checked there. */
const readers = pathTree<(at: Cursor, context: PodSetContext) => void>([
  ['containers.*.env.*.valueFrom.*', checkKey],
  ['initContainers.*.env.*.valueFrom.*', checkKey],
  ['volumes.*.*', checkItems],
  ['volumes.*.projected.sources.*.*', checkItems],
  ['containers.*.envFrom.*.secretRef', checkAll],
  ['imagePullSecrets.*.name', checkPullSecret],
]);

function checkKey(source: Cursor, context: PodSetContext): void {
  check(source, 'key', context);
}

function checkItems(source: Cursor, context: PodSetContext): void {
  check(source, 'items.*.key', context);
}

/** Reports a Secret of which a pod reads all keys, if one of them is plain text. */
function checkAll(source: Cursor, { crossReferences, manifest, report }: PodSetContext): void {
  const at = getIn(source, 'name');
  const name = writtenText(at);
  const [plain] = (name && crossReferences.keysOf('Secret', manifest.namespace, name)?.plain) || [];
  if (at === undefined || name === undefined || plain === undefined) return;
  report({
    message: `${shorten(plain, 30)} is not base64: the API server rejects Secret ${shorten(name, 30)}; write it under stringData`,
    span: spanOf(at),
  });
}

/** Reports a Secret with a key or a token in place of a login to a registry. The kubelet passes it by. */
function checkPullSecret(at: Cursor, { crossReferences, manifest, report }: PodSetContext): void {
  const name = writtenText(at);
  const keys = name === undefined ? undefined : crossReferences.keysOf('Secret', manifest.namespace, name)?.keys;
  if (name === undefined || keys === undefined || keys.some((key) => key.startsWith('.dockerc'))) return;
  report({
    severity: 'warning',
    message: `Secret ${shorten(name, 30)} has no key .dockerconfigjson: the kubelet ignores it and pulls without a login`,
    span: spanOf(at),
  });
}

/** Reports a mount of one file that the ConfigMap or Secret does not have. */
function checkSubPath(
  mount: Container['volumeMounts'][number],
  { crossReferences, manifest, podSet, report }: PodSetContext,
): void {
  const at = getIn(mount.at, 'subPath');
  const name = writtenText(at)?.replace(/^(?:\.\/+)+|\/+$/g, '');
  if (at === undefined || name === undefined || /^(?:\.?$|\.\.|\/)/.test(name)) return;
  const keysOf = (kind: 'Secret' | 'ConfigMap', of: string) =>
    crossReferences.keysOf(kind, manifest.namespace, of)?.keys;
  const [owner, files] = filesOfVolume(volumeNamed(podSet, mount.name), keysOf);
  if (files === undefined || files.some((file) => file === name || file.startsWith(`${name}/`))) return;
  const meant = files.length === 1 ? files[0] : nearestOfFew(name, files)[0];
  report({
    severity: 'warning',
    message: `${shorten(owner, 40)} has no file ${shorten(name, 30)}${meant === undefined ? '' : ` (it has ${shorten(meant, 30)})`}: the mount is an empty folder`,
    span: spanOf(at),
  });
}

/** Reports files that a command reads from a ConfigMap or a Secret that does not have them: the volume hides those of the image. */
function checkFiles(container: Container, context: PodSetContext): void {
  const { crossReferences, document, manifest, podSet, report } = context;
  const lines = [...container.command, ...container.args];
  if (lines.some(({ at }) => isTemplated(at) || isIncomplete(at.parent)) || mayMountMore(container)) return;
  for (const { at, mountPath, name } of container.volumeMounts) {
    if (getIn(at, 'subPath') !== undefined || !lines.some(({ value }) => value.includes(mountPath))) continue;
    const volume = volumeNamed(podSet, name);
    const [first, files] = filesOfVolume(
      volume,
      (kind, of) => crossReferences.keysOf(kind, manifest.namespace, of)?.keys,
    );
    const known = new Set(files);
    for (const file of files === undefined ? [] : filesNamedIn(container, mountPath)) {
      if (files === undefined || known.has(file.name)) continue;
      const path = `${mountPath.replace(/\/$/, '')}/${file.name}`;
      const span = spanOfWords(document, lines, [file.word, file.word]);
      const isElsewhere = container.volumeMounts.some((one) => one.mountPath === path);
      if (isElsewhere || span === undefined) continue;
      const meant = files.length === 1 ? files[0] : nearestOfFew(file.name, files)[0];
      const has = meant === undefined ? '' : ` (it has ${shorten(meant, 30)})`;
      report({
        severity: 'warning',
        message: `${shorten(first, 40)} has no file ${shorten(file.name, 30)}${has}: the program does not find it in ${shorten(mountPath, 30)}`,
        span,
      });
      return;
    }
  }
}

/** Reports a ConfigMap or a Secret that is mounted at the path of a file, and is a folder there. */
function checkFolders(
  container: Container,
  { crossReferences, document, manifest, podSet, report }: PodSetContext,
): void {
  const keysOf = (kind: 'Secret' | 'ConfigMap', of: string) =>
    crossReferences.keysOf(kind, manifest.namespace, of)?.keys;
  for (const { mount, file, isNamed } of foldersForFiles(container, podSet, keysOf)) {
    const at = getIn(mount.at, 'mountPath');
    if (at === undefined) continue;
    const result = isNamed ? 'the program finds no file there' : 'programs find no file there';
    report({
      severity: isNamed ? 'error' : 'warning',
      message: `Without subPath, ${shorten(mount.mountPath, 50)} is a folder${file === undefined ? '' : ` with ${shorten(file, 30)} in it`}: ${result}`,
      span: spanOf(at),
      fixes: () =>
        file === undefined
          ? []
          : [fix(`Mount only the file ${shorten(file, 40)}`, 'unsafe', setKey(document, mount.at, 'subPath', file))],
    });
  }
}

/** @param path of the keys that it reads */
function check(source: Cursor, path: string, context: PodSetContext): void {
  const name = writtenText(getIn(source, 'name') ?? getIn(source, 'secretName'));
  const kind = dataKinds[keyOf(source)];
  if (kind === undefined || name === undefined || asBoolean(getIn(source, 'optional')) === true) return;
  const { crossReferences, manifest, document, report } = context;
  const owner = `${kind} ${shorten(name, 30)}`;
  for (const at of placesAt(source, path)) {
    const key = isTemplated(at) ? undefined : asText(at);
    // Names in capitals are usual, and no placeholders.
    if (key === undefined || /[${}<>]/.test(key)) continue;
    const found = crossReferences.keysOf(kind, manifest.namespace, name);
    const shown = shorten(key, 30);
    const span = spanOf(at);
    if (found?.plain.includes(key))
      report({ message: `${shown} is not base64: the API server rejects ${owner}; write it under stringData`, span });
    if (found === undefined || keySetOf(found).has(key)) continue;
    const { keys } = found;
    const meant = keys.length === 1 ? keys[0] : nearestOfFew(key, keys)[0];
    const has =
      meant === undefined
        ? ''
        : keys.length === 1
          ? ` (only ${shorten(meant, 30)})`
          : ` (did you mean ${shorten(meant, 30)}?)`;
    report({
      message: `${owner} has no key ${shown}${has}: the pod never starts`,
      span,
      fixes: () =>
        meant === undefined
          ? []
          : [fix(`Change to ${shorten(meant, 40)}`, 'unsafe', replaceScalar(document, at, meant))],
    });
  }
}

/** A file may have thousands of keys, and as many uses of them. */
function keySetOf(found: DataKeys): ReadonlySet<string> {
  const known = keySets.get(found) ?? new Set(found.keys);
  keySets.set(found, known);
  return known;
}

const keySets = new WeakMap<DataKeys, ReadonlySet<string>>();
