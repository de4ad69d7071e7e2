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
  const files = {
    'gpulint.hasAccelerators': 'status-bar.ts',
    'gpulint.costState': 'cost-view.ts',
    'gpulint.clusterState': 'cluster-view.ts',
  };
  expect([...new Set(keys)].sort()).toEqual(Object.keys(files).sort());
  for (const [key, file] of Object.entries(files))
    expect(readFileSync(`client/src/${file}`, 'utf8')).toContain(`'setContext', '${key}'`);
});

test('icons are those of the theme: none is a colour or a picture of ours', () => {
  const sources = ['status-bar.ts', 'commands.ts', 'cost-report.ts', 'fix-all.ts', 'set-up.ts'].map((name) =>
    readFileSync(`client/src/${name}`, 'utf8'),
  );
  expect(sources.join('\n')).not.toMatch(/#[0-9a-f]{6}\b|backgroundColor|\.color\s*=|iconPath/i);
  expect(sources[0]).toMatch(/accessibilityInformation = \{ label/);
  const view = readFileSync('client/src/cost-view.ts', 'utf8');
  expect(view.match(/iconPath.*/g)).toEqual([expect.stringContaining('iconPath = new vscode.ThemeIcon(')]);
  expect(view).toContain('accessibilityInformation = { label: spoken }');
  const clusters = readFileSync('client/src/cluster-items.ts', 'utf8');
  expect(clusters.match(/iconPath = new .*/g)).toEqual([expect.stringContaining('new vscode.ThemeIcon(icon, ')]);
  expect(clusters).toContain('new vscode.ThemeColor(color)');
  expect(clusters).toContain('accessibilityInformation = { label: spoken }');
  const { commands: all, views } = manifest.contributes;
  const icons = [...all, ...views.gpulint].flatMap(({ icon }: { icon?: string }) => icon ?? []);
  expect(icons.filter((icon) => !/^\$\([a-z-]+\)$/.test(icon))).toEqual([]);
});

test('the picture of the clusters has one color, which the theme replaces', () => {
  const { views, viewsContainers } = manifest.contributes;
  const pictures = [...views['gpulint-clusters'], ...viewsContainers.activitybar].flatMap(
    ({ icon }: { icon: string }) => (icon.startsWith('$') ? [] : icon),
  );
  expect([...new Set(pictures)]).toEqual(['images/clusters.svg']);
  expect(readFileSync('images/clusters.svg', 'utf8').match(/#\w+|\brgb\(|fill="(?!none)/g)).toEqual(['#000']);
});
