import { namesAccelerators } from '../model/accelerators.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { defineRule } from './rule.ts';

/**
 * A value that Kubernetes wants as a string is a number or a boolean.
 *
 * ## Why
 *
 * Values of labels, annotations, node selectors, tolerations and environment variables are strings. Without quotes, `8` is a number and
 * `true` (also `yes` and `on`, as Kubernetes reads YAML) a boolean, and the API server refuses the object.
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
 * For objects without accelerators, kinds that are not known, and values of a Helm chart: its templates may quote them.
 *
 * ## Sources
 *
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - A dry run against an API server of version 1.32: "cannot unmarshal bool into Go struct field"
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  podSet(podSet, context) {
    const { workload, document } = context;
    if (workload.byShape || !isPodSpec(podSet) || !namesAccelerators(workload)) return;
    const values = [
      ...entries(getIn(podSet.pod, 'nodeSelector')).map((value) => ({ of: `nodeSelector ${keyOf(value)}`, value })),
      ...podSet.tolerations.map(({ at: one }) => ({ of: 'The value of a toleration', value: getIn(one, 'value') })),
      ...podSet.containers.flatMap(environment),
      ...named('Annotation', podSet.annotations),
      ...named('Label', podSet.labels),
    ];
    for (const { of, value } of values) {
      const text = value && unquoted(value);
      if (value === undefined || text === undefined) continue;
      context.report({
        message: `${of} is the ${typeOf(value)} ${text}, not a string: the API server refuses it without quotes`,
        span: spanOf(value),
        fixes: () => [quote(document, value, text)],
      });
    }
  },
});

/** Those of autoscalers have a rule of their own. */
function named(what: string, strings: PodSet['labels']) {
  return strings
    .filter(({ at: value }) => !keyOf(value).startsWith('autoscaling.knative.dev/'))
    .map(({ at: value }) => ({ of: `${what} ${keyOf(value)}`, value }));
}

function environment({ env }: Container): readonly { readonly of: string; readonly value: Cursor | undefined }[] {
  return env.map(({ name, at: one }) => ({ of: `The value of ${name}`, value: getIn(one, 'value') }));
}

/** The text of a plain number or boolean. */
function unquoted({ node }: Cursor): string | undefined {
  if (node.kind !== 'scalar' || node.templated) return undefined;
  return typeof node.value === 'number' || typeof node.value === 'boolean' ? node.source : undefined;
}

function typeOf({ node }: Cursor): string {
  return node.kind === 'scalar' && typeof node.value === 'boolean' ? 'boolean' : 'number';
}

/** Kinds that describe pods in words of their own may take numbers there. */
function isPodSpec({ pod }: PodSet): boolean {
  return getIn(pod, 'containers')?.node.kind === 'seq';
}

/** The object was refused before, and the text stays what it is. */
function quote(document: YamlDocument, value: Cursor, text: string) {
  return fix(`Quote it: "${text}"`, 'safe', replaceScalar(document, value, text));
}
