import { lowerQuantity } from '../model/quantity.ts';
import type { Container } from '../model/workload.ts';
import { at, type Cursor, entries, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { meantResource } from './near-names.ts';
import { isWhole } from './quantity-edits.ts';
import { defineRule, type Fix, type PodSetContext } from './rule.ts';

/**
 * A container asks for an accelerator by a name that no device plugin has.
 *
 * ## Why
 *
 * The API server takes any well-formed name of a resource. No node offers `nvidia.com/gpus` or `nvidia/gpu`, so the pod stays Pending.
 * `gpu` with no domain is refused.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       resources:
 *         limits:
 *           nvidia.com/gpus: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: trainer
 * spec:
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
 * Safe for a misspelt name: the pod could not run before. Unsafe for `gpu` alone, which does not say whose GPU is meant.
 *
 * ## When it is silent
 *
 * For names that are not near a known one (your own device plugin may offer them), and in custom resources that define a plain `gpu`.
 *
 * ## Sources
 *
 * - [Kubernetes: Schedule GPUs](https://kubernetes.io/docs/tasks/manage-gpus/scheduling-gpus/)
 * - [kubernetes/kubernetes#44438](https://github.com/kubernetes/kubernetes/issues/44438)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'warning',
  container(container, context) {
    const seen = new Set<string>();
    for (const entry of writtenResources(container)) {
      const name = keyOf(entry);
      if (seen.has(name)) continue;
      seen.add(name);
      if (/^gpus?$/i.test(name) && isListed(container.at)) {
        context.report({
          severity: 'error',
          message: `Resource ${name} has no domain: the API server refuses the pod (NVIDIA's is nvidia.com/gpu)`,
          span: keySpanOf(entry),
          fixes: () => [rename(container, name, 'nvidia.com/gpu', false, context)],
        });
        continue;
      }
      const meant = meantResource(name);
      if (meant === undefined) continue;
      context.report({
        message: `No device plugin offers ${name} (it is ${meant}): the pod stays Pending`,
        span: keySpanOf(entry),
        fixes: () => [rename(container, name, meant, true, context)],
      });
    }
  },
});

function writtenResources({ resources }: Container): readonly Cursor[] {
  return [...entries(at(resources, 'limits')), ...entries(at(resources, 'requests'))];
}

/** In a pod's list of containers: mappings that stand for one elsewhere have their own names. */
function isListed(container: Cursor): boolean {
  return /^(containers|initContainers)$/.test(String(container.parent?.step));
}

/** Only where the right name makes a request that the API server takes, and is not there already by itself or by another misspelling. */
function rename(
  container: Container,
  from: string,
  to: string,
  safe: boolean,
  { document }: PodSetContext,
): Fix | undefined {
  const written = writtenResources(container).filter((entry) => keyOf(entry) === from);
  const taken = writtenResources(container)
    .map(keyOf)
    .filter((name) => name !== from);
  if (taken.some((name) => name === to || meantResource(name) === to)) return undefined;
  const inLimits = at(container.resources, 'limits', from);
  const texts = new Set(written.map((entry) => lowerQuantity(entry).text));
  if (inLimits === undefined || texts.size > 1 || !isWhole(lowerQuantity(inLimits))) return undefined;
  const edits = [];
  for (const entry of written) {
    const renamed = entry.shared ? undefined : renameKey(document, entry, to);
    if (renamed === undefined) return undefined;
    edits.push(...renamed);
  }
  return { title: `Rename to ${to}`, safe: safe && !document.template, edits };
}
