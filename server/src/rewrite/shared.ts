import type { Engine } from '../command/engines.ts';
import type { ModelOptions, SharingOptions } from '../model/options.ts';
import { platformOf } from '../model/platform.ts';
import type { AcceleratorRequest, Container, PodSet } from '../model/workload.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { type Fix, fix } from './fix.ts';
import { memoryPart } from './fractions.ts';
import { isOneWholeGpu } from './mig.ts';
import { renameQuantities } from './quantities.ts';
import { selectNodes } from './select-nodes.ts';

/** How the project's nodes offer shared GPUs. */
export type SharedForm = 'resource' | 'gke-labels';

/** How the nodes of a pod offer shared GPUs: GKE has labels for it. */
export function sharedForm(podSet: PodSet, options: ModelOptions): SharedForm {
  return platformOf(podSet, options)?.facts.provider === 'gcp' ? 'gke-labels' : 'resource';
}

/**
 * Requests a shared GPU instead of a whole one, and a part of its memory for servers that reserve it. Never safe: the pods share its time, and its memory without isolation. Undefined if the
 * config names no sharing or the text cannot be edited without damage.
 * @param form `resource`: NVIDIA's device plugin names a shared GPU `nvidia.com/gpu.shared` (`renameByDefault`); `gke-labels`: node labels
 */
export function rewriteToShared(
  document: YamlDocument,
  request: AcceleratorRequest,
  {
    podSet,
    container,
    engine,
  }: { readonly podSet: PodSet; readonly container: Container; readonly engine: Engine | undefined },
  { strategy, replicas }: SharingOptions,
  form: SharedForm,
): Fix | undefined {
  if ((strategy === null && replicas === null) || !isOneWholeGpu(request)) return undefined;
  const among = replicas === null ? '' : ` with ${replicas - 1} other pod${replicas === 2 ? '' : 's'}`;
  const method = strategy === 'mps' ? 'MPS' : 'time slicing';
  // A script keeps its flags, and shared-memory-unguarded reports them.
  const part =
    engine === undefined || replicas === null ? [] : (memoryPart({ document, container, engine }, 1 / replicas) ?? []);
  if (form === 'gke-labels') {
    const edits = selectNodes(document, podSet, {
      'cloud.google.com/gke-gpu-sharing-strategy': strategy === 'mps' ? 'mps' : 'time-sharing',
      ...(replicas !== null && { 'cloud.google.com/gke-max-shared-clients-per-gpu': String(replicas) }),
    });
    return fix(`Share the GPU${among} (${method})`, 'unsafe', edits, part);
  }
  const edits = renameQuantities(document, request, 'nvidia.com/gpu.shared');
  return fix(`Share the GPU${among} (nvidia.com/gpu.shared, ${method})`, 'unsafe', edits, part);
}
