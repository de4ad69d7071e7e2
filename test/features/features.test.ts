import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { Analysis, type FileAnalysis } from '../../server/src/analysis.ts';
import { type ActionQuery, codeActions } from '../../server/src/features/actions/code-actions.ts';
import { adviceLenses, codeLenses } from '../../server/src/features/code-lens.ts';
import { hover } from '../../server/src/features/hover/hover.ts';
import { renderMarkdown, renderPlain } from '../../server/src/features/hover/render.ts';
import { inlayHints } from '../../server/src/features/inlay-hints.ts';
import { documentLinks } from '../../server/src/features/navigation/document-links.ts';
import { summarize } from '../../server/src/features/report.ts';
import { applyEdits } from '../../server/src/yaml/span.ts';
import { configOf } from '../support/config-line.ts';
import { goldenTests } from '../support/golden.ts';
import { rejectedPod } from '../support/manifests.ts';
import { changedLines, takeCursor } from '../support/marked-text.ts';

const fixtures = 'test/fixtures/features';

describe('hover', () => {
  goldenTests(`${fixtures}/hover`, (marked, name) => {
    const { text, offset } = takeCursor(marked);
    const content = hover(analyse(text), offset);
    if (content === undefined) return 'nothing\n';
    const render = name.startsWith('hostile') ? renderMarkdown : renderPlain;
    return `[${text.slice(content.span.start, content.span.end)}]\n\n${render(content.blocks)}\n`;
  });
});

describe('code lens', () => {
  goldenTests(`${fixtures}/code-lens`, (text) => {
    const file = analyse(text);
    const lenses = codeLenses(file).map(({ span, title, action, target }) => {
      const line = text.slice(0, span.start).split('\n').length;
      return `line ${line}: ${title}  (${action} at ${text.slice(target.start, target.end)})\n`;
    });
    const summary = summarize(file);
    if (lenses.length === 0 && summary === undefined) return 'nothing\n';
    const bar = summary === undefined ? 'nothing' : `${summary.text}\n${summary.label}`;
    return `${lenses.join('')}\nstatus bar: ${bar}\n`;
  });
});

describe('links', () => {
  goldenTests(`${fixtures}/document-links`, (text) =>
    documentLinks(analyse(text))
      .map(({ span, to }) => `${text.slice(span.start, span.end)} -> ${'rule' in to ? to.rule : to.url}\n`)
      .join(''),
  );
});

describe('advice', () => {
  test('is a lens above the line that it concerns', () => {
    const pod = readFileSync(`${fixtures}/code-actions/two-of-a-kind.yaml`, 'utf8').replace('$0', '');
    const file = analyse(`#### config: {rules: {gpu-limits-required: info}}\n${pod}`);
    const advice = adviceLenses(file);
    const infos = file.documents.flatMap(({ findings }) => findings).filter(({ severity }) => severity === 'info');
    expect(infos.length).toBeGreaterThan(0);
    expect(advice.map(({ title }) => title)).toEqual(infos.map(({ message }) => message));
    expect(advice[0]?.action).toBe('show-fixes');
  });
});

describe('inlay hints', () => {
  goldenTests(`${fixtures}/inlay-hints`, (text) => {
    const hints = inlayHints(analyse(text), { start: 0, end: text.length });
    return hints.map(({ offset, label }) => `${lineAt(text, offset)}| ${label}\n`).join('');
  });

  test('cover only the visible range', () => {
    const text = readFileSync(`${fixtures}/inlay-hints/several.yaml`, 'utf8');
    const offset = text.indexOf('"1"') + 3;
    expect(inlayHints(analyse(text), { start: offset, end: offset })).toHaveLength(1);
    expect(inlayHints(analyse(text), { start: 0, end: 100 })).toEqual([]);
  });
});

describe('code actions', () => {
  goldenTests(`${fixtures}/code-actions`, (marked) => {
    const { text, offset } = takeCursor(marked);
    const file = analyse(text);
    const query = { span: { start: offset, end: offset }, only: undefined, shown: [] };
    return [false, true].map((picker) => renderActions(file, { ...query, picker })).join('\n');
  });

  test('exclude kinds that the editor did not request', () => {
    const { text, offset } = takeCursor(rejectedPod.replace('gpu: 1', 'gpu$0: 1'));
    const kinds = (only: readonly string[]) =>
      codeActions(analyse(text), { span: { start: offset, end: offset }, only, shown: [], picker: true }).map(
        ({ kind }) => kind,
      );
    expect(kinds(['refactor'])).toEqual(['refactor.rewrite']);
    expect(kinds(['source'])).toEqual(['source.fixAll.gpulint']);
    expect(kinds(['source.fixAll'])).toEqual(['source.fixAll.gpulint']);
    expect(new Set(kinds(['quickfix']))).toEqual(new Set(['quickfix']));
    expect(kinds(['source.organizeImports', 'refactor.extract'])).toEqual([]);
  });
});

function lineAt(text: string, offset: number): string {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
}

function renderActions(file: FileAnalysis, query: ActionQuery): string {
  const lines = codeActions(file, query).map(
    ({ title, kind, preferred, edits, picker, fractions, everywhere, confirm, finding }) => {
      const marks = [kind, ...(preferred ? ['preferred'] : []), ...(finding ? [finding.finding.rule] : [])].join(', ');
      const change = edits && changedLines(file.text, applyEdits(file.text, edits));
      const asked = picker ?? fractions;
      const asks = asked && `asks for: ${file.text.slice(asked.start, asked.end)}`;
      const all = everywhere && `in all files: ${everywhere}`;
      const first = confirm === undefined ? '' : `to be confirmed: ${confirm}\n`;
      return `${title}  (${marks})\n${first}${change ?? asks ?? all}\n`;
    },
  );
  return `with${query.picker ? '' : 'out'} a picker:\n${lines.join('') || 'nothing\n'}`;
}

/** Strict: a rule that throws fails the test. */
function analyse(text: string): FileAnalysis {
  return new Analysis({ strict: true }).setFile('file:///fixture.yaml', text, 0, configOf(text));
}
