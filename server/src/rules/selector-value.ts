import {
  gpusByLabel,
  gpusNamed,
  isGpuLabel,
  isInstanceTypeLabel,
  providerName,
  providerOfLabel,
} from '../catalog/index.ts';
import { hasNone } from '../catalog/offered-gpus.ts';
import { isSlip } from '../catalog/spelling.ts';
import { isSameWord, listedMeant, partMeant } from '../evidence/listed-labels.ts';
import {
  deadAlternatives,
  isOldName,
  machinesMeant,
  meantLabel,
  meantValues,
  productLabel,
} from '../evidence/meant-labels.ts';
import { placesAt } from '../evidence/written.ts';
import { groupOf } from '../model/manifest.ts';
import { clusterWords } from '../model/nodes-of-others.ts';
import type { Selector } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import {
  asText,
  type Cursor,
  getIn,
  isIncomplete,
  isTemplated,
  items,
  keyOf,
  keySpanOf,
  type Located,
  spanOf,
} from '../yaml/cursor.ts';
import { renameKey, replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { table } from '../yaml/table.ts';
import { defineRule, type RuleContext } from './rule.ts';

/**
 * A node selector with a GPU name that no node label has, or with a misspelled label.
 *
 * ## Why
 *
 * Label values must match exactly. GKE's H100 is `nvidia-h100-80gb`, and GPU feature discovery writes the full product name,
 * `NVIDIA-H100-80GB-HBM3`. With a short name, the name of another form factor, or a label such as `nvidia.com/gpu-product`, the pod stays Pending.
 * With `NotIn`, such a value excludes nothing, and the pod can start on the nodes that it should avoid. The same is true of GPU names and instance families
 * in Karpenter's pools: `p4` is neither `p4d` nor `p4de`. Capacity types, architectures, manufacturers and sharing strategies are fixed words.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   nodeSelector:
 *     cloud.google.com/gke-accelerator: nvidia-t4
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
 *     cloud.google.com/gke-accelerator: nvidia-tesla-t4
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
 * Safe if the only known value that fits differs in nothing but case and separators: no node has the written one. Another value is unsafe: the pod
 * starts, and its GPUs cost money. So is another label: someone may have added the written one to the nodes. In `NotIn`, every fix is unsafe: the pod may run on the excluded nodes now.
 *
 * ## When it is silent
 *
 * For values unlike any known one, for custom labels, and if one of several alternatives of a pod is correct (for the model that the driver reports, the others are information). A GPU that the label's cloud
 * has never offered is reported anyway, unless it is so new that the cloud may add it. For the newest generations of instances, which get
 * families before they are known here.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: GPUs](https://cloud.google.com/kubernetes-engine/docs/concepts/gpus)
 * - [NVIDIA: labels of GPU feature discovery](https://github.com/NVIDIA/k8s-device-plugin/blob/main/docs/gpu-feature-discovery/README.md)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  manifest({ apiVersion, kind, root }, context) {
    const path = volumePaths[kind];
    if (path !== undefined) {
      for (const place of placesAt(root, `${path}.required.nodeSelectorTerms.*.matchExpressions.*.key`)) {
        checkKey({ key: asText(place) ?? '', values: [] }, place, false, 'No node can mount the volume', context);
      }
    }
    for (const at of (labelPaths[kind] ?? []).flatMap((labels) => placesAt(root, labels))) {
      if (isIncomplete(at.parent)) continue;
      const written = { value: asText(at) ?? '', at };
      if (isGpuLabel(keyOf(at))) checkValue(keyOf(at), written, 'selects', context);
      checkMachine(keyOf(at), written, 'The pod stays Pending', context);
    }
    for (const at of (machinePaths[`${groupOf(apiVersion)}/${kind}`] ?? []).flatMap((types) => placesAt(root, types)))
      checkMachine(instanceTypeLabel, { value: asText(at) ?? '', at }, 'No node starts', context);
    for (const [path, label] of cardPaths[`${groupOf(apiVersion)}/${kind}`] ?? [])
      for (const at of placesAt(root, path)) checkValue(label, { value: asText(at) ?? '', at }, 'starts', context);
    const pool = groupOf(apiVersion) === 'karpenter.sh' ? poolPaths[kind] : undefined;
    if (pool === undefined) return;
    for (const requirement of placesAt(root, `${pool}.requirements.*`)) checkPool(requirement, context);
  },
  podSet({ selectors, avoided, accelerators }, context) {
    for (const { key, values } of avoided) {
      for (const value of isGpuLabel(key) ? values : []) checkValue(key, value, 'excludes', context);
      for (const value of values) checkMachine(key, value, 'The value excludes no node', context);
    }
    for (const selector of selectors) {
      const { key, values, at, from } = selector;
      if (accelerators.length > 0 && checkLive(selector, context)) continue;
      const place = from === 'nodeSelector' ? at : getIn(at, 'key');
      if (place !== undefined) checkKey(selector, place, from === 'nodeSelector', 'The pod stays Pending', context);
      for (const value of values) checkListed(key, value, 'The pod stays Pending', context);
      for (const value of values) checkPart(key, value, 'The pod stays Pending', context);
      // One of several machines may be correct.
      if (values.every(({ value, at }) => !isTemplated(at) && machinesMeant(key, value).length > 0))
        for (const value of values) checkMachine(key, value, 'The pod stays Pending', context);
      if (!isGpuLabel(key) || values.some(({ at }) => isTemplated(at))) continue;
      if (values.some(({ value }) => gpusByLabel(key, value).length > 0)) {
        for (const value of deadAlternatives(key, values)) checkValue(key, value, 'offers', context);
        continue;
      }
      // One of several alternatives may be correct.
      if (key === productLabel && values.some(({ value }) => meantValues(key, value).length === 0)) continue;
      for (const value of values) checkValue(key, value, 'selects', context);
    }
  },
});

/** Reports a value that is certainly wrong. */
function checkValue(
  key: string,
  { value, at }: Located<string>,
  use: 'selects' | 'offers' | 'excludes' | 'starts',
  context: RuleContext,
): void {
  const candidates = isTemplated(at) || gpusByLabel(key, value).length > 0 ? [] : meantValues(key, value);
  if (candidates.length === 0) {
    if (use === 'selects' && !isTemplated(at)) checkOffer(key, { value, at }, context);
    return;
  }
  const shown = candidates.slice(0, value.length > 40 ? 1 : 2).join(' or ');
  const consequence = consequences[use];
  const rest = `${value}; did you mean ${shown}? ${consequence}`;
  const isOld = isOldName(key, value, candidates);
  context.report({
    severity: isOld || use === 'offers' ? 'info' : 'warning',
    message: isOld
      ? `Current drivers name the card ${shown}, not ${value}: ${consequence.replace('The', 'the')} if no node has an old driver`
      : unlabeled(key, rest),
    span: spanOf(at),
    fixes: () =>
      candidates.slice(0, 3).map((candidate) => {
        const edits = replaceScalar(context.document, at, candidate);
        if (use === 'excludes') return fix(`Exclude ${candidate}`, 'unsafe', edits);
        // Another name can start a pod that nobody pays for while it is Pending.
        const isSafe = candidates.length === 1 && use === 'selects' && isSameWord(value, candidate);
        return fix(`Select ${candidate}`, isSafe ? 'safe' : 'unsafe', edits);
      }),
  });
}

/** Names the whole label, unless the message would be too long. */
function unlabeled(key: string, rest: string): string {
  const message = `No node is labeled ${key} ${rest}`;
  return message.length <= 160 ? message : `No node is labeled ${key.slice(key.indexOf('/') + 1)} ${rest}`;
}

/** Reports a GPU that the cloud of the label does not have. */
function checkOffer(key: string, { value, at }: Located<string>, context: RuleContext): void {
  const provider = providerOfLabel(key);
  const named = provider === null || gpusByLabel(key, value).length > 0 ? [] : gpusNamed(value, true);
  if (provider === null || !hasNone(provider, named)) return;
  const rest = `${shorten(value, 30)}: ${providerName(provider)} has no ${named[0]?.name ?? ''}. The pod stays Pending`;
  context.report({ message: unlabeled(key, rest), span: spanOf(at) });
}

/** The labels of nodes in objects from which pods get their selectors. */
const labelPaths = table<readonly string[]>({
  ResourceFlavor: ['spec.nodeLabels.*'],
  HardwareProfile: ['spec.nodeSelector.*', 'spec.scheduling.node.nodeSelector.*'],
});

/** The instance types of objects that start nodes. */
const machinePaths = table<readonly string[]>({
  'kaito.sh/Workspace': ['resource.instanceType'],
  'eksctl.io/ClusterConfig': ['nodeGroups', 'managedNodeGroups'].flatMap((groups) => [
    `${groups}.*.instanceType`,
    `${groups}.*.instanceTypes.*`,
    `${groups}.*.instancesDistribution.instanceTypes.*`,
  ]),
});

/** The cards of objects that start nodes, with the label whose values name them. */
const cardPaths = table<readonly (readonly [path: string, label: string])[]>({
  'cloud.google.com/ComputeClass': [
    ['spec.priorities.*.gpu.type', 'cloud.google.com/gke-accelerator'],
    ['spec.priorities.*.tpu.type', 'cloud.google.com/gke-tpu-accelerator'],
  ],
  'container.cnrm.cloud.google.com/ContainerNodePool': [
    ['spec.nodeConfig.guestAccelerator.*.type', 'cloud.google.com/gke-accelerator'],
  ],
});

const instanceTypeLabel = 'node.kubernetes.io/instance-type';

const consequences = {
  selects: 'The pod stays Pending',
  offers: 'The pod never uses such nodes',
  excludes: 'The value excludes no node',
  starts: 'The pool never starts such nodes',
} as const;

/** Reports the machines and GPUs of a Karpenter pool that do not exist. The pool starts the others, so nobody notices. */
function checkPool(requirement: Cursor, context: RuleContext): void {
  const key = asText(getIn(requirement, 'key')) ?? '';
  const consequence = poolConsequences[asText(getIn(requirement, 'operator')) ?? ''];
  const values = items(getIn(requirement, 'values'));
  const place = getIn(requirement, 'key');
  // Karpenter knows all labels of its own domains.
  if (place !== undefined && /^karpenter\./.test(key))
    checkKey({ key, values: [] }, place, false, 'Karpenter rejects the pool', context);
  for (const at of consequence === undefined ? [] : values) {
    const value = asText(at) ?? '';
    checkListed(key, { value, at }, consequence ?? '', context);
    checkPart(key, { value, at }, consequence ?? '', context);
    // The right name next to it does what is meant.
    if (machinesMeant(key, value).some((machine) => values.some((other) => asText(other) === machine))) continue;
    checkMachine(key, { value, at }, consequence ?? '', context);
    // Other labels are what the pool gives its nodes.
    if (!/^karpenter\.[\w.]+\//.test(key) || !isGpuLabel(key)) continue;
    if (values.some((other) => gpusByLabel(key, asText(other) ?? '').length > 0)) continue;
    checkValue(key, { value, at }, asText(getIn(requirement, 'operator')) === 'In' ? 'starts' : 'excludes', context);
  }
}

/** Reports another spelling of a label's only values. */
function checkListed(key: string, { value, at }: Located<string>, consequence: string, context: RuleContext): void {
  const meant = isTemplated(at) ? undefined : listedMeant(key, value);
  if (meant === undefined) return;
  context.report({
    message: unlabeled(key, `${value}; did you mean ${meant}? ${consequence}`),
    span: spanOf(at),
    fixes: () => [fix(`Select ${meant}`, 'unsafe', replaceScalar(context.document, at, meant))],
  });
}

/** Reports an instance type, or its family, in a label that only holds a part of it. */
function checkPart(key: string, { value, at }: Located<string>, consequence: string, context: RuleContext): void {
  const { what, meant = '', label = '' } = (isTemplated(at) ? undefined : partMeant(key, value)) ?? {};
  if (what === undefined) return;
  context.report({
    message: `There is no instance ${what} ${shorten(value, 30)}; did you mean ${label}${meant}? ${consequence}`,
    span: spanOf(at),
    fixes: () => (label ? [] : [fix(`Use ${what} ${meant}`, 'unsafe', replaceScalar(context.document, at, meant))]),
  });
}

const poolConsequences = table<string>({
  In: 'The pool never starts such nodes',
  NotIn: 'The value excludes no node',
});

/** Reports a misspelled instance type, or a value that lacks the end of a family's name. */
function checkMachine(key: string, { value, at }: Located<string>, consequence: string, context: RuleContext): void {
  const meant = isTemplated(at) ? [] : machinesMeant(key, value);
  if (meant.length === 0) return;
  const what = isInstanceTypeLabel(key) ? 'type' : 'family';
  context.report({
    message: `There is no instance ${what} ${shorten(value, 30)}; did you mean ${meant.slice(0, 2).join(' or ')}? ${consequence}`,
    span: spanOf(at),
    fixes: () =>
      meant
        .slice(0, 3)
        .map((machine) => fix(`Use ${what} ${machine}`, 'unsafe', replaceScalar(context.document, at, machine))),
  });
}

/** Reports a value that no node of the connected cluster has. True if the cluster decides about the value. */
function checkLive({ key, values }: Selector, context: RuleContext): boolean {
  const live = values.some(({ at }) => isTemplated(at)) ? undefined : context.crossReferences.liveValues(key);
  const [first] = values;
  if (live === undefined || live.values.length === 0 || first === undefined) return false;
  if (values.some(({ value }) => live.values.includes(value))) return true;
  const meant = live.values.filter((value) => isSlip(first.value, value) || isSameWord(first.value, value));
  if (meant.length === 0 && !isGpuLabel(key)) return false;
  const [shown = ''] = meant.length > 0 ? meant : live.values;
  const more = meant.length > 0 || live.values.length === 1 ? '' : ` and ${live.values.length - 1} more`;
  const hint = meant.length > 0 ? `did you mean ${shorten(shown, 30)}?` : `it has ${shorten(shown, 30)}${more}.`;
  const rest = `${shorten(first.value, 30)} (${clusterWords(live.cluster, live.asOf)}); ${hint} The pod stays Pending`;
  context.report({
    // A pool may have no nodes at the moment.
    severity: meant.length > 0 ? 'warning' : 'info',
    message: unlabeled(key, rest),
    span: spanOf(first.at),
    fixes: () =>
      meant
        .slice(0, 3)
        .map((value) => fix(`Select ${value}`, 'unsafe', replaceScalar(context.document, first.at, value))),
  });
  return true;
}

/** Reports a label that is one slip away from a known one. A label of a nodeSelector is itself a key. */
function checkKey({ key, values }: Key, place: Cursor, isKey: boolean, then: string, context: RuleContext): void {
  const { meant, mayExist } = (isTemplated(place) ? undefined : meantLabel(key, values)) ?? {};
  if (meant === undefined) return;
  context.report({
    severity: mayExist === true ? 'info' : 'warning',
    message: `No node has the label ${key} by default; did you mean ${meant}? ${then}`,
    span: isKey ? keySpanOf(place) : spanOf(place),
    fixes: () => {
      const edits = isKey ? renameKey(context.document, place, meant) : replaceScalar(context.document, place, meant);
      return [fix(`Rename the label to ${meant}`, 'unsafe', edits)];
    },
  });
}

type Key = Pick<Selector, 'key' | 'values'>;

/** The required node affinity of objects without pods. */
const volumePaths = table<string>({
  PersistentVolume: 'spec.nodeAffinity',
  LocalModelNodeGroup: 'spec.persistentVolumeSpec.nodeAffinity',
});

/** What holds the requirements of Karpenter's pools. */
const poolPaths = table<string>({ NodeClaim: 'spec', NodePool: 'spec.template.spec', Provisioner: 'spec' });
