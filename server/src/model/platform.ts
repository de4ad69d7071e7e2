import { instanceType, isInstanceTypeLabel, type PlatformFacts, platforms, providerOfLabel } from '../catalog/index.ts';
import type { ModelOptions } from './options.ts';
import type { PodSet } from './workload.ts';

/**
 * The platform that a pod set is written for, and how sure that is. `certain`: it names a label or taint that only this platform
 * has, or the config names the platform. `likely`: what it names is found there first, but elsewhere too, or the config tells the
 * provider only.
 */
export interface FoundPlatform {
  readonly facts: PlatformFacts;
  readonly confidence: 'certain' | 'likely';
}

/**
 * The platform that selectors and tolerations tell for certain, then the one that the config names, then what labels, instance types
 * and the config's provider make likely; undefined where nothing does.
 */
export function platformOf(podSet: PodSet, options: ModelOptions): FoundPlatform | undefined {
  const keys = [
    ...podSet.selectors.map(({ key }) => key),
    ...podSet.tolerations.flatMap(({ key }) => (key === undefined ? [] : [key.value])),
  ];
  const marked = (confidence: FoundPlatform['confidence']) =>
    marks.find(([pattern, , sure]) => sure === confidence && keys.some((key) => pattern.test(key)))?.[1];
  const certain = marked('certain');
  if (certain !== undefined) return found(certain, 'certain');
  const types = podSet.selectors.filter(({ key }) => isInstanceTypeLabel(key)).flatMap(({ values }) => values);
  const provider = types.map(({ value }) => instanceType(value)?.provider).find((known) => known !== undefined);
  const configured = platforms.get(options.platform ?? '');
  const providers = [provider ?? null, ...keys.map(providerOfLabel)].filter((known) => known !== null);
  // A file for another cloud than the project's is told by its labels. Clusters of one's own run in any.
  if (configured && (configured.provider === null || providers.every((known) => known === configured.provider)))
    return { facts: configured, confidence: 'certain' };
  const likely = marked('likely');
  if (likely !== undefined) return found(likely, 'likely');
  const usual = usualPlatforms.get(provider ?? options.provider ?? '');
  return usual === undefined ? undefined : found(usual, 'likely');
}

/** Keys of labels and taints. GKE's are the same on Standard and Autopilot, but for the node pool, which Autopilot hides. */
const marks: readonly (readonly [pattern: RegExp, id: string, confidence: FoundPlatform['confidence']])[] = [
  [/^cloud\.google\.com\/gke-nodepool$/, 'gke-standard', 'certain'],
  [/^karpenter\.k8s\.aws\//, 'eks-karpenter', 'certain'],
  [/^eks\.amazonaws\.com\/(instance-|compute-type$)/, 'eks-auto-mode', 'certain'],
  [/^eks\.amazonaws\.com\/(nodegroup|capacityType)$/, 'eks-managed-node-group', 'certain'],
  [/^(kubernetes|karpenter)\.azure\.com\//, 'aks', 'certain'],
  [/^gpu\.nvidia\.com\/(class|model)$/, 'coreweave', 'certain'],
  [/^cloud\.google\.com\//, 'gke-standard', 'likely'],
  [/^agentpool$/, 'aks', 'likely'],
  [/^nvidia\.com\/gpu\.(product|memory|family|count)$/, 'vanilla-gpu-operator', 'likely'],
];

/** Where most pods run of those that name no more than a provider. */
const usualPlatforms: ReadonlyMap<string, string> = new Map([
  ['gcp', 'gke-standard'],
  ['aws', 'eks-karpenter'],
  ['azure', 'aks'],
  ['oci', 'oke'],
  ['coreweave', 'coreweave'],
]);

function found(id: string, confidence: FoundPlatform['confidence']): FoundPlatform | undefined {
  const facts = platforms.get(id);
  return facts && { facts, confidence };
}
