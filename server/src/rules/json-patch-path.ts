import { placesAt } from '../evidence/written.ts';
import { fix } from '../rewrite/fix.ts';
import { spanInScalar } from '../rewrite/word-span.ts';
import { asString, type Cursor, getIn, isTemplated, rootCursor } from '../yaml/cursor.ts';
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
    else if (asString(getIn(at, 'kind')) === 'Kustomization')
      for (const patch of ['patches', 'patchesJson6902'].flatMap((list) => placesAt(at, `${list}.*.patch`)))
        checkPath(patch, context);
  },
});

/** Reports the resource or label at the end of a path, or of each path in a text with operations. */
function checkPath(at: Cursor, { document, report }: DocumentContext): void {
  const value = asString(at) ?? '';
  if (isTemplated(at)) return;
  for (const { path, start } of pathsIn(value)) {
    const found = /\/(?:limits|requests|nodeSelector)\/([\w-]+(?:\.[\w-]+)+\/[\w.-]+)$/.exec(path);
    const name = found?.[1];
    if (name === undefined) continue;
    const end = start + path.length;
    const span = spanInScalar(document, { value, at }, { start: end - name.length, end });
    const escaped = name.replace('/', '~1');
    report({
      message: `A JSON patch reads ${shorten(name, 60)} as two keys: kustomize finds no such path`,
      span,
      fixes: () => [fix(`Write ${escaped}`, 'safe', replacePart(document, at, span, name, escaped))],
    });
  }
}

/** A path, or the values of `path` in a text. A strategic merge patch has no operations, and its paths are those of volumes and probes. */
function pathsIn(text: string): readonly { readonly path: string; readonly start: number }[] {
  if (text.startsWith('/')) return text.length > maxPath ? [] : [{ path: text, start: 0 }];
  if (!/\bop["']?:/.test(text)) return [];
  return [...text.matchAll(/\bpath["']?: *["']?(\/[^\s"',}]{1,1000})/g)].flatMap(({ 0: all, 1: path = '', index }) => [
    { path, start: index + all.length - path.length },
  ]);
}

/** Longer ones are no paths of manifests. */
const maxPath = 1000;
