import type { ModelOptions, SharingOptions } from '../model/options.ts';
import { platformOf } from '../model/platform.ts';
import type { AcceleratorRequest, PodSet } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Fix, fix } from './fix.ts';
import { isOneWholeGpu } from './mig.ts';
import { renameQuantities } from './quantities.ts';
import { selectNodes } from './select-nodes.ts';

/** What one pod would share a GPU with others by: the project's nodes offer it in one of two ways. */
export type SharedForm = 'resource' | 'gke-labels';

/** How the nodes of a pod offer shares: GKE has labels for it. */
export function sharedForm(podSet: PodSet, options: ModelOptions): SharedForm {
  return platformOf(podSet, options)?.facts.provider === 'gcp' ? 'gke-labels' : 'resource';
}

/**
 * Asks for a part of a GPU that pods take in turns, instead of the whole GPU. Never safe: the pods share its memory without a wall between
 * them, and its time. Undefined where the project does not say that its nodes share GPUs, or the text cannot be edited without damage.
 * @param form NVIDIA's device plugin calls a shared GPU `nvidia.com/gpu.shared` (`renameByDefault`); GKE has labels of the nodes
 */
export function rewriteToShared(
  document: YamlDocument,
  request: AcceleratorRequest,
  podSet: PodSet,
  { strategy, replicas }: SharingOptions,
  form: SharedForm,
): Fix | undefined {
  if ((strategy === null && replicas === null) || !isOneWholeGpu(request)) return undefined;
  const among = replicas === null ? '' : ` with ${replicas - 1} other${replicas === 2 ? '' : 's'}`;
  const way = strategy === 'mps' ? 'MPS' : 'time slicing';
  if (form === 'gke-labels') {
    const edits = selectNodes(document, podSet, {
      'cloud.google.com/gke-gpu-sharing-strategy': strategy === 'mps' ? 'mps' : 'time-sharing',
      ...(replicas !== null && { 'cloud.google.com/gke-max-shared-clients-per-gpu': String(replicas) }),
    });
    return fix(`Share the GPU${among} (${way})`, 'unsafe', edits);
  }
  const edits = renameQuantities(document, request, 'nvidia.com/gpu.shared');
  return fix(`Share the GPU${among} (nvidia.com/gpu.shared, ${way})`, 'unsafe', edits);
}
