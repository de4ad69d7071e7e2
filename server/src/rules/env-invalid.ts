import { either } from '../catalog/word-patterns.ts';
import { isPodSpec, rejectionOf } from '../evidence/rejection.ts';
import { isSet, isUnknown, placesAt } from '../evidence/written.ts';
import { fix } from '../rewrite/fix.ts';
import { asText, type Cursor, entries, getIn, isIncomplete, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * An environment variable whose name or source the API server rejects.
 *
 * ## Why
 *
 * A variable has either a `value` or a `valueFrom` with exactly one source. `fieldRef` and `resourceFieldRef` can read only some fields of
 * the pod: the number of GPUs (`limits.nvidia.com/gpu`) is not one of them. `envFrom` needs a ConfigMap or a Secret.
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
 *       env:
 *         - name: GPUS
 *           valueFrom:
 *             resourceFieldRef:
 *               resource: limits.nvidia.com/gpu
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
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
 *       env:
 *         - name: CORES
 *           valueFrom:
 *             resourceFieldRef:
 *               resource: limits.cpu
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 8
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of two values is meant.
 *
 * ## When it is silent
 *
 * For templates and patches.
 *
 * ## Sources
 *
 * - [Kubernetes: EnvVar](https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/pod-v1/#environment-variables)
 * - [Kubernetes: downward API](https://kubernetes.io/docs/concepts/workloads/pods/downward-api/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  container(container, context) {
    if (!isPodSpec(context.podSet, context.workload)) return;
    for (const variable of placesAt(container.at, 'env.*')) checkVariable(variable, context);
    for (const source of placesAt(container.at, 'envFrom.*')) checkSource(source, context);
  },
});

const sources = ['fieldRef', 'resourceFieldRef', 'configMapKeyRef', 'secretKeyRef', 'fileKeyRef'];

function checkVariable(variable: Cursor, context: PodSetContext): void {
  const { report, document, workload } = context;
  const rejection = rejectionOf(workload);
  if (variable.node.kind !== 'map' || isIncomplete(variable)) return;
  const named = getIn(variable, 'name');
  const name = asText(named) ?? '';
  const shown = shorten(name, 40);
  if (named !== undefined && !isUnknown(named) && /[=\n]|[^ -~]/.test(name)) {
    report({
      message: `The name of a variable must not contain "=" or line breaks: ${rejection}`,
      span: spanOf(named),
    });
  }
  const value = getIn(variable, 'value');
  const from = getIn(variable, 'valueFrom');
  if (!isSet(from) || from.node.kind !== 'map' || isIncomplete(from)) return;
  if (isSet(value) && asText(value) !== '' && !document.template) {
    report({
      message: `${shown} has both value and valueFrom, but only one is allowed: ${rejection}`,
      span: keySpanOf(from),
      fixes: () => [value, from].map((one) => fix(`Remove ${keyOf(one)}`, 'unsafe', removeKey(document, one))),
    });
  }
  const set = entries(from).filter((field) => sources.includes(keyOf(field)) && isSet(field));
  const [first, second] = set;
  if (first !== undefined && second !== undefined && !document.template) {
    report({
      message: `${shown} has both ${keyOf(first)} and ${keyOf(second)}, but only one is allowed: ${rejection}`,
      span: keySpanOf(second),
    });
  } else if (first === undefined && !workload.partial && hasOnly(from, sources)) {
    report({
      message: `valueFrom of ${shown} needs one of fieldRef, resourceFieldRef, configMapKeyRef or secretKeyRef: ${rejection}`,
      span: keySpanOf(from),
    });
  }
  checkReference(first, shown, context);
}

/** What a variable can read of its own pod. */
const fields = either(
  /^metadata\.(?:name|namespace|uid)$/,
  /^metadata\.(?:labels|annotations)\['[^']+'\]$/,
  /^spec\.(?:nodeName|serviceAccountName)$/,
  /^status\.(?:hostIPs?|podIPs?)$/,
);
const resources = /^(?:limits|requests)\.(?:cpu|memory|ephemeral-storage|hugepages-.+)$/;

function checkReference(source: Cursor | undefined, name: string, { report, workload }: PodSetContext): void {
  const rejection = rejectionOf(workload);
  const object = getIn(source, 'name');
  if (/^(configMap|secret)KeyRef$/.test(String(source?.step)) && source?.node.kind === 'map' && !isIncomplete(source)) {
    // Another name is an unknown field.
    const other = source.node.entries.some(({ key }) => /name$/i.test(key));
    if (!isSet(object) && !other && !workload.partial) {
      report({ message: `${keyOf(source)} of ${name} needs a name: ${rejection}`, span: keySpanOf(source) });
    }
    return;
  }
  const path = getIn(source, 'fieldPath') ?? getIn(source, 'resource');
  // Brackets belong to the path.
  const written = path?.node.kind === 'scalar' && !path.node.templated ? path.node.source : undefined;
  if (path === undefined || written === undefined || /[${}<>]/.test(written)) return;
  const known = path.step === 'fieldPath' ? fields : resources;
  if (written === '' || written.length > 400 || known.test(written)) return;
  const limits = path.step === 'fieldPath' ? '' : ', only cpu, memory, ephemeral-storage and huge pages';
  report({
    message: `${name} cannot read ${shorten(written, 40)}${limits}: ${rejection}`,
    span: spanOf(path),
  });
}

function checkSource(source: Cursor, { report, workload }: PodSetContext): void {
  if (source.node.kind !== 'map' || isIncomplete(source)) return;
  const rejection = rejectionOf(workload);
  const set = entries(source).filter((field) => /^(configMapRef|secretRef)$/.test(keyOf(field)) && isSet(field));
  const [first, second] = set;
  if (first !== undefined && second !== undefined) {
    report({
      message: `envFrom has both ${keyOf(first)} and ${keyOf(second)} in one item, but only one is allowed: ${rejection}`,
      span: keySpanOf(second),
    });
  } else if (first === undefined && !workload.partial && hasOnly(source, ['prefix', 'configMapRef', 'secretRef'])) {
    report({
      message: `An item of envFrom needs configMapRef or secretRef: ${rejection}`,
      span: keySpanOf(entries(source)[0] ?? source),
    });
  } else if (first !== undefined && first.node.kind === 'map' && !isSet(getIn(first, 'name')) && !isIncomplete(first)) {
    if (workload.partial || first.node.entries.some(({ key }) => /name$/i.test(key))) return;
    report({ message: `${keyOf(first)} needs a name: ${rejection}`, span: keySpanOf(first) });
  }
}

/** Whether there are no other keys: those are reported as unknown fields. */
function hasOnly(map: Cursor, known: readonly string[]): boolean {
  return entries(map).every((entry) => known.includes(keyOf(entry)));
}
