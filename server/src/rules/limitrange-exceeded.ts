import { lowerQuantity } from '../model/quantity.ts';
import type { LimitFacts, Referenced, ResourceBound } from '../model/referenced.ts';
import type { PodSet } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isTemplated, isUnseen, spanOf } from '../yaml/cursor.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A container requests more than a LimitRange of its namespace allows, or less.
 *
 * ## Why
 *
 * The API server compares the requests and limits of each container and of each pod with the LimitRanges of the namespace, and rejects the pod if
 * one is outside. The Deployment or Job is accepted but has no pods, and only an event says why.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: LimitRange
 * metadata: {name: bounds, namespace: research}
 * spec:
 *   limits:
 *     - type: Container
 *       max: {memory: 64Gi}
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8, memory: 512Gi}}
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: LimitRange
 * metadata: {name: bounds, namespace: research}
 * spec:
 *   limits:
 *     - type: Container
 *       max: {memory: 1Ti}
 * ---
 * apiVersion: batch/v1
 * kind: Job
 * metadata: {name: train, namespace: research}
 * spec:
 *   template:
 *     spec:
 *       restartPolicy: Never
 *       containers:
 *         - name: main
 *           image: registry.example/trainer:1.4
 *           resources: {limits: {nvidia.com/gpu: 8, memory: 512Gi}}
 * ```
 *
 * ## When it is silent
 *
 * For LimitRanges of other namespaces and of folders other than the workload's and those above it, for patches, definitions and templates. A
 * LimitRange in another file is a warning, because it may belong to another cluster.
 *
 * ## Sources
 *
 * - [Kubernetes: limit ranges](https://kubernetes.io/docs/concepts/policy/limit-range/)
 * - [Kubernetes: LimitRanger](https://github.com/kubernetes/kubernetes/blob/master/plugin/pkg/admission/limitranger/admission.go)
 */
export default defineRule({
  topic: 'quota',
  severity: 'error',
  podSet(podSet, { workload, crossReferences, report }) {
    const { root, document } = workload.manifest;
    const metadata = getIn(root, 'metadata');
    if (workload.partial || workload.role === 'definition' || document.template) return;
    if (isIncomplete(metadata) || isUnseen(getIn(metadata, 'namespace'))) return;
    const ranges = crossReferences.limitsIn(workload.namespace);
    for (const range of ranges) {
      const found = violation(range.facts, podSet);
      // If several have one name, the namespace has only one of them.
      const isOpen = ({ name, facts }: Referenced<LimitFacts>) =>
        name === range.name && violation(facts, podSet) === undefined;
      if (found === undefined || ranges.some(isOpen)) continue;
      report({
        severity: range.file === null ? 'error' : 'warning',
        message: `${found.what}, but ${named(range)} ${allowed[found.bound.bound]} ${found.bound.text}: the API server rejects the pod`,
        span: spanOf(found.at),
      });
      return;
    }
  },
});

const allowed = {
  max: 'allows at most',
  min: 'requires at least',
  maxLimitRequestRatio: 'allows a ratio of at most',
};

function named({ name, file }: Referenced<unknown>): string {
  return `LimitRange ${shorten(name)}${file === null ? '' : ` (${shorten(file)})`}`;
}

interface Violation {
  readonly at: Cursor;
  readonly what: string;
  readonly bound: ResourceBound;
}

/** The first amount outside the bounds. */
function violation({ bounds }: LimitFacts, podSet: PodSet): Violation | undefined {
  for (const bound of bounds) {
    const found = bound.type === 'Pod' ? ofPod(bound, podSet) : ofContainers(bound, podSet);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ofContainers(bound: ResourceBound, { containers }: PodSet): Violation | undefined {
  const { resource, value } = bound;
  for (const container of containers) {
    const [limit, request] = amounts(container.resources, resource);
    const [most, least] = [limit ?? request, request ?? limit];
    if (most === undefined || least === undefined) continue;
    const what = (one: Amount) => `${shorten(resource, 40)} is ${one.text}`;
    if (bound.bound === 'max' && most.value > value) return { at: most.at, what: what(most), bound };
    if (bound.bound === 'min' && least.value < value) return { at: least.at, what: what(least), bound };
    if (bound.bound !== 'maxLimitRequestRatio' || limit === undefined || request === undefined) continue;
    if (request.value > 0 && limit.value / request.value > value)
      return { at: limit.at, what: `${what(limit)} with a request of ${request.text}`, bound };
  }
  return undefined;
}

/** The sums of the containers that run at the same time. Others only add to them. */
function ofPod(bound: ResourceBound, { containers }: PodSet): Violation | undefined {
  if (bound.bound !== 'max') return undefined;
  const pairs = containers.flatMap(({ type, resources }) =>
    type === 'app' ? [amounts(resources, bound.resource)] : [],
  );
  const limits = pairs.flatMap(([limit]) => limit ?? []);
  const requests = pairs.flatMap(([limit, request]) => request ?? limit ?? []);
  for (const parts of [limits, requests]) {
    const [first] = parts;
    if (first === undefined || parts.reduce((total, { value }) => total + value, 0) <= bound.value) continue;
    const sum = shorten(parts.map(({ text }) => text).join(' + '), 40);
    return { at: first.at, what: `${shorten(bound.resource, 40)} of the pod is ${sum}`, bound };
  }
  return undefined;
}

interface Amount {
  readonly at: Cursor;
  readonly text: string;
  readonly value: number;
}

/** The limit and the request of a resource. */
function amounts(resources: Cursor | undefined, resource: string): readonly (Amount | undefined)[] {
  return ['limits', 'requests'].map((key) => {
    const at = getIn(resources, key, resource);
    if (at === undefined || isTemplated(at)) return undefined;
    const { text, value } = lowerQuantity(at);
    return value === null ? undefined : { at, text, value };
  });
}
