import { placesAt } from '../evidence/written.ts';
import { fix } from '../rewrite/fix.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { asString, type Cursor, isTemplated, rootCursor } from '../yaml/cursor.ts';
import { replacePart } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * A JSON patch names a resource or a label with a plain slash.
 *
 * ## Why
 *
 * In the path of a JSON patch, a slash separates keys. `limits/nvidia.com/gpu` means the key `gpu` in `nvidia.com`, which no container has:
 * kustomize stops with an error. A slash that belongs to a key is written `~1`.
 *
 * ```yaml invalid
 * apiVersion: kustomize.config.k8s.io/v1beta1
 * kind: Kustomization
 * resources: [deployment.yaml]
 * patches:
 *   - target: {kind: Deployment}
 *     patch: |-
 *       - op: replace
 *         path: /spec/template/spec/containers/0/resources/limits/nvidia.com/gpu
 *         value: 2
 * ```
 *
 * ```yaml fixed
 * apiVersion: kustomize.config.k8s.io/v1beta1
 * kind: Kustomization
 * resources: [deployment.yaml]
 * patches:
 *   - target: {kind: Deployment}
 *     patch: |-
 *       - op: replace
 *         path: /spec/template/spec/containers/0/resources/limits/nvidia.com~1gpu
 *         value: 2
 * ```
 *
 * ## When it is silent
 *
 * For other paths, and for templates.
 *
 * ## Sources
 *
 * - [RFC 6901: JSON Pointer](https://www.rfc-editor.org/rfc/rfc6901#section-3)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  document({ root }, context) {
    if (root === null) return;
    const at = rootCursor(root);
    if (root.kind === 'seq') for (const path of placesAt(at, '*.path')) checkPath(path, context);
    else if (asString(placesAt(at, 'kind')[0]) === 'Kustomization')
      for (const patch of ['patches', 'patchesJson6902'].flatMap((list) => placesAt(at, `${list}.*.patch`)))
        checkPath(patch, context);
  },
});

/** Reports each resource or label of a path, or of the paths in a text. */
function checkPath(at: Cursor, { document, report }: DocumentContext): void {
  const value = asString(at) ?? '';
  if (isTemplated(at)) return;
  for (const { 0: name, index } of value.matchAll(
    /(?<=(?:^|path: *["']?)\/\S*\/(?:limits|requests|nodeSelector)\/)[\w-]+(?:\.[\w-]+)+\/[\w.-]+/g,
  )) {
    const span = spanInScalar(document, { value, at }, { start: index, end: index + name.length });
    const escaped = name.replace('/', '~1');
    report({
      message: `${shorten(name, 60)} is two keys in a JSON patch: kustomize finds no such path`,
      span,
      fixes: () => [fix(`Write ${escaped}`, 'safe', replacePart(document, at, span, name, escaped))],
    });
  }
}
