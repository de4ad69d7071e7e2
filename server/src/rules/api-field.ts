import { isCertain, type MeantField, meantField } from '../evidence/api-names.ts';
import { type ApiHolder, type ApiProblem, apiProblems, passedOnProblems } from '../evidence/api-problems.ts';
import { exportedFields } from '../evidence/exported-fields.ts';
import { flatFields } from '../evidence/flat-fields.ts';
import { kedaField } from '../evidence/keda-fields.ts';
import { missingOperands } from '../evidence/missing-operands.ts';
import { missingSelector } from '../evidence/missing-selector.ts';
import { missingType } from '../evidence/missing-type.ts';
import { problemsOfMeant } from '../evidence/problems-of-meant.ts';
import { isInContainers, misspelledFields, untypedProblems } from '../evidence/untyped-problems.ts';
import { valuesQuantities } from '../evidence/values-quantities.ts';
import { unreadableTexts } from '../evidence/yaml-texts.ts';
import { isValues } from '../model/values.ts';
import type { Container } from '../model/workload.ts';
import { fix } from '../rewrite/fix.ts';
import { keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey } from '../yaml/edit.ts';
import type { Span } from '../yaml/span.ts';
import { describeProblem, describeUntyped } from './api-problem-words.ts';
import { describeValue } from './api-values.ts';
import { defineRule } from './rule.ts';

/**
 * A field that Kubernetes does not know, or whose value it cannot read.
 *
 * ## Why
 *
 * kubectl rejects an object with an unknown field; other clients ignore the field, and a pod with `resource` instead of `resources` starts
 * without its GPU. Every client rejects a value of the wrong type, a value that is not one of the allowed ones, a quantity that cannot be
 * parsed, and an object without a required field. A key with nothing after it is null, which counts as missing; so does a dash with nothing after it
 * in a list of mappings.
 *
 * `serveConfigV2` of a RayService and `runtimeEnvYAML` of a RayJob are strings: the API server accepts any text, and KubeRay then reads it as
 * YAML.
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
 *       imagePullPolicy: ifNotPresent
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
 *   containers:
 *     - name: main
 *       image: registry.example/trainer:1.4
 *       imagePullPolicy: IfNotPresent
 *       resources:
 *         limits:
 *           nvidia.com/gpu: 1
 * ```
 *
 * In a Helm template, quotes make a number text (`replicas: "{{ .Values.replicas }}"`), and a mapping without `toYaml` is not YAML
 * (`nodeSelector: {{ .Values.nodeSelector }}`).
 *
 * The types of some kinds are not known, such as those of Argo's workflows and rollouts and of Tekton's tasks. In their containers, and in what places
 * their pods, a misspelled field is reported if it certainly stands for one that is missing, and so is a word or a quantity that no API server accepts.
 *
 * ## Fix safety
 *
 * A fix is safe if every client rejects the object and only one value can be meant. Renaming or moving a field is unsafe: a field that was
 * ignored takes effect.
 *
 * ## When it is silent
 *
 * For amounts in a chart's values that are not quantities. For objects whose pods do not use accelerators, unless they scale, limit or hold
 * something for such pods; for a Service or ConfigMap without such pods in its file; for kinds and versions whose types are not known; for
 * fields of custom resources that another version may have; for templated keys and values, and for words such as `GPU_COUNT` where no text can
 * be; for fields that a patch omits. A field that another rule reports is reported once.
 *
 * ## Sources
 *
 * - [Kubernetes API reference](https://kubernetes.io/docs/reference/kubernetes-api/)
 * - [Kubernetes: field validation](https://kubernetes.io/docs/reference/using-api/api-concepts/#field-validation)
 */
export default defineRule({
  topic: 'syntax',
  severity: 'error',
  judgesWords: true,
  yields: true,
  document(document, { report }) {
    const missing = missingType(document);
    if (missing !== undefined) report({ message: missing.message, span: spanOf(missing.at) });
  },
  manifest(manifest, { crossReferences, document, report }) {
    for (const { at, field, effect, problem } of unreadableTexts(manifest)) {
      const message = `${field} must be a YAML mapping: KubeRay cannot read it, and ${effect}`;
      if (problem === undefined) report({ message, span: keySpanOf(at) });
      else report({ message: `KubeRay cannot read ${field}: ${problem.message}`, span: problem.span });
    }
    const operands = missingOperands(manifest);
    if (operands !== undefined && !crossReferences.mayBePatch()) {
      const { names } = operands;
      const listed = [names.slice(0, -1).join(', '), names.at(-1)].filter((part) => part !== '').join(' and ');
      report({
        severity: 'warning',
        message: `ClusterPolicy also requires ${listed}, which may be empty mappings: the API server rejects the object`,
        span: keySpanOf(operands.spec),
      });
    }
    const own = apiProblems(manifest);
    if (own.length === 0) return;
    const meantOf = (problem: ApiProblem) => (problem.what === 'unknown-field' ? meantField(problem) : undefined);
    const problems = [...own, ...own.flatMap((one) => problemsOfMeant(one, meantOf(one), document.text))];
    const meant = new Map(
      problems.flatMap((problem) => {
        const found = meantOf(problem);
        return found === undefined ? [] : [[problem, found] as const];
      }),
    );
    const flat = flatFields(meant);
    for (const { first, message } of flat) report({ severity: 'warning', message, span: keySpanOf(first.at) });
    const inFlat = new Set(flat.flatMap(({ first, others }) => [first, ...others]));
    for (const problem of problems) {
      if (problem.what === 'not-string' || inFlat.has(problem)) continue;
      // keda-field-name reports these.
      if (/^Scale(?:dObject|T)/.test(problem.holder.type) && problem.what === 'unknown-field') {
        const as = meant.get(problem)?.as;
        if (as !== 'name' || kedaField(problem.field, manifest.kind) !== undefined) continue;
      }
      if (problem.what === 'unknown-field' && !isCertain(problem, meant.get(problem))) continue;
      // The field is there, under another name.
      if (problem.what === 'missing-field' && isMeant(problem, meant)) continue;
      report({ ...describeProblem(problem, meant.get(problem), document), covers: extentOf(problem) });
    }
  },
  workload(workload, { crossReferences, document, report }) {
    const exported = exportedFields(workload);
    const [version] = exported;
    if (version !== undefined) {
      report({
        severity: 'info',
        message:
          'resourceVersion comes from the exported object: kubectl create rejects it, and kubectl apply fails once the object has changed',
        span: keySpanOf(version),
        fixes: () => [
          fix(
            `Remove ${exported.map(keyOf).join(' and ')}`,
            'unsafe',
            ...exported.map((one) => removeKey(document, one)),
          ),
        ],
      });
    }
    const at = missingSelector(workload);
    if (at === undefined || crossReferences.mayBePatch()) return;
    report({
      severity: 'warning',
      message: `The ${workload.kind} has no selector and its pods no labels: unless this is a patch, the API server rejects it`,
      span: keySpanOf(at),
    });
  },
  podSet(podSet, { workload, document, report }) {
    const { pod, containers } = podSet;
    for (const one of untypedProblems(podSet, workload)) report(describeUntyped(one, document));
    if (!isValues(workload)) return;
    // Several sets of pods may share a block.
    const isFirst = workload.podSets.find((one) => one.pod.node === pod.node)?.pod === pod;
    for (const problem of isFirst
      ? valuesQuantities(
          pod,
          containers.map(({ at }) => at),
        )
      : []) {
      const found = describeValue(problem, document);
      report({
        ...found,
        severity: 'warning',
        message: `${found.message}, unless the chart rewrites it`,
        fixes: () => [],
      });
    }
    // Compose's own files have blocks like those of values; the common library's containers do not.
    const isInner = ({ at }: Container) => workload.wholeResources === true || isInContainers(at);
    const inner = containers.filter(isInner).map(({ at }) => at);
    const blocks = isFirst ? [pod, ...inner.filter(({ node }) => node !== pod.node)] : [];
    const listed = isFirst ? containers.flatMap(({ at }) => misspelledFields(at, document)) : [];
    for (const problem of [...blocks.flatMap((block) => passedOnProblems(block, document)), ...listed]) {
      if (problem.what === 'wrong-type') {
        const { message, ...rest } = describeProblem(problem, undefined, document);
        const what = message.slice(0, message.indexOf(': '));
        report({
          ...rest,
          severity: 'warning',
          message: `${what}: the API server rejects the pods, unless the chart rewrites it`,
        });
        continue;
      }
      const meant = problem.what === 'unknown-field' ? meantField(problem) : undefined;
      const isCertain = problem.what === 'not-in-enum' || (meant?.as === 'name' && meant.certain);
      // A chart may have keys of its own.
      if (meant?.as === 'compose' && workload.wholeResources !== true) continue;
      if (!isCertain && meant?.as !== 'below' && meant?.as !== 'compose') continue;
      report({ ...describeProblem(problem, meant, document), severity: 'warning' });
    }
  },
});

/** Whether an unknown field is the missing one. */
function isMeant({ holder, field }: ApiProblem, meant: ReadonlyMap<ApiProblem, MeantField>): boolean {
  const isHere = (other: ApiHolder) => other.at.node === holder.at.node;
  return [...meant].some(([unknown, found]) => {
    if (found.as === 'name' || found.as === 'former') return isHere(unknown.holder) && found.name === field;
    if (found.as === 'below' && isHere(unknown.holder) && found.path[0] === field) return true;
    return unknown.field === field && (found.as !== 'above' || isHere(found.holder));
  });
}

/** From the key to the end of the value. */
function extentOf({ what, at }: ApiProblem): Span {
  const { start } = keySpanOf(at);
  return what === 'missing-field' ? keySpanOf(at) : { start, end: spanOf(at).end };
}
