import { misspelledFunctions } from '../evidence/helm-functions.ts';
import { lostAccelerator } from '../evidence/lost-keys.ts';
import { inlineValues, unreadableValues } from '../model/inline-values.ts';
import { doubledIndents } from '../yaml/doubled-indents.ts';
import { type JoinedLine, joinedLines } from '../yaml/joined-lines.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { unreadableActions } from '../yaml/unreadable-actions.ts';
import { defineRule } from './rule.ts';

/**
 * The text is not valid YAML, or not the intended YAML.
 *
 * ## Why
 *
 * No part of an invalid document can be applied. A document with a duplicate key can be read, and kubectl applies it, but only the last
 * value applies: the first one is silently lost. If a GPU request is in the lost part, the pod starts without its GPU, which is an error
 * here; any other duplicate is a warning. Kustomize and some other tools reject both. Without a `---` line between them, a second object
 * overwrites the first.
 *
 * Kubernetes also ignores text that follows a line `...` without `---`, and rejects YAML versions other than 1.1; kubectl rejects all directives.
 *
 * Control characters, such as a form feed from a copied page, make the parser reject the document, though editors do not show them. U+2028
 * and similar characters end a line, and with it a comment.
 *
 * A template of a chart that looks up `.Values.a.b` fails to render if the chart's values have no `a`. It is a **warning**, because a release
 * may set it.
 *
 * In a template, trim markers on both sides (`{{- if … -}}`) also remove the line breaks around it: the next key then continues the line above.
 *
 * `indent` after spaces indents only the first line twice.
 *
 * Helm reads no file of a chart with a path such as `.Values.gpu-pool` in a template: such keys need `index`. Nor does it if `if`, `with`, `range`,
 * `define` or `block` has no `end`, `end` and `else` have no block, or `endif` and `elif` of other languages are in their place.
 *
 * Documents are read one by one, so an error in one does not affect the findings in the others. Templates (Helm, Jinja) are read with
 * their expressions masked and get no other findings from this rule, except for the markers of a merge conflict; neither do documents that have
 * nothing to do with accelerators.
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
 *           nvidia.com/gpu: 1
 *       resources:
 *         limits:
 *           cpu: "4"
 * ```
 *
 * ```yaml valid
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
 *           cpu: "4"
 * ```
 *
 * ## Sources
 *
 * - [YAML 1.2.2: mapping keys are unique](https://yaml.org/spec/1.2.2/#3213-node-comparison)
 * - A dry run with kubectl 1.32 and 1.36: of a duplicate key, the last value is applied
 * - [Go: text and spaces in templates](https://pkg.go.dev/text/template#hdr-Text_and_spaces)
 * - [Kubernetes: field validation](https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation)
 */
export default defineRule({
  topic: 'syntax',
  severity: 'error',
  document(document, context) {
    for (const { span, path, printsNothing } of document.missing ?? []) {
      if (printsNothing === true) continue;
      context.report({
        severity: 'warning',
        message: `The chart's values have no ${shorten(path, 50)}, of which the template reads a field: Helm fails unless a release sets it`,
        span,
      });
    }
    const isManifest = /\bapiVersion\b/.test(document.text) || manifestWords.test(document.text);
    if (!isManifest && document.kustomization === undefined && document.breaksOthers !== true) return;
    if (document.template) {
      for (const action of unreadableActions(document.text)) context.report(action);
      for (const action of misspelledFunctions(document.text)) context.report(action);
      for (const span of doubledIndents(document.text)) {
        context.report({
          message:
            'The first line of this output gets the spaces before {{ in addition to those of indent: the YAML is broken; use {{- … nindent',
          span,
        });
      }
      for (const joined of joinedLines(document.text))
        context.report({ message: wordsOf(joined), span: joined.action });
    }
    const isObject = document.root?.kind !== 'map' || document.root.entries.some(({ key }) => key === 'apiVersion');
    for (const { message, span, readable } of document.problems) {
      const second = readable === true ? secondObject(document, span) : undefined;
      if (second !== undefined) {
        context.report({ message: second, span });
        continue;
      }
      // The values of a chart are the chart's affair.
      const lost = readable === true && isObject ? lossOf(document, document.root, span) : undefined;
      if (lost !== undefined) {
        context.report({ message: lost, span });
        continue;
      }
      context.report({ message, span, severity: readable === true ? 'warning' : 'error' });
    }
  },
  manifest(manifest, { report }) {
    for (const { message, span } of unreadableValues(manifest))
      report({ message: `In these values: ${message}`, span });
    for (const { values, problems = [] } of inlineValues(manifest))
      for (const { message, span } of problems)
        report({ message: lossOf(manifest.document, values.node, span) ?? message, span, severity: 'warning' });
  },
});

/** What a line of a template says that trim markers join with the line above. */
function wordsOf({ word, after }: JoinedLine): string {
  if (word === undefined)
    return '{{- puts the first line of this output at the end of the line above: the YAML is broken; use nindent instead of indent';
  const what = word === '-' ? 'the item below' : shorten(word, 40);
  const effect = after === 'comment' ? 'it becomes part of the comment' : 'the YAML is broken where both are rendered';
  return `The trim marker -}} puts ${what} at the end of the ${after} above: ${effect}`;
}

/** What a repeated key says if accelerators are lost with its first value. */
function lossOf({ text }: YamlDocument, root: YamlNode | null, span: Span): string | undefined {
  const lost = lostAccelerator(root, span);
  if (lost === undefined) return undefined;
  const key = shorten(text.slice(span.start, span.end), 40);
  const what = key === lost ? 'the first value' : `${shorten(lost, 50)} of the first`;
  return `${key} is set twice: only the last one applies, and ${what} is lost`;
}

/** What the key of a document says that begins a second object, though no `---` line precedes it. */
function secondObject({ root, text }: YamlDocument, { start }: Span): string | undefined {
  if (root?.kind !== 'map' || !root.entries.some(({ keySpan }) => keySpan.start === start)) return undefined;
  const twice = (name: string) => root.entries.filter(({ key }) => key === name).length > 1;
  if (!['apiVersion', 'kind', 'metadata'].every(twice)) return undefined;
  return /[^\s-]-{3}\s*$/.test(text.slice(Math.max(0, start - 200), start))
    ? 'The `---` above is part of the line before it: this object overwrites the one above; put it on its own line'
    : 'This object overwrites the one above: no `---` line separates them';
}

/**
 * Excludes other YAML that only mentions GPUs, such as CI files and notes. Reads the text instead of the values, because an invalid
 * document may have none. Nearly all have an apiVersion.
 */
const manifestWords =
  /\b(?:nvidia|amd|habana|google|intel)\.(?:com|ai)\/|aws\.amazon\.com\/neuron|^[ \t]*(?:nodeSelector|tolerations|resources):/m;
