import { type ApiProblem, apiProblems } from '../evidence/api-problems.ts';
import { gpuPools } from '../evidence/gpu-pools.ts';
import { passedOnContainers } from '../evidence/passed-on-containers.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { isTyped } from '../evidence/typed-places.ts';
import { placesAt } from '../evidence/written.ts';
import { namesAccelerators } from '../model/accelerators.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, entries, getIn, items, keyOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule } from './rule.ts';

/**
 * A number or boolean where Kubernetes requires a string.
 *
 * ## Why
 *
 * Values of labels, annotations, node selectors, tolerations, arguments and environment variables must be strings. Without quotes, `8` is a
 * number and `true` a boolean (as are `yes` and `on` for Kubernetes), and the API server rejects the object.
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
 * For objects without accelerators, unknown kinds whose pods are not those of a pod template, and values of a Helm chart, whose templates may quote them.
 *
 * ## Sources
 *
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - [eksctl: schema of the config file](https://schema.eksctl.io/)
 * - [KEDA: the type of a trigger's metadata](https://github.com/kedacore/keda/blob/main/apis/keda/v1alpha1/scaletriggers_types.go)
 * - [Kustomize: images](https://kubectl.docs.kubernetes.io/references/kustomize/kustomization/images/)
 * - A dry run against an API server, version 1.32: "cannot unmarshal bool into Go struct field"
 */
export default defineRule({
  topic: 'placement',
  severity: 'error',
  manifest(manifest, { document, report }) {
    const isKustomization =
      manifest.kind === 'Kustomization' && groupOf(manifest.apiVersion) === 'kustomize.config.k8s.io';
    for (const tag of isKustomization ? placesAt(manifest.root, 'images.*.newTag') : []) {
      const text = unquoted(tag);
      if (text === undefined) continue;
      report({
        message: `newTag must be a string, not the ${typeOf(tag)} ${text}: kustomize rejects the file`,
        span: spanOf(tag),
        fixes: () => [quote(document, tag, text)],
      });
    }
    const hasPool = groupOf(manifest.apiVersion) === 'eksctl.io' && gpuPools(manifest).length > 0;
    for (const value of hasPool ? nodeTexts.flatMap((path) => placesAt(manifest.root, path)) : []) {
      const text = unquoted(value);
      if (text === undefined) continue;
      const subject = keyOf(value) === 'value' ? 'The value of a taint' : `The value of ${shorten(keyOf(value), 50)}`;
      report({
        severity: 'warning',
        message: `${subject} must be a string, not the ${typeOf(value)} ${text}: eksctl rejects the file`,
        span: spanOf(value),
        fixes: () => [quote(document, value, text)],
      });
    }
    const isScaler = groupOf(manifest.apiVersion) === 'keda.sh';
    for (const value of isScaler ? placesAt(manifest.root, 'spec.triggers.*.metadata.*') : []) {
      const text = unquoted(value);
      if (text === undefined) continue;
      report({
        message: `${shorten(keyOf(value), 40)} must be a string, not the ${typeOf(value)} ${text}: the API server rejects the object`,
        span: spanOf(value),
        fixes: () => [quote(document, value, text)],
      });
    }
    for (const problems of listsOf(apiProblems(manifest).filter(isPlainValue))) {
      const [problem, ...others] = problems;
      if (problem === undefined) continue;
      const text = unquoted(problem.at) ?? '';
      const subject =
        others.length === 0 ? subjectOf(problem) : `${problems.length.toLocaleString('en')} items of ${problem.field}`;
      const must =
        others.length === 0 ? 'must be a string, not the' : 'must be strings, not numbers or booleans such as the';
      report({
        message: `${subject} ${must} ${typeOf(problem.at)} ${text}: the API server rejects the object`,
        span: spanOf(problem.at),
        fixes: () => (others.length === 0 ? quotedAlone(document, problem, text) : quotedTogether(document, problems)),
      });
    }
  },
  podSet(podSet, context) {
    const { workload, document } = context;
    const isChart = isValues(workload);
    if (!namesAccelerators(workload)) return;
    if (!isChart && /^argoproj\.io.*Workflow/.test(`${workload.apiVersion} ${workload.kind}`)) {
      reportWorkflow();
      return;
    }
    if (!isChart && !isPodSpec(podSet, workload)) return;
    // Checked as a whole, above.
    if (isTyped(podSet.pod, workload)) return;
    const values = [
      ...entries(getIn(podSet.pod, 'nodeSelector')).map((value) => ({
        subject: `nodeSelector ${keyOf(value)}`,
        value,
      })),
      ...placesAt(podSet.pod, affinityValues).map((value) => ({ subject: 'A value of the node affinity', value })),
      ...podSet.tolerations.map(({ at: one }) => ({ subject: 'The toleration value', value: getIn(one, 'value') })),
      // Charts make texts of other values themselves.
      ...(isChart ? passedOnContainers(podSet.pod).flatMap(variables) : podSet.containers.flatMap(environment)),
      ...(isChart ? [] : stringsOf('Annotation', podSet.annotations)),
      ...(isChart ? [] : stringsOf('Label', podSet.labels)),
    ];
    for (const { subject, value } of values) {
      const text = value && unquoted(value);
      if (value === undefined || text === undefined) continue;
      context.report({
        severity: isChart ? 'warning' : 'error',
        message: `${subject} must be a string, not the ${typeOf(value)} ${text}: ${workload.byShape ? rejectionOf(workload.manifest) : 'the API server rejects the object'}${isChart ? ', unless the chart quotes it' : ''}`,
        span: spanOf(value),
        fixes: () => [quote(document, value, text)],
      });
    }

    /** The API server stores a workflow with any values; its controller reads them. */
    function reportWorkflow(): void {
      const words = ['command.*', 'args.*', 'env.*.value'];
      const inContainers = podSet.containers.flatMap(({ at }) => words.flatMap((path) => placesAt(at, path)));
      const inPod = ['nodeSelector.*', affinityValues, 'tolerations.*.value'].flatMap((path) =>
        placesAt(podSet.pod, path),
      );
      for (const value of [...inContainers, ...inPod]) {
        const text = unquoted(value);
        if (text === undefined) continue;
        const subject = inPod.includes(value)
          ? 'The value of a selector or a toleration'
          : value.entry === undefined
            ? 'A word of the command'
            : 'The value of a variable';
        context.report({
          message: `${subject} must be a string, not the ${typeOf(value)} ${text}: Argo rejects the workflow`,
          span: spanOf(value),
          fixes: () => [quote(document, value, text)],
        });
      }
    }
  },
});

/** The labels and taints of node groups of eksctl, which may also write taints as a mapping. */
const nodeTexts = ['nodeGroups', 'managedNodeGroups'].flatMap((groups) => [
  `${groups}.*.labels.*`,
  `${groups}.*.taints.*.value`,
]);

const affinityValues =
  'affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms.*.matchExpressions.*.values.*';

/** Whether a problem is a number or a boolean that this rule reports. */
function isPlainValue({ what, at }: ApiProblem): boolean {
  return what === 'not-string' && unquoted(at) !== undefined && !isScalingAnnotation(at);
}

/** More items of one list have one mistake many times, and are reported once. */
const mostItems = 100;

/** The problems, in groups of one; those of a list with very many are one group. */
function listsOf(problems: readonly ApiProblem[]): readonly (readonly ApiProblem[])[] {
  if (problems.length <= mostItems) return problems.map((one) => [one]);
  const groups = new Map<YamlNode | undefined, ApiProblem[]>();
  for (const problem of problems) {
    const { at } = problem;
    const list = at.entry === undefined ? at.parent?.node : undefined;
    const others = groups.get(list);
    if (others === undefined) groups.set(list, [problem]);
    else others.push(problem);
  }
  return [...groups].flatMap(([list, all]) =>
    list !== undefined && all.length > mostItems ? [all] : all.map((one) => [one]),
  );
}

function quotedAlone(document: YamlDocument, problem: ApiProblem, text: string) {
  return mayBeQuoted(problem, text) ? [quote(document, problem.at, text)] : [];
}

function quotedTogether(document: YamlDocument, problems: readonly ApiProblem[]) {
  const edits = problems.flatMap(({ at }) => replaceScalar(document, at, unquoted(at) ?? '') ?? []);
  return [fix(`Quote these ${problems.length.toLocaleString('en')} values`, 'safe', edits)];
}

/** The place of a value that the table of the API's types calls a string. */
function subjectOf({ at, field, holder }: ApiProblem): string {
  if (at.entry === undefined) return `An item of ${field}`;
  const key = shorten(keyOf(at), 60);
  if (key === field) {
    if (holder.type === 'EnvVar' && field === 'value')
      return asText(getIn(holder.at, 'name')) ?? 'An environment variable';
    return holder.type === 'Toleration' ? `The toleration ${field}` : field;
  }
  return `${mapNames[field] ?? field} ${key}`;
}

/** As text, -1 and .inf are not the value of a label, and `No`, the start of NoSchedule, is not an effect. */
function mayBeQuoted({ field, type }: ApiProblem, text: string): boolean {
  if (type?.form === 'enum') return type.values.includes(text);
  if (field === 'effect') return false;
  return (
    !/^(?:labels|matchLabels|nodeLabels|nodeSelector)$/.test(field) || /^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/.test(text)
  );
}

const mapNames = table<string>({ annotations: 'Annotation', labels: 'Label' });

/** Annotations of autoscalers have their own rule. */
function isScalingAnnotation(value: Cursor): boolean {
  return keyOf(value).startsWith('autoscaling.knative.dev/');
}

function stringsOf(what: string, strings: PodSet['labels']) {
  return strings
    .filter(({ at: value }) => !isScalingAnnotation(value))
    .map(({ at: value }) => ({ subject: `${what} ${keyOf(value)}`, value }));
}

function environment({ env }: Container): readonly { readonly subject: string; readonly value: Cursor | undefined }[] {
  return env.map(({ name, at: one }) => ({
    subject: name === '' ? 'An environment variable' : name,
    value: getIn(one, 'value'),
  }));
}

function variables(container: Cursor) {
  return items(getIn(container, 'env')).map((one) => ({
    subject: asText(getIn(one, 'name')) ?? 'An environment variable',
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

/** Safe: the object was rejected before, and the text stays the same. */
function quote(document: YamlDocument, value: Cursor, text: string) {
  return fix(`Quote the value: "${text}"`, 'safe', replaceScalar(document, value, text));
}
