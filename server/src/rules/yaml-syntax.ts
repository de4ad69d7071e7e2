import { defineRule } from './rule.ts';

/**
 * The text is no YAML, or not the YAML that was meant.
 *
 * ## Why
 *
 * Where a document cannot be read, nothing of it can be applied. A key that is set twice can be read, and then only the last of the two
 * counts: what the first one says is lost without a word, or refused by a client that checks strictly.
 *
 * Documents are read one by one, so a fault in one leaves the findings in the others. Templates (Helm, Jinja) are read with their
 * expressions masked and get no findings of this rule; neither do documents that have nothing to do with accelerators.
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
      context.report({ message, span, severity: readable === true ? 'warning' : 'error' });
    }
  },
});

/**
 * Other YAML that merely speaks of GPUs (a CI file, notes) is not ours to judge. The text is looked at and not its values, because a document
 * with a fault may have none.
 */
const manifestWords =
  /\bapiVersion\b|\b(?:nvidia|amd|habana|google|intel)\.(?:com|ai)\/|aws\.amazon\.com\/neuron|^[ \t]*(?:nodeSelector|tolerations|resources):/m;
