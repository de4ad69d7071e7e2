import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { plainNotice } from '../client/src/notice.ts';
import { plainItems, plainLabel, plainLenses } from '../client/src/plain-label.ts';

/** What VS Code makes a link. */
const link = /\[[^\]]+\]\((?:https?:\/\/|command:|file:)/i;

test('a name is no link in a notification', () => {
  const evil = 'No manifest of Job/[here](command:workbench.action.quit) in this workspace.';
  expect(evil).toMatch(link);
  expect(plainNotice(evil)).not.toMatch(link);
  expect(plainNotice('/home/me/[a]/config does not exist')).toBe('/home/me/[a]/config does not exist');
});

test('one file shows all notifications, and makes their names plain', () => {
  const folder = path.join(import.meta.dirname, '../client/src');
  const callers = readdirSync(folder).filter((name) =>
    /show(?:Warning|Information|Error)Message/.test(readFileSync(path.join(folder, name), 'utf8')),
  );
  expect(callers).toEqual(['show-notice.ts']);
  const shown = [
    ...readFileSync(path.join(folder, 'show-notice.ts'), 'utf8').matchAll(/show\w+Message\((\w+)\(text\), /g),
  ].map(([, made]) => made);
  expect(shown).toEqual(['plainNotice', 'plainNotice', 'plainNotice', 'plainNotice']);
});

test('a name is no icon in a label', () => {
  expect(plainLabel('1 pod in $(flame) · $(sync~spin)')).toBe('1 pod in \\$(flame) · \\$(sync~spin)');
  // The variables of a container keep their form, because VS Code draws no icon for them.
  expect(plainLabel('$(POD_NAME) costs $4/h ($)')).toBe('$(POD_NAME) costs $4/h ($)');
  const [item] = plainItems([{ label: '$(a)', description: 'namespace $(b)', detail: '$(c)', context: '$(a)' }]);
  expect(item).toEqual({ label: '\\$(a)', description: 'namespace \\$(b)', detail: '\\$(c)', context: '$(a)' });
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  const lens = { range, command: { command: 'x', title: 'fits in pool $(flame)' } };
  plainLenses([lens as never]);
  expect(lens.command.title).toBe('fits in pool \\$(flame)');
});

test('lists of names of others to pick from make them plain', () => {
  const folder = path.join(import.meta.dirname, '../client/src');
  const own =
    /title: '(?:Sort pools by|Export GPU Cost Report|gpulint rules|Fix in the workspace|Refresh prices|Set up gpulint|MIG slice)|^cost-view\.ts: items, \{ title \}/;
  const lists = readdirSync(folder).flatMap((name) =>
    [...readFileSync(path.join(folder, name), 'utf8').matchAll(/showQuickPick\((?!plainItems\()([^;]*)/g)].map(
      ([, argument = '']) => `${name}: ${argument}`,
    ),
  );
  expect(
    lists.filter((argument) => !own.test(argument) && !/title: `(?:Cloud for|MIG slice of) /.test(argument)),
  ).toEqual([]);
});
