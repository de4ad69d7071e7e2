import { migByResource } from '../catalog/index.ts';
import { lacksLimitOf, likelyLacksLimitOf } from '../evidence/missing-limit.ts';
import { topicOfRequest } from '../evidence/requested-accelerators.ts';
import { keyProblem } from '../model/api-syntax.ts';
import type { AcceleratorRequest, Container, Quantity } from '../model/workload.ts';
import { type Fix, fix, type Safety } from '../rewrite/fix.ts';
import { addLimit, isKnown, isWhole } from '../rewrite/quantities.ts';
import { meantName } from '../rewrite/rename-resource.ts';
import { asNumber, asText, type Cursor, entries, getIn, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { insertKey, replaceScalar } from '../yaml/edit.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * An accelerator is in `requests` but not in `limits`.
 *
 * ## Why
 *
 * Accelerators are extended resources, which cannot be overcommitted: the API server rejects a pod that requests one without a limit
 * ("Limit must be set for non overcommitable resources"). The reverse is fine: without a request, the limit applies to both. An empty limit
 * counts as missing.
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
 *           cpu: "4"
 *           nvidia.com/gpu: 2
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
 *           cpu: "4"
 *           nvidia.com/gpu: 2
 *         limits:
 *           nvidia.com/gpu: 2
 * ```
 *
 * ## When it is silent
 *
 * In patches and definitions, whose limits may be elsewhere (except for training runtimes and TrainJobs, whose resources are complete), and if
 * a template may add limits. In the values of an unknown chart, it is a warning.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [kubernetes/kubernetes#57170](https://github.com/kubernetes/kubernetes/pull/57170)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  container(container, context) {
    for (const accelerator of container.accelerators) {
      const { request, resource } = accelerator;
      // A list or a mapping is no count at all.
      if (request === undefined || request.empty || request.at.node.kind !== 'scalar') continue;
      const isCertain = lacksLimit(accelerator, container, context);
      if (!isCertain && (accelerator.limit !== undefined || !likelyLacksLimitOf(resource, container, context)))
        continue;
      const count = request.templated ? '' : ` (${request.text})`;
      context.report({
        topic: topicOfRequest(resource),
        severity: isCertain ? 'error' : 'warning',
        message: `${resource} has a request${count} but no limit: the API server rejects the pod${isCertain ? '' : `, unless the ${context.workload.byShape ? 'operator' : 'chart'} adds one`}`,
        span: keySpanOf(request.at),
        fixes: () => [copyToLimits(accelerator, container, isCertain ? 'safe' : 'unsafe', context)],
      });
    }
  },
});

function lacksLimit({ limit, resource }: AcceleratorRequest, container: Container, context: PodSetContext): boolean {
  return limit === undefined ? lacksLimitOf(resource, container, context) : limit.empty;
}

/** Whether the name is misspelled, here or in the limits: with a limit of this name, the rejected pod would stay Pending instead. */
function isMisspelled(resource: string, limits: Cursor | undefined): boolean {
  if (/^nvidia(\.com)?\/mig-/i.test(resource) && migByResource(resource).length === 0) return true;
  return entries(limits).some((entry) => /^gpus?$/i.test(keyOf(entry)) || meantName(keyOf(entry)) === resource);
}

function copyToLimits(
  accelerator: AcceleratorRequest,
  container: Container,
  safety: Safety,
  context: PodSetContext,
): Fix | undefined {
  const { request, limit, resource } = accelerator;
  const { resources } = container;
  if (request !== undefined && resources === undefined) return copyToSpawnerLimits(resource, request, context);
  if (request === undefined || resources === undefined || !isKnown(request) || !isWhole(request)) return undefined;
  const { document } = context;
  const limits = getIn(resources, 'limits');
  if (keyProblem(resource) !== undefined || isMisspelled(resource, limits)) return undefined;
  // Keep the type: 2 stays a number, "2" a string.
  const { node } = request.at;
  const number = node.kind === 'scalar' && typeof node.value === 'number';
  const value = number ? asNumber(request.at) : request.text;
  if (value === undefined) return undefined;
  const edits =
    limit === undefined ? addLimit(document, resources, resource, value) : replaceScalar(document, limit.at, value);
  return fix(`Set the limit of ${resource} to ${request.text}`, safety, edits);
}

/** JupyterHub's KubeSpawner has its own keys for both. */
function copyToSpawnerLimits(resource: string, request: Quantity, { document }: PodSetContext): Fix | undefined {
  const guarantees = request.at.parent;
  const value = asNumber(request.at) ?? asText(request.at);
  if (guarantees === undefined || keyOf(guarantees) !== 'extra_resource_guarantees' || value === undefined)
    return undefined;
  const limits = getIn(guarantees.parent, 'extra_resource_limits');
  const edits =
    limits === undefined
      ? insertKey(document, guarantees.parent, 'extra_resource_limits', { [resource]: value })
      : insertKey(document, limits, resource, value);
  return fix(`Set the limit of ${resource} to ${request.text}`, 'safe', edits);
}
