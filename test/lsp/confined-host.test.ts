import { expect, test } from 'vitest';
import { accessDenied } from '../../server/src/lsp/access-denied.ts';
import { confine, type Host } from '../../server/src/lsp/confined-host.ts';

const folder = 'file:///projects/space';

function gate(replaced: Partial<Host> = {}, folders: readonly string[] = [folder]) {
  const log: string[] = [];
  const requested: string[] = [];
  const host = confine(
    {
      readFile: async (uri) => {
        requested.push(uri);
        return 'text';
      },
      listFiles: async (uri) => {
        requested.push(uri);
        return [`${uri}/a.yaml`];
      },
      ...replaced,
    },
    (line) => log.push(line),
  );
  host.setFolders(folders);
  return { host, log, requested };
}

test.each([
  `${folder}/a.yaml`,
  `${folder}/deep/er/a.yaml`,
  `${folder}/a%20b.yaml`,
  `${folder}/..a/b..yaml/...`,
  'file:///projects/sp%61ce/a.yaml',
])('%s is read', async (uri) => {
  const { host, requested, log } = gate();
  expect(await host.readFile(uri)).toBe('text');
  expect(requested).toEqual([uri]);
  expect(log).toEqual([]);
});

test.each([
  'file:///projects/a.yaml',
  'file:///projects/space-2/a.yaml',
  `${folder}/../a.yaml`,
  `${folder}/b/..`,
  `${folder}/%2e%2e/a.yaml`,
  `${folder}/.%2E/a.yaml`,
  `${folder}/b%2f..%2f..%2fa.yaml`,
  `${folder}/..%5ca.yaml`,
  `${folder}/..\\a.yaml`,
  `${folder}/.\t./a.yaml`,
  `${folder}/..?x`,
  `${folder}/..#x`,
  `${folder}/%2e%2e/%zz.yaml`,
  `${folder}/a%00.yaml`,
  'file://server/projects/space/a.yaml',
  'file://localhost/projects/space/a.yaml',
  'vscode-vfs://github/projects/space/a.yaml',
  'https://example.com/projects/space/a.yaml',
  'http:/projects/space/a.yaml',
  '/projects/space/a.yaml',
  'untitled:Untitled-1',
  '',
])('%j is neither read nor listed, and logged once', async (uri) => {
  const { host, requested, log } = gate();
  expect(await host.readFile(uri)).toBeUndefined();
  expect(await host.readFile(uri)).toBeUndefined();
  expect(await host.listFiles?.(uri, 10)).toEqual([]);
  expect(host.reaches(uri)).toBe(false);
  expect(requested).toEqual([]);
  expect(log).toEqual([`${uri} is not read: it is outside the workspace folders`]);
});

test('without folders nothing is read', async () => {
  const { host, requested } = gate({}, []);
  expect(await host.readFile(`${folder}/a.yaml`)).toBeUndefined();
  expect(requested).toEqual([]);
});

test('the folder of the file is the first one passed to the host', async () => {
  const heard: (readonly string[])[] = [];
  const readFile: Host['readFile'] = async (_, folders) => {
    heard.push(folders);
    return undefined;
  };
  const { host } = gate({ readFile }, ['file:///a/', folder, 'file:///']);
  await host.readFile(`${folder}/a.yaml`);
  expect(heard).toEqual([[folder, 'file://', 'file:///a']]);
});

test('the root of the disk contains the disk, but no other machine', async () => {
  const { host } = gate({}, ['file:///']);
  expect(await host.readFile('file:///any/a.yaml')).toBe('text');
  expect(await host.readFile('file://server/share/a.yaml')).toBeUndefined();
});

test('a file without access is logged once, and is denied until it can be read', async () => {
  let isPipe = true;
  const readFile = async () => {
    if (isPipe) throw accessDenied('is not a regular file');
    return 'gpu: l4';
  };
  const { host, log } = gate({ readFile });
  const uri = `${folder}/.gpulint.yaml`;
  expect([await host.readFile(uri), await host.readFile(uri), host.isDenied(uri)]).toEqual([
    undefined,
    undefined,
    true,
  ]);
  expect(log).toEqual([`${uri} is not read: it is not a regular file`]);
  isPipe = false;
  expect([await host.readFile(uri), host.isDenied(uri)]).toEqual(['gpu: l4', false]);
});

test('an error of the machine is not a denial', async () => {
  const { host, log } = gate({ readFile: () => Promise.reject(new Error('disk on fire')) });
  await expect(host.readFile(`${folder}/a.yaml`)).rejects.toThrow('disk on fire');
  expect(log).toEqual([]);
});

test.each([[5], [null], [{ text: 'x' }]])('a client response of %j is ignored', async (answer) => {
  const { host } = gate({ readFile: async () => answer as never, listFiles: async () => answer as never });
  expect(await host.readFile(`${folder}/a.yaml`)).toBeUndefined();
  expect(await host.listFiles?.(folder, 10)).toEqual([]);
});
