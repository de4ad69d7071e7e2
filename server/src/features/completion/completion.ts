import type { DocumentAnalysis, FileAnalysis } from '../../analysis.ts';
import { gpus } from '../../catalog/index.ts';
import { ruleIds } from '../../rules/index.ts';
import { disableAnnotation } from '../../rules/suppressions.ts';
import { shiftSpan } from '../../yaml/span.ts';
import type { Completion, Word } from './completion-item.ts';
import { fieldKeys, fieldValues } from './field-words.ts';
import { podAtCaret, resourceWords } from './gpu-at.ts';
import { words } from './plain-words.ts';
import { annotationKeys, annotationValues, taintKeys, tolerationItems } from './scheduling-words.ts';
import { selectorKeys, selectorValues } from './selector-words.ts';
import { embeddedPosition, siblingValue, type YamlPosition, yamlPosition } from './yaml-position.ts';

/**
 * Completions at an offset of the file: resources under limits, labels and their values, tolerations, annotations, rule ids.
 * Empty anywhere else: the schemas of the kinds belong to another extension.
 */
export function complete(file: FileAnalysis, offset: number): readonly Completion[] {
  const document = file.documents.filter(({ base }) => base <= offset).at(-1);
  if (document === undefined) return [];
  const inside = offset - document.base;
  const position = yamlPosition(document.text, inside);
  const found =
    position === undefined
      ? [...inFlowList(document.text, inside, file.config), ...inConfig(document.text, inside, file.config)]
      : wordsAt(file, document, inside, position);
  return found.map((completion) => ({
    ...completion,
    span: shiftSpan(completion.span, document.base),
  }));
}

/** Words as keys at a position, without those that are already there. */
export function asKeys(position: YamlPosition, words: readonly Word[]): readonly Completion[] {
  return words
    .filter(({ text }) => !position.siblings.has(text))
    .map(({ text, detail, value, rank = 0, kind = 'key' }) => ({
      label: text,
      kind,
      detail,
      insert: position.colon ? text : entryOf(text, value, position.column),
      span: position.span,
      rank,
    }));
}

/** A value of several lines starts below its key, at the key's indentation. */
function entryOf(key: string, value: string | undefined, column: number): string {
  if (value?.startsWith('\n') === true) return `${key}:${value.replaceAll('\n', `\n${' '.repeat(column)}`)}`;
  return `${key}: ${value ?? ''}`;
}

/** Words as values at a position. */
export function asValues(position: YamlPosition, words: readonly Word[]): readonly Completion[] {
  return words.map(({ text, detail, value = text, rank = 0, kind = 'value' }) => ({
    label: text,
    kind,
    detail,
    insert: value,
    span: position.span,
    rank,
  }));
}

function wordsAt(
  file: FileAnalysis,
  document: DocumentAnalysis,
  offset: number,
  position: YamlPosition,
): readonly Completion[] {
  const { path, part, key = '', dash } = position;
  const { config } = file;
  if (part === 'comment') return directives(position);
  const holder = path.at(-1) ?? '';
  if (holder === 'limits' || holder === 'requests') {
    return part === 'key' && !dash ? asKeys(position, resourceWords(podAtCaret(document, offset, config))) : [];
  }
  if (holder === 'nodeSelector') {
    return part === 'key' ? asKeys(position, selectorKeys(config)) : asValues(position, selectorValues(key, config));
  }
  const kind = /^kind:\s*["']?(\w+)/m.exec(document.text)?.[1] ?? '';
  const item = path.slice(-2).join(' ');
  const ofNodes = expressions.has(item) || expressions.has(path.slice(-4, -2).join(' '));
  const nodes = ofNodes && (path.includes('nodeAffinity') || path.includes('requirements'));
  if (nodes && expressions.has(item)) return expression(position, siblingValue(document.text, offset, 'key'), config);
  if (nodes && path.at(-2) === 'values') {
    return asItems(position, selectorValues(siblingValue(document.text, offset, 'key') ?? '', config));
  }
  if (holder === 'labels' && part === 'key') return asKeys(position, labelKeys);
  if (path.at(-2) === 'coveredResources' && kind === 'ClusterQueue') return asItems(position, queuedResources(config));
  if (item === 'resources -' && key === 'name' && kind === 'ClusterQueue') {
    return asValues(position, queuedResources(config));
  }
  if (holder === 'annotations') {
    if (part === 'key') return asKeys(position, annotationKeys(kind, config));
    return asValues(position, key === disableAnnotation ? rules() : annotationValues(key, config));
  }
  if (holder === 'tolerations' || item === 'tolerations -') return tolerations(position, config);
  return part === 'key'
    ? asKeys(position, fieldKeys(kind, path))
    : asValues(position, fieldValues(kind, path, key, config));
}

/** Node affinity, label selectors and the requirements of Karpenter's node pools share one form. */
const expressions: ReadonlySet<string> = new Set(['matchExpressions -', 'requirements -']);

function expression(
  position: YamlPosition,
  label: string | undefined,
  config: FileAnalysis['config'],
): readonly Completion[] {
  const { part, key } = position;
  if (part === 'key') return asKeys(position, expressionKeys);
  if (key === 'operator') return asValues(position, operators);
  if (key === 'values') return [];
  if (key !== 'key') return [];
  return asValues(
    position,
    selectorKeys(config)
      .filter(({ text }) => text !== label)
      .map(({ text, detail }) => ({ text, detail })),
  );
}

const expressionKeys = words({
  key: 'node label',
  operator: ['In, NotIn, Exists, DoesNotExist, Gt or Lt', 'In'],
  values: ['allowed values of the label', '\n  - $1'],
});
const operators = words({
  In: 'label is one of the values',
  NotIn: 'label is not one of the values',
  Exists: 'label exists',
  DoesNotExist: 'label does not exist',
  Gt: 'label is a number greater than the value',
  Lt: 'label is a number less than the value',
});

/** Words as items of a list. */
function asItems(position: YamlPosition, words: readonly Word[]): readonly Completion[] {
  if (position.part !== 'key') return [];
  return asValues(position, words);
}

/** A device plugin config in a ConfigMap. */
function inConfig(text: string, offset: number, config: FileAnalysis['config']): readonly Completion[] {
  const position = /^kind:\s*["']?ConfigMap/m.test(text) ? embeddedPosition(text, offset) : undefined;
  if (position === undefined || position.path[0] !== 'sharing') return [];
  const { part, path, key = '' } = position;
  return part === 'key'
    ? asKeys(position, fieldKeys('', path))
    : asValues(position, fieldValues('', path, key, config));
}

/** `values: [` of an expression: most people write them in flow style. */
function inFlowList(text: string, offset: number, config: FileAnalysis['config']): readonly Completion[] {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const [, , word] = /^(\s*(?:- +)?)values:\s*\[(?:[^\][]*,)?\s*["']?([\w./-]*)$/.exec(text.slice(start, offset)) ?? [];
  const label = word === undefined ? undefined : siblingValue(text, offset, 'key');
  if (word === undefined || label === undefined) return [];
  return selectorValues(label, config).map(({ text: value, detail, value: insert = value }, rank) => ({
    label: value,
    kind: 'value',
    detail,
    insert,
    span: { start: offset - word.length, end: offset },
    rank,
  }));
}

function queuedResources(config: FileAnalysis['config']): readonly Word[] {
  const gpu = config.gpu === null ? undefined : gpus.get(config.gpu);
  const named = resourceWords({ gpu, placement: undefined, config });
  return [
    { text: 'cpu', detail: 'cores' },
    { text: 'memory', detail: 'bytes' },
    ...named.map(({ text, detail, rank = 0 }) => ({ text, detail, rank: rank + 2 })),
  ];
}

const labelKeys = words({
  'kueue.x-k8s.io/queue-name': 'LocalQueue of the workload',
  'kueue.x-k8s.io/priority-class': 'WorkloadPriorityClass for the order in the queue',
});

function tolerations(position: YamlPosition, config: FileAnalysis['config']): readonly Completion[] {
  const { part, key, dash, column, siblings, span } = position;
  if (part === 'value') {
    if (key === 'key') return asValues(position, taintKeys(config));
    if (key === 'operator') return asValues(position, [exists, equal]);
    return key === 'effect' ? asValues(position, effects) : [];
  }
  if (siblings.size > 0) return [];
  // An item under `tolerations:` begins with a dash, unless the dash is already there.
  const lead = dash ? '' : '- ';
  const margin = `\n${' '.repeat(column + lead.length)}`;
  return tolerationItems(config).map(({ key: taint, value, effect = 'NoSchedule', detail }, rank) => {
    const operator = value === undefined ? ['operator: Exists'] : ['operator: Equal', `value: ${value}`];
    const insert = lead + [`key: ${taint}`, ...operator, `effect: ${effect}`].join(margin);
    return { label: taint, kind: 'snippet', detail, insert, span, rank };
  });
}

const exists: Word = { text: 'Exists', detail: 'any value of the taint' };
const equal: Word = { text: 'Equal', detail: 'value must equal that of the taint' };
const effects: readonly Word[] = [
  { text: 'NoSchedule', detail: 'the scheduler does not place pods without the toleration' },
  { text: 'PreferNoSchedule', detail: 'the scheduler avoids the node for pods without the toleration' },
  { text: 'NoExecute', detail: 'pods without the toleration are also evicted' },
];

/** In a comment: directives that disable rules, and the ids of the rules. */
function directives(position: YamlPosition): readonly Completion[] {
  const { word, span } = position;
  const disabled = /^#+\s*gpulint-disable(?:-next-line|-line)?\s+(?:[\w-]+,\s*)*([\w-]*)$/.exec(word);
  if (disabled !== null) {
    const typed = disabled[1] ?? '';
    return asValues({ ...position, span: { start: span.end - typed.length, end: span.end } }, rules());
  }
  const start = /^#+\s*(g[\w-]*)$/.exec(word)?.[1];
  if (start === undefined) return [];
  const at = { ...position, span: { start: span.end - start.length, end: span.end } };
  return asValues(at, [
    { text: 'gpulint-disable-next-line', detail: 'disables rules for the next line', value: next },
    { text: 'gpulint-disable-line', detail: 'disables rules for this line', value: next.replace('next-line', 'line') },
    {
      text: 'gpulint-disable',
      detail: 'disables rules from here to the end of the document',
      value: next.replace('-next-line', ''),
    },
  ]);
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: these are snippet placeholders.
const next = 'gpulint-disable-next-line ${1:rule} -- ${2:reason}';

function rules(): readonly Word[] {
  return ruleIds.map((id) => ({ text: id, detail: 'gpulint rule', kind: 'rule' }));
}
