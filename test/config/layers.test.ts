import { describe, expect, test } from 'vitest';
import { configPlaceOf, foldersAbove, nearestConfig, pathBelow } from '../../server/src/config/places.ts';
import {
  type ConfigOrigin,
  defaultConfig,
  type ProjectConfig,
  parseConfig,
  readSettings,
  resolveConfig,
} from '../../server/src/config.ts';
import { table } from '../../server/src/yaml/table.ts';

function resolve(settings: string, file: string, path = 'a.yaml'): ProjectConfig {
  return resolveConfig({
    settings: { values: parseConfig(settings).values },
    file: { values: parseConfig(file).values, path },
  });
}

describe('the merged config', () => {
  test('has defaults without any values', () => {
    expect(resolveConfig({ settings: undefined, file: undefined })).toEqual(defaultConfig);
  });

  test('takes the file before the settings, key by key, with origins', () => {
    expect(
      resolve('gpu: t4\ncapacity: spot\nrules: {yaml-syntax: off}', 'gpu: l4\nrules: {idle-gpu-container: off}'),
    ).toEqual({
      ...defaultConfig,
      gpu: 'l4',
      capacity: 'spot',
      rules: { 'yaml-syntax': 'off', 'idle-gpu-container': 'off' },
      origins: { gpu: '.gpulint.yaml', capacity: 'settings' },
    });
  });

  test('applies the matching overrides, the last one first', () => {
    const file = [
      'gpu: l4',
      'overrides:',
      '  - files: [train/**]',
      '    gpu: h100-80gb-sxm',
      '    kserve: {deploymentMode: Standard}',
      '  - files: ["*.big.yaml"]',
      '    gpu: b200',
    ].join('\n');
    expect(parseConfig(file).problems).toEqual([]);
    expect(resolve('', file, 'a.yaml')).toMatchObject({ gpu: 'l4', kserve: { deploymentMode: null } });
    expect(resolve('', file, 'train/a.yaml')).toMatchObject({
      gpu: 'h100-80gb-sxm',
      kserve: { deploymentMode: 'Standard' },
    });
    expect(resolve('', file, 'train/a.big.yaml')).toMatchObject({ gpu: 'b200' });
  });

  test('implies the provider of a platform, unless the layer names another one', () => {
    expect(resolve('', 'platform: gke-standard')).toMatchObject({ provider: 'gcp', platform: 'gke-standard' });
    expect(resolve('', 'platform: gke-standard\nprovider: aws')).toMatchObject({ provider: 'aws' });
    expect(resolve('', 'platform: vanilla-gpu-operator')).toMatchObject({ provider: null });
  });

  test('has the origins of settings, if the editor reports them', () => {
    const values = { gpu: 'l4', capacity: 'spot', training: { stepSeconds: 2 }, taints: [] } as const;
    const origins = table<ConfigOrigin>({ gpu: 'workspace settings', 'training.stepSeconds': 'user settings' });
    expect(
      resolveConfig({ settings: { values: { ...values, taints: [] }, origins }, file: undefined }).origins,
    ).toEqual({
      ...origins,
      capacity: 'settings',
    });
  });

  test('can start from a rule set in the settings, which the file changes', () => {
    const { rules } = resolve('extends: strict', 'rules: {scale-to-zero-candidate: off}');
    expect(rules).toMatchObject({ 'scale-to-zero-candidate': 'off', 'spot-candidate': 'warning' });
    expect(readSettings({ extends: 'strict' }).values).toEqual({ extends: 'strict' });
  });

  test('merges prices, item by item', () => {
    const { prices, origins } = resolve(
      'prices: {discountPercent: 10, gpus: {l4: 1, t4: 2}}',
      'prices: {gpus: {l4: 3}}\noverrides: [{files: ["*.yaml"], prices: {instanceTypes: {g6.xlarge: 4}}}]',
    );
    expect(prices).toMatchObject({ discountPercent: 10, gpus: { l4: 3, t4: 2 }, instanceTypes: { 'g6.xlarge': 4 } });
    expect(origins?.prices).toBe('.gpulint.yaml');
  });

  test('drops a region with its provider', () => {
    expect(resolve('provider: aws\nregion: us-east-1', 'platform: aks')).toMatchObject({
      provider: 'azure',
      region: null,
    });
    expect(resolve('provider: aws\nregion: us-east-1', 'region: eu-west-1')).toMatchObject({ region: 'eu-west-1' });
  });
});

describe('mistakes in overrides', () => {
  test.each([
    ['overrides: [{gpu: l4}]', "'overrides.0' needs the key 'files'"],
    ['overrides: [{files: [a], gpus: l4}]', "unknown key 'gpus' in 'overrides.0'; did you mean 'gpu'?"],
    ['rules: {image-not-pinned: "off"}\nshm-missing: off\n', "'shm-missing' belongs in 'rules', not at the top"],
    ['rules: {provider: aws}\n', "'provider' belongs at the top, not in 'rules'"],
    ['prices: {headroom: 0.2}\n', "'headroom' belongs at the top, not in 'prices'"],
    ['discountPercent: 5\n', "'discountPercent' belongs in 'prices', not at the top"],
    ['overrides: [{files: [a], ignore: [b]}]', /^unknown key 'ignore' in 'overrides.0'/],
    ['overrides: [{files: [a], gpu: H100}]', /^The catalog has no GPU 'H100'.*did you mean/],
    ['overrides: [{files: [a], rules: {nope: off}}]', /^unknown rule 'nope'/],
  ])('%s', (text, message) => {
    const { problems, values } = parseConfig(`${text}\nprovider: aws\n`);
    expect(problems.map((problem) => problem.message)).toEqual([
      typeof message === 'string' ? message : expect.stringMatching(message),
    ]);
    expect(values.provider).toBe('aws');
  });
});

describe('the nearest config', () => {
  const look = (configs: readonly string[], tops: readonly string[]) => async (folder: string) => ({
    found: configs.includes(folder) ? folder : undefined,
    top: tops.includes(folder),
  });

  test('is searched from the folder of the file upward to the top', async () => {
    const uri = 'file:///r/a/b/x.yaml';
    expect(foldersAbove(uri)).toEqual(['file:///r/a/b', 'file:///r/a', 'file:///r', 'file://']);
    expect((await nearestConfig(uri, look(['file:///r'], [])))?.folder).toBe('file:///r');
    expect((await nearestConfig(uri, look(['file:///r', 'file:///r/a'], [])))?.folder).toBe('file:///r/a');
    expect(await nearestConfig(uri, look(['file:///r'], ['file:///r/a']))).toBeUndefined();
    expect((await nearestConfig(uri, look(['file:///r/a'], ['file:///r/a'])))?.folder).toBe('file:///r/a');
  });

  test.each([
    ['file:///elsewhere/x.yaml', ['file:///r'], 'file:///elsewhere/x.yaml'],
    ['memfs:/a/x.yaml', ['file:///r'], 'memfs:/a/x.yaml'],
    ['untitled:Untitled-1', ['file:///r'], 'file:///r/Untitled-1'],
    ['untitled:Untitled-1', ['file:///r', 'file:///s'], undefined],
    ['untitled:Untitled-1', [], undefined],
    ['untitled:/r/train/new.yaml', ['file:///r', 'file:///s'], 'file:///r/train/new.yaml'],
    ['untitled://wsl%2Bu/r/new.yaml', ['vscode-remote://wsl%2Bu/r'], 'vscode-remote://wsl%2Bu/r/new.yaml'],
    ['k8smsx://core/pod-a.yaml?value=pod%2Fa', ['memfs:/r'], 'memfs:/r/pod-a.yaml'],
    ['k8smsx://core/pod-a.yaml?value=pod%2Fa', [], undefined],
  ])('of %s in %j is searched from %s', (uri, folders, place) => {
    expect(configPlaceOf(uri, folders)).toBe(place);
  });

  test('of a file without a folder does not exist', () => {
    expect(foldersAbove('memfs:/a/b/x.yaml')).toEqual(['memfs:/a/b', 'memfs:/a', 'memfs:']);
    expect(foldersAbove('untitled:Untitled-1')).toEqual([]);
    expect(foldersAbove('vscode-vfs://github/o/r/x.yaml')).toEqual([
      'vscode-vfs://github/o/r',
      'vscode-vfs://github/o',
      'vscode-vfs://github',
    ]);
    expect(pathBelow('file:///a', 'file:///a/b%20c/d.yaml')).toBe('b c/d.yaml');
    expect(pathBelow('file:///a', 'file:///ab/d.yaml')).toBeUndefined();
    expect(pathBelow('file:///c%3A/w%28f%29', 'file:///C:/w(f)/gen/d.yaml')).toBe('gen/d.yaml');
  });
});
