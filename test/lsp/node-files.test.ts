import { execFileSync } from 'node:child_process';
import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { localFiles } from '../../server/src/lsp/node-files.ts';
import { blockingCalls, readInside } from '../../server/src/lsp/node-reading.ts';

function tree() {
  const top = realpathSync(mkdtempSync(path.join(tmpdir(), 'gpulint-reach-')));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const [inside, outside] = [path.join(top, 'space'), path.join(top, 'outside')];
  mkdirSync(path.join(inside, 'deep'), { recursive: true });
  mkdirSync(path.join(outside, 'deep'), { recursive: true });
  writeFileSync(path.join(outside, 'values.yaml'), 'secret: 1\n');
  writeFileSync(path.join(outside, 'deep', 'values.yaml'), 'secret: 2\n');
  writeFileSync(path.join(inside, 'own.yaml'), '\uFEFFown: 1\n');
  const uri = (name: string) => pathToFileURL(path.join(inside, name)).href;
  const files = localFiles();
  /** Reads a file as the server does, and as its thread does, which must agree. */
  const read = async (name: string, folders = [pathToFileURL(inside).href]) => {
    const inThread = await outcome(
      readInside(
        blockingCalls,
        path.join(inside, name),
        folders.map((folder) => fileURLToPath(folder)),
        new Map(),
      ),
    );
    const reading = files.readFile(uri(name), folders);
    expect(await outcome(reading)).toEqual(inThread);
    return reading;
  };
  return {
    inside,
    outside,
    uri,
    read,
    list: (name = '', limit = 100) =>
      files.listFiles(uri(name).replace(/\/$/, ''), limit, [pathToFileURL(inside).href]),
  };
}

function outcome(reading: Promise<string | undefined>): Promise<string | undefined> {
  return reading.catch((error: Error) => `${error.name}: ${error.message}`);
}

describe('a file', () => {
  test('is read without its byte order mark; missing files and folders are undefined', async () => {
    const { read } = tree();
    expect(await read('own.yaml')).toBe('own: 1\n');
    expect(await read('none.yaml')).toBeUndefined();
    expect(await read('own.yaml/below.yaml')).toBeUndefined();
    expect(await read('deep')).toBeUndefined();
  });

  test('that is a link, or is below one, is read if it leads inside, and denied if it leads outside', async () => {
    const { inside, outside, read } = tree();
    symlinkSync('../own.yaml', path.join(inside, 'deep', 'link.yaml'));
    symlinkSync(path.join(outside, 'values.yaml'), path.join(inside, 'values.yaml'));
    symlinkSync(outside, path.join(inside, 'chart'));
    symlinkSync('chart/deep', path.join(inside, 'twice'));
    symlinkSync('circle.yaml', path.join(inside, 'circle.yaml'));
    expect(await read('deep/link.yaml')).toBe('own: 1\n');
    for (const name of ['values.yaml', 'chart/values.yaml', 'chart/deep/values.yaml', 'twice/values.yaml'])
      await expect(read(name), name).rejects.toThrow('is outside the workspace folders');
    await expect(read('circle.yaml')).rejects.toThrow('is a circular link');
    // Another open folder is inside, and a deleted folder changes nothing.
    const folders = [inside, path.join(inside, 'gone'), outside].map((one) => pathToFileURL(one).href);
    expect(await read('chart/values.yaml', folders)).toBe('secret: 1\n');
  });

  test('is read in a workspace folder that is itself a link', async () => {
    const { inside } = tree();
    const link = `${inside}-link`;
    symlinkSync(inside, link);
    const folder = pathToFileURL(link).href;
    expect(await localFiles().readFile(`${folder}/own.yaml`, [folder])).toBe('own: 1\n');
    expect(await localFiles().listFiles(folder, 10, [folder])).toEqual([`${folder}/own.yaml`]);
  });

  test('that is too large is denied, and one of 0 bytes is empty', async () => {
    const { inside, read } = tree();
    writeFileSync(path.join(inside, 'large.yaml'), '');
    expect(await read('large.yaml')).toBe('');
    truncateSync(path.join(inside, 'large.yaml'), 5_000_001);
    await expect(read('large.yaml')).rejects.toThrow('is larger than 5 MB');
    truncateSync(path.join(inside, 'large.yaml'), 5_000_000);
    expect(await read('large.yaml')).toHaveLength(5_000_000);
  });

  test('with several hard links is read like any other', async () => {
    const { inside, read } = tree();
    linkSync(path.join(inside, 'own.yaml'), path.join(inside, 'hard.yaml'));
    expect(await read('hard.yaml')).toBe('own: 1\n');
  });
});

describe.skipIf(process.platform === 'win32')('a path that is not a regular file', () => {
  test('is not opened: a pipe would block', async () => {
    const { inside, read } = tree();
    execFileSync('mkfifo', [path.join(inside, 'pipe.yaml')]);
    await expect(read('pipe.yaml')).rejects.toThrow('is not a regular file');
  });

  test.runIf(process.platform === 'linux')(
    'is not opened even if a folder above it is a workspace folder',
    async () => {
      const files = localFiles();
      const root = ['file://'];
      for (const name of ['/dev/zero', '/dev/null', '/proc/self/environ', '/proc/version', '/sys/kernel/uevent_seqnum'])
        await expect(files.readFile(`file://${name}`, root), name).rejects.toThrow('is not a regular file');
      expect(await files.listFiles('file:///proc', 10, ['file:///proc'])).toEqual([]);
    },
  );

  test.runIf(process.platform === 'linux')('is not opened through a link', async () => {
    const { inside, read } = tree();
    symlinkSync('/proc/self/environ', path.join(inside, 'environ.yaml'));
    symlinkSync('/dev/zero', path.join(inside, 'zero.yaml'));
    await expect(read('environ.yaml')).rejects.toThrow('is outside');
    await expect(read('zero.yaml')).rejects.toThrow('is outside');
  });
});

describe('a folder', () => {
  test('is listed breadth-first and by name, without links and excluded folders', async () => {
    const { inside, outside, uri, list } = tree();
    for (const name of ['b/2.yaml', 'b/1.yml', 'a/3.yaml', 'a/c/4.yaml', 'node_modules/x.yaml', 'a/readme.md']) {
      mkdirSync(path.dirname(path.join(inside, name)), { recursive: true });
      writeFileSync(path.join(inside, name), '');
    }
    symlinkSync(outside, path.join(inside, 'a', 'linked'));
    symlinkSync(path.join(inside, 'own.yaml'), path.join(inside, 'link.yaml'));
    const all = ['own.yaml', 'a/3.yaml', 'b/1.yml', 'b/2.yaml', 'a/c/4.yaml'].map(uri);
    expect(await list()).toEqual(all);
    expect(await list('', 3)).toEqual(all.slice(0, 3));
    expect(await list('a')).toEqual(['a/3.yaml', 'a/c/4.yaml'].map(uri));
  });

  test('that is a link, or is below one, is skipped', async () => {
    const { inside, outside, list } = tree();
    symlinkSync(outside, path.join(inside, 'chart'));
    symlinkSync(path.join(inside, 'deep'), path.join(inside, 'inner'));
    writeFileSync(path.join(inside, 'deep', 'a.yaml'), '');
    expect(await list('chart')).toEqual([]);
    expect(await list('chart/deep')).toEqual([]);
    expect(await list('inner')).toEqual([]);
    expect(await list('gone')).toEqual([]);
  });
});
