import { lowerQuantity } from '../model/quantity.ts';
import type { Container } from '../model/workload.ts';
import { at, type Cursor, entries, keyOf, keySpanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import { meantMigResource } from './mig-spelling.ts';
import { isWhole } from './quantity-edits.ts';
import { defineRule, type Fix, type PodSetContext } from './rule.ts';

/**
 * The name of a MIG resource is not spelt as the device plugin spells it.
 *
 * ## Why
 *
 * The resource is `nvidia.com/mig-`, the profile in lower case, with a dot: `nvidia.com/mig-1g.10gb`. The `+` of a profile such as
 * `1g.10gb+me` is a dot too; with a plus the API server refuses the name. Another spelling is a resource that no node has.
 *
 * ```yaml invalid
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g-10gb: 1
 * ```
 *
 * ```yaml fixed
 * apiVersion: v1
 * kind: Pod
 * metadata:
 *   name: notebook
 * spec:
 *   containers:
 *     - name: main
 *       image: registry.example/notebook:2.1
 *       resources:
 *         limits:
 *           nvidia.com/mig-1g.10gb: 1
 * ```
 *
 * ## Fix safety
 *
 * Safe: the pod could not run before, and the name means one profile.
 *
 * ## Sources
 *
 * - [NVIDIA/k8s-device-plugin: names of MIG resources](https://github.com/NVIDIA/k8s-device-plugin/blob/main/internal/resource/nvml-mig-device.go)
 */
export default defineRule({
  topic: 'mig',
  severity: 'error',
  container(container, context) {
    const seen = new Set<string>();
    for (const entry of writtenResources(container)) {
      const name = keyOf(entry);
      const meant = meantMigResource(name);
      if (meant === undefined || seen.has(name)) continue;
      seen.add(name);
      const refused = name.includes('+') ? 'the API server refuses the pod' : 'no node has it, the pod stays Pending';
      context.report({
        message: `${name} is spelt ${meant}: ${refused}`,
        span: keySpanOf(entry),
        fixes: () => [rename(container, name, meant, context)],
      });
    }
  },
});

function writtenResources({ resources }: Container): readonly Cursor[] {
  return [...entries(at(resources, 'limits')), ...entries(at(resources, 'requests'))];
}

function rename(container: Container, from: string, to: string, { document }: PodSetContext): Fix | undefined {
  const limit = at(container.resources, 'limits', from);
  if (limit === undefined || !isWhole(lowerQuantity(limit))) return undefined;
  const edits = [];
  for (const entry of writtenResources(container).filter((one) => keyOf(one) === from)) {
    const renamed = entry.shared ? undefined : renameKey(document, entry, to);
    if (renamed === undefined) return undefined;
    edits.push(...renamed);
  }
  return { title: `Rename to ${to}`, safe: !document.template, edits };
}
