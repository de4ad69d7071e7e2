import { describe, expect, test } from 'vitest';
import {
  DidChangeConfigurationNotification,
  DidChangeWatchedFilesNotification,
  FileChangeType,
  ShowMessageNotification,
} from 'vscode-languageserver/node';
import { indexLimitMessage, isIndexable, isWithinLimit, release, shareOf } from '../../server/src/lsp/index-limit.ts';
import { isIndexedName } from '../../server/src/lsp/protocol.ts';
import { folder, openEditor, withCursor } from './editor.ts';
import { runtime, service, titles, untilLens } from './served-model.ts';

const files = ['b.yaml', 'a/z.yaml', 'a/b/a.yaml', 'a/a.yml', '.gpulint.yaml', 'c.txt'].map(
  (name) => `${folder}/${name}`,
);

test('every file that is indexed is listed and watched, and others are not', () => {
  const indexed = ['a.yaml', 'a.yml', 'main.tf', 'prod.tfvars', 'prod.auto.tfvars.json', 'root.hcl', 'config.json'];
  const others = ['package.json', 'my-config.json', 'a.yaml.bak', 'yaml', 'main.tf.tmpl', 'Kustomization'];
  for (const name of [...indexed, ...others]) {
    const expected = indexed.includes(name);
    expect([name, isIndexable(`${folder}/${name}`), isIndexedName(`${folder}/${name}`), isIndexedName(name)]).toEqual([
      name,
      expected,
      expected,
      expected,
    ]);
  }
});

describe('a folder with too many files', () => {
  test('is indexed from the top, by name, in any order of listing', () => {
    const names = (found: readonly string[], limit: number) =>
      shareOf(folder, found, limit).uris.map((uri) => uri.slice(folder.length + 1));
    expect(names(files, 10)).toEqual(['b.yaml', 'a/a.yml', 'a/z.yaml', 'a/b/a.yaml']);
    expect(names(files, 2)).toEqual(['b.yaml', 'a/a.yml']);
    expect(names([...files].reverse(), 2)).toEqual(['b.yaml', 'a/a.yml']);
    expect(names(files, 0)).toEqual([]);
  });

  test('keeps the indexed files on changes; new files take the room of deleted ones', () => {
    const shares = [shareOf(folder, files, 2)];
    const deep = `${folder}/a/b/a.yaml`;
    expect(isWithinLimit(shares, `${folder}/a/a.yml`)).toBe(true);
    expect(isWithinLimit(shares, deep)).toBe(false);
    release(shares, new Set([decodeURIComponent(`${folder}/b.yaml`)]));
    expect([
      isWithinLimit(shares, deep),
      isWithinLimit(shares, deep),
      isWithinLimit(shares, `${folder}/b.yaml`),
    ]).toEqual([true, true, false]);
    release(shares, new Set([decodeURIComponent(`${folder}/a`)]));
    expect([isWithinLimit(shares, `${folder}/x.yaml`), isWithinLimit(shares, `${folder}/y.yaml`)]).toEqual([
      true,
      true,
    ]);
  });

  test('gets a message with the sums of all folders, unless all files are indexed', () => {
    const many = (name: string, count: number) =>
      Array.from({ length: count }, (_, at) => `file:///${name}/${at}.yaml`);
    const [a, b] = [shareOf('file:///a', many('a', 12_000), 5000), shareOf('file:///b', many('b', 30), 5000)];
    expect(indexLimitMessage([b])).toBeUndefined();
    expect(indexLimitMessage([])).toBeUndefined();
    expect(indexLimitMessage([a, b])).toMatch(
      /^gpulint has indexed 5,030 of 12,030 YAML files\. .*gpulint\.index\.maxFiles/,
    );
    expect(indexLimitMessage([shareOf('file:///c', many('c', 100_000), 5)])).toContain('5 of at least 100,000');
  });
});

describe('a workspace of 20,000 files', () => {
  const other = 'file:///other';
  /** The referenced runtime is the deepest file, and is listed first. */
  const deepest = `${folder}/z/z/z/runtimes.yaml`;
  const chat = `${folder}/chat.yaml`;
  const listed = [deepest, ...Array.from({ length: 19_999 }, (_, at) => `${folder}/many/${at}.yaml`)];
  const text = withCursor(service).text;

  async function open(settings: Record<string, unknown>) {
    const host = {
      readFile: async (uri: string) => (uri === deepest ? runtime(4) : undefined),
      listFiles: async (below: string, limit: number) =>
        below === folder ? listed.slice(0, limit) : listed.map((uri) => uri.replace(folder, other)).slice(0, limit),
    };
    const editor = await openEditor({ host, settings, folders: { [other]: settings } });
    const shown: string[] = [];
    const reported = new Promise<void>((resolve) => {
      editor.connection.onNotification(ShowMessageNotification.type, ({ message }) => {
        shown.push(message);
        resolve();
      });
    });
    await editor.open(chat, text);
    return { editor, shown, reported };
  }

  test('reports once how many files are not indexed, and which setting changes that', async () => {
    const { editor, shown, reported } = await open({});
    await reported;
    expect(shown).toEqual([expect.stringMatching(/^gpulint has indexed 10,000 of 40,000 YAML files\./)]);
    expect(shown[0]).toContain('gpulint.index.maxFiles');
    // A change of an excluded file, or of the folders, does not repeat the message.
    await editor.connection.sendNotification(DidChangeWatchedFilesNotification.type, {
      changes: [{ uri: deepest, type: FileChangeType.Changed }],
    });
    expect(await titles(editor, chat)).toEqual([]);
    await editor.setFolders([folder]);
    await editor.until(() => editor.refreshes.length > 1);
    expect(await titles(editor, chat)).toEqual([]);
    // An open file is known like any other.
    await editor.open(deepest, runtime(4));
    await untilLens(editor, chat, /^4 × L4/);
    expect(shown).toHaveLength(1);
  });

  test('is indexed up to the limit of the setting, also after a change', async () => {
    const settings: Record<string, unknown> = { index: { maxFiles: 30_000 } };
    const { editor, shown, reported } = await open(settings);
    await untilLens(editor, chat, /^4 × L4/);
    expect(shown).toEqual([]);
    editor.settings.index = { maxFiles: 100 };
    await editor.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    await reported;
    for (;;) if ((await titles(editor, chat)).length === 0) break;
    editor.settings.index = { maxFiles: 25_000 };
    await editor.connection.sendNotification(DidChangeConfigurationNotification.type, { settings: null });
    await untilLens(editor, chat, /^4 × L4/);
    expect(shown).toHaveLength(1);
  });
});
