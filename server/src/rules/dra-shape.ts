import { isSlip } from '../catalog/spelling.ts';
import { hasAllContainers } from '../evidence/chart-pods.ts';
import { groupOf } from '../model/manifest.ts';
import { clusterWords } from '../model/nodes-of-others.ts';
import type { Manifest, PodSet } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asString,
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  isUnseen,
  items,
  keySpanOf,
  spanOf,
} from '../yaml/cursor.ts';
import { insertKey, removeKey, renameKey, replaceScalar } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule, type PodSetContext, type RuleContext } from './rule.ts';

/**
 * A device claim, or a reference to one, does not match its API version or its kind.
 *
 * ## Why
 *
 * The API of dynamic resource allocation changed on its way to v1. Kubernetes 1.31 removed v1alpha2, with its `resourceClassName`, and the field
 * `source` in a pod's `resourceClaims`: servers without device claims ignore it, and later ones reject the pod. v1beta2 and v1 have the fields
 * of a request under `exactly`,
 * v1beta1 directly in the request. The API server rejects the wrong shape, and a container that names a claim that its pod does not declare.
 *
 * ```yaml invalid
 * apiVersion: resource.k8s.io/v1
 * kind: ResourceClaimTemplate
 * metadata:
 *   name: gpu
 * spec:
 *   spec:
 *     devices:
 *       requests:
 *         - name: gpu
 *           deviceClassName: gpu.nvidia.com
 * ```
 *
 * ```yaml fixed
 * apiVersion: resource.k8s.io/v1
 * kind: ResourceClaimTemplate
 * metadata:
 *   name: gpu
 * spec:
 *   spec:
 *     devices:
 *       requests:
 *         - name: gpu
 *           exactly:
 *             deviceClassName: gpu.nvidia.com
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the object was rejected before and now takes devices.
 *
 * ## Sources
 *
 * - [Kubernetes: dynamic resource allocation](https://kubernetes.io/docs/concepts/scheduling-eviction/dynamic-resource-allocation/)
 * - [kubernetes-sigs/dra-driver-nvidia-gpu#46](https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/46)
 */
export default defineRule({
  topic: 'sharing',
  severity: 'error',
  manifest(manifest, context) {
    if (groupOf(manifest.apiVersion) === 'gpu.resource.nvidia.com') reportClassic(manifest, context);
    if (groupOf(manifest.apiVersion) !== 'resource.k8s.io') return;
    const claim = manifest.kind === 'ResourceClaim';
    if (!claim && manifest.kind !== 'ResourceClaimTemplate') return;
    checkClaim(manifest, claim, context);
  },
  podSet(podSet, context) {
    checkReferences(podSet, context);
    checkNames(podSet, context);
    checkKinds(podSet, context);
  },
});

/** The parameters of classic DRA, which referred to them from claims. */
function reportClassic({ root, kind }: Manifest, { report }: RuleContext): void {
  const version = getIn(root, 'apiVersion');
  if (version === undefined || isTemplated(version) || !/Parameters$/.test(kind)) return;
  report({
    message: `Kubernetes 1.32 and later ignore ${shorten(kind, 40)}: the claim gets no configuration; use config in the ResourceClaim`,
    span: spanOf(version),
  });
}

/** Classes that the connected cluster does not have. Another file may still create one. */
function checkClasses(spec: Cursor | undefined, { crossReferences, document, report }: RuleContext): void {
  const live = crossReferences.liveOffers();
  const known = live?.deviceClasses;
  if (live === undefined || known == null || known.length === 0) return;
  const requests = items(getIn(spec, 'devices', 'requests')).flatMap((request) => [
    request,
    ...[getIn(request, 'exactly') ?? []].flat(),
    ...items(getIn(request, 'firstAvailable')),
  ]);
  for (const request of requests) {
    const at = getIn(request, 'deviceClassName');
    const name = asString(at);
    if (at === undefined || name === undefined || isTemplated(at) || known.includes(name)) continue;
    const meant = known.filter((one) => isSlip(name, one));
    const where = clusterWords(live.cluster, live.asOf);
    const end = meant[0] === undefined ? ': the' : `; did you mean ${shorten(meant[0], 30)}? The`;
    report({
      severity: meant.length > 0 ? 'warning' : 'info',
      message: `No DeviceClass ${shorten(name, 40)} (${where})${end} pod stays Pending`,
      span: spanOf(at),
      fixes: () => meant.map((one) => fix(`Use class ${one}`, 'unsafe', replaceScalar(document, at, one))),
    });
  }
}

function checkClaim({ root, apiVersion, kind }: Manifest, claim: boolean, context: RuleContext): void {
  const outer = getIn(root, 'spec');
  const spec = claim ? outer : getIn(outer, 'spec');
  const version = getIn(root, 'apiVersion');
  if (/\/v1alpha2$/.test(apiVersion) && version !== undefined) {
    context.report({
      message: `Kubernetes 1.31 removed ${apiVersion}: the API server rejects this ${kind}; use resource.k8s.io/v1`,
      span: spanOf(version),
    });
    return;
  }
  const former = getIn(spec, 'resourceClassName');
  if (former !== undefined) {
    context.report({
      message: `${apiVersion} has no resourceClassName: kubectl rejects the ${kind}; request a device with deviceClassName`,
      span: keySpanOf(former),
    });
    return;
  }
  const misplaced = claim ? getIn(outer, 'spec', 'devices') && getIn(outer, 'spec') : getIn(outer, 'devices');
  if (misplaced !== undefined && !isIncomplete(root)) {
    context.report({
      message: claim
        ? 'devices belongs under spec in a ResourceClaim, not under spec.spec: the API server rejects the object'
        : 'devices belongs under spec.spec in a ResourceClaimTemplate, not under spec: the API server rejects the object',
      span: keySpanOf(misplaced),
    });
    return;
  }
  checkClasses(spec, context);
  const nested = /\/v1(beta2)?$/.test(apiVersion);
  if (!nested && !/\/v1(?:beta1|alpha3)$/.test(apiVersion)) return;
  for (const request of items(getIn(spec, 'devices', 'requests'))) {
    const flat = getIn(request, 'deviceClassName');
    const exactly = getIn(request, 'exactly');
    if (isIncomplete(request)) continue;
    if (nested && flat !== undefined && exactly === undefined) {
      context.report({
        message: `deviceClassName belongs under exactly in ${apiVersion}, not in the request: the API server rejects the object`,
        span: keySpanOf(flat),
        fixes: () => [nest(context.document, request, flat)],
      });
    } else if (!nested && exactly !== undefined) {
      context.report({
        message: `exactly requires resource.k8s.io/v1beta2 or later, not ${apiVersion}: the API server rejects the object`,
        span: keySpanOf(exactly),
      });
    }
  }
}

/** Undefined if the request has more fields than its name and class. */
function nest(document: YamlDocument, request: Cursor, flat: Cursor) {
  const name = asString(flat);
  const known =
    request.node.kind === 'map' && request.node.entries.every(({ key }) => /^(name|deviceClassName)$/.test(key));
  if (name === undefined || !known || isTemplated(flat)) return undefined;
  const removed = removeKey(document, flat);
  const added = insertKey(document, request, 'exactly', { deviceClassName: name }, { after: 'name' });
  return fix('Move deviceClassName under exactly', 'unsafe', removed, added);
}

/** Before Kubernetes 1.31, the name of a claim was under `source`. */
function checkReferences({ pod }: PodSet, context: RuleContext): void {
  for (const reference of items(getIn(pod, 'resourceClaims'))) {
    const source = getIn(reference, 'source');
    const name = getIn(source, 'resourceClaimTemplateName') ?? getIn(source, 'resourceClaimName');
    if (source === undefined) continue;
    const key = String(name?.step ?? 'resourceClaimName');
    const value = asText(name);
    context.report({
      message: `Kubernetes 1.31 removed source from resourceClaims: the pod is not created or gets no device; set ${key} directly`,
      span: keySpanOf(source),
      fixes: () => {
        if (value === undefined || isTemplated(name)) return [];
        const only = source.node.kind === 'map' && source.node.entries.length === 1;
        const removed = only ? removeKey(context.document, source) : undefined;
        const added = insertKey(context.document, reference, key, value, { after: 'name' });
        return [fix(`Move ${key} out of source`, 'unsafe', removed, added)];
      },
    });
  }
}

const claimFields = Object.entries({
  resourceClaimName: 'ResourceClaim',
  resourceClaimTemplateName: 'ResourceClaimTemplate',
} as const);

/** The field must be that of the kind: a claim and a template are different objects. */
function checkKinds({ pod }: PodSet, { crossReferences, document, manifest, report }: PodSetContext): void {
  for (const reference of items(getIn(pod, 'resourceClaims'))) {
    for (const [field, kind] of claimFields) {
      const at = getIn(reference, field);
      const name = asString(at);
      const other = claimFields.find(([one]) => one !== field);
      if (at === undefined || name === undefined || isTemplated(at) || other === undefined) continue;
      if (crossReferences.claim(kind, manifest.namespace, name) !== undefined) continue;
      if (crossReferences.claim(other[1], manifest.namespace, name) === undefined) continue;
      report({
        message: `${shorten(name, 40)} is a ${other[1]}, which ${field} does not find: the pod stays Pending; use ${other[0]}`,
        span: keySpanOf(at),
        fixes: () => [fix(`Use ${other[0]}`, 'unsafe', renameKey(document, at, other[0]))],
      });
    }
  }
}

/** A container may name only what its pod declares. */
function checkNames({ pod, containers }: PodSet, context: PodSetContext): void {
  const declared = getIn(pod, 'resourceClaims');
  const isWhole = getIn(pod, 'containers')?.node.kind === 'seq' || hasAllContainers(context.workload);
  if (isIncomplete(pod) || isUnseen(declared) || !isWhole) return;
  const names = items(declared).map((claim) => asText(getIn(claim, 'name')));
  if (items(declared).some((claim) => isTemplated(getIn(claim, 'name')))) return;
  for (const { resources } of containers) {
    for (const claim of items(getIn(resources, 'claims'))) {
      const named = getIn(claim, 'name');
      const name = asText(named);
      if (named === undefined || name === undefined || isTemplated(named) || names.includes(name)) continue;
      context.report({
        message: `Claim ${shorten(name)} is not in the pod's resourceClaims${names.length === 0 ? '' : ` (${shorten(names.join(', '))})`}: the API server rejects the pod`,
        span: spanOf(named),
      });
    }
  }
}
