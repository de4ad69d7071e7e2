import { egressOf, leadsToNames } from '../evidence/policy-egress.ts';
import { suggestsGpus } from '../evidence/scaler-target.ts';
import { groupOf } from '../model/manifest.ts';
import { fix } from '../rewrite/fix.ts';
import { getIn, isUnseen, keySpanOf } from '../yaml/cursor.ts';
import { appendItem } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { defineRule } from './rule.ts';

/**
 * A NetworkPolicy lets GPU pods connect to others, but not look up their addresses.
 *
 * ## Why
 *
 * Names are looked up in DNS, at port 53 of the cluster's name server. A policy with rules for egress blocks everything else, so a pod that may
 * connect to port 443 of any host, but not to port 53, finds none of them: the download of the model fails, and the GPU waits.
 *
 * ```yaml invalid
 * apiVersion: networking.k8s.io/v1
 * kind: NetworkPolicy
 * metadata: {name: chat}
 * spec:
 *   podSelector: {matchLabels: {app: chat}}
 *   policyTypes: [Egress]
 *   egress:
 *     - ports:
 *         - port: 443
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model=Qwen/Qwen3-4B]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ```yaml fixed
 * apiVersion: networking.k8s.io/v1
 * kind: NetworkPolicy
 * metadata: {name: chat}
 * spec:
 *   podSelector: {matchLabels: {app: chat}}
 *   policyTypes: [Egress]
 *   egress:
 *     - ports:
 *         - port: 443
 *     - ports:
 *         - protocol: UDP
 *           port: 53
 *         - protocol: TCP
 *           port: 53
 * ---
 * apiVersion: apps/v1
 * kind: Deployment
 * metadata: {name: chat}
 * spec:
 *   selector: {matchLabels: {app: chat}}
 *   template:
 *     metadata: {labels: {app: chat}}
 *     spec:
 *       containers:
 *         - name: main
 *           image: vllm/vllm-openai:v0.11.0
 *           args: [--model=Qwen/Qwen3-4B]
 *           resources: {limits: {nvidia.com/gpu: 1}}
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the pods may connect to port 53 of any host.
 *
 * ## When it is silent
 *
 * If another policy of the project allows port 53 for these pods, if the project has policies of Cilium or Calico, if a rule has no ports or ports
 * that may include it, for policies that allow nothing, and for rules that name only single addresses. It is information, because a policy in the
 * cluster may allow it.
 *
 * ## Sources
 *
 * - [Kubernetes: Network Policies](https://kubernetes.io/docs/concepts/services-networking/network-policies/)
 * - [Kubernetes: DNS for Services and Pods](https://kubernetes.io/docs/concepts/services-networking/dns-pod-service/)
 */
export default defineRule({
  topic: 'network',
  severity: 'info',
  manifest({ root, kind, apiVersion, namespace }, { crossReferences, document, report }) {
    if (kind !== 'NetworkPolicy' || groupOf(apiVersion) !== 'networking.k8s.io') return;
    const spec = getIn(root, 'spec');
    const egress = getIn(spec, 'egress');
    const found = egressOf(spec);
    if (found === undefined || egress === undefined || found.admitsNames || found.selects === null) return;
    if (!found.rules.some(leadsToNames) || isUnseen(getIn(root, 'metadata', 'namespace'))) return;
    const words = Object.entries(found.selects);
    // A policy for all pods of a namespace is not about GPUs.
    if (words.length === 0) return;
    const selected = crossReferences.keptRunning(namespace, found.selects);
    const holder = selected.find(({ facts }) => (facts.devices ?? 0) > 0);
    const named = selected.length > 0 ? undefined : words.map(([, value]) => value).find(suggestsGpus);
    const labels = holder?.facts.labels ?? (named === undefined ? undefined : found.selects);
    if (labels === undefined || crossReferences.resolvesNames(namespace, labels)) return;
    report({
      message: `The policy blocks DNS (port 53) for ${shorten(holder?.name ?? named ?? '', 40)}: its pods cannot look up the hosts that the policy allows`,
      span: keySpanOf(egress),
      fixes: () => [
        fix(
          'Allow port 53 for DNS',
          'unsafe',
          appendItem(document, egress, {
            ports: [
              { protocol: 'UDP', port: 53 },
              { protocol: 'TCP', port: 53 },
            ],
          }),
        ),
      ],
    });
  },
});
