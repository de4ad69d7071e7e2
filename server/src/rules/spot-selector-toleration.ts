import { aksSpotTaint as taint } from '../catalog/index.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Toleration } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { textsIn } from '../yaml/texts.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Pods select AKS spot nodes and do not tolerate their taint.
 *
 * ## Why
 *
 * AKS taints every spot node with `kubernetes.azure.com/scalesetpriority=spot:NoSchedule`, and adds no toleration to pods. With the
 * selector alone no node takes the pod: it stays Pending.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     kubernetes.azure.com/scalesetpriority: spot
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     kubernetes.azure.com/scalesetpriority: spot
 *   tolerations:
 *     - key: kubernetes.azure.com/scalesetpriority
 *       operator: Equal
 *       value: spot
 *       effect: NoSchedule
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe: the pod selects these nodes and could not run on any.
 *
 * ## When it is silent
 *
 * A toleration without the selector is told as information, unless a pool or an affinity is selected. Silent on other platforms, which put no taint on spot nodes by themselves, in patches, and where a toleration matches every taint.
 *
 * ## Sources
 *
 * - [AKS: spot node pools](https://learn.microsoft.com/azure/aks/spot-node-pool)
 * - [MicrosoftDocs/azure-docs#79968](https://github.com/MicrosoftDocs/azure-docs/issues/79968)
 */
export default defineRule({
  topic: 'spot',
  severity: 'warning',
  podSet(podSet, context) {
    if (context.workload.partial || isIncomplete(podSet.pod) || isIncomplete(getIn(podSet.pod, 'tolerations'))) return;
    const selector = podSet.selectors.find(
      ({ key, values }) => key === taint && values.length > 0 && values.every(({ value }) => value === 'spot'),
    );
    if (selector === undefined) return toleratesAlone(podSet, context);
    if (podSet.tolerations.some(tolerates)) return;
    const key = getIn(selector.at, 'key');
    context.report({
      message: `Selects AKS spot nodes without tolerating their taint ${taint}: the pod stays Pending`,
      span: key !== undefined && keyOf(selector.at) === '' ? key.node.span : keySpanOf(selector.at),
      fixes: () => [tolerate(podSet, context)],
    });
  },
});

/** The toleration lets pods onto spot nodes and does not send them there. Other words on the same label (affinity) may. */
function toleratesAlone(podSet: PodSet, context: PodSetContext): void {
  const { pod, tolerations, selectors } = podSet;
  const { workload, report } = context;
  if (workload.role === 'infrastructure' || workload.role === 'definition' || workload.byShape) return;
  if (!requestsAccelerators(podSet) || selectors.some(({ key }) => key === taint)) return;
  const [first, ...others] = tolerations.filter(({ key, value }) => key?.value === taint && value?.value === 'spot');
  // A pool that is named may be the spot pool.
  if (
    first?.key === undefined ||
    others.length > 0 ||
    selectors.some(({ key }) => /pool|spot|priority|capacity/i.test(key))
  )
    return;
  if ([...textsIn(pod.node)].filter((text) => text.includes(taint)).length > 1) return;
  report({
    severity: 'info',
    message: `Tolerates the taint of AKS spot nodes, but does not select them: the pod may run on any node, at its full price`,
    span: first.key.at.node.span,
  });
}

/** Without a key, Exists tolerates every taint. A templated toleration may be the one. */
function tolerates({ key, value, at: cursor }: Toleration): boolean {
  if (cursor.node.kind !== 'map' || cursor.node.incomplete) return true;
  if (key === undefined || key.at.node.kind !== 'scalar' || key.at.node.templated) return true;
  return key.value === taint && (value === undefined || value.value === 'spot' || value.value === '');
}

function tolerate({ pod }: PodSet, { document }: PodSetContext): Fix | undefined {
  const toleration = { key: taint, operator: 'Equal', value: 'spot', effect: 'NoSchedule' };
  const edits = addItem(document, pod, 'tolerations', toleration, { after: 'nodeSelector' });
  return fix('Tolerate the taint of AKS spot nodes', 'safe', edits);
}
