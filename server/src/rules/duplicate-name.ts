import { wordSet } from '../catalog/word-patterns.ts';
import { isPodSpec, ownContainers, rejectionOf } from '../evidence/rejection.ts';
import { cursorsIn, isUnknown, placesAt } from '../evidence/written.ts';
import { isValues } from '../model/values.ts';
import type { Manifest, PodSet } from '../model/workload.ts';
import { asText, type Cursor, entries, getIn, isRepeated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import type { YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * Two containers, volumes, mounts, ports, variables or claims of a pod have the same name or path.
 *
 * ## Why
 *
 * The names of the containers of a pod, init containers included, are unique, and so are those of its volumes and claims. In a container, two
 * volumes cannot be mounted at the same path, and two ports cannot have the same name. The API server rejects the pod. It accepts a variable
 * with two values, also in a list of a chart's values, but the program sees only the last one (severity warning). KServe runs the server of a predictor as container
 * kserve-container: next to `model`, a container of that name is a second one.
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
 *     - name: main
 *       image: registry.example/exporter:2.0
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
 *     - name: exporter
 *       image: registry.example/exporter:2.0
 * ```
 *
 * ## When it is silent
 *
 * For templates, and for a variable that is set again to the same value or to an addition to it (`$(NAME):/opt/lib`).
 *
 * ## Sources
 *
 * - [Kubernetes: PodSpec](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#PodSpec)
 * - [KServe: implementations of a predictor](https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/predictor.go)
 * - [Kubernetes: validation of pods](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/core/validation/validation.go)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest: checkPredictor,
  podSet(podSet, context) {
    // The branches of a template may repeat a name.
    if (context.document.template) return;
    if (isValues(context.workload)) checkValues(podSet, context);
    if (!isPodSpec(podSet, context.workload)) return;
    const { pod } = podSet;
    const listed = [...placesAt(pod, 'initContainers.*'), ...placesAt(pod, 'containers.*')];
    checkUnique('containers are named', named(listed, 'name'), context);
    const containers = [...listed, ...ownContainers(pod, context.workload)];
    checkUnique('volumes are named', namedIn(pod, 'volumes', 'name'), context);
    checkUnique('claims are named', namedIn(pod, 'resourceClaims', 'name'), context);
    for (const container of containers) {
      checkUnique('volumes are mounted at', namedIn(container, 'volumeMounts', 'mountPath'), context);
      checkUnique('devices are at', namedIn(container, 'volumeDevices', 'devicePath'), context);
      checkUnique('ports are named', namedIn(container, 'ports', 'name'), context);
      checkVariables(placesAt(container, 'env.*'), context);
      checkUnique('uses of a claim are named', wholeClaims(container), context);
    }
    checkSpread(podSet, context);
  },
});

/** The names in a list of an object. One item has no namesake, and most lists have no more or are absent. */
function namedIn(owner: Cursor, list: string, key: string): readonly Cursor[] {
  const at = getIn(owner, list);
  return at === undefined ? [] : named(cursorsIn(at), key);
}

function named(all: readonly Cursor[], key: string): readonly Cursor[] {
  return all.length < 2 ? [] : all.flatMap((one) => getIn(one, key) ?? []);
}

/**
 * The model server of a predictor is one of these fields or the container of that name; other containers may be next to it.
 * https://github.com/kserve/kserve/blob/master/pkg/apis/serving/v1beta1/predictor.go, GetImplementations
 */
function checkPredictor({ apiVersion, kind, root }: Manifest, { document, report }: RuleContext): void {
  if (apiVersion !== 'serving.kserve.io/v1beta1' || kind !== 'InferenceService' || document.template) return;
  const predictor = getIn(root, 'spec', 'predictor');
  const servers = entries(predictor).filter((one) => serverFields.has(keyOf(one)) && one.node.kind === 'map');
  const own = placesAt(predictor, 'containers.*.name').find((one) => asText(one) === 'kserve-container');
  const [first, second = own] = servers;
  if (first === undefined || second === undefined) return;
  const other = second === own ? 'a container named kserve-container' : keyOf(second);
  report({
    message: `The predictor has both ${keyOf(first)} and ${other}, but only one can be its server: KServe rejects the ${kind}`,
    span: second === own ? spanOf(second) : keySpanOf(second),
  });
}

const serverFields = wordSet('model sklearn xgboost tensorflow pytorch triton onnx huggingface pmml lightgbm paddle');

/** Charts pass a list of variables on as it is. Variables of several lists may be for several containers. */
function checkValues({ containers }: PodSet, context: PodSetContext): void {
  for (const { env } of containers) {
    const lists = new Map<YamlNode, Cursor[]>();
    for (const { at } of env) {
      if (at.parent?.node.kind !== 'seq') continue;
      const list = lists.get(at.parent.node);
      if (list === undefined) lists.set(at.parent.node, [at]);
      else list.push(at);
    }
    for (const variables of lists.values()) checkVariables(variables, context);
  }
}

/** The API server accepts them, and the last one applies. It may add to the one before: `$(NAME):/opt/lib`. */
function checkVariables(variables: readonly Cursor[], { report }: PodSetContext): void {
  if (variables.length < 2) return;
  const values = new Map<string, string>();
  for (const variable of variables) {
    const at = getIn(variable, 'name');
    const [name, value] = [asText(at), asText(getIn(variable, 'value'))];
    if (at === undefined || name === undefined || value === undefined || isRepeated(variable)) continue;
    const other = values.get(name);
    if (other !== undefined && other !== value && !value.includes(`$(${name})`))
      report({
        severity: 'warning',
        message: `${shorten(name, 40)} is set twice: only the last value applies`,
        span: spanOf(at),
      });
    values.set(name, value);
  }
}

function wholeClaims(container: Cursor): readonly Cursor[] {
  const claims = getIn(container, 'resources', 'claims');
  return (claims === undefined ? [] : cursorsIn(claims)).flatMap((claim) =>
    getIn(claim, 'request') === undefined ? (getIn(claim, 'name') ?? []) : [],
  );
}

function checkUnique(what: string, names: readonly Cursor[], context: PodSetContext): void {
  if (names.length < 2) return;
  const seen = new Set<string>();
  for (const at of names) {
    const name = asText(at);
    if (name === undefined || name === '' || isUnknown(at) || isRepeated(at)) continue;
    if (seen.has(name)) {
      context.report({
        message: `Two ${what} ${shorten(name)}: ${rejectionOf(context.workload)}`,
        span: spanOf(at),
      });
    }
    seen.add(name);
  }
}

/** Two spread constraints must differ in their key or in what happens without a place. */
function checkSpread({ pod }: PodSet, context: PodSetContext): void {
  const constraints = placesAt(pod, 'topologySpreadConstraints.*');
  if (constraints.length < 2) return;
  const seen = new Set<string>();
  for (const constraint of constraints) {
    const key = getIn(constraint, 'topologyKey');
    const otherwise = getIn(constraint, 'whenUnsatisfiable');
    if (key === undefined || isUnknown(key) || isUnknown(otherwise) || isRepeated(constraint)) continue;
    const name = `${asText(key)} ${asText(otherwise)}`;
    if (seen.has(name)) {
      context.report({
        message: `Two topology spread constraints are for ${shorten(asText(key) ?? '')}: ${rejectionOf(context.workload)}`,
        span: spanOf(key),
      });
    }
    seen.add(name);
  }
}
