import { namesAccelerators } from '../model/accelerators.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { defineRule } from './rule.ts';

/**
 * A number or boolean where Kubernetes requires a string.
 *
 * ## Why
 *
 * Values of labels, annotations, node selectors, tolerations and environment variables must be strings. Without quotes, `8` is a number and
 * `true` a boolean (as are `yes` and `on` for Kubernetes), and the API server rejects the object.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator-count: 8
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: train
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator-count: "8"
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:2.1
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## When it is silent
 *
 * For objects without accelerators, unknown kinds, and values of a Helm chart, whose templates may quote them.
 *
 * ## Sources
 *
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - A dry run against an API server, version 1.32: "cannot unmarshal bool into Go struct field"
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, context) {
    const { workload, document } = context;
    if (workload.byShape || !isPodSpec(podSet) || !namesAccelerators(workload)) return;
    const values = [
      ...entries(getIn(podSet.pod, 'nodeSelector')).map((value) => ({
        subject: `nodeSelector ${keyOf(value)}`,
        value,
      })),
      ...podSet.tolerations.map(({ at: one }) => ({ subject: 'The toleration value', value: getIn(one, 'value') })),
      ...podSet.containers.flatMap(environment),
      ...stringsOf('Annotation', podSet.annotations),
      ...stringsOf('Label', podSet.labels),
    ];
    for (const { subject, value } of values) {
      const text = value && unquoted(value);
      if (value === undefined || text === undefined) continue;
      context.report({
        message: `${subject} must be a string, not the ${typeOf(value)} ${text}: the API server rejects the object`,
        span: spanOf(value),
        fixes: () => [quote(document, value, text)],
      });
    }
  },
});

/** Annotations of autoscalers have their own rule. */
function stringsOf(what: string, strings: PodSet['labels']) {
  return strings
    .filter(({ at: value }) => !keyOf(value).startsWith('autoscaling.knative.dev/'))
    .map(({ at: value }) => ({ subject: `${what} ${keyOf(value)}`, value }));
}

function environment({ env }: Container): readonly { readonly subject: string; readonly value: Cursor | undefined }[] {
  return env.map(({ name, at: one }) => ({
    subject: name === '' ? 'An environment variable' : name,
    value: getIn(one, 'value'),
  }));
}

/** The text of a plain number or boolean. */
function unquoted({ node }: Cursor): string | undefined {
  if (node.kind !== 'scalar' || node.templated) return undefined;
  return typeof node.value === 'number' || typeof node.value === 'boolean' ? node.source : undefined;
}

function typeOf({ node }: Cursor): string {
  return node.kind === 'scalar' && typeof node.value === 'boolean' ? 'boolean' : 'number';
}

/** Kinds with their own pod format may accept numbers. */
function isPodSpec({ pod }: PodSet): boolean {
  return getIn(pod, 'containers')?.node.kind === 'seq';
}

/** Safe: the object was rejected before, and the text stays the same. */
function quote(document: YamlDocument, value: Cursor, text: string) {
  return fix(`Quote the value: "${text}"`, 'safe', replaceScalar(document, value, text));
}
