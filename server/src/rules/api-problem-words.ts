import { apiFields } from '../catalog/api-types.ts';
import { hasAcceleratorKey } from '../evidence/accelerator-keys.ts';
import type { MeantField } from '../evidence/api-names.ts';
import { type ApiProblem, hiddenWords } from '../evidence/api-problems.ts';
import { someHolder, thisHolder } from '../evidence/api-words.ts';
import type { UntypedProblem } from '../evidence/untyped-problems.ts';
import { selectTemplate } from '../rewrite/api-values.ts';
import { fix } from '../rewrite/fix.ts';
import { moveField } from '../rewrite/move-field.ts';
import { type Cursor, entries, getIn, keyOf, keySpanOf, spanOf } from '../yaml/cursor.ts';
import { renameKey } from '../yaml/edit.ts';
import type { YamlDocument } from '../yaml/node.ts';
import { shorten } from '../yaml/shorten.ts';
import type { Span } from '../yaml/span.ts';
import { describeValue } from './api-values.ts';
import type { Report } from './rule.ts';

/** Describes a place where an object differs from the API's types, with what is likely meant. */
export function describeProblem(problem: ApiProblem, meant: MeantField | undefined, document: YamlDocument): Report {
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
    default: {
      const found = describeValue(problem, document);
      const isFile = problem.holder.type.startsWith('Eksctl');
      return isFile ? { ...found, message: found.message.replace(rejected, 'eksctl rejects the file') } : found;
    }
  }
}

const rejected = 'the API server rejects the object';

/** Types that describe nodes, what runs on them, and queues, not pods that use GPUs. */
const ofNodes = /^(?:EC2|NodePool|NodeOverlay|ClusterPolicy|Volcano(?:Queue|PodGroup)|Eksctl)/;

/** A mistake in the pods of an object of a kind whose controller, not the API server, reads them. */
export function describeUntyped({ problem, name }: UntypedProblem, document: YamlDocument): Report {
  const { at, field, holder } = problem;
  if (name === undefined) {
    const found = describeValue(problem, document);
    return { ...found, message: found.message.replace(/rejects the object\b/, 'rejects the pods') };
  }
  const isLost = holder.type !== 'PodSpec' && hasAcceleratorKey(at.node);
  return {
    severity: isLost ? 'error' : 'warning',
    message: `${shorten(field, 60)} is not a field of ${someHolder(holder)}; did you mean ${name}? ${isLost ? 'It is ignored, and the pod starts without its GPU' : 'It is ignored'}`,
    span: keySpanOf(at),
    fixes: () => [fix(`Rename ${field} to ${name}`, 'unsafe', renameKey(document, at, name))],
  };
}

function unknownField(problem: ApiProblem, meant: MeantField | undefined, document: YamlDocument): Report {
  const { at, holder } = problem;
  const written = shorten(problem.field, 60);
  // `args::` has the key `args:`.
  const field = written.endsWith(':') ? `"${written}"` : written;
  const then = holder.type.startsWith('Eksctl')
    ? 'eksctl rejects the file'
    : holder.above !== undefined && !ofNodes.test(holder.type) && hasAcceleratorKey(at.node)
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

function sentence(words: string): string {
  return words.replace(/^the /, 'The ');
}
