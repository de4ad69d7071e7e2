import type { ClusterNodeState } from './cluster-index.ts';
import type { Refusal } from './filters.ts';
import type { FitReason } from './fit-question.ts';
import { untolerated } from './tolerations.ts';
import type { FleetPod, NodeSelectorTerm } from './types.ts';

// Why nodes cannot run a pod, in plain words. The scheduler gives the first reason of each node; these add what it is about.

/** The reasons of several nodes, with their numbers, most nodes first. */
export function reasonsOf(
  pod: FleetPod,
  refused: readonly { readonly on: ClusterNodeState; readonly refusal: Refusal }[],
): readonly FitReason[] {
  const reasons = new Map<string, CountedReason>();
  for (const { on, refusal } of refused) {
    for (const words of refusal.reasons) {
      const found = aboutNode(words, pod, on);
      const key = `${words}\n${found.about}`;
      const before = reasons.get(key);
      const most = Math.max(found.free ?? 0, before?.free ?? 0);
      reasons.set(key, {
        words,
        about: found.about,
        ...(found.free === undefined ? {} : { free: most }),
        nodes: (before?.nodes ?? 0) + 1,
        forever: (before?.forever ?? true) && isForever(words, pod, on, refusal),
      });
    }
  }
  return (
    [...reasons.values()]
      .map(({ nodes, words, about, free, forever }) => ({
        nodes,
        words,
        plain:
          free === undefined
            ? about
            : `${about} (free ${amount(words, free)}, requests ${amount(words, requested(words, pod))})`,
        forever,
      }))
      // Nodes of another kind are many, and say the least.
      .sort((a, b) => Number(isWithout(a)) - Number(isWithout(b)) || b.nodes - a.nodes || (a.plain < b.plain ? -1 : 1))
  );
}

const without = 'without ';

function isWithout({ plain }: FitReason): boolean {
  return plain.startsWith(without);
}

interface CountedReason {
  readonly words: string;
  readonly about: string;
  /** The most that one of the nodes has free. */
  readonly free?: number;
  readonly nodes: number;
  readonly forever: boolean;
}

const insufficient = 'Insufficient ';

/** Resources of a node that are short may be short for now, although another is short forever. */
function isForever(words: string, pod: FleetPod, { node }: ClusterNodeState, { forever }: Refusal): boolean {
  if (!words.startsWith(insufficient)) return forever;
  return requested(words, pod) > (node.allocatable.get(words.slice(insufficient.length)) ?? 0);
}

function requested(words: string, { requests }: FleetPod): number {
  return requests.get(words.slice(insufficient.length)) ?? 0;
}

function aboutNode(words: string, pod: FleetPod, on: ClusterNodeState): Pick<CountedReason, 'about' | 'free'> {
  const { node, used } = on;
  if (words.startsWith(insufficient)) {
    const resource = words.slice(insufficient.length);
    if ((node.allocatable.get(resource) ?? 0) === 0) return { about: `${without}${resource}` };
    return { about: words, free: Math.max(0, (node.allocatable.get(resource) ?? 0) - (used.get(resource) ?? 0)) };
  }
  if (words === 'node(s) had untolerated taint(s)') {
    const taint = untolerated(pod.tolerations, node);
    if (taint === undefined) return { about: words };
    if (/^node\.kubernetes\.io\/(?:not-ready|unreachable)$/.test(taint.key)) return { about: 'node not ready' };
    return { about: `untolerated taint {${taint.key}: ${taint.value}}` };
  }
  if (words === "node(s) didn't match Pod's node affinity/selector") return { about: mismatch(pod, on) };
  return { about: plain.get(words) ?? words.replace(/^node\(s\) /, '') };
}

const plain: ReadonlyMap<string, string> = new Map([
  ['node(s) were unschedulable', 'cordoned'],
  ['Too many pods', 'no room for another pod'],
  ["node(s) didn't match the requested node name", 'not the node in nodeName'],
  ["node(s) didn't satisfy plugin(s) [NodeAffinity]", 'not a node in the affinity'],
  ["node(s) didn't have free ports for the requested pod ports", 'hostPort in use'],
  ["node(s) didn't match pod topology spread constraints", 'topologySpreadConstraints would be violated'],
  [
    "node(s) didn't match pod topology spread constraints (missing required label)",
    'without the label of topologySpreadConstraints',
  ],
  ["node(s) didn't match pod affinity rules", 'no pod nearby that podAffinity requires'],
  ["node(s) didn't match pod anti-affinity rules", 'a pod nearby that podAntiAffinity avoids'],
  ["node(s) didn't satisfy existing pods anti-affinity rules", 'a pod there has anti-affinity to this one'],
  ['cannot allocate all claims', 'devices of its claims not available'],
  ['resourceclaim not available on the node', 'its claim is allocated on another node'],
]);

/** `nodeSelector gpu.product H100 (is A100)`: the first label that does not match. */
function mismatch({ nodeSelector, nodeTerms }: FleetPod, { node }: ClusterNodeState): string {
  for (const [key, value] of nodeSelector) {
    const actual = node.labels.get(key);
    if (actual !== value) return `label ${key} is ${actual ?? 'missing'}, not ${value}`;
  }
  const [only, ...others] = nodeTerms ?? [];
  if (only === undefined || others.length > 0) return 'labels do not match the node affinity';
  return requirementOf(only);
}

function requirementOf({ labels }: NodeSelectorTerm): string {
  const [first, ...others] = labels;
  if (first === undefined || others.length > 0) return 'labels do not match the node affinity';
  const shown = first.values.length > 3 ? [...first.values.slice(0, 3), '…'] : first.values;
  return `label ${first.key} is not ${first.operator} ${shown.join(', ')}`.trim();
}

/** `0/24 nodes: 16 untolerated taint {nvidia.com/gpu: present}, 8 Insufficient nvidia.com/gpu (free 2, asks 4)`. */
export function plainWords(nodes: number, reasons: readonly FitReason[]): string {
  const shown = reasons.slice(0, maxReasons).map(({ nodes: count, plain: each }) => `${count} ${each}`);
  const more = reasons.length - shown.length;
  return `0/${nodes} nodes: ${shown.join(', ')}${more > 0 ? ` and ${more} more reasons` : ''}`;
}

const maxReasons = 4;

/** Cores and GiB for people; all others are counts. */
function amount(words: string, value: number): string {
  const resource = words.slice(insufficient.length);
  if (resource === 'cpu') return String(Math.round(value / 100) / 10);
  if (resource !== 'memory' && resource !== 'ephemeral-storage' && !resource.startsWith('hugepages-'))
    return String(value);
  return `${Math.round((value / 2 ** 30) * 10) / 10} GiB`;
}
