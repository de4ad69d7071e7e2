import { either } from '../catalog/word-patterns.ts';
import { pathTree, placesInTree } from '../evidence/path-tree.ts';
import { isPodSpec, isServedKind, rejectionOf } from '../evidence/rejection.ts';
import { isPlaceholderText, isUnknown, placesAt, writtenText } from '../evidence/written.ts';
import { dataKey, dnsLabel, type NameForm, nameProblem, portName, subdomain, validName } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { type Cursor, entries, getIn, isTemplated, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * The name of an object, a container, a volume or a port is one that the API server rejects.
 *
 * ## Why
 *
 * Names become DNS names and paths, so their characters and lengths are limited: lowercase letters, digits and "-", for most objects also ".".
 * Models and GPUs have other names: `llama-3.1` is not the name of a container, nor `Qwen2` that of a Deployment. Ports have at most 15
 * characters, CronJobs 52, Jobs and containers 63. The API server does not check the names by which pods refer to Secrets, ConfigMaps and claims, but no object can have
 * another one, so the pod never starts. The groups of a RayCluster become parts of the names of pods.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: llama-3.1
 *       image: registry.example/server:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: chat
 * spec:
 *   containers:
 *     - name: llama-3-1
 *       image: registry.example/server:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: other objects, scripts and commands may refer to the name.
 *
 * ## When it is silent
 *
 * For what templates insert, and for uppercase names, names in brackets, `yourClaim` and `changeMe`, which are replaced before the object is applied.
 *
 * ## Sources
 *
 * - [Kubernetes: object names](https://kubernetes.io/docs/concepts/overview/working-with-objects/names/)
 */
export default defineRule({
  topic: 'other',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, context) {
    if (!isServedKind(manifest)) return;
    const metadata = getIn(manifest.root, 'metadata');
    const form = formOf(manifest);
    const rejection = `the API server rejects the ${manifest.kind}`;
    check(getIn(metadata, 'name'), 'Name', form, rejection, context);
    check(getIn(metadata, 'namespace'), 'Namespace', dnsLabel, rejection, context);
    checkPrefix(getIn(metadata, 'generateName'), form, rejection, context);
    checkIndexes(manifest, context);
    checkReserved(manifest, context);
    checkDataKeys(manifest, context);
    checkGroups(manifest, context);
    for (const [path, form] of namesOf[`${groupOf(manifest.apiVersion)}/${manifest.kind}`] ?? []) {
      for (const at of placesAt(manifest.root, path)) check(at, keyOf(at), form, rejection, context);
    }
  },
  podSet(podSet, context) {
    if (!isPodSpec(podSet, context.workload)) return;
    const rejection = rejectionOf(context.workload);
    for (const { at, value } of placesInTree(podSet.pod, namesInPods))
      check(at, value.what, value.form, rejection, context);
    for (const { at, value } of placesInTree(podSet.pod, namesOfOthers)) {
      if (getIn(at.parent, 'optional') !== undefined) continue;
      check(at, value, subdomain, 'the pod never starts', context);
    }
  },
});

const podNames: readonly (readonly [what: string, path: string, form: NameForm])[] = [
  ['Container name', 'containers.*.name', dnsLabel],
  ['Container name', 'initContainers.*.name', dnsLabel],
  ['Volume name', 'volumes.*.name', dnsLabel],
  ['Port name', 'containers.*.ports.*.name', portName],
  ['Port name', 'initContainers.*.ports.*.name', portName],
  ...['livenessProbe', 'readinessProbe', 'startupProbe'].flatMap((probe) =>
    ['httpGet', 'tcpSocket'].map((kind) => ['Port name', `containers.*.${probe}.${kind}.port`, portName] as const),
  ),
  ['Claim name', 'resourceClaims.*.name', dnsLabel],
  ['resourceClaimName', 'resourceClaims.*.resourceClaimName', subdomain],
  ['resourceClaimTemplateName', 'resourceClaims.*.resourceClaimTemplateName', subdomain],
  ['serviceAccountName', 'serviceAccountName', subdomain],
  ['runtimeClassName', 'runtimeClassName', subdomain],
  ['priorityClassName', 'priorityClassName', subdomain],
  ['nodeName', 'nodeName', subdomain],
  ['hostname', 'hostname', dnsLabel],
  ['subdomain', 'subdomain', dnsLabel],
];

const namesInPods = pathTree(podNames.map(([what, path, form]) => [path, { what, form }]));

/** What the API server does not look at, but the kubelet looks for. */
const namesOfOthers = pathTree(
  [
    ['claimName', 'volumes.*.persistentVolumeClaim.claimName'],
    ['ConfigMap name', 'volumes.*.configMap.name'],
    ['secretName', 'volumes.*.secret.secretName'],
    ...['containers.*', 'initContainers.*'].flatMap((container) => [
      ['ConfigMap name', `${container}.envFrom.*.configMapRef.name`],
      ['Secret name', `${container}.envFrom.*.secretRef.name`],
      ['ConfigMap name', `${container}.env.*.valueFrom.configMapKeyRef.name`],
      ['Secret name', `${container}.env.*.valueFrom.secretKeyRef.name`],
    ]),
  ].map(([kind = '', path = '']) => [path, kind] as const),
);

/** Names of other objects, in objects without pods. */
const namesOf = table<readonly (readonly [path: string, form: NameForm])[]>({
  '/PersistentVolumeClaim': [['spec.storageClassName', subdomain]],
  '/Service': [
    ['spec.ports.*.name', dnsLabel],
    ['spec.ports.*.targetPort', portName],
  ],
  'node.k8s.io/RuntimeClass': [['handler', dnsLabel]],
  'resource.k8s.io/ResourceClaim': classNames('spec.devices.requests.*'),
  'resource.k8s.io/ResourceClaimTemplate': classNames('spec.spec.devices.requests.*'),
});

function classNames(request: string): readonly (readonly [path: string, form: NameForm])[] {
  return ['deviceClassName', 'exactly.deviceClassName', 'firstAvailable.*.deviceClassName'].map(
    (path) => [`${request}.${path}`, subdomain] as const,
  );
}

/** Objects whose names become parts of longer names, with the length that remains. */
function formOf({ kind, apiVersion }: Manifest): NameForm {
  const group = groupOf(apiVersion);
  if (group === '' && /^(Service|Namespace)$/.test(kind)) return dnsLabel;
  // KServe makes Services and host names of it.
  if (group === 'serving.kserve.io' && kind === 'InferenceService') return dnsLabel;
  if (group !== 'batch') return subdomain;
  // The name of a Job is also a label of its pods.
  return { ...subdomain, longest: kind === 'CronJob' ? 52 : 63 };
}

function check(
  at: Cursor | undefined,
  what: string,
  form: NameForm,
  rejection: string,
  { report, document }: RuleContext | PodSetContext,
): void {
  const written = writtenText(at);
  const template = written === undefined ? templateText(at, document) : undefined;
  const name = written ?? template;
  if (at === undefined || name === undefined) return;
  const problem = template === undefined ? nameProblem(name, form) : problemAround(template, form);
  if (problem === undefined || standsIn.test(name)) return;
  report({
    message: `${what} "${template === undefined ? shorten(name, 40) : shorten(template, 28)}" ${problem}: ${rejection}`,
    span: spanOf(at),
    fixes: () => {
      if (template !== undefined) return [];
      const valid = validName(name, form);
      return valid === undefined ? [] : [fix(`Rename to ${valid}`, 'unsafe', replaceScalar(document, at, valid))];
    },
  });
}

/** Words that stand for a name which the reader is to choose: `yourClaim`, `changeMe`. */
const standsIn = either(/(?:^|[-_.])[Yy]our(?=[-_A-Z])/, /(?:[Cc]hange|[Rr]eplace)[-_]?(?:[Mm]e|[Tt]his)(?![a-z])/);

/** What is wrong with a name whatever its actions insert: the text around them stays. All but one of them may insert nothing. */
function problemAround(template: string, form: NameForm): string | undefined {
  const [start = '', ...rest] = template.split(action);
  if (nameProblem([start, ...rest].join('a'), form) === undefined) return undefined;
  const least = `${start}a${rest.join('')}`.trim();
  return nameProblem(least, form)?.replace(/^has (?=\d)/, 'has at least ');
}

/** A name with actions of a template in it, if the text around them is no other placeholder. */
function templateText(at: Cursor | undefined, { text }: YamlDocument): string | undefined {
  if (at === undefined || !isTemplated(at)) return undefined;
  const { start, end } = spanOf(at);
  const written = text.slice(start, end).replace(/^(["'])(.*)\1$/, '$2');
  // Trim markers remove spaces, and branches exclude each other.
  if (controls.test(written)) return undefined;
  const literal = written.replaceAll(action, '');
  const isOpen = literal === written || /[^\w. "'-]|[A-Z]{2}/.test(literal);
  return isOpen || literal.trim() === '' ? undefined : written;
}

const controls = /\{\{-|-\}\}|\{\{\s*(?:if|else|end|range|with|define|block|\/\*|\$\w+\s*:?=)/;

const action = /\{\{[^{}\n]*\}\}/g;

/** The API server appends a random part, so the prefix may end with "-". */
function checkPrefix(at: Cursor | undefined, form: NameForm, rejection: string, { report }: RuleContext): void {
  const prefix = writtenText(at);
  if (at === undefined || prefix === undefined) return;
  const problem = nameProblem(prefix.replace(/-$/, 'a'), form);
  if (problem !== undefined) {
    report({ message: `Prefix "${shorten(prefix, 40)}" ${problem}: ${rejection}`, span: spanOf(at) });
  }
}

/** The keys become files. */
function checkDataKeys({ root, kind, apiVersion }: Manifest, { report }: RuleContext): void {
  if (apiVersion !== 'v1' || !/^(?:ConfigMap|Secret)$/.test(kind)) return;
  for (const part of ['data', 'binaryData', 'stringData']) {
    for (const entry of entries(getIn(root, part))) {
      const key = keyOf(entry);
      const problem = isPlaceholderText(key) ? undefined : nameProblem(key, dataKey);
      if (problem === undefined) continue;
      report({
        message: `Key "${shorten(key, 40)}" ${problem}: the API server rejects the ${kind}`,
        span: keySpanOf(entry),
      });
    }
  }
}

/** Ray's groups are parts of the names of their pods, which KubeRay does not check. It changes only the first character. */
function checkGroups({ root, apiVersion }: Manifest, context: RuleContext): void {
  if (groupOf(apiVersion) !== 'ray.io') return;
  for (const path of ['spec', 'spec.rayClusterSpec', 'spec.rayClusterConfig']) {
    for (const at of placesAt(root, `${path}.workerGroupSpecs.*.groupName`)) {
      if (/[^A-Za-z0-9.-]/.test(writtenText(at) ?? ''))
        check(at, 'groupName', subdomain, 'the API server rejects its pods', context);
    }
  }
}

/** Kubernetes creates its own two classes. */
function checkReserved({ root, kind }: Manifest, { report }: RuleContext): void {
  if (kind !== 'PriorityClass') return;
  const at = getIn(root, 'metadata', 'name');
  const name = writtenText(at);
  if (at === undefined || name?.startsWith('system-') !== true) return;
  if (/^system-(?:node|cluster)-critical$/.test(name)) return;
  report({
    message: `Name "${shorten(name, 40)}" starts with the reserved "system-": the API server rejects the PriorityClass`,
    span: spanOf(at),
  });
}

/** The pods of an indexed Job have the index in their host names, of at most 63 characters. */
function checkIndexes({ root, kind, apiVersion }: Manifest, { report }: RuleContext): void {
  if (kind !== 'Job' || groupOf(apiVersion) !== 'batch') return;
  const at = getIn(root, 'metadata', 'name');
  const name = writtenText(at);
  const spec = getIn(root, 'spec');
  const completions = getIn(spec, 'completions');
  if (at === undefined || name === undefined) return;
  if (writtenText(getIn(spec, 'completionMode')) !== 'Indexed' || isUnknown(completions)) return;
  const count = completions?.node.kind === 'scalar' ? completions.node.value : null;
  if (typeof count !== 'number' || count < 1 || name.length > 63) return;
  const length = name.length + 1 + String(count - 1).length;
  if (length <= 63) return;
  report({
    message: `Name "${shorten(name, 40)}" has ${length} characters with the index, but at most 63 are allowed: the API server rejects the Job`,
    span: spanOf(at),
  });
}
