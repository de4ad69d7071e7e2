import { apiFields } from '../catalog/api-types.ts';
import { acceleratorResource } from '../catalog/index.ts';
import { isCertain, type MeantField, meantField } from '../evidence/api-names.ts';
import { type ApiHolder, type ApiProblem, apiProblems, passedOnProblems } from '../evidence/api-problems.ts';
import { expectedWords, someHolder, thisHolder, writtenWords } from '../evidence/api-words.ts';
import { flatFields } from '../evidence/flat-fields.ts';
import { meantQuantity, meantValue, unquoted } from '../evidence/meant-values.ts';
import { missingSelector } from '../evidence/missing-selector.ts';
import { missingType } from '../evidence/missing-type.ts';
import { valuesQuantities } from '../evidence/values-quantities.ts';
import { unreadableTexts } from '../evidence/yaml-texts.ts';
import { isValues } from '../model/values.ts';
import { selectTemplate, wrap } from '../rewrite/api-values.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import { type Cursor, entries, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey, replaceScalar, unquoteScalar } from '../yaml/edit.ts';
import type { YamlDocument, YamlNode } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { defineRule, type Report } from './rule.ts';

/**
 * A field that Kubernetes does not know, or whose value it cannot read.
 *
 * ## Why
 *
 * kubectl rejects an object with an unknown field; other clients ignore the field, and a pod with `resource` instead of `resources` starts
 * without its GPU. Every client rejects a value of the wrong type, a value that is not one of the allowed ones, a quantity that cannot be
 * parsed, and an object without a required field.
 *
 * `serveConfigV2` of a RayService and `runtimeEnvYAML` of a RayJob are texts that the API server accepts and KubeRay reads as YAML.
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
 * ## Fix safety
 *
 * A fix is safe if every client rejects the object and only one value can be meant. Renaming or moving a field is unsafe: a field that was
 * ignored takes effect.
 *
 * ## When it is silent
 *
 * For amounts in values that mean no quantity. For objects whose pods do not use accelerators, unless they scale, limit or hold something for
 * such pods; for a Service or ConfigMap without such pods in its file; for kinds and versions whose types are not known; for fields of custom resources that another version may have; for templated keys and values, and for words such as
 * `GPU_COUNT` where no text can be; for fields that a patch
 * omits. A field that another rule reports is reported once.
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
  manifest(manifest, { document, report }) {
    const problems = apiProblems(manifest);
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
    for (const { at, field, effect } of unreadableTexts(manifest)) {
      report({
        message: `${field} is not a mapping in YAML: KubeRay cannot read it, and ${effect}`,
        span: keySpanOf(at),
      });
    }
  },
  workload(workload, { crossReferences, report }) {
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
      const found = notQuantity(problem, document);
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
    case 'not-in-enum':
      return notInEnum(problem, document);
    case 'not-a-quantity':
      return notQuantity(problem, document);
    default:
      return wrongType(problem, document);
  }
}

function unknownField(problem: ApiProblem, meant: MeantField | undefined, document: YamlDocument): Report {
  const { at, holder } = problem;
  const written = shorten(problem.field, 60);
  // `args::` has the key `args:`.
  const field = written.endsWith(':') ? `"${written}"` : written;
  const then =
    holder.above !== undefined && namesAccelerators(at.node)
      ? 'kubectl rejects it; with other clients, the pod starts without its GPU'
      : 'kubectl rejects it; other clients ignore it';
  const span = keySpanOf(at);
  switch (meant?.as) {
    case 'name':
      return {
        message: `${field} is not a field of ${someHolder(holder)}; did you mean ${meant.name}? ${then}`,
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
      const message = `${field} is a field of an earlier version; this version uses ${meant.name}${meant.in}`;
      // Helm installs the object without a field that has moved; without a required one, it cannot.
      if (document.template && meant.in !== '')
        return { message: `${message}: Helm ignores it`, span, severity: 'info' };
      return { message: `${message}: ${then}`, span };
    }
    default: {
      const inner = entries(at).map(keyOf);
      const fields = apiFields(holder.type);
      const isLevel = inner.length > 0 && inner.every((key) => fields.has(key) && getIn(holder.at, key) === undefined);
      const instead = isLevel ? `; write ${shorten(inner.join(' and '), 40)} without it` : '';
      return { message: `${field} is not a field of ${someHolder(holder)}${instead}: ${then}`, span };
    }
  }
}

function missingField({ at, holder, field }: ApiProblem, document: YamlDocument): Report {
  return {
    message: `${sentence(thisHolder(holder))} has no ${field}, which is required: the API server rejects the object`,
    span: placeOf(at),
    fixes: () => (field === 'selector' ? [selectTemplate(at, document)] : []),
  };
}

/** The key of a mapping, or the first key of an item. */
function placeOf(at: Cursor): Span {
  if (at.entry !== undefined) return keySpanOf(at);
  const [first] = entries(at);
  return first === undefined ? spanOf(at) : keySpanOf(first);
}

function notInEnum({ at, field, type }: ApiProblem, document: YamlDocument): Report {
  const values = type?.form === 'enum' ? type.values.filter((value) => value !== '/') : [];
  const written = textOf(at);
  const listed =
    values.length > 6 ? `${values.slice(0, 4).join(', ')} and ${values.length - 4} more` : values.join(', ');
  return {
    message: `${field} must be one of ${listed}, not "${shorten(written, 30)}": the API server rejects the object`,
    span: spanOf(at),
    fixes: () => {
      const meant = meantValue(written, values);
      if (meant === undefined) return [];
      const { value, certain } = meant;
      return [fix(`Change to ${value}`, certain ? 'safe' : 'unsafe', replaceScalar(document, at, value))];
    },
  };
}

function notQuantity({ at, field }: ApiProblem, document: YamlDocument): Report {
  const written = textOf(at);
  const meant = meantQuantity(written);
  return {
    message: `${shorten(subjectOf(at, field), 60)} "${shorten(written, 30)}" is not a quantity${meant === undefined ? '' : `; write ${meant}`}: the API server rejects the object`,
    span: spanOf(at),
    fixes: () => (meant === undefined ? [] : [fix(`Change to ${meant}`, 'safe', replaceScalar(document, at, meant))]),
  };
}

function wrongType({ at, field, type }: ApiProblem, document: YamlDocument): Report {
  if (type === undefined) throw new Error('a wrong type is known');
  const { node } = at;
  const subject = shorten(subjectOf(at, field), 60);
  if (type.form === 'quantity' && node.kind === 'scalar') return fraction(at, subject, document);
  const variable = brokenVariable(at);
  return {
    message:
      variable === undefined
        ? `${subject} must be ${expectedWords(type)}, not ${writtenWords(at, (text) => shorten(text, 30))}: the API server rejects the object`
        : `${subject} is a mapping, not {{ ${variable} }}, because of the space in "{ {": the API server rejects the object`,
    span: node.kind === 'scalar' || at.entry === undefined ? firstLineOf(at, document) : keySpanOf(at),
    fixes: () => {
      if (node.kind !== 'scalar' || typeof node.value !== 'string') return [];
      const value = unquoted(node.value, type.form);
      if (value !== undefined) return [fix(`Remove the quotes: ${value}`, 'safe', unquoteScalar(document, at, value))];
      const wrapped = type.form === 'list' || type.form === 'object' ? wrap(at, type, document) : undefined;
      return wrapped === undefined ? [] : [wrapped];
    },
  };
}

/** The schema of a custom resource has only whole numbers and strings for a quantity. */
function fraction(at: Cursor, subject: string, document: YamlDocument): Report {
  const text = textOf(at);
  return {
    message: `${subject} must be quoted: custom resources do not accept fractions such as ${shorten(text, 30)}, and the API server rejects the object`,
    span: spanOf(at),
    fixes: () => [fix(`Quote the value: "${text}"`, 'safe', replaceScalar(document, at, text))],
  };
}

/** A long value is marked on its first line. */
function firstLineOf(at: Cursor, { text }: YamlDocument): Span {
  const { start, end } = spanOf(at);
  const line = text.indexOf('\n', start);
  return { start, end: line < 0 ? end : Math.min(end, line) };
}

/** The key of a value, or the list of an item. */
function subjectOf(at: Cursor, field: string): string {
  return at.entry === undefined ? `Each item of ${field}` : keyOf(at);
}

function textOf({ node }: Cursor): string {
  return node.kind === 'scalar' ? node.source : '';
}

function namesAccelerators(node: YamlNode): boolean {
  if (node.kind === 'seq') return node.items.some(({ value }) => namesAccelerators(value));
  if (node.kind !== 'map') return false;
  return node.entries.some(({ key, value }) => acceleratorResource(key) !== undefined || namesAccelerators(value));
}

/** The name in `{ { NAME } }`, which formatters make of `{{ NAME }}`. */
function brokenVariable({ node }: Cursor): string | undefined {
  const [only, ...others] = node.kind === 'map' ? node.entries : [];
  const [, name] = /^\{ *(\S{1,40}) *\}$/.exec(only?.key ?? '') ?? [];
  return others.length === 0 ? name : undefined;
}

function sentence(words: string): string {
  return words.replace(/^the /, 'The ');
}
