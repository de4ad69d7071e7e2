import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { commands } from '../server/src/lsp/protocol.ts';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const contributed: readonly { command: string; title: string; category: string }[] = manifest.contributes.commands;

/** Takes a range to select, which nobody but a fix can name. */
const internal: readonly string[] = [commands.select];

test('whatever a lens or a light bulb does can be done from the command palette', () => {
  const ids = contributed.map(({ command }) => command);
  expect(Object.values(commands).filter((id) => !ids.includes(id) && !internal.includes(id))).toEqual([]);
});

test('commands are found by their category, and none is hidden for good', () => {
  expect(contributed.filter(({ category }) => category !== 'gpulint')).toEqual([]);
  const hidden = manifest.contributes.menus.commandPalette.filter(({ when }: { when: string }) => when === 'false');
  expect(hidden).toEqual([]);
});

test('what the palette shows for files with GPUs only is decided by a key that the client sets', () => {
  const keys = manifest.contributes.menus.commandPalette.flatMap(
    ({ when }: { when: string }) => when.match(/gpulint\.\w+/g) ?? [],
  );
  const client = readFileSync('client/src/status-bar.ts', 'utf8');
  expect(new Set(keys)).toEqual(new Set(['gpulint.hasAccelerators']));
  expect(client).toContain("'setContext', 'gpulint.hasAccelerators'");
});

test('icons are those of the theme: none is a colour or a picture of ours', () => {
  const sources = ['status-bar.ts', 'commands.ts', 'fix-all.ts', 'set-up.ts'].map((name) =>
    readFileSync(`client/src/${name}`, 'utf8'),
  );
  expect(sources.join('\n')).not.toMatch(/#[0-9a-f]{6}\b|backgroundColor|\.color\s*=|iconPath/i);
  expect(sources[0]).toMatch(/accessibilityInformation = \{ label/);
});
