import { celMismatch, celProblem } from '../evidence/device-expressions.ts';
import { isSet, isUnknown, placesAt, writtenNumber, writtenText } from '../evidence/written.ts';
import { dnsLabel, keyProblem, nameProblem } from '../model/api-syntax.ts';
import { groupOf } from '../model/manifest.ts';
import { isValues } from '../model/values.ts';
import type { Manifest, PodSet } from '../model/workload.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  entries,
  getIn,
  isIncomplete,
  isRepeated,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, removeKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A device claim, or a pod's reference to one, that the API server rejects.
 *
 * ## Why
 *
 * A request in a claim is either `exactly` one kind of device or the `firstAvailable` of several. Constraints and configurations refer to
 * its name. `allocationMode: All` has no count. A pod names either a ResourceClaim or a ResourceClaimTemplate, and a container gets the
 * devices only if it also names the claim. Selectors are written in CEL, where capacities have methods instead of operators.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   resourceClaims:
 *     - name: gpu
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         claims:
 *           - name: gpu
 * ```
 *
 * ```yaml valid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   resourceClaims:
 *     - name: gpu
 *       resourceClaimTemplateName: single-gpu
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         claims:
 *           - name: gpu
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: only the author knows which of two fields is meant.
 *
 * ## When it is silent
 *
 * For templates. dra-shape reports fields of another API version.
 *
 * ## Sources
 *
 * - [Kubernetes: dynamic resource allocation](https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/)
 * - [Kubernetes: validation of claims](https://github.com/kubernetes/kubernetes/blob/master/pkg/apis/resource/validation/validation.go)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  judgesWords: true,
  manifest(manifest, context) {
    if (groupOf(manifest.apiVersion) !== 'resource.k8s.io' || context.document.template) return;
    for (const cel of expressions.flatMap((path) => placesAt(manifest.root, path))) checkCel(cel, manifest, context);
    const path = manifest.kind === 'ResourceClaim' ? 'spec.devices' : 'spec.spec.devices';
    if (!/^ResourceClaim(Template)?$/.test(manifest.kind)) return;
    for (const devices of placesAt(manifest.root, path)) checkDevices(devices, manifest, context);
  },
  podSet(podSet, context) {
    // In values, templates are texts that a chart fills in.
    if (!context.document.template || isValues(context.workload)) checkReferences(podSet, context);
  },
});

/** Where each kind has its selectors. */
const expressions = [
  'spec.selectors.*.cel.expression',
  ...['spec', 'spec.spec'].flatMap((spec) =>
    ['', '.exactly', '.firstAvailable.*'].map((part) => `${spec}.devices.requests.*${part}.selectors.*.cel.expression`),
  ),
];

function checkCel(at: Cursor, { kind }: Manifest, { report }: RuleContext): void {
  const text = isTemplated(at) ? '' : (asText(at) ?? '');
  const problem = celProblem(text);
  if (problem !== undefined)
    report({ message: `The CEL expression must ${problem}: the API server rejects the ${kind}`, span: spanOf(at) });
  const mismatch = problem === undefined ? celMismatch(text) : undefined;
  if (mismatch !== undefined)
    report({
      severity: mismatch.certain ? 'error' : 'warning',
      message: `${mismatch.problem}: no GPU matches, and the pod stays Pending`,
      span: spanOf(at),
    });
}

const names = ['resourceClaimName', 'resourceClaimTemplateName'];

function checkReferences(podSet: PodSet, context: PodSetContext): void {
  const { pod, pods } = podSet;
  const { report, document, workload } = context;
  for (const claim of placesAt(pod, 'resourceClaims.*')) {
    if (claim.node.kind !== 'map' || isIncomplete(claim)) continue;
    const shared = getIn(claim, 'resourceClaimName');
    if (writtenText(shared) !== undefined && (pods.min ?? 0) > 1 && !workload.partial && ofGpus(shared, context))
      report({
        severity: 'info',
        message: `All ${pods.min} pods share the devices of one ResourceClaim; a resourceClaimTemplateName gives each its own`,
        span: spanOf(shared ?? claim),
      });
    const set = entries(claim).filter((field) => names.includes(keyOf(field)) && isSet(field));
    const [first, second] = set;
    const name = shorten(asText(getIn(claim, 'name')) ?? '', 30);
    if (first !== undefined && second !== undefined) {
      report({
        message: `Claim ${name} has both ${keyOf(first)} and ${keyOf(second)}, but only one is allowed: the API server rejects the pod`,
        span: keySpanOf(second),
        fixes: () => set.map((field) => fix(`Remove ${keyOf(field)}`, 'unsafe', removeKey(document, field))),
      });
    } else if (first === undefined && entries(claim).every((field) => ['name', ...names].includes(keyOf(field)))) {
      report({
        message: `Claim ${name} needs resourceClaimName or resourceClaimTemplateName: the API server rejects the pod`,
        span: spanOf(getIn(claim, 'name') ?? claim),
      });
    } else if (isUnused(claim, podSet, context)) {
      report({
        severity: 'warning',
        message: `No container uses claim ${name}: the pod holds its GPU, but no container gets it without resources.claims`,
        span: spanOf(getIn(claim, 'name') ?? claim),
        fixes: () => useByOnly(claim, podSet, document),
      });
    }
  }
}

/** Gives a claim to the pod's only container; of several, only the author knows which uses the device. */
function useByOnly(claim: Cursor, { containers }: PodSet, document: YamlDocument): readonly (Fix | undefined)[] {
  const [only, ...others] = containers;
  const name = asText(getIn(claim, 'name'));
  if (only === undefined || name === undefined || others.length > 0) return [];
  const { at, resources } = only;
  if (getIn(resources, 'claims') !== undefined) return [];
  const edits =
    resources === undefined
      ? insertKey(document, at, 'resources', { claims: [{ name }] })
      : insertKey(document, resources, 'claims', [{ name }]);
  return [fix(`Add claim ${name} to the container`, 'unsafe', edits)];
}

/** Whether a claim of GPUs gives its devices to no container. Network cards and channels may belong to the whole pod. */
function isUnused(claim: Cursor, { pod, containers, inherited }: PodSet, context: PodSetContext): boolean {
  const { workload, crossReferences } = context;
  const name = writtenText(getIn(claim, 'name'));
  // A chart whose values are not lists of containers may add the claims itself.
  const isWritten = isValues(workload) && containers.every(({ at }) => at.node !== pod.node);
  const isWhole =
    (!workload.partial || isWritten) && inherited.length === 0 && containers.some(({ type }) => type === 'app');
  if (name === undefined || !isWhole) return false;
  const claims = containers.map(({ resources }) => getIn(resources, 'claims'));
  if (containers.some(({ at, resources }) => isIncomplete(at) || isIncomplete(resources))) return false;
  if (claims.some((list) => isIncomplete(list) || items(list).some((one) => asText(getIn(one, 'name')) === name)))
    return false;
  const kinds = ['ResourceClaim', 'ResourceClaimTemplate'] as const;
  const source = names.map((key) => writtenText(getIn(claim, key)));
  const [found] = kinds.flatMap((kind, index) => {
    const to = source[index];
    return to === undefined ? [] : (crossReferences.claim(kind, workload.namespace, to) ?? []);
  });
  if (found !== undefined) return found.facts.some(({ requested }) => /\bgpu\b/.test(requested.name));
  const words = [name, ...source].join(' ');
  return /(?:^|[-. ])gpus?(?:[-.\d ]|$)/.test(words) && !/nic|net|rdma|roce|sriov|imex|channel|align/.test(words);
}

/** Whether a claim of the project is for whole GPUs, and not shared by its name. */
function ofGpus(name: Cursor | undefined, { crossReferences, workload }: PodSetContext): boolean {
  const claim = crossReferences.claim('ResourceClaim', workload.namespace, asText(name) ?? '');
  if (claim === undefined || /share/.test(claim.name)) return false;
  return claim.facts.some(({ requested, form }) => requested.kind === 'deviceClass' && form === 'whole');
}

function checkDevices(devices: Cursor, { kind, apiVersion }: Manifest, context: RuleContext): void {
  const { report, document } = context;
  const rejection = `the API server rejects the ${kind}`;
  const requests = items(getIn(devices, 'requests'));
  const known = new Set<string>();
  const nested = !/\/v1(?:beta1|alpha3)$/.test(apiVersion);
  for (const request of requests) {
    if (request.node.kind !== 'map' || isIncomplete(request) || isRepeated(request)) continue;
    const exactly = getIn(request, 'exactly');
    const first = getIn(request, 'firstAvailable');
    if (isSet(exactly) && isSet(first)) {
      report({
        message: `A request must not have both exactly and firstAvailable: ${rejection}`,
        span: keySpanOf(first),
        fixes: () => [first, exactly].map((one) => fix(`Remove ${keyOf(one)}`, 'unsafe', removeKey(document, one))),
      });
    } else if (nested && entries(request).every((field) => keyOf(field) === 'name')) {
      report({ message: `A request needs exactly or firstAvailable: ${rejection}`, span: spanOf(request) });
    }
    for (const device of [exactly ?? request, ...items(first)]) checkCount(device, rejection, context);
    checkName(getIn(request, 'name'), '', known, rejection, context);
    const parent = asText(getIn(request, 'name')) ?? '';
    for (const part of items(first)) checkName(getIn(part, 'name'), `${parent}/`, known, rejection, context);
  }
  if (
    isIncomplete(getIn(devices, 'requests') ?? devices) ||
    requests.some((request) => isUnknown(getIn(request, 'name')))
  )
    return;
  const uses = [...placesAt(devices, 'constraints.*.requests.*'), ...placesAt(devices, 'config.*.requests.*')];
  for (const use of uses) {
    const name = writtenText(use);
    if (name === undefined || known.has(name)) continue;
    report({ message: `No request of the claim is named ${shorten(name, 40)}: ${rejection}`, span: spanOf(use) });
  }
  for (const attribute of placesAt(devices, 'constraints.*.matchAttribute')) {
    const name = writtenText(attribute);
    if (name === undefined || (name.includes('/') && keyProblem(name) === undefined)) continue;
    report({
      message: `matchAttribute needs a domain, such as resource.kubernetes.io/pcieRoot, not ${shorten(name, 40)}: ${rejection}`,
      span: spanOf(attribute),
    });
  }
}

function checkName(
  at: Cursor | undefined,
  prefix: string,
  known: Set<string>,
  rejection: string,
  { report }: RuleContext,
): void {
  const name = writtenText(at);
  if (at === undefined || name === undefined) return;
  const problem = nameProblem(name, dnsLabel);
  if (problem !== undefined) {
    report({ message: `Request name "${shorten(name, 30)}" ${problem}: ${rejection}`, span: spanOf(at) });
  }
  if (known.has(prefix + name)) {
    report({ message: `Two requests are named ${shorten(name, 40)}: ${rejection}`, span: spanOf(at) });
  }
  known.add(prefix + name);
}

function checkCount(device: Cursor, rejection: string, { report, document }: RuleContext): void {
  const mode = getIn(device, 'allocationMode');
  const count = getIn(device, 'count');
  const written = writtenText(mode);
  const number = writtenNumber(count);
  if (mode !== undefined && written !== undefined && !/^(All|ExactCount)$/.test(written)) {
    report({
      message: `allocationMode must be ExactCount or All, not ${shorten(written, 30)}: ${rejection}`,
      span: spanOf(mode),
    });
  } else if (count !== undefined && written === 'All' && number !== undefined && number !== 0) {
    report({
      message: `allocationMode All must not have a count: ${rejection}`,
      span: keySpanOf(count),
      fixes: () => [fix('Remove the count', 'unsafe', removeKey(document, count))],
    });
  } else if (count !== undefined && number !== undefined && number < 0) {
    report({ message: `count must be at least 1, not ${number}: ${rejection}`, span: spanOf(count) });
  }
}
