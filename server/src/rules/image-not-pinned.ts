import { meantResource } from '../catalog/resource-spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { containerUse } from '../command/programs.ts';
import { namesDevices } from '../evidence/device-words.ts';
import { gpuNodeRequirement } from '../evidence/gpu-nodes.ts';
import { gpuImage, gpuProgram, isTool, usesUnrequestedGpu } from '../evidence/gpu-programs.ts';
import { usesGpu } from '../evidence/gpu-users.ts';
import { unpinnedInstall } from '../evidence/unpinned-installs.ts';
import { plainCount } from '../model/kinds/shape-devices.ts';
import { lowerContainer, text } from '../model/pod.ts';
import { imageUseOf } from '../model/process-input.ts';
import { isValues, mayBeValues } from '../model/values.ts';
import { imageAt } from '../model/values-component.ts';
import { containerOf, imageOf } from '../model/values-parts.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { writtenResources } from '../rewrite/rename-resource.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import {
  asBoolean,
  asNumber,
  asText,
  type Cursor,
  entries,
  getIn,
  isTemplated,
  items,
  keyOf,
  type Located,
  rootCursor,
  spanOf,
} from '../yaml/cursor.ts';
import { isPlaceholder as isBlank } from '../yaml/placeholder.ts';
import type { Span } from '../yaml/span.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * The image of a container with an accelerator has no tag, or a mutable tag.
 *
 * ## Why
 *
 * The image determines the versions of CUDA, of the framework and of the server with its flags, and which drivers work. With `latest` or no
 * tag, the next pod (after an eviction, or a new replica) can run a different build from the others. Use a version or a digest. So can a pod that
 * installs its framework at each start without a version: `pip install transformers`.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:latest
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
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
 * ```
 *
 * ## When it is silent
 *
 * For containers without an accelerator, unless their program needs one (such as vLLM), only they can be the reason for the pod's NVIDIA
 * runtime class, or, in a chart's values, their pods select GPU nodes or their image is for GPUs and other values name devices; for
 * images whose tag or digest is set by a kustomization that includes the file; for installs with requirements or constraints, and in images that may have
 * the packages; for placeholders, templated tags, digests, PodTemplates (they only give a ProvisioningRequest the shape of its pods), and the pods of device
 * plugins, drivers and the like.
 *
 * ## Sources
 *
 * - [Kubernetes: image names](https://kubernetes.io/docs/concepts/containers/images/#image-names)
 */
export default defineRule({
  topic: 'image-pin',
  severity: 'info',
  document({ root, text }, context) {
    if (root === null) return;
    const turnedOn = mayBeValues(rootCursor(root)) && namesDevices(text) ? gpuSwitch(rootCursor(root)) : false;
    if (turnedOn !== false) checkServerImages(rootCursor(root), context, 0, turnedOn === true);
    for (const version of [...serverVersions(rootCursor(root)), ...kustomizeTags(rootCursor(root))]) {
      context.report({
        message: `${keyOf(version)}: ${asText(version) ?? ''} is mutable${whatFollows}`,
        span: spanOf(version),
      });
    }
  },
  podSet(podSet, context) {
    const { pod, containers } = podSet;
    // Values whose pods are for GPU nodes, and whose request is elsewhere or forgotten.
    if (!isValues(context.workload) || containers.length > 0 || gpuNodeRequirement(podSet) === undefined) return;
    const container = containerOf({ at: pod, name: keyOf(pod), image: imageAt(pod) });
    if (!isTool(container)) checkImage(container, context);
  },
  container(container, context) {
    const { podSet, workload } = context;
    // A PodTemplate only gives a ProvisioningRequest the shape of its pods.
    if (workload.role === 'infrastructure' || workload.kind === 'PodTemplate') return;
    if (holdsAccelerator(container, podSet) || usesUnrequestedGpu(container, podSet, workload))
      checkImage(container, context);
    if (holdsAccelerator(container, podSet)) checkInstalls(container, context);
  },
});

/** Reports frameworks that are installed at each start, in whatever version there is. */
function checkInstalls(container: Container, { document, report }: DocumentContext): void {
  const found = unpinnedInstall(container);
  const span = found && spanOfWords(document, container, found.words);
  if (found === undefined || span === undefined) return;
  const [first = '', second, ...others] = found.names;
  const more = second === undefined ? '' : others.length > 0 ? ` and ${others.length + 1} others` : ` and ${second}`;
  report({
    message: `pip installs ${first}${more} without a version at each start: a new pod can get another release`,
    span,
  });
}

const whatFollows = ': a new pod can run a different build';

function checkImage(
  { image, tag, at }: Pick<Container, 'image' | 'tag' | 'at'>,
  { document, crossReferences, report }: DocumentContext,
): void {
  const written = image ?? tag;
  if (written === undefined || isPlaceholder(written.value)) return;
  const parts = isTemplated(written.at)
    ? withLiteralTag(document.text, written)
    : image === undefined
      ? { name: '', tag: written.value, digest: false }
      : imageParts(image.value);
  if (parts === undefined || parts.digest || crossReferences.overlaysSetImage(parts.name)) return;
  if (image !== undefined && isCuda(image.value) && (parts.tag ?? 'latest') === 'latest') {
    report({
      severity: 'warning',
      message:
        'NVIDIA removed the tag latest of nvidia/cuda, so the pod never starts: use a tag such as 12.6.3-base-ubuntu24.04',
      span: spanOf(written.at),
    });
  } else if (parts.tag === undefined) {
    report({
      message: `Image ${shorten(parts.name)} has no tag and defaults to latest${whatFollows}`,
      span: spanOf(written.at),
    });
  } else if (isMoving(parts.tag, asText(getIn(at, 'imagePullPolicy')) === 'Always')) {
    report({
      message: `Image tag ${parts.tag.slice(0, 60)} is mutable${whatFollows}`,
      span: tagSpan(document.text, written, parts.tag),
    });
  }
}

/** https://github.com/NVIDIA/nvidia-docker/issues/1454 */
function isCuda(image: string): boolean {
  return /^(?:(?:docker\.io|nvcr\.io)\/)?nvidia\/cuda(?:$|:)/.test(image);
}

/** Whether values turn GPUs on or off for all their programs; undefined if they have no switch. On, those without an image for CPUs use them. */
function gpuSwitch(values: Cursor): boolean | undefined {
  const switches = entries(values).flatMap((entry) =>
    /^(?:gpus?|accelerators?)$/i.test(keyOf(entry)) ? (asBoolean(getIn(entry, 'enabled')) ?? []) : [],
  );
  return switches.length === 0 ? undefined : switches.includes(true);
}

/** The images of GPU programs anywhere in values that name devices: many charts have them far from the resources. */
function checkServerImages(at: Cursor, context: DocumentContext, depth: number, turnedOn: boolean): void {
  if (depth > 12 || asBoolean(getIn(at, 'enabled')) === false) return;
  for (const child of [...entries(at), ...items(at)]) {
    if (/image$/i.test(keyOf(child))) {
      const name = keyOf(child) === 'image' ? imageOf(at, child).image : undefined;
      const image = name ?? text(child);
      const container = { ...lowerContainer(at, 'app'), image };
      const isServer = turnedOn && imageUseOf(container).use === 'serving';
      if (isServer || gpuProgram(container) !== undefined || gpuImage(container) !== undefined)
        checkImage(container, context);
    } else if (child.node.kind !== 'scalar') checkServerImages(child, context, depth + 1, turnedOn);
  }
}

/**
 * Moving versions in the values of charts that put images together themselves: `vllmVersion: latest` of a known server next to a number of
 * GPUs.
 */
function serverVersions(values: Cursor): readonly Cursor[] {
  if (!mayBeValues(values) || imageAt(values) !== undefined) return [];
  const count = asNumber(plainCount(values)?.at);
  if (count === undefined || count <= 0) return [];
  return entries(values).filter((entry) => {
    const [server = '', kind, ...rest] = wordsOf(keyOf(entry));
    const isVersion = rest.length === 0 && (kind === 'version' || kind === 'tag');
    return (
      isVersion &&
      containerUse({ image: server, command: [], args: [] }).use === 'serving' &&
      /^\w[\w.-]{0,60}$/.test(asText(entry) ?? '') &&
      !isTemplated(entry) &&
      isMoving(asText(entry) ?? '', false)
    );
  });
}

/** Servers that hardly anybody runs without an accelerator. */
const gpuServers: ReadonlySet<string> = wordSet(
  'vllm sglang tritonserver text-generation-launcher trtllm-serve ollama nim',
);

/** The moving tags that a Kustomization gives to the images of model servers. */
function kustomizeTags(root: Cursor): readonly Cursor[] {
  if (asText(getIn(root, 'kind')) !== 'Kustomization') return [];
  return items(getIn(root, 'images')).flatMap((one) => {
    const [image, tag] = [asText(getIn(one, 'newName') ?? getIn(one, 'name')), getIn(one, 'newTag')];
    const program = image === undefined ? null : containerUse({ image, command: [], args: [] }).program;
    const isKnown = program !== null && gpuServers.has(program);
    const isMutable = tag !== undefined && !isTemplated(tag) && isMoving(asText(tag) ?? '', false);
    return isKnown && isMutable && getIn(one, 'digest') === undefined ? [tag] : [];
  });
}

function holdsAccelerator(container: Container, podSet: PodSet): boolean {
  const { accelerators } = container;
  if (accelerators.length === 0)
    return (
      usesGpu(container, podSet) ||
      // A misspelled or former name was meant to request one.
      writtenResources(container).some((entry) => meantResource(keyOf(entry)) !== undefined)
    );
  return accelerators.some(({ count, limit, request }) => {
    const written = limit ?? request;
    // What a chart adds by itself has no written amount.
    if (written === undefined) return count !== null && count > 0;
    // A chart may round half a GPU down to none; the pod is meant to have one.
    return !written.empty && (count !== 0 || (written.value ?? 0) > 0);
  });
}

interface ImageParts {
  readonly name: string;
  readonly tag: string | undefined;
  readonly digest: boolean;
}

/** Undefined for invalid names, which other rules report. https://github.com/distribution/reference */
function imageParts(image: string): ImageParts | undefined {
  const atSign = image.indexOf('@');
  const reference = atSign < 0 ? image : image.slice(0, atSign);
  // A colon before the last slash belongs to the registry's port.
  const colon = reference.indexOf(':', reference.lastIndexOf('/') + 1);
  const name = colon < 0 ? reference : reference.slice(0, colon);
  const tag = colon < 0 ? undefined : reference.slice(colon + 1);
  const path = name.slice(name.indexOf('/') + 1);
  if (!/^[a-z0-9][a-z0-9._/-]*$/.test(path) || (tag !== undefined && !/^\w[\w.-]*$/.test(tag))) return undefined;
  return { name, tag, digest: atSign >= 0 };
}

/** Where a chart inserts only the registry or the repository: `{{ .Values.registry }}/trainer:latest`, `{{ .Values.repository }}:latest`. */
function withLiteralTag(text: string, { at }: Located<string>): ImageParts | undefined {
  const { start, end } = spanOf(at);
  const written = text.slice(start, end).replace(/["']$/, '');
  const [, name = '', tag] = /(?:\/([a-z0-9][a-z0-9._-]*)|\}\}):(\w[\w.-]*)$/.exec(written) ?? [];
  return tag === undefined || isPlaceholder(written) ? undefined : { name, tag, digest: false };
}

/** Whether a part of a name is a blank for the reader: `your`, `<account>`, `ACCOUNT_ID`, `${REGION}`. Names have no words in capitals. */
function isPlaceholder(image: string): boolean {
  const name = image.slice(0, image.lastIndexOf(':') > image.lastIndexOf('/') ? image.lastIndexOf(':') : undefined);
  return (
    isBlank(image) ||
    /(^|[/._-])(your|my-registry|image-name|placeholder|replaced?|changeme|todo|xxx+)([/:._-]|$)/.test(
      image.toLowerCase(),
    ) ||
    name.split(/[/.:-]/).some((part) => /^[A-Z][A-Z0-9_]*[A-Z]$/.test(part))
  );
}

/** Names of branches and channels, which follow their newest build. */
const channels = wordSet(
  'latest main master trunk head current',
  'dev devel develop development edge canary nightly snapshot unstable',
  'stable rolling release preview alpha beta testing experimental',
  'prod production staging qa',
);
/** Words that name only the hardware, the base or the variant of an image. */
const variants = wordSet(
  'gpu cuda nvidia amd rocm intel xpu hpu gaudi vulkan',
  'tensorrt trt onnx openvino',
  'full light slim base runtime server',
  'alpine jammy noble bookworm',
);
/** A toolkit or a system with its version, which says nothing about the build: `cuda-12.4`, `py311`, `ubuntu22.04`. */
const platforms =
  /(?:^|(?<=[._-]))(?:cuda|cu|cudnn|rocm|tensorrt|trt|python|py|ubuntu|ub|debian|jetpack|jp|sm|gfx)[._-]?\d+(?:\.\d+)*(?![^._-])/gi;

/**
 * A date or a commit in the tag pins the build; `nightly` alone does not.
 * @param isPulled whether every start pulls the image again, because the tag is expected to move
 */
function isMoving(tag: string, isPulled: boolean): boolean {
  const words = tag
    .toLowerCase()
    .replace(platforms, '')
    .split(/[._-]+/)
    .filter((word) => word !== '');
  if (words.some((word) => /^(?:latest|nightly|snapshot)$/.test(word)) && !/\d{6}|\d{4}-\d\d|[0-9a-f]{7}/.test(tag))
    return true;
  if (words.length === 0 || words.some((word) => /\d/.test(word))) return false;
  if (words.some((word) => channels.has(word))) return true;
  return !/\d/.test(tag) && (isPulled || words.every((word) => variants.has(word)));
}

function tagSpan(text: string, { at, value }: Located<string>, tag: string): Span {
  const whole = spanOf(at);
  const shift = text.slice(whole.start, whole.end).indexOf(`:${tag}`, Math.max(0, value.lastIndexOf('/')));
  if (shift < 0) return whole;
  return { start: whole.start + shift + 1, end: whole.start + shift + 1 + tag.length };
}

function shorten(name: string): string {
  return name.length > 50 ? `…${name.slice(-49)}` : name;
}
