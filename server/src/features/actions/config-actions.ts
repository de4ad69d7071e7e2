import { type ConfigProblem, parseConfig } from '../../config.ts';
import { getIn, rootCursor } from '../../yaml/cursor.ts';
import { removeKey, renameKey, replaceScalar } from '../../yaml/edit.ts';
import { parseYaml } from '../../yaml/parse.ts';
import { type Span, shiftSpan, type TextEdit, touches } from '../../yaml/span.ts';
import type { Action } from './code-actions.ts';

/** The quick fixes for the problems at a place of a `.gpulint.yaml`: the known names that are near, and no key at all. */
export function configActions(text: string, span: Span, only: readonly string[] | undefined): readonly Action[] {
  if (only !== undefined && !only.some((kind) => kind === '' || kind === 'quickfix')) return [];
  return parseConfig(text)
    .problems.filter((problem) => touches(problem.span, span))
    .flatMap((problem) => actionsFor(text, problem));
}

function actionsFor(text: string, { at }: ConfigProblem): readonly Action[] {
  const document = parseYaml(text).documents.find(({ root }) => root !== null);
  if (document === undefined || document.root === null || at === undefined || at.path.length === 0) return [];
  const cursor = getIn(rootCursor(document.root), ...at.path);
  const action = (title: string, edits: readonly TextEdit[] | undefined, preferred: boolean): readonly Action[] => {
    if (edits === undefined || edits.length === 0) return [];
    const inFile = edits.map(({ span, newText }) => ({ span: shiftSpan(span, document.base), newText }));
    return [{ title, kind: 'quickfix', preferred, edits: inFile }];
  };
  const changed = at.near.flatMap((name) =>
    action(
      `Change to ${name}`,
      at.atKey ? renameKey(document, cursor, name) : replaceScalar(document, cursor, name),
      at.near.length === 1,
    ),
  );
  return at.atKey ? [...changed, ...action('Remove this key', removeKey(document, cursor), false)] : changed;
}
