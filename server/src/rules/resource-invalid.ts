import { acceleratorResource } from '../catalog/index.ts';
import { cloudRunProblems } from '../evidence/cloud-run.ts';
import { podResourceProblems } from '../evidence/pod-resources.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { isPlaceholderText, isUnknown } from '../evidence/written.ts';
import { keyProblem } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import { lowerQuantity, parseQuantity } from '../model/quantity.ts';
import { isValues } from '../model/values.ts';
import type { Container, Quantity } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { addLimit } from '../rewrite/quantities.ts';
import { meantName } from '../rewrite/rename-resource.ts';
import { type Cursor, entries, getIn, isIncomplete, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * A resource of a container has a name or an amount that the API server rejects.
 *
 * ## Why
 *
 * A container requests cpu, memory, ephemeral-storage, huge pages, and resources with a domain, such as `rdma/hca`. The request must not be above the
 * limit. Argo Workflows fills in no parameters (`{{inputs.parameters.gpus}}`) among amounts. If the pod has its own `resources`, they must cover those of its containers. Huge pages and resources with a domain cannot be overcommitted: they need a limit, and the request must be equal to it. The API server
 * rejects everything else, and the pod never gets its GPU. Cloud Run gives a GPU only to containers with at least 4 CPU cores and 16Gi of memory.
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
 *         requests:
 *           cpu: 16
 *         limits:
 *           cpu: 8
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
 *         requests:
 *           cpu: 16
 *         limits:
 *           cpu: 16
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe if the amount changes. Safe for a misspelled name: the pod could not be created before.
 *
 * ## When it is silent
 *
 * For accelerators, which have their own rules, and for the missing limits of patches and definitions.
 *
 * ## Sources
 *
 * - [Kubernetes: resource management](https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/)
 * - [Kubernetes: huge pages](https://kubernetes.io/docs/tasks/manage-hugepages/scheduling-hugepages/)
 * - [Cloud Run: GPU support for services](https://cloud.google.com/run/docs/configuring/services/gpu)
 * - [argoproj/argo-workflows#3755](https://github.com/argoproj/argo-workflows/issues/3755)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  judgesWords: true,
  podSet(podSet, { workload, report }) {
    if (!isPodSpec(podSet, workload)) return;
    for (const { message, span } of podResourceProblems(podSet))
      report({ message: `${message}: ${rejectionOf(workload)}`, span });
  },
  container(container, context) {
    const limits = getIn(container.resources, 'limits');
    const requests = getIn(container.resources, 'requests');
    const { apiVersion, manifest } = context.workload;
    // A workflow in the text of a step is filled in before Argo reads it.
    const isOuter = manifest.root.node === context.document.root;
    if (isOuter && groupOf(apiVersion) === 'argoproj.io') checkTags([limits, requests], context);
    for (const { at, text } of cloudRunProblems(container, context.podSet))
      context.report({ message: `${text}: it rejects the service`, span: spanOf(at) });
    // Dynamo's services have resources with names of their own.
    const isElsewhere = container.resources !== undefined && container.resources.parent?.node !== container.at.node;
    if (isElsewhere || !isPodSpec(context.podSet, context.workload)) {
      // Charts pass resources on as they are.
      const amounts = isValues(context.workload) ? entries(requests).filter((one) => amountsOfAll.has(keyOf(one))) : [];
      for (const request of amounts) checkPair(request, container, context);
      return;
    }
    for (const entry of [...entries(limits), ...entries(requests)]) {
      if (keyOf(entry).startsWith(quotaPrefix)) checkPrefix(entry, context);
      // An operator of an unknown kind may translate names of its own.
      if (!isOther(keyOf(entry)) || isUnknown(entry) || context.workload.byShape) continue;
      if (checkName(entry, context)) checkAmount(entry, context);
    }
    for (const request of entries(requests)) checkPair(request, container, context);
    checkHugePages(container, context);
  },
});

/** Argo reads the amounts of a workflow before it fills in parameters. Helm's templates have other functions. */
function checkTags(amounts: readonly (Cursor | undefined)[], { document, report }: PodSetContext): void {
  for (const entry of amounts.flatMap(entries)) {
    const { start, end } = spanOf(entry);
    const [, tag] = argoTag.exec(document.text.slice(start, end)) ?? [];
    if (tag === undefined) continue;
    report({
      message: `Argo cannot read ${shorten(tag, 40)} as an amount of ${shorten(keyOf(entry), 30)} and rejects the workflow: amounts from parameters belong in podSpecPatch`,
      span: { start, end },
    });
    return;
  }
}

const argoTag = /^["'](\{\{=? *(?:inputs|workflow|item|steps|tasks)\b[^"'{}]*\}\})["']$/;

/** In a ResourceQuota, the requests of a resource have this prefix. */
const quotaPrefix = 'requests.';

function checkPrefix(entry: Cursor, { report, document, workload }: PodSetContext): void {
  const name = keyOf(entry).slice(quotaPrefix.length);
  if (!native.test(name) && !name.includes('/')) return;
  report({
    message: `${shorten(keyOf(entry), 60)} is a name for quotas, not for containers: ${rejectionOf(workload)}`,
    span: keySpanOf(entry),
    fixes: () => [fix(`Rename to ${name}`, 'unsafe', renameKey(document, entry, name))],
  });
}

/** The rules of accelerators report their names and amounts, right or misspelled. */
function isOther(name: string): boolean {
  if (/^gpus?$/i.test(name) || isPlaceholderText(name)) return false;
  return !name.startsWith(quotaPrefix) && acceleratorResource(name) === undefined && meantName(name) === undefined;
}

const amountsOfAll: ReadonlySet<string> = new Set(['cpu', 'memory', 'ephemeral-storage']);

const native = /^(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

/** Names that mean another one, in lower case and without separators. */
const meant = table<string>({
  cpu: 'cpu',
  cpus: 'cpu',
  mem: 'memory',
  memory: 'memory',
  ram: 'memory',
  ephemeralstorage: 'ephemeral-storage',
  storage: 'ephemeral-storage',
  disk: 'ephemeral-storage',
});

/** Whether the name is valid; reports it otherwise. */
function checkName(entry: Cursor, context: PodSetContext): boolean {
  const name = keyOf(entry);
  if (native.test(name)) return true;
  const problem = keyProblem(name);
  if (problem === undefined && name.includes('/')) return true;
  const right = meant[name.toLowerCase().replace(/[-_.]/g, '')];
  const rejection = rejectionOf(context.workload);
  context.report({
    message:
      problem === undefined
        ? right === undefined
          ? `${shorten(name, 60)} is not a resource of containers and has no domain: ${rejection}`
          : `${shorten(name, 60)} is not a resource of containers: ${rejection}; did you mean ${right}?`
        : `Resource ${shorten(name, 50)} ${problem}: ${rejection}`,
    span: keySpanOf(entry),
    fixes: () =>
      right === undefined ? [] : [fix(`Rename to ${right}`, 'safe', renameKey(context.document, entry, right))],
  });
  return false;
}

function isExtended(name: string): boolean {
  return name.includes('/') && !name.includes('kubernetes.io/') && !name.startsWith('requests.');
}

function checkAmount(entry: Cursor, context: PodSetContext): void {
  const { value, text } = lowerQuantity(entry);
  const name = keyOf(entry);
  if (value === null) return;
  const whole = isExtended(name) && !Number.isInteger(value);
  if (value >= 0 && !whole) return;
  context.report({
    message: `${shorten(name, 60)} must be ${whole ? 'a whole number' : 'at least 0'}, not ${text}: ${rejectionOf(context.workload)}`,
    span: spanOf(entry),
  });
}

function checkPair(entry: Cursor, container: Container, context: PodSetContext): void {
  const name = keyOf(entry);
  if (!isOther(name) || (!native.test(name) && !isExtended(name))) return;
  const limits = getIn(container.resources, 'limits');
  const limitAt = getIn(limits, name);
  const request = lowerQuantity(entry);
  const fixed = !native.test(name) || name.startsWith('hugepages-');
  // A number beyond 2^53 is a sign of another mistake.
  if (request.value === null || request.value > Number.MAX_SAFE_INTEGER || isUnknown(entry)) return;
  if (limitAt === undefined) {
    if (fixed) checkMissing(name, request, container, context);
    return;
  }
  const limit = lowerQuantity(limitAt);
  const isOutside = limit.value === null || limit.value < 0 || limit.value > Number.MAX_SAFE_INTEGER;
  if (isOutside || isUnknown(limitAt)) return;
  if (fixed ? request.value === limit.value : request.value <= limit.value) return;
  context.report({
    message: `The ${name} request ${request.text} must ${fixed ? 'equal' : 'not be above'} the limit ${limit.text}: ${rejectionOf(context.workload)}`,
    span: spanOf(entry),
    fixes: () => [
      fix(`Set the limit of ${name} to ${request.text}`, 'unsafe', setTo(limitAt, entry, context)),
      fix(`Set the request of ${name} to ${limit.text}`, 'unsafe', setTo(entry, limitAt, context)),
    ],
  });
}

/** Writes the value of another entry: a number stays a number. */
function setTo(at: Cursor, other: Cursor, { document }: PodSetContext) {
  const value = other.node.kind === 'scalar' ? other.node.value : null;
  return typeof value === 'string' || typeof value === 'number' ? replaceScalar(document, at, value) : undefined;
}

function checkMissing(name: string, { text, at }: Quantity, container: Container, context: PodSetContext): void {
  const { workload, document } = context;
  const limits = getIn(container.resources, 'limits');
  if (workload.partial || workload.role === 'definition') return;
  if ([container.at, container.resources, limits].some((one) => isIncomplete(one) || isUnknown(one))) return;
  // A list or a mapping is no amount at all.
  if (at.node.kind !== 'scalar') return;
  const { value } = at.node;
  context.report({
    message: `${shorten(name, 60)} has a request (${text}) but no limit: ${rejectionOf(workload)}`,
    span: keySpanOf(at),
    fixes: () => {
      if (container.resources === undefined || (typeof value !== 'string' && typeof value !== 'number')) return [];
      const edits = addLimit(document, container.resources, name, value);
      return [fix(`Set the limit of ${name} to ${text}`, 'safe', edits)];
    },
  });
}

/** Huge pages are whole pages, and only next to cpu or memory. */
function checkHugePages({ at, resources }: Container, context: PodSetContext): void {
  const limits = getIn(resources, 'limits');
  const requests = getIn(resources, 'requests');
  const all = [...entries(limits), ...entries(requests)];
  const first = all.find((entry) => /^hugepages-/.test(keyOf(entry)));
  if (first === undefined) return;
  const page = parseQuantity(keyOf(first).slice('hugepages-'.length));
  const { value, text } = lowerQuantity(first);
  if (page !== null && page > 0 && value !== null && value > 0 && value % page !== 0) {
    context.report({
      message: `${keyOf(first)} must be a multiple of ${keyOf(first).slice('hugepages-'.length)}, not ${text}: ${rejectionOf(context.workload)}`,
      span: spanOf(first),
    });
  }
  if (context.workload.partial || [at, resources, limits, requests].some((one) => isIncomplete(one))) return;
  if (all.some((entry) => /^(cpu|memory)$/.test(keyOf(entry)))) return;
  context.report({
    message: `${keyOf(first)} requires cpu or memory in the same container: ${rejectionOf(context.workload)}`,
    span: keySpanOf(first),
  });
}
