import { readFlags } from '../command/flags.ts';
import { allCommands, baseName } from '../command/shell.ts';
import { splitNames } from '../evidence/nested-resources.ts';
import { placesAt } from '../evidence/written.ts';
import { inlineValues } from '../model/inline-values.ts';
import { commandLineOf } from '../model/process-input.ts';
import { mayBeValues } from '../model/values.ts';
import { fix } from '../rewrite/fix.ts';
import { spanOfWords } from '../rewrite/word-span.ts';
import { asString, type Cursor, getIn, isTemplated, keyOf, keySpanOf, rootCursor, spanOf } from '../yaml/cursor.ts';
import { replaceScalar } from '../yaml/edit.ts';
import { shorten } from '../yaml/shorten.ts';
import { type DocumentContext, defineRule } from './rule.ts';

/**
 * A path into a chart's values splits the name of a resource or a label at its dots.
 *
 * ## Why
 *
 * In `--set`, in the parameters of Argo CD and in Flux's `targetPath`, a dot separates keys. `resources.limits.nvidia.com/gpu` means the key
 * `com/gpu` in `nvidia`: the limits then hold a mapping instead of a number, the API server rejects the pods, and the release fails. A dot that
 * belongs to a name is written `\.`, and a shell needs quotes around it, because it removes the backslash itself. In values, the name is one key: a
 * mapping below `nvidia.com` is a warning.
 *
 * ```yaml invalid
 * apiVersion: argoproj.io/v1alpha1
 * kind: Application
 * metadata:
 *   name: chat
 * spec:
 *   project: default
 *   destination: {server: https://kubernetes.default.svc, namespace: chat}
 *   source:
 *     repoURL: https://charts.example
 *     chart: chat
 *     helm:
 *       parameters:
 *         - name: resources.limits.nvidia.com/gpu
 *           value: "1"
 * ```
 *
 * ```yaml fixed
 * apiVersion: argoproj.io/v1alpha1
 * kind: Application
 * metadata:
 *   name: chat
 * spec:
 *   project: default
 *   destination: {server: https://kubernetes.default.svc, namespace: chat}
 *   source:
 *     repoURL: https://charts.example
 *     chart: chat
 *     helm:
 *       parameters:
 *         - name: resources.limits.nvidia\.com/gpu
 *           value: "1"
 * ```
 *
 * ## Fix safety
 *
 * Unsafe: the release, which failed, then requests the device.
 *
 * ## When it is silent
 *
 * For paths that do not end with a resource, a node selector or a label, and for templates.
 *
 * ## Sources
 *
 * - [Helm: the format and limitations of --set](https://helm.sh/docs/intro/using_helm/#the-format-and-limitations-of---set)
 * - [Argo CD: Helm parameters](https://argo-cd.readthedocs.io/en/stable/user-guide/helm/#helm-parameters)
 * - [Flux: target path](https://fluxcd.io/flux/components/helm/helmreleases/#values-references)
 */
export default defineRule({
  topic: 'gpu-request',
  severity: 'error',
  document({ root }, context) {
    if (root === null) return;
    const at = rootCursor(root);
    if (asString(getIn(at, 'kind')) === undefined) checkAll(at, ['releases.*.set.*.name'], context);
    if (mayBeValues(at)) checkSplit(at, context);
  },
  manifest(manifest, context) {
    const { root, kind } = manifest;
    for (const { values } of inlineValues(manifest)) checkSplit(values, context);
    const paths = placesOf.get(kind);
    if (paths !== undefined) checkAll(root, paths, context);
  },
  container(container, { document, report }) {
    const lines = [...container.command, ...container.args];
    if (!lines.some(({ value, at }) => value.includes('--set') && value.includes('/') && !isTemplated(at))) return;
    for (const { words } of allCommands(commandLineOf(container).statements)) {
      if (baseName(words[0]?.text ?? '') !== 'helm') continue;
      for (const { name, value, word, valueWord } of readFlags(words)) {
        if (name !== 'set' && name !== 'set-string') continue;
        const found = (value ?? '').split(',').flatMap((one) => splitName(one.split('=')[0] ?? '') ?? [])[0];
        const span = found === undefined ? undefined : spanOfWords(document, lines, [word, valueWord ?? word]);
        if (found !== undefined && span !== undefined) report({ message: messageOf(found), span });
      }
    }
  },
});

/** Reports a name that is split in the values themselves, as a path writes it. */
function checkSplit(values: Cursor, { report }: Pick<DocumentContext, 'report'>): void {
  for (const { at, name } of splitNames(values))
    report({
      severity: 'warning',
      message: `${shorten(name, 50)} is one key: as a mapping below ${shorten(keyOf(at), 30)}, it requests nothing, or the API server rejects the pods`,
      span: keySpanOf(at),
    });
}

const ofArgo = ['source', 'sources.*'].map((source) => `${source}.helm.parameters.*.name`);

/** The fields of objects that have paths into values. */
const placesOf: ReadonlyMap<string, readonly string[]> = new Map([
  ['Application', ofArgo.map((path) => `spec.${path}`)],
  ['ApplicationSet', ofArgo.map((path) => `spec.template.spec.${path}`)],
  ['HelmRelease', ['spec.valuesFrom.*.targetPath']],
]);

function checkAll(root: Cursor, paths: readonly string[], context: DocumentContext): void {
  for (const at of paths.flatMap((path) => placesAt(root, path))) {
    const written = asString(at) ?? '';
    const name = isTemplated(at) ? undefined : splitName(written);
    if (name === undefined) continue;
    const escaped =
      written.slice(0, written.length - name.length) + name.replace(/["']/g, '').replace(/(?<!\\)\./g, '\\.');
    context.report({
      message: messageOf(name),
      span: spanOf(at),
      fixes: () => [fix('Escape the dots', 'unsafe', replaceScalar(context.document, at, escaped))],
    });
  }
}

function messageOf(name: string): string {
  return `The dots of ${shorten(name, 50)} separate keys here: the API server rejects the pods; write \\. for a dot of the name`;
}

/** The name of a resource or a label at the end of a path, if a dot of it is not escaped. */
function splitName(path: string): string | undefined {
  if (path.length > maxPath || !path.includes('/')) return undefined;
  const [, name = ''] =
    /(?:^|\.)(?:limits|requests|nodeSelector|node_selector|matchLabels)\.([^[\]{}=,\s$]+)$/.exec(path) ?? [];
  return domainName.test(name) && /[^\\]\./.test(name) ? name : undefined;
}

/** With a domain before the slash. Helm does not read quotes, so they are part of the name. */
const domainName = /^["']?[\w-]+(?:\\?\.[\w-]+)+\/[\w.\\-]+["']?$/;

/** Longer ones are no paths. */
const maxPath = 500;
