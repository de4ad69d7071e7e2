import type { DocumentAnalysis } from '../../server/src/analysis.ts';
import { acceleratorResource } from '../../server/src/catalog/index.ts';
import { findSingleDevice } from '../../server/src/command/parallelism.ts';
import { processInput, serverOfImage } from '../../server/src/evidence/launch.ts';
import type { AcceleratorRequest, Container, Manifest, PodSet, Workload } from '../../server/src/model/workload.ts';
import { type Cursor, getIn } from '../../server/src/yaml/cursor.ts';
import { type Path, pathOf } from './steps.ts';

/** A container that asks for whole devices, or for slices of them, in so many words. */
export interface ContainerSite {
  readonly root: Cursor;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly container: Container;
  readonly request: AcceleratorRequest;
  readonly resource: string;
  readonly vendor: string;
  readonly count: number;
  /** Where the container stands, and where its `resources` do. */
  readonly path: Path;
  readonly resources: Path;
  /** It says what it requests, beside its limit. */
  readonly requested: boolean;
  /** An item of `containers`, and no set of resources of a custom kind. */
  readonly listed: boolean;
}

/** Pods with accelerators. */
export interface PodSite {
  readonly root: Cursor;
  readonly workload: Workload;
  readonly podSet: PodSet;
  readonly pod: Path;
  /** The first container that asks. */
  readonly first: ContainerSite;
}

/** Containers with a plain count of one accelerator. */
export function containerSites({ workloads, document }: DocumentAnalysis): readonly ContainerSite[] {
  const own = workloads.filter(({ manifest }) => isInDocument(manifest.root, document));
  return own.flatMap((workload) =>
    workload.podSets.flatMap((podSet) =>
      podSet.containers.flatMap((container) => containerSite(workload, podSet, container) ?? []),
    ),
  );
}

/** Sets of pods with such a container, where the pod is written as Kubernetes writes pods. */
export function podSites(analysis: DocumentAnalysis): readonly PodSite[] {
  const sites = containerSites(analysis);
  const pods = new Map<PodSet, PodSite>();
  for (const first of sites) {
    const { podSet, workload, root } = first;
    if (podSet.pod.shared || pods.has(podSet) || !first.listed || podSet.pod.node.kind !== 'map') continue;
    pods.set(podSet, { root, workload, podSet, pod: pathOf(podSet.pod), first });
  }
  return [...pods.values()];
}

/** Objects of some kinds, with the way to each (an item of a List has one). */
export function manifestsOf(
  { manifests, document }: DocumentAnalysis,
  ...kinds: readonly string[]
): readonly { readonly manifest: Manifest; readonly root: Cursor; readonly path: Path }[] {
  return manifests
    .filter(({ kind, root }) => kinds.includes(kind) && isInDocument(root, document))
    .map((manifest) => ({ manifest, root: documentRoot(manifest.root), path: pathOf(manifest.root) }));
}

/** The pod's object and its accelerators are its own: not judged by what they leave out. */
export function isWhole({ partial, role }: Workload): boolean {
  return !partial && role !== 'definition' && role !== 'infrastructure';
}

/** A model over several devices: another rule's, once these are slices. */
export function splitsModel({ container: { command, args, env } }: ContainerSite): boolean {
  const words = [...command, ...args].map(({ value }) => value).concat(env.map(({ name }) => name));
  return /tensor.parallel|\btp\b|num.shard|pipeline.parallel/i.test(words.join(' '));
}

/** A model server that would leave further devices idle, which is another rule's. */
export function usesOneDevice({ podSet, container }: Pick<ContainerSite, 'podSet' | 'container'>): boolean {
  return (
    podSet.sharding?.devices === 1 || findSingleDevice(processInput(container), serverOfImage(container)) !== undefined
  );
}

function containerSite(workload: Workload, podSet: PodSet, container: Container): ContainerSite | undefined {
  const asking = container.accelerators.filter(({ form }) => form === 'whole' || form === 'mig' || form === 'shared');
  const [request, other] = asking;
  if (request === undefined || other !== undefined || container.accelerators.length > 1) return undefined;
  const { limit, resource, count } = request;
  const vendor = acceleratorResource(resource)?.vendor;
  const { resources } = container;
  if (limit === undefined || limit.at.shared || limit.templated || count === null || count < 1) return undefined;
  if (resources === undefined || vendor == null || getIn(resources, 'limits', resource) === undefined) return undefined;
  return {
    root: documentRoot(container.at),
    workload,
    podSet,
    container,
    request,
    resource,
    vendor,
    count,
    path: pathOf(container.at),
    resources: pathOf(resources),
    requested: request.request !== undefined,
    listed: /^(containers|initContainers)$/.test(String(container.at.parent?.step)),
  };
}

/** Paths lead only to the document's own nodes, not to those of texts in it. */
function isInDocument(cursor: Cursor, { root }: DocumentAnalysis['document']): boolean {
  return documentRoot(cursor).node === root;
}

function documentRoot(cursor: Cursor): Cursor {
  return cursor.parent === undefined ? cursor : documentRoot(cursor.parent);
}
