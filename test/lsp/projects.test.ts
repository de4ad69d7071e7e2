import { afterEach, expect, test, vi } from 'vitest';
import { confine } from '../../server/src/lsp/confined-host.ts';
import { createProjects } from '../../server/src/lsp/projects.ts';
import { defaultSettings, type Settings } from '../../server/src/lsp/settings.ts';

const config = 'file:///w/sub/.gpulint.yaml';

function projectsWith(
  readFile: (uri: string) => Promise<string | undefined>,
  readSettings: () => Promise<Settings> = async () => defaultSettings,
) {
  const listener = { configChanged: vi.fn(), settingsChanged: vi.fn() };
  const log = () => undefined;
  const projects = createProjects(confine({ readFile }, log), log, readSettings, listener);
  projects.setFolders(['file:///w']);
  return { projects, listener };
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

afterEach(() => {
  vi.useRealTimers();
});

test('a config that is changed back while it is being read has its last text', async () => {
  let wait = Promise.resolve();
  const { projects } = projectsWith(async () => {
    await wait;
    return undefined;
  });
  const gpu = async () => JSON.stringify(await projects.configOf('file:///w/sub/pod.yaml'));
  projects.configEdited(config, 'gpu: l4\n');
  const before = await gpu();

  let end: () => void = () => undefined;
  wait = new Promise((resolve) => {
    end = resolve;
  });
  projects.configEdited(config, 'gpu: t4\n');
  await tick();
  const meanwhile = gpu();
  await tick();
  projects.configEdited(config, 'gpu: l4\n');
  await tick();
  end();
  await meanwhile;
  expect(await gpu()).toBe(before);
});

test('settings that never arrive delay only the first file, and count as read after the timeout', async () => {
  vi.useFakeTimers();
  const { projects } = projectsWith(
    async () => undefined,
    () => new Promise(() => undefined),
  );
  const first = projects.configOf('file:///w/a.yaml');
  await vi.advanceTimersByTimeAsync(3000);
  await first;
  await projects.configOf('file:///w/b.yaml');
  expect(await projects.settled()).toBe(true);
});

test('settings that arrive late apply', async () => {
  vi.useFakeTimers();
  let arrive: (settings: Settings) => void = () => undefined;
  const { projects, listener } = projectsWith(
    async () => undefined,
    () =>
      new Promise((resolve) => {
        arrive = resolve;
      }),
  );
  const early = projects.settingsOf('file:///w/a.yaml');
  await vi.advanceTimersByTimeAsync(2900);
  const second = projects.settingsOf('file:///w/b.yaml');
  await vi.advanceTimersByTimeAsync(200);
  const settings = { ...defaultSettings, gpu: 'l4' };
  arrive(settings);
  expect(await early).toBe(defaultSettings);
  expect(await second).toBe(settings);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(listener.settingsChanged).toHaveBeenCalledTimes(1);
  expect(await projects.settingsOf('file:///w/c.yaml')).toBe(settings);
});

test('a price file is read in the folder of its config, and never outside the workspace', async () => {
  const read: string[] = [];
  const files = new Map([
    ['file:///w/sub/.gpulint.yaml', 'priceFile: prices/a b.json\n'],
    ['file:///w/sub/prices/a%20b.json', '{"GPU": "0.95", "CPU": "0.03"}'],
    ['file:///w/out/.gpulint.yaml', 'priceFile: ../../secret.json\n'],
    ['file:///w/none/.gpulint.yaml', 'priceFile: missing.json\n'],
  ]);
  const { projects } = projectsWith(async (uri) => {
    read.push(uri);
    return files.get(uri);
  });
  const ratesOf = async (folder: string) => (await projects.configOf(`file:///w/${folder}/pod.yaml`)).prices.rates;
  expect((await ratesOf('sub'))?.onDemand).toEqual({ gpu: 0.95, cpu: 0.03, memoryGiB: 0 });
  expect(await ratesOf('out')).toBeNull();
  expect(await ratesOf('none')).toBeNull();
  expect(read.filter((uri) => uri.includes('secret'))).toEqual([]);
});
