import { apiFields } from '../catalog/api-types.ts';
import { acceleratorResource } from '../catalog/index.ts';
import { isCertain, type MeantField, meantField } from '../evidence/api-names.ts';
import {
  type ApiHolder,
  type ApiProblem,
  apiProblems,
  hiddenWords,
  passedOnProblems,
} from '../evidence/api-problems.ts';
import { someHolder, thisHolder } from '../evidence/api-words.ts';
import { exportedFields } from '../evidence/exported-fields.ts';
import { flatFields } from '../evidence/flat-fields.ts';
import { missingOperands } from '../evidence/missing-operands.ts';
import { missingSelector } from '../evidence/missing-selector.ts';
import { missingType } from '../evidence/missing-type.ts';
import { valuesQuantities } from '../evidence/values-quantities.ts';
import { unreadableTexts } from '../evidence/yaml-texts.ts';
import { isValues } from '../model/values.ts';
import { selectTemplate } from '../rewrite/api-values.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import { type Cursor, entries, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { removeKey, renameKey } from '../yaml/edit.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { describeValue } from './api-values.ts';
import { defineRule, type Report } from './rule.ts';

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
    const problems = apiProblems(manifest);
    if (problems.length === 0) return;
    const meant = new Map(
      problems.flatMap((problem) => {
        const found = problem.what === 'unknown-field' ? meantField(problem) : undefined;
        return found === undefined ? [] : [[problem, found] as const];
      }),
    );
    const flat = flatFields(meant);
    for (const { first, message } of flat) report({ severity: 'warning', message, span: keySpanOf(first.at) });
    const inFlat = new Set(flat.flatMap(({ first, others }) => [first, ...others]));
    for (const problem of problems) {
      if (problem.what === 'not-string' || inFlat.has(problem)) continue;
      if (problem.what === 'unknown-field' && !isCertain(problem, meant.get(problem))) continue;
      // The field is there, under another name.
      if (problem.what === 'missing-field' && isMeant(problem, meant)) continue;
      report({ ...describe(problem, meant.get(problem), document), covers: extentOf(problem) });
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
  podSet({ pod, containers }, { workload, document, report }) {
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
    const inner = workload.wholeResources === true ? containers.map(({ at }) => at) : [];
    const blocks = isFirst ? [pod, ...inner.filter(({ node }) => node !== pod.node)] : [];
    for (const problem of blocks.flatMap((block) => passedOnProblems(block, document))) {
      if (problem.what === 'wrong-type') {
        const { message, ...rest } = describe(problem, undefined, document);
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
      report({ ...describe(problem, meant, document), severity: 'warning' });
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

function describe(problem: ApiProblem, meant: MeantField | undefined, document: YamlDocument): Report {
  switch (problem.what) {
    case 'unknown-field':
      return unknownField(problem, meant, document);
    case 'missing-field':
      return missingField(problem, document);
    case 'empty':
      return emptyPart(problem, document);
    case 'rendered-text':
      return {
        message: `${problem.field} must be ${problem.type?.form === 'boolean' ? 'a boolean' : 'a number'}, but quotes make it text: the API server rejects the object`,
        span: spanOf(problem.at),
      };
    case 'rendered-collection':
      return {
        severity: 'warning',
        message: `Helm writes ${problem.field} in Go's notation (map[…]), not in YAML: the API server rejects the object; use toYaml with nindent`,
        span: spanOf(problem.at),
      };
    default:
      return describeValue(problem, document);
  }
}

/** Types that describe nodes or what runs on them, not pods that use GPUs. */
const ofNodes = /^(?:EC2NodeClass|NodePool|ClusterPolicy)/;

function unknownField(problem: ApiProblem, meant: MeantField | undefined, document: YamlDocument): Report {
  const { at, holder } = problem;
  const written = shorten(problem.field, 60);
  // `args::` has the key `args:`.
  const field = written.endsWith(':') ? `"${written}"` : written;
  const then =
    holder.above !== undefined && !ofNodes.test(holder.type) && namesAccelerators(at.node)
      ? 'kubectl rejects it; with other clients, the pod starts without its GPU'
      : 'kubectl rejects it; other clients ignore it';
  const span = keySpanOf(at);
  switch (meant?.as) {
    case 'name':
      return {
        message: `${hiddenWords(field, meant.name) ?? `${field} is not a field of ${someHolder(holder)}; did you mean ${meant.name}?`} ${then}`,
        span,
        // A renamed spec would bring everything in it into effect.
        fixes: () =>
          holder.above === undefined
            ? []
            : [fix(`Rename ${field} to ${meant.name}`, 'unsafe', renameKey(document, at, meant.name))],
      };
    case 'above': {
      const target = thisHolder(meant.holder);
      return {
        message: `${field} belongs in ${target}, not in ${someHolder(holder)}: ${then}`,
        span,
        fixes: () => [moveField(document, at, meant.holder.at, [problem.field], `Move ${field} to ${target}`)],
      };
    }
    case 'below': {
      const path = meant.path.join('.');
      return {
        message: `${field} belongs under ${path}, not directly in ${someHolder(holder)}: ${then}`,
        span,
        fixes: () => [moveField(document, at, holder.at, [...meant.path, problem.field], `Move ${field} to ${path}`)],
      };
    }
    case 'elsewhere':
      return { message: `${field} belongs in ${meant.words}, not in ${someHolder(holder)}: ${then}`, span };
    case 'compose':
      // Compose has no capitals; operators do.
      return {
        message: `${field} is a field of ${/[A-Z]/.test(field) ? 'some operators' : 'Docker Compose'}; Kubernetes uses ${meant.instead}: ${then}`,
        span,
      };
    case 'former': {
      const message = `${field} is a field of an older version (now ${meant.name}${meant.in})`;
      // Helm installs the object without a field that has moved; without a required one, it cannot.
      if (document.template && meant.in !== '')
        return { message: `${message}: Helm ignores it`, span, severity: 'info' };
      return { message: `${message}: ${then}`, span };
    }
    default: {
      const inner = entries(at).map(keyOf);
      const fields = apiFields(holder.type);
      const isLevel = inner.length > 0 && inner.every((key) => fields.has(key) && getIn(holder.at, key) === undefined);
      const instead = isLevel ? `; move ${shorten(inner.join(' and '), 40)} up one level` : '';
      return { message: `${field} is not a field of ${someHolder(holder)}${instead}: ${then}`, span };
    }
  }
}

function missingField({ at, holder, field }: ApiProblem, document: YamlDocument): Report {
  return {
    message: `${sentence(thisHolder(holder))} has no ${field}, which is required: the API server rejects the object`,
    // A name without a value is where it is expected.
    span: placeOf((field === 'metadata.name' && getIn(at, 'metadata', 'name')) || at),
    fixes: () => (field === 'selector' ? [selectTemplate(at, document)] : []),
  };
}

/** A key without a value, or a dash, which is where it is reported. */
function emptyPart({ at, holder, field }: ApiProblem, { text }: YamlDocument): Report {
  if (at.entry !== undefined) {
    const message = `${field} has no value, but ${thisHolder(holder)} requires one: the API server rejects the object`;
    return { message, span: keySpanOf(at) };
  }
  const { start, end } = spanOf(at);
  const dash = text.lastIndexOf('-', start - 1);
  return {
    message: `An item of ${field} is only a dash: the API server rejects the object; write the item, or remove the dash`,
    span: dash === -1 ? { start, end } : { start: dash, end: dash + 1 },
  };
}

/** The key of a mapping, or the first key of an item. */
function placeOf(at: Cursor): Span {
  if (at.entry !== undefined) return keySpanOf(at);
  const [first] = entries(at);
  return first === undefined ? spanOf(at) : keySpanOf(first);
}

function namesAccelerators(node: YamlNode): boolean {
  if (node.kind === 'seq') return node.items.some(({ value }) => namesAccelerators(value));
  if (node.kind !== 'map') return false;
  return node.entries.some(({ key, value }) => acceleratorResource(key) !== undefined || namesAccelerators(value));
}

function sentence(words: string): string {
  return words.replace(/^the /, 'The ');
}
