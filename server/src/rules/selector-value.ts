import { gpus, gpusByLabel, isGpuLabel, labelCandidates } from '../catalog/index.ts';
import { fix } from '../rewrite/fix.ts';
import { isTemplated, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { defineRule } from './rule.ts';

/**
 * A selector names a GPU in a way that no node is labelled.
 *
 * ## Why
 *
 * Label values are compared letter by letter. GKE's H100 is `nvidia-h100-80gb`, and GPU feature discovery writes the product's full name,
 * `NVIDIA-H100-80GB-HBM3`. With a short name, or the name of another form of the card, the pod stays Pending.
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
 * Safe where one value is meant: no node had the other. Where several cards fit, each is offered and none is safe.
 *
 * ## When it is silent
 *
 * For values that are near no known one, labels of your own, and alternatives of which one is right.
 *
 * ## Sources
 *
 * - [Google Kubernetes Engine: GPUs](https://cloud.google.com/kubernetes-engine/docs/concepts/gpus)
 * - [NVIDIA: GPU feature discovery's labels](https://github.com/NVIDIA/k8s-device-plugin/blob/main/docs/gpu-feature-discovery/README.md)
 */
export default defineRule({
  topic: 'placement',
  severity: 'warning',
  podSet({ selectors }, context) {
    for (const { key, values } of selectors) {
      if (!isGpuLabel(key) || values.some(({ value, at }) => isTemplated(at) || gpusByLabel(key, value).length > 0))
        continue;
      for (const { value, at } of values) {
        const near = nearValues(key, value);
        if (near.length === 0) continue;
        const shown = near.slice(0, value.length > 40 ? 1 : 2).join(' or ');
        context.report({
          message: `No node has ${key.slice(key.indexOf('/') + 1)} ${value} (it is ${shown}): the pod stays Pending`,
          span: spanOf(at),
          fixes: () =>
            near.slice(0, 3).map((candidate) => {
              const edits = replaceScalar(context.document, at, candidate);
              return fix(`Select ${candidate}`, near.length === 1 ? 'safe' : 'unsafe', edits);
            }),
        });
      }
    }
  },
});

/** Known values that a value which is surely wrong was meant to be: those of the same card, in the form that it names. */
function nearValues(key: string, value: string): readonly string[] {
  // No label's value is longer.
  if (value.length > 63) return [];
  const known = labelCandidates(key);
  const sameLetters = known.filter((candidate) => candidate.toLowerCase() === value.toLowerCase());
  if (sameLetters.length > 0) return sameLetters;
  const card = cardOf(value);
  if (card === undefined || !isSurelyWrong(key, value)) return [];
  const same = known.filter((candidate) => cardOf(candidate) === card);
  const memory = /\d+gb/i.exec(value)?.[0].toLowerCase();
  const fitting = same.filter(
    (candidate) =>
      (!/sxm/i.test(value) || modelIds(key, candidate).some((id) => id.endsWith('-sxm'))) &&
      (memory === undefined || modelIds(key, candidate).some((id) => id.includes(memory))),
  );
  return fitting.length > 0 ? fitting : same;
}

/** `h100` of NVIDIA-H100-80GB-HBM3, `v5e` of tpu-v5e: the one word that names the card. */
function cardOf(value: string): string | undefined {
  const tpu = /^(?:tpu-)?v(\d)(-lite|litepod|[ep])?/.exec(value.toLowerCase());
  if (tpu !== null) return `v${tpu[1] ?? ''}${/lite/.test(tpu[2] ?? '') ? 'e' : (tpu[2] ?? '')}`;
  const words = value.toLowerCase().split(/[^a-z0-9]+/);
  return words.find((word) => /^(?:[abhlptv]\d{1,3}[gs]?|g[bh]\d{3}|k80)$/.test(word));
}

function modelIds(key: string, value: string): readonly string[] {
  return gpusByLabel(key, value).map(({ id }) => id);
}

/**
 * Platforms add values before the catalogue does. So a value counts as wrong only where its form is never used: on GKE anything else
 * for a known card, elsewhere a bare name of the card, or a form factor that the card does not come in.
 */
function isSurelyWrong(key: string, value: string): boolean {
  if (key === 'cloud.google.com/gke-accelerator') return !/vws|shared|mig/i.test(value);
  if (key === 'cloud.google.com/gke-tpu-accelerator') return /^(?:tpu-)?v\d[ep]?(?:-?litepod)?$/i.test(value);
  if (key === 'nvidia.com/gpu.product') {
    return (
      /^(?:nvidia-)?(?:tesla-)?[abhltv]\d{1,3}[gs]?(?:-\d+gb)?$/i.test(value) ||
      /h[12]00.*sxm|a100.*sxm[^4]/i.test(value)
    );
  }
  return /^nvidia-[a-z]\d+[a-z]?$/i.test(value) && gpus.size > 0;
}
