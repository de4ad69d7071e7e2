import { instanceType, isGpuCountLabel, isGpuLabel, isInstanceTypeLabel } from '../catalog/index.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { wordsOf } from '../command/name-words.ts';
import { countIn } from '../model/count.ts';
import type { PodSet, Selector } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, items, keyOf } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';

/** A requirement that only nodes with accelerators meet. */
export interface GpuNodeRequirement {
  /** In words: `gke-accelerator nvidia-l4`. */
  readonly text: string;
  /** The key. */
  readonly at: Cursor;
  /** The selector, if it is in nodeSelector. */
  readonly selector: Selector | undefined;
}

/** The selector or the required node affinity by which a pod runs only on nodes with accelerators. */
export function gpuNodeRequirement(podSet: PodSet): GpuNodeRequirement | undefined {
  const selector = podSet.selectors.find(meansAccelerator);
  if (selector !== undefined) {
    const text = `${shortKey(selector.key)} ${selector.values[0]?.value ?? ''}`.trim();
    const key = getIn(selector.at, 'key');
    return { text, at: key !== undefined && keyOf(selector.at) === '' ? key : selector.at, selector };
  }
  const key = requiredKey(podSet.pod);
  return key && { text: shortKey(asText(key) ?? ''), at: key, selector: undefined };
}

/** Whether a label with these values is on nodes with accelerators only. */
export function meansAccelerator({ key, values }: Selector): boolean {
  if (values.some(({ at }) => isTemplated(at))) return false;
  const texts = values.map(({ value }) => value);
  if (isInstanceTypeLabel(key))
    return texts.length > 0 && texts.every((one) => (instanceType(one)?.gpu ?? null) !== null);
  // Only nodes with a card have such a label, and the catalog does not know each card's value of it.
  if (isGpuLabel(key)) return texts.length > 0 && texts.every((one) => one !== '' && !off.test(one));
  if (isGpuCountLabel(key)) return texts.length > 0 && texts.every((one) => (countIn(one) ?? 0) > 0);
  if (texts.length === 0 || texts.some((one) => off.test(one))) return false;
  if (marksGpuNode(key)) return true;
  // Labels that projects choose themselves: `node-type: gpu`, `gpu: "true"`, `accelerator: nvidia`.
  const words = wordsOf(key.slice(key.indexOf('/') + 1));
  const isSwitch = texts.every((one) => on.test(one));
  if (isSwitch) return isGpuName(words);
  return texts.every((one) => isGpuName(wordsOf(one)));
}

/** Whether the feature discovery of NVIDIA, AMD or Intel sets a label, with any value but an off one, only on nodes with a card. */
function marksGpuNode(key: string): boolean {
  const domain = key.slice(0, Math.max(0, key.indexOf('/')));
  const name = shortKey(key);
  if (domain === 'feature.node.kubernetes.io') return name === 'amd-gpu' || pciCard.test(name);
  const features = featureLabels[domain];
  return features !== undefined && (features === 'all' || features.includes(/^[^.-]*/.exec(name)?.[0] ?? ''));
}

/** The domains of such labels, each with the first words of their names. */
const featureLabels = table<readonly string[] | 'all'>({
  'nvidia.com': ['gpu', 'mig', 'cuda'],
  'accelerator.nvidia.com': 'all',
  'amd.com': ['gpu'],
  'gpu.intel.com': 'all',
  'intel.feature.node.kubernetes.io': ['gpu'],
});

/**
 * A PCI device of NVIDIA or AMD, or one of Intel with the class of a display: every board has other parts of that vendor.
 * https://github.com/intel/intel-device-plugins-for-kubernetes/tree/main/deployments/nfd
 */
const pciCard = /^pci-(?:(?:\d{4}_)?(?:10de|1002)|03\d\d_8086)\.present$/;
const off = /^(?:false|no|none|0|off|disabled?)$/i;
const on = /^(?:true|yes|1|on|enabled?|present|)$/i;

/** Whether the words of a name say that it has a GPU, and nothing else: `gpu-pool` and `nvidia`, but not `non-gpu` or `cpu-and-gpu`. */
function isGpuName(words: readonly string[]): boolean {
  const lower = words.map((word) => word.toLowerCase());
  return lower.some((word) => gpuWords.has(word)) && !lower.some((word) => otherWords.has(word));
}

const gpuWords = new Set(['gpu', 'gpus', 'nvidia']);
const otherWords = wordSet('no non not without cpu cpus operator driver exporter deploy');

/** A label of nodes with accelerators whose presence every alternative requires. */
function requiredKey(pod: Cursor): Cursor | undefined {
  const required = getIn(pod, 'affinity', 'nodeAffinity', 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = items(getIn(required, 'nodeSelectorTerms')).map((term) =>
    items(getIn(term, 'matchExpressions')).flatMap((expression) => {
      const key = getIn(expression, 'key');
      const text = asText(key) ?? '';
      if (key === undefined || asText(getIn(expression, 'operator')) !== 'Exists') return [];
      return isGpuLabel(text) || isGpuCountLabel(text) || marksGpuNode(text) ? [key] : [];
    }),
  );
  return terms.length > 0 && terms.every((keys) => keys.length > 0) ? terms[0]?.[0] : undefined;
}

function shortKey(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}
