import { mayBeCompleted } from '../evidence/chart-pods.ts';
import { mayStoreModels, modelDirectory } from '../evidence/model-volume.ts';
import { hubDownload, nimDownload } from '../evidence/nim-storage.ts';
import { modelLoader } from '../evidence/server-start.ts';
import { downloadsByVolume, modelOfLlama, modelsOfOllama, type StoredModels } from '../evidence/stored-models.ts';
import { mayMountMore, volumeNamed } from '../evidence/volume-lifetime.ts';
import { lowerQuantity } from '../model/quantity.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet, Volume } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asBoolean, asText, type Cursor, getIn, items, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * The volume for a model is smaller than the model.
 *
 * ## Why
 *
 * A model server downloads the weights before it starts. If the volume is too small, the download fails ("No space left on device"), and so
 * does every retry, while the pod holds its GPU. Shared file systems may ignore the size of a claim. If an emptyDir exceeds its
 * `sizeLimit`, the kubelet evicts the pod, and the next pod starts the same download.
 * Without a `sizeLimit`, the limit of the container applies: `ephemeral-storage`, or `memory` for an emptyDir in memory.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-32B-Instruct"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: cache
 *           mountPath: /root/.cache/huggingface
 *   volumes:
 *     - name: cache
 *       emptyDir:
 *         sizeLimit: 50Gi
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: main
 *       image: vllm/vllm-openai:v0.11.0
 *       args: ["--model", "Qwen/Qwen2.5-32B-Instruct"]
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 *       volumeMounts:
 *         - name: cache
 *           mountPath: /root/.cache/huggingface
 *   volumes:
 *     - name: cache
 *       emptyDir:
 *         sizeLimit: 80Gi
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the node or the storage class must have the space.
 *
 * ## When it is silent
 *
 * For models of unknown size, for models that a flag quantizes, for sizes without a unit, for downloads of some files other than GGUF, and if another directory is mounted or the claim is
 * not in the same project. In the values of charts, which may mount another volume, it is **information**, except for those of app-template.
 *
 * ## Sources
 *
 * - [GoogleCloudPlatform/kubernetes-engine-samples#1581](https://github.com/GoogleCloudPlatform/kubernetes-engine-samples/issues/1581)
 * - [llm-d/llm-d#857](https://github.com/llm-d/llm-d/issues/857)
 * - [KServe: local model cache](https://kserve.github.io/website/docs/model-serving/generative-inference/modelcache/localmodel)
 * - [Kubernetes: emptyDir](https://kubernetes.io/docs/concepts/storage/volumes/#emptydir)
 */
export default defineRule({
  topic: 'other',
  severity: 'warning',
  manifest({ root, kind, namespace }, context) {
    if (!/^(?:NIM(?:Cache|Service)|LocalModel(?:Namespace)?Cache)$/.test(kind ?? '')) return;
    const spec = getIn(root, 'spec');
    const isLocal = kind?.startsWith('Local');
    const download = isLocal ? hubDownload(getIn(spec, 'sourceModelUri')) : nimDownload(spec);
    const capacity = isLocal
      ? written(getIn(spec, 'modelSize'), 'modelSize')
      : download && ofNim(getIn(spec, 'storage', 'pvc'), namespace, context);
    if (download === undefined || capacity === undefined) return;
    const { bytes, size, place, what, fails } = capacity;
    if (bytes >= download.gib * 0.95 * 2 ** 30) return;
    const needed = sizeFor(download.gib);
    context.report({
      // A directory of the node may hold more than its volume says.
      ...(isLocal && { severity: 'info' }),
      message: `${shorten(download.model, 40)} has at least ${Math.round(download.gib)} GiB of weights, but ${what} holds ${formatGiB(bytes)}: the download ${fails}`,
      span: place,
      fixes: () => [size && fix(`Set the size to ${needed}`, 'unsafe', replaceScalar(context.document, size, needed))],
    });
  },
  container(container, context) {
    const { workload, podSet, options } = context;
    // Other values, and templates, may mount another volume; one that the values limit themselves is likely this one.
    const isKnown = container.fromTemplate === true || container.modelStorage !== undefined;
    const isOpen = mayBeCompleted(workload) && !isKnown;
    if (isOpen && !isValues(workload)) return;
    if (workload.partial && !isKnown && mayMountMore(container)) return;
    if (!isOpen) checkDownloads(container, context);
    const llama = isOpen ? undefined : modelOfLlama(container, podSet, workload);
    const pulled = modelsOfOllama(container, podSet);
    const loader = (llama ?? pulled) ? undefined : modelLoader(container, podSet, workload, options);
    // A path or an address is not downloaded into the cache.
    const loaded =
      loader?.model !== undefined && loader.weightsGiB !== undefined && /^[\w.-]+\/[\w.-]+$/.test(loader.model)
        ? { model: loader.model, more: 0, gib: loader.weightsGiB }
        : undefined;
    const stored = llama ?? pulled ?? loaded;
    if (stored === undefined) return;
    const directory =
      llama?.directory ?? modelDirectory(container, podSet, loader?.program ?? (pulled ? 'ollama' : 'llama-server'));
    const capacity =
      directory === undefined
        ? isOpen
          ? undefined
          : ofContainer(container, podSet)
        : (capacityOf(directory.volume, directory.mount.name, context) ??
          (isOpen ? undefined : ofLimit(directory.volume, container, podSet)));
    if (capacity === undefined) return;
    reportSmall(stored, capacity, isOpen, context);
  },
});

/** Sizes by name are rounded, so a volume of about the size of the weights is not judged. */
function reportSmall(
  { model, more, gib, isStored }: StoredModels,
  capacity: Capacity,
  isOpen: boolean,
  context: PodSetContext,
) {
  const { bytes, size, place, what, fails } = capacity;
  if (bytes >= gib * 0.95 * 2 ** 30) return;
  const needed = sizeFor(gib);
  const name = shorten(model.slice(model.indexOf('/') + 1), 40);
  context.report({
    ...(isOpen && { severity: 'info' }),
    message: `${name} ${more > 0 ? `and ${more} more have` : 'has'} about ${Math.round(gib)} GiB of weights, but ${what} holds ${formatGiB(bytes)}: ${isStored ? 'there is no room for it' : `the download ${fails}`}`,
    span: place,
    fixes: () => [size && fix(`Set the size to ${needed}`, 'unsafe', replaceScalar(context.document, size, needed))],
  });
}

/** The volumes into which the commands of a container download models: `hf download organization/model --local-dir /models/a`. */
function checkDownloads(container: Container, context: PodSetContext): void {
  if (container.type === 'sidecar' || mayMountMore(container)) return;
  for (const [name, stored] of downloadsByVolume(container)) {
    const capacity = capacityOf(volumeNamed(context.podSet, name), name, context);
    if (capacity !== undefined) reportSmall(stored, capacity, false, context);
  }
}

function sizeFor(gib: number): string {
  return `${Math.ceil((gib * 1.25) / 10) * 10}Gi`;
}

interface Capacity {
  readonly bytes: number;
  /** Where the size is written, if in this document. */
  readonly size: Cursor | undefined;
  readonly place: Span;
  readonly what: string;
  /** Storage on shared file systems ignores the size of a claim. */
  readonly fails: 'fails' | 'can fail';
}

function capacityOf(volume: Volume | undefined, name: string, context: PodSetContext): Capacity | undefined {
  if (volume === undefined) return ofTemplate(name, context);
  const { at, source } = volume;
  if (source === 'emptyDir')
    return written(getIn(at, 'emptyDir', 'sizeLimit'), `the emptyDir ${shorten(name, 30)}`, 'fails');
  if (source === 'ephemeral') {
    const spec = getIn(at, 'ephemeral', 'volumeClaimTemplate', 'spec');
    return written(getIn(spec, 'resources', 'requests', 'storage'), `the volume ${shorten(name, 30)}`);
  }
  const claimName = getIn(at, 'persistentVolumeClaim', 'claimName');
  // The common library makes the claim.
  if (claimName === undefined) return written(getIn(at, source, 'size'), `the volume ${shorten(name, 30)}`);
  return ofClaim(claimName, context.workload.namespace, context);
}

/** The claim that NVIDIA's operator creates, or the existing one that it uses. */
function ofNim(pvc: Cursor | undefined, namespace: string | null, context: RuleContext): Capacity | undefined {
  const create = asBoolean(getIn(pvc, 'create'));
  if (create === true) return written(getIn(pvc, 'size'), 'the claim');
  return create === false ? ofClaim(getIn(pvc, 'name'), namespace, context) : undefined;
}

function ofClaim(claimName: Cursor | undefined, namespace: string | null, context: RuleContext): Capacity | undefined {
  const claim = asText(claimName);
  if (claimName === undefined || claim === undefined) return undefined;
  const found = context.crossReferences.volumeClaim(namespace, claim);
  if (found === undefined || found.siblingFolder || found.facts.bytes === null) return undefined;
  const inFile = found.file === null ? '' : ` (${shorten(found.file)})`;
  return {
    bytes: found.facts.bytes,
    size: undefined,
    place: spanOf(claimName),
    what: `the claim ${shorten(claim, 30)}${inFile}`,
    fails: 'can fail',
  };
}

/** The space of the container itself, if nothing is mounted where a model could be. */
function ofContainer(container: Container, podSet: PodSet): Capacity | undefined {
  if (container.modelStorage !== undefined) return written(container.modelStorage, 'its volume');
  const limit = getIn(container.resources, 'limits', 'ephemeral-storage');
  return mayStoreModels(container, podSet) ? undefined : written(limit, 'the container (ephemeral-storage)', 'fails');
}

/** What the limits of the only container leave to an emptyDir without a size. */
function ofLimit(volume: Volume | undefined, { resources }: Container, podSet: PodSet): Capacity | undefined {
  const kind = asText(getIn(volume?.at, 'emptyDir', 'medium')) === 'Memory' ? 'memory' : 'ephemeral-storage';
  return volume?.source === 'emptyDir' && podSet.containers.length === 1
    ? written(getIn(resources, 'limits', kind), `the container (${kind})`, 'fails')
    : undefined;
}

/** The claim template of a StatefulSet. */
function ofTemplate(name: string, { manifest }: PodSetContext): Capacity | undefined {
  const templates = items(getIn(manifest.root, 'spec', 'volumeClaimTemplates'));
  const template = templates.find((one) => asText(getIn(one, 'metadata', 'name')) === name);
  return written(getIn(template, 'spec', 'resources', 'requests', 'storage'), `the volume ${shorten(name, 30)}`);
}

function written(size: Cursor | undefined, what: string, fails: Capacity['fails'] = 'can fail'): Capacity | undefined {
  const bytes = size === undefined ? null : lowerQuantity(size).value;
  // A size of a few bytes lacks its unit, which resource-unit reports.
  if (size === undefined || bytes === null || bytes < 1024) return undefined;
  return { bytes, size, place: keySpanOf(size), what, fails };
}

function formatGiB(bytes: number): string {
  const gib = bytes / 2 ** 30;
  return gib < 1 ? `${Math.round(bytes / 2 ** 20)} MiB` : `${Math.round(gib)} GiB`;
}
