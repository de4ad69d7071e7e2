import type { GpuModel } from '../catalog/index.ts';
import type { Cursor } from '../yaml/cursor.ts';
import type { YamlComment, YamlDocument } from '../yaml/node.ts';
import { modelsMentioned } from './named-models.ts';
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
  if (comments.length === 0) return oneCard(scope.header().map((text) => ({ text, models: modelsMentioned(text) })));
  return [...atRequests(scope, comments), ...inResources(scope, comments), ...others(scope, comments)];
}

interface CardComment extends CommentModels {
  readonly comment: YamlComment;
}

const known = new WeakMap<YamlDocument['comments'], readonly CardComment[]>();

/** Documents with more comments, or more comments on cards, are not about one card. */
const maxComments = 2_000;
const maxCardComments = 64;

function cardComments({ comments }: YamlDocument): readonly CardComment[] {
  const found =
    known.get(comments) ??
    comments
      .slice(0, maxComments)
      .map((comment) => ({ comment, text: comment.text, models: modelsMentioned(comment.text) }))
      .filter(({ models }) => models.length > 0)
      .slice(0, maxCardComments);
  known.set(comments, found);
  return found;
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

/** Comments on requests of CPU and memory, which often name the machine: `cpu: 3 # Standard_NC4as_T4_v3 has 4`. */
function inResources({ containers }: CommentScope, comments: readonly CardComment[]): readonly CommentModels[] {
  return containers.flatMap(({ accelerators, resources }) => {
    if (accelerators.length === 0 || resources === undefined) return [];
    const { start, end } = resources.node.span;
    return oneCard(between(comments, start, end));
  });
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
  const spans = [pod.node.span, ...containers.map(({ at }) => at.node.span)];
  const inside = comments.filter(({ comment: { span } }) =>
    spans.some((one) => span.start >= Math.max(start, one.start) && span.start < one.end),
  );
  return oneCard([...between(comments, 0, start), ...inside]);
}

/** The card that all of the comments name. */
function oneCard(comments: readonly CommentModels[]): readonly CommentModels[] {
  const models = [...new Set(comments.flatMap((one) => one.models))];
  const isOne = new Set(models.map(({ name }) => name.split(/ (?:\d+GB|PCIe|SXM|NVL)/)[0])).size === 1;
  const texts = comments
    .filter(({ models: named, text }) => named.length > 0 && !commentedOut.test(text))
    .map(({ text }) => text);
  const [first] = texts;
  if (!isOne || first === undefined || texts.some((text) => alternative.test(text))) return [];
  // Several comments on one card may also compare it with something else.
  const reliable = texts.find((text) => !comparison.test(text));
  return reliable === undefined ? [] : [{ models, text: reliable.replace(/^#\s*/, '') }];
}

/** Comments on what might be elsewhere. */
const alternative =
  /\b(?:or|e\.g|eg|for example|like|such as|no|instead|if|uncomment|change|unlike|compared|vs|least|minimum|newer|above|later)\b|\d\+/i;
const comparison = /\b(?:than|not)\b/i;
const commentedOut =
  /^#+\s*(?:-\s*)?["']?[a-z][\w./-]*["']?\s*:\s*(?:["']?[\w./-]+["']?)?\s*$|^#+\s*-\s*["'][^"']*["']\s*$/;
