import { type GpuModel, gpusNamed } from '../catalog/index.ts';
import { either } from '../catalog/word-patterns.ts';
import { type Cursor, keySpanOf } from '../yaml/cursor.ts';
import type { YamlComment, YamlDocument } from '../yaml/node.ts';
import { isOneCard, machinesMentioned, modelsMentioned } from './named-models.ts';
import { withoutOtherCards, withoutOtherCardsBelow } from './names-in-comments.ts';
import type { Container, Manifest } from './workload.ts';

/** The models in a comment, and its text without the hash. */
export interface CommentModels {
  readonly models: readonly GpuModel[];
  readonly text: string;
}

/** Where a pod set is in its document. */
export interface CommentScope {
  readonly manifest: Manifest;
  readonly pod: Cursor;
  readonly containers: readonly Container[];
  /** The comments at the top of the file, if the first object runs nothing itself. */
  readonly header: () => readonly string[];
}

/**
 * The models that comments name: on the line of a request or directly above it, else next to other requests of its container, else above the object or among the fields of its pods. Comments
 * that name several cards or compare them say nothing. A document without any has those at the top of its file.
 */
export function commentModels(scope: CommentScope): readonly CommentModels[] {
  const comments = cardComments(scope.manifest.document);
  if (comments.length === 0) return cardInTexts(scope.header());
  return [...atRequests(scope, comments), ...inResources(scope, comments), ...others(scope, comments)];
}

/** The card that all of the texts name, which are comments or descriptions. */
export function cardInTexts(texts: readonly string[]): readonly CommentModels[] {
  const named = texts.map((text) => ({ text, models: modelsInComment(text) }));
  const all = oneCard(named);
  if (all.length > 0) return all;
  // Among remarks on other cards, the machine is the one at hand.
  return oneCard(
    named.filter(({ text }) => text.length <= 400 && machinesMentioned(withoutOtherCards(text)).length > 0),
  );
}

/** The models that a comment mentions: people also write `one 3090` and `4090 (24 GB)`. */
export function modelsInComment(text: string): readonly GpuModel[] {
  return namedIn(text).length === 0 ? [] : namedIn(withoutOtherCards(text));
}

function namedIn(text: string): readonly GpuModel[] {
  const named = modelsMentioned(text);
  const added = text.includes('+')
    ? (sum
        .exec(text)
        ?.slice(1)
        .flatMap((card) => gpusNamed(card, true)) ?? [])
    : [];
  if (named.length + added.length > 0) return [...new Set([...named, ...added])];
  if (!/\d{4}/.test(text)) return [];
  const number = numbers.map((pattern) => pattern.exec(text)?.[1]).find((found) => found !== undefined);
  return number === undefined ? [] : gpusNamed(number.replace(/s$/i, ''), true);
}

/**
 * The number of a GeForce card: all of the comment (`# 3090`), what something is for (`on the 3090`), a count (`2x 3090`), or next to its memory
 * or generation (`3090 (24 GB)`, `4090 (Ada)`). Other numbers are ports, years and tickets.
 */
const cardNumber = '(?:[2-5]0[5-9]0|1(?:0[5-8]|6[56])0 ?ti)(?: ?(?:ti|super))*';
const numbers = [
  String.raw`^#\s*(CARD)\s*$`,
  String.raw`(?:^#\s*|\b(?:on|for|with|of|uses?|has|fits?|needs?)\s+)(?:an?|the|one|two|my|our|single|dual)[ -]+(CARDs?)(?=\s*(?:$|[.,;()])|[ -](?:(?:under|in) |gpus?\b|cards?\b|box\b|desktop\b|workstation\b|machine\b|node\b))`,
  String.raw`\b(?:\d{1,2} ?x|\d{2} ?g(?:i?b)?)[ -]+(CARDs?)\b(?![ -]?(?:m?s|[a-z]*ports?|tokens?|steps?|requests?|lines?|[kmg]i?b|m?hz|pixels?|samples?|times?)\b)`,
  String.raw`\b(CARDs?)(?:,? \(?(?:\d{2} ?g(?:i?b)?|pascal|turing|ampere|ada|blackwell)|[ -]gpus?|[ -]cards?)\b`,
].map((pattern) => new RegExp(pattern.replace('CARD', cardNumber), 'i'));
/** Two cards of one machine: `5070 Ti + 5060 Ti`. */
const sum = new RegExp(String.raw`\b(${cardNumber}) ?\+ ?(?:rtx )?(${cardNumber})\b`, 'i');

interface CardComment extends CommentModels {
  readonly comment: YamlComment;
}

const known = new WeakMap<YamlDocument['comments'], readonly CardComment[]>();

/** Documents with more comments, or more comments on cards, are not about one card. */
const maxComments = 2_000;
const maxCardComments = 64;

function cardComments({ comments, text: all }: YamlDocument): readonly CardComment[] {
  const found =
    known.get(comments) ??
    comments
      .slice(0, maxComments)
      .map((comment, index) => {
        const text = unwrapped(comment, comments[index + 1]);
        const models = modelsInComment(text);
        const above = comments[index - 1];
        const isBelow =
          models.length > 0 && above?.ownLine === true && all.slice(above.span.end, comment.span.start).trim() === '';
        return { comment, text, models: isBelow ? namedIn(withoutOtherCardsBelow(above.text, text)) : models };
      })
      .filter(({ models }) => models.length > 0)
      .slice(0, maxCardComments);
  known.set(comments, found);
  return found;
}

/** The text of a comment, with the next line if the name of a card goes on there. */
function unwrapped({ text, ownLine }: YamlComment, next: YamlComment | undefined): string {
  const goesOn =
    ownLine && next?.ownLine === true && /(?:^|[^\w])(?:[rg]tx|geforce|radeon|quadro|tesla)\s*$/i.test(text);
  return goesOn ? `${text.trimEnd()} ${next.text.replace(/^#\s*/, '')}` : text;
}

function atRequests(
  { manifest: { document }, containers }: CommentScope,
  comments: readonly CardComment[],
): readonly CommentModels[] {
  const quantities = containers.flatMap(({ accelerators }) =>
    accelerators.flatMap(({ limit, request }) => [limit, request].filter((one) => one !== undefined)),
  );
  const { text } = document;
  return quantities.flatMap(({ at }) => {
    const start = text.lastIndexOf('\n', at.node.span.start - 1) + 1;
    const lineEnd = text.indexOf('\n', at.node.span.end);
    const above = startOfLineAbove(text, start);
    const onLine = between(comments, start, lineEnd < 0 ? text.length : lineEnd);
    const onLineAbove = between(comments, above, start).filter(({ comment }) => comment.ownLine);
    // Lines of comments on cards compare alternatives.
    const isList = between(comments, startOfLineAbove(text, above), above).length > 0;
    return [...onLine, ...(isList ? [] : onLineAbove)].flatMap((one) => oneCard([one]));
  });
}

/**
 * Comments on requests of CPU and memory, which often name the machine (`cpu: 3 # Standard_NC4as_T4_v3 has 4`), and else those directly above
 * all requests.
 */
function inResources(
  { manifest: { document }, containers }: CommentScope,
  comments: readonly CardComment[],
): readonly CommentModels[] {
  return containers.flatMap(({ accelerators, resources }) => {
    if (accelerators.length === 0 || resources === undefined) return [];
    const { start, end } = resources.node.span;
    const inside = oneCard(between(comments, start, end));
    if (inside.length > 0) return inside;
    const line = startOfLineAbove(document.text, keySpanOf(resources).start + 1);
    return oneCard(between(comments, startOfCommentsAbove(document, line), line));
  });
}

/** The start of the comments whose lines end where a line starts. */
function startOfCommentsAbove({ text, comments }: YamlDocument, line: number): number {
  let start = line;
  for (const { ownLine, span } of [...comments].reverse()) {
    const own = startOfLineAbove(text, span.start + 1);
    if (!ownLine || own >= start) continue;
    if (text.slice(span.end, start).trim() !== '' || startOfLineAbove(text, start) !== own) break;
    start = own;
  }
  return start;
}

function startOfLineAbove(text: string, start: number): number {
  return start === 0 ? 0 : text.lastIndexOf('\n', start - 2) + 1;
}

function between(comments: readonly CardComment[], start: number, end: number): readonly CardComment[] {
  return comments.filter(({ comment: { span } }) => span.start >= start && span.start < end);
}

function others({ manifest: { document, root }, pod, containers }: CommentScope, comments: readonly CardComment[]) {
  const start = document.root?.span.start ?? root.node.span.start;
  // A chart may have the options of a pod and its containers in different places.
  // The first comment of a pod is in front of its first field.
  const spans = [
    { start: Math.min(pod.node.span.start, keySpanOf(pod).start), end: pod.node.span.end },
    ...containers.map(({ at }) => at.node.span),
  ];
  const inside = comments.filter(({ comment: { span } }) =>
    spans.some((one) => span.start >= Math.max(start, one.start) && span.start < one.end),
  );
  // Above its pods, an object with one template says something of them.
  const before = isOnlyTemplate(pod) ? pod.node.span.start : start;
  const above = between(comments, 0, before).filter((one) => !inside.includes(one));
  return oneCard([...above, ...inside]);
}

/** Whether the pods are the only ones of their object: `spec.template.spec`, and not those of one of several roles. */
function isOnlyTemplate(pod: Cursor): boolean {
  let at: Cursor | undefined = pod;
  while (at?.parent !== undefined && ['spec', 'template', 'jobTemplate'].includes(String(at.step))) at = at.parent;
  return at !== undefined && at.parent === undefined;
}

/** The card that all of the comments name, or the cards among which one of them leaves the choice. */
function oneCard(comments: readonly CommentModels[]): readonly CommentModels[] {
  if (comments.length === 0) return [];
  const models = [...new Set(comments.flatMap((one) => one.models))];
  const all = comments
    .filter(({ models: named, text }) => named.length > 0 && !commentedOut.test(text))
    .map(({ text }) => text);
  // What is needed at least is not in doubt where another line names the machine.
  const stated = all.filter((text) => !bound.test(text));
  const texts = stated.some((text) => machinesMentioned(text).length > 0) ? stated : all;
  // One comment lists them all: `# L4 or A10G`.
  const isListed = texts.some((text) => listed(text).length === models.length);
  const [first] = texts;
  if (!(isOneCard(models) || isListed) || first === undefined) return [];
  const isShort = ({ length }: string) => length <= maxListed;
  if (texts.some((text) => alternative.test(isListed && isShort(text) ? text.replace(separator, ' ') : text)))
    return [];
  // Several comments on one card may also compare it with something else, or deny it.
  const reliable = texts.find(
    (text) => !sentencesOnCards(text).some(isDenied) && !clausesOnCards(text).some((one) => comparison.test(one)),
  );
  return reliable === undefined ? [] : [{ models, text: reliable.replace(/^#\s*/, '') }];
}

/** The cards among which a text leaves the choice, or which a machine has: each next to the `or`, the slash or the plus between them. */
function listed(text: string): readonly GpuModel[] {
  const parts = text.length > maxListed ? [] : withoutOtherCards(text).split(separator);
  const pairs = parts.slice(1).map((right, index) => [parts[index]?.slice(-24) ?? '', right.slice(0, 24)]);
  const named = pairs.map((pair) => pair.map(modelsInComment)).filter((pair) => pair.every(isOneCard));
  return [...new Set([...named.flat(2), ...(sum.test(text) ? modelsInComment(text) : [])])];
}

const maxListed = 400;
const separator = /\s*(?:\/|\+|\bor\b)\s*/gi;

/** The sentences that mention a card. */
function sentencesOnCards(text: string): readonly string[] {
  const named = text.split(/\.\s/).filter((sentence) => modelsInComment(sentence).length > 0);
  return named.length > 0 ? named : [text];
}

/** The parts of a comment that mention a card: the others may compare anything. */
function clausesOnCards(text: string): readonly string[] {
  // A number may be a card only together with what is in the brackets behind it.
  const divisions = [/[:;,()]|\.\s|\s[-\u2013\u2014]+\s/, /[:;,]|\.\s|\s[-\u2013\u2014]+\s/].map((mark) =>
    text.split(mark).filter((clause) => modelsInComment(clause).length > 0),
  );
  return divisions.find((named) => named.length > 0) ?? [text];
}

/** Comments on what might be elsewhere. */
const alternative = either(
  /\b(?:or|if|instead|uncomment|change)\b/i,
  /\b(?:e\.g|eg|for example|like|such as)\b/,
  /\b(?:unlike|compared|better|vs|least|minimum|newer|above|later)\b|\d\+/,
);
const bound = /\b(?:least|minimum)\b/i;
const comparison = /\b(?:than|not?)\b/i;

/** Whether a text names a card that something does not run on, or no longer. */
function isDenied(text: string): boolean {
  return denial.test(text) || /n't\b/i.test(text);
}

const denial = new RegExp(
  [
    String.raw`\b(?:cannot|without|never|avoid\w*(?! (?:an? )?(?:oom|out))|exclud\w*|except|replac\w*|migrat\w*|formerly|previous\w*|former|used to|until)\b`,
    String.raw`(?<!\bavoid\w* (?:an? )?)\b(?:oom\w*|out of|ran out)\b`,
    String.raw`\b(?:faster|slower|cheaper|worse|half the|twice|against|same as|successor|(?:is|are) full|too (?:big|small|large|slow|expensive))\b`,
    String.raw`\bnot (?:enough|fit|run|here|schedul\w*|use[ds]?|for|on|support\w*|work\w*|the|an?|be)\b`,
  ].join('|'),
  'i',
);
const commentedOut =
  /^#+\s*(?:-\s*)?["']?[a-z][\w./-]*["']?\s*:\s*(?:["']?[\w./-]+["']?\s*)?$|^#+\s*-\s*["'][^"']*["']\s*$/;
