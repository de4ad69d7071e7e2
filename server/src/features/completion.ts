import type { DocumentAnalysis, FileAnalysis } from '../analysis.ts';
import { ruleIds } from '../rules/index.ts';
import { disableAnnotation } from '../rules/suppressions.ts';
import { type Span, shiftSpan } from '../yaml/span.ts';
import { annotationKeys, annotationValues, taintKeys, tolerationItems } from './completion-words.ts';
import { resourceWords, surroundings } from './gpu-at.ts';
import { selectorKeys, selectorValues } from './selector-words.ts';
import { type YamlPosition, yamlPosition } from './yaml-position.ts';

/** Something that could stand at the caret. */
export interface Completion {
  readonly label: string;
  readonly kind: 'key' | 'value' | 'resource' | 'snippet' | 'rule';
  /** Beside the label: what it is, what it costs. */
  readonly detail: string;
  /** Replaces `span` of the file; `${1:...}` are places to fill in. */
  readonly insert: string;
  readonly span: Span;
  /** Of equal words the lower one comes first. */
  readonly rank: number;
}

/** A word that could be written, before it is known how. */
export interface Word {
  readonly text: string;
  readonly detail: string;
  /** For keys: what is written behind the colon. */
  readonly value?: string;
  readonly rank?: number;
  readonly kind?: Completion['kind'];
}

/**
 * What could stand at an offset of the file: resources under limits, labels and their values, tolerations, annotations, rule ids.
 * Nothing anywhere else, for another extension knows the schema of the kinds.
 */
export function complete(file: FileAnalysis, offset: number): readonly Completion[] {
  const document = file.documents.filter(({ base }) => base <= offset).at(-1);
  if (document === undefined) return [];
  const position = yamlPosition(document.text, offset - document.base);
  if (position === undefined) return [];
  return wordsAt(file, document, offset - document.base, position).map((completion) => ({
    ...completion,
    span: shiftSpan(completion.span, document.base),
  }));
}

/** How words are written as keys at a position; those that stand there already are left out. */
export function asKeys(position: YamlPosition, words: readonly Word[]): readonly Completion[] {
  return words
    .filter(({ text }) => !position.siblings.has(text))
    .map(({ text, detail, value, rank = 0, kind = 'key' }) => ({
      label: text,
      kind,
      detail,
      insert: position.colon ? text : value === undefined || value === '' ? `${text}: ` : `${text}: ${value}`,
      span: position.span,
      rank,
    }));
}

/** How words are written as values at a position. */
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
    return part === 'key' && !dash ? asKeys(position, resourceWords(surroundings(document, offset, config))) : [];
  }
  if (holder === 'nodeSelector') {
    return part === 'key' ? asKeys(position, selectorKeys(config)) : asValues(position, selectorValues(key, config));
  }
  if (path.slice(-2).join(' ') === 'matchExpressions -' && key === 'key') {
    return asValues(
      position,
      selectorKeys(config).map(({ text: label, detail }) => ({ text: label, detail })),
    );
  }
  if (holder === 'annotations') {
    const kind = /^kind:\s*["']?(\w+)/m.exec(document.text)?.[1] ?? '';
    if (part === 'key') return asKeys(position, annotationKeys(kind, config));
    return asValues(position, key === disableAnnotation ? rules() : annotationValues(key, config));
  }
  if (holder === 'tolerations' || path.slice(-2).join(' ') === 'tolerations -') return tolerations(position, config);
  return [];
}

function tolerations(position: YamlPosition, config: FileAnalysis['config']): readonly Completion[] {
  const { part, key, dash, column, siblings, span } = position;
  if (part === 'value') {
    if (key === 'key') return asValues(position, taintKeys(config));
    if (key === 'operator') return asValues(position, [exists, equal]);
    return key === 'effect' ? asValues(position, effects) : [];
  }
  if (siblings.size > 0) return [];
  // Under `tolerations:` an item begins with its dash; behind a dash it is there already.
  const lead = dash ? '' : '- ';
  const margin = `\n${' '.repeat(column + lead.length)}`;
  return tolerationItems(config).map(({ key: taint, value, effect = 'NoSchedule', detail }, rank) => {
    const operator = value === undefined ? ['operator: Exists'] : ['operator: Equal', `value: ${value}`];
    const insert = lead + [`key: ${taint}`, ...operator, `effect: ${effect}`].join(margin);
    return { label: taint, kind: 'snippet', detail, insert, span, rank };
  });
}

const exists: Word = { text: 'Exists', detail: 'whatever the value of the taint is' };
const equal: Word = { text: 'Equal', detail: 'the value must be that of the taint' };
const effects: readonly Word[] = [
  { text: 'NoSchedule', detail: 'pods without the toleration are not placed there' },
  { text: 'PreferNoSchedule', detail: 'pods without it are placed there last' },
  { text: 'NoExecute', detail: 'pods without it are also driven out' },
];

/** In a comment: how a finding is silenced, and the ids of the rules. */
function directives(position: YamlPosition): readonly Completion[] {
  const { word, span } = position;
  const given = /^#+\s*gpulint-disable(?:-next-line|-line)?\s+(?:[\w-]+,\s*)*([\w-]*)$/.exec(word);
  if (given !== null) {
    const typed = given[1] ?? '';
    return asValues({ ...position, span: { start: span.end - typed.length, end: span.end } }, rules());
  }
  const start = /^#+\s*(g[\w-]*)$/.exec(word)?.[1];
  if (start === undefined) return [];
  const at = { ...position, span: { start: span.end - start.length, end: span.end } };
  return asValues(at, [
    { text: 'gpulint-disable-next-line', detail: 'silences rules for the next line', value: next },
    { text: 'gpulint-disable-line', detail: 'silences rules for this line', value: next.replace('next-line', 'line') },
    {
      text: 'gpulint-disable',
      detail: 'silences rules from here to the end of the document',
      value: next.replace('-next-line', ''),
    },
  ]);
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: these are the places of a snippet.
const next = 'gpulint-disable-next-line ${1:rule} -- ${2:reason}';

function rules(): readonly Word[] {
  return ruleIds.map((id) => ({ text: id, detail: 'rule of gpulint', kind: 'rule' }));
}
