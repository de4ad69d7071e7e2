import { acceleratorResource } from '../catalog/index.ts';
import type { YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule } from './rule.ts';

/**
 * The text is not valid YAML, or not the YAML that was meant.
 *
 * ## Why
 *
 * Nothing in an invalid document can be applied. A document with a duplicate key can be read, but only the last value applies: kubectl
 * silently drops the first one, and strict clients reject the document. That is an error if the value that is lost requests accelerators.
 *
 * Documents are read one by one, so an error in one does not affect the findings in the others. Templates (Helm, Jinja) are read with
 * their expressions masked and get no findings from this rule; neither do documents that have nothing to do with accelerators.
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
 * - [Kubernetes: field validation](https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation)
 */
export default defineRule({
  topic: 'syntax',
  severity: 'error',
  document(document, context) {
    if (!manifestWords.test(document.text)) return;
    for (const { message, span, readable } of document.problems) {
      const lost = readable === true && document.root !== null ? lostAccelerators(document.root, span) : undefined;
      context.report({
        message: lost ?? message,
        span,
        severity: readable === true && lost === undefined ? 'warning' : 'error',
      });
    }
  },
});

/**
 * Excludes other YAML that only mentions GPUs, such as CI files and notes. Reads the text instead of the values, because an invalid
 * document may have none.
 */
const manifestWords =
  /\bapiVersion\b|\b(?:nvidia|amd|habana|google|intel)\.(?:com|ai)\/|aws\.amazon\.com\/neuron|^[ \t]*(?:nodeSelector|tolerations|resources):/m;

/** What is lost of accelerators when a later value replaces one with the same key. The span is that of one of the two keys. */
function lostAccelerators(node: YamlNode, span: Span): string | undefined {
  if (node.span.start > span.start || node.span.end < span.end) return undefined;
  if (node.kind === 'seq') return first(node.items, ({ value }) => lostAccelerators(value, span));
  if (node.kind !== 'map') return undefined;
  const own = node.entries.find(({ keySpan }) => keySpan.start === span.start);
  if (own === undefined) return first(node.entries, ({ value }) => lostAccelerators(value, span));
  const same = node.entries.filter(({ key }) => key === own.key);
  const [last] = same.slice(-1);
  const lost = first(same.slice(0, -1), ({ key, value }) => acceleratorIn(key, value));
  if (lost === undefined || last === undefined) return undefined;
  if (lost === own.key) return `${shorten(lost)} is set twice, and only the last value counts`;
  if (acceleratorIn(last.key, last.value) !== undefined) return undefined;
  return `${shorten(own.key)} is set twice, and only the last value counts: its ${shorten(lost)} is lost`;
}

function acceleratorIn(key: string, node: YamlNode): string | undefined {
  if (acceleratorResource(key) !== undefined) return key;
  if (node.kind === 'seq') return first(node.items, ({ value }) => acceleratorIn('', value));
  return node.kind === 'map' ? first(node.entries, ({ key: inner, value }) => acceleratorIn(inner, value)) : undefined;
}

function first<T>(list: readonly T[], find: (one: T) => string | undefined): string | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
