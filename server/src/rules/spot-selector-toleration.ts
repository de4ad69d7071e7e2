import { aksSpotTaint as taint } from '../catalog/index.ts';
import { requestsAccelerators } from '../model/accelerators.ts';
import type { PodSet, Toleration } from '../model/workload.ts';
import { addItem } from '../rewrite/add-item.ts';
import { type Fix, fix } from '../rewrite/fix.ts';
import { getIn, isIncomplete, isTemplated, isUnseen, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { textsIn } from '../yaml/texts.ts';
import { defineRule, type PodSetContext } from './rule.ts';

/**
 * Pods select AKS spot nodes but do not tolerate their taint.
 *
 * ## Why
 *
 * AKS taints every spot node with `kubernetes.azure.com/scalesetpriority=spot:NoSchedule` and adds no toleration to pods. With the
 * selector alone, the pod fits no node and stays Pending.
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
 * Safe: the pod selects these nodes and could not run on any of them.
 *
 * ## When it is silent
 *
 * A toleration without the selector is reported as information, unless the pod selects a pool or names the label in an affinity. The rule
 * is silent on other platforms, which do not taint spot nodes by themselves, in patches, and with a toleration that matches every taint.
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
    if (selector === undefined) return checkLoneToleration(podSet, context);
    if (podSet.tolerations.some(tolerates) || isUnseen(getIn(podSet.pod, 'tolerations'))) return;
    const key = getIn(selector.at, 'key');
    context.report({
      message: `The pod selects AKS spot nodes but does not tolerate their taint ${taint}: it stays Pending`,
      span: key !== undefined && keyOf(selector.at) === '' ? key.node.span : keySpanOf(selector.at),
      fixes: () => [tolerate(podSet, context)],
    });
  },
});

/** A toleration allows spot nodes but does not select them. An affinity on the same label may. */
function checkLoneToleration(podSet: PodSet, context: PodSetContext): void {
  const { pod, tolerations, selectors } = podSet;
  const { workload, report } = context;
  if (workload.role === 'infrastructure' || workload.role === 'definition' || workload.byShape) return;
  if (!requestsAccelerators(podSet) || selectors.some(({ key }) => key === taint) || toleratesOutside(podSet)) return;
  const [first, ...others] = tolerations.filter(({ key, value }) => key?.value === taint && value?.value === 'spot');
  // The selected pool may be the spot pool.
  if (
    first?.key === undefined ||
    others.length > 0 ||
    selectors.some(({ key }) => /pool|spot|priority|capacity/i.test(key))
  )
    return;
  if ([...textsIn(pod.node)].filter((text) => text.includes(taint)).length > 1) return;
  report({
    severity: 'info',
    message:
      'The pod tolerates the taint of AKS spot nodes but does not select them: it may run on any node, at full price',
    span: first.key.at.node.span,
  });
}

/** Without a key, Exists tolerates every taint. A templated toleration may match. */
function tolerates({ key, value, at: cursor }: Toleration): boolean {
  if (cursor.node.kind !== 'map' || cursor.node.incomplete) return true;
  if (key === undefined || key.at.node.kind !== 'scalar' || key.at.node.templated) return true;
  return (
    key.value === taint &&
    (value === undefined || isTemplated(value.at) || value.value === 'spot' || value.value === '')
  );
}

/** Whether the tolerations are those of a whole workflow, which the template's own ones would replace. */
function toleratesOutside({ pod, tolerations }: PodSet): boolean {
  return tolerations.length > 0 && getIn(pod, 'tolerations') === undefined;
}

function tolerate(podSet: PodSet, { document }: PodSetContext): Fix | undefined {
  const { pod } = podSet;
  if (toleratesOutside(podSet)) return undefined;
  const toleration = { key: taint, operator: 'Equal', value: 'spot', effect: 'NoSchedule' };
  const edits = addItem(document, pod, 'tolerations', toleration, { after: 'nodeSelector' });
  return fix('Add a toleration for AKS spot nodes', 'safe', edits);
}
