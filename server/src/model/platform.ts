import { instanceType, isInstanceTypeLabel, type PlatformFacts, platforms, providerOfLabel } from '../catalog/index.ts';
import type { ModelOptions } from './options.ts';
import type { PodSet } from './workload.ts';

/**
 * The platform that a pod set is written for. `certain`: the set names a label or taint that only this platform has, or the config names the
 * platform. `likely`: the named labels and taints are typical of the platform but exist elsewhere, or the config names only the provider.
 */
export interface FoundPlatform {
  readonly facts: PlatformFacts;
  readonly confidence: 'certain' | 'likely';
}

/**
 * The platform that selectors and tolerations identify with certainty, else the config's platform, else the likely one by labels, instance
 * types and the config's provider; undefined if there is none.
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
  // Labels show that a file is for another cloud than the config's. Self-managed clusters run in any cloud.
  if (configured && (configured.provider === null || providers.every((known) => known === configured.provider)))
    return { facts: configured, confidence: 'certain' };
  const likely = marked('likely');
  if (likely !== undefined) return found(likely, 'likely');
  const usual = commonPlatforms.get(provider ?? options.provider ?? '');
  return usual === undefined ? undefined : found(usual, 'likely');
}

/** Keys of labels and taints. GKE's are the same on Standard and Autopilot, except the node pool, which Autopilot hides. */
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

/** The most common GPU platform of each provider. */
const commonPlatforms: ReadonlyMap<string, string> = new Map([
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

/** The seconds that pods get of the notice before a spot node is reclaimed. GKE reserves half of the notice for system pods. */
export function grantedSeconds({ facts }: FoundPlatform): number | undefined {
  const notice = facts.spotNoticeSeconds ?? undefined;
  return facts.provider === 'gcp' && notice !== undefined ? notice / 2 : notice;
}
