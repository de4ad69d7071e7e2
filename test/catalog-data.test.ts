import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { z } from 'zod';
import * as schema from './support/catalog-schema.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const data = join(root, 'server/src/catalog/data');
const facts = join(root, '../shared/facts');

function read<T extends z.ZodType>(name: string, file: T): z.output<T> {
  return file.parse(JSON.parse(readFileSync(join(data, `${name}.json`), 'utf8')));
}

const gpus = read('gpus', schema.gpusFile);
const mig = read('mig', schema.migFile);
const instances = read('instances', schema.instancesFile);
const prices = read('prices', schema.pricesFile);
const interruptions = read('interruptions', schema.interruptionsFile);
const platforms = read('platforms', schema.platformsFile);
const sales = read('sales', schema.salesFile);
/** Written by hand; most are checked by test/command/program-data.test.ts and test/model-shapes.test.ts. */
const curated = [
  'fields.json',
  'flags.json',
  'images.json',
  'models.json',
  'programs.json',
  'sales.json',
  'variables.json',
];
/** Generated from the sources in scripts/api; test/rules/generated.test.ts compares it with them. */
const ofTypes = 'api.json';
const generated = readdirSync(data).filter((name) => !curated.includes(name) && name !== ofTypes);
const gpuIds = new Set(gpus.gpus.map((gpu) => gpu.id));

describe('the catalog data', () => {
  it('names each GPU once', () => {
    expect(gpuIds.size).toBe(gpus.gpus.length);
    expect(new Set(gpus.gpus.map((gpu) => gpu.name)).size).toBe(gpus.gpus.length);
  });

  it('lists the unsourced fields', () => {
    const fields = new Set(['all', 'labels', 'memoryGiB', 'memoryBandwidth', 'computeCapability', 'nvlink']);
    for (const gpu of gpus.gpus) {
      for (const field of gpu.unsourced) {
        expect(fields.has(field) || /^(labels|tflops)\./.test(field), `${gpu.id}: ${field}`).toBe(true);
      }
      if (gpus.sources[gpu.source[0] ?? 0] === 'unsourced') expect(gpu.unsourced, gpu.id).toEqual(['all']);
    }
  });

  it('refers to sources that exist', () => {
    const used: [readonly string[], readonly (readonly number[])[]][] = [
      [gpus.sources, gpus.gpus.map((gpu) => gpu.source)],
      [mig.sources, mig.profiles.map((profile) => profile.source)],
      [instances.sources, instances.instances.map((instance) => instance[10])],
      [prices.sources, prices.asOf.map(([, source]) => source)],
      [interruptions.sources, [interruptions.source]],
      [sales.sources, sales.sales.map((sale) => sale.source)],
      [platforms.sources, platforms.platforms.flatMap((platform) => Object.values(platform.sources))],
    ];
    for (const [sources, records] of used) {
      expect(new Set(sources).size).toBe(sources.length);
      for (const place of records.flat()) expect(sources[place]).toBeDefined();
    }
  });

  it('partitions GPUs by the rules of MIG', () => {
    const seen = new Set<string>();
    for (const profile of mig.profiles) {
      const table = mig.tables[profile.table];
      expect(table, profile.name).toBeDefined();
      if (table === undefined) continue;
      const name = `${table.gpus[0]} ${profile.name}`;
      expect(seen.has(name), name).toBe(false);
      seen.add(name);
      expect(mig.bases[profile.basis], name).toBeDefined();
      expect(profile.resource, name).toBe(`nvidia.com/mig-${profile.name.replaceAll('+', '.')}`);
      expect(profile.name.startsWith(`${profile.computeSlices}g.${profile.memoryGiB}gb`), name).toBe(true);
      expect(profile.maxInstances * profile.computeSlices, name).toBeLessThanOrEqual(table.computeSlices);
      expect(profile.maxInstances * profile.memorySlices, name).toBeLessThanOrEqual(table.memorySlices);
      expect(profile.maxInstances, name).toBeLessThanOrEqual(profile.placements.length);
      for (const [start, size] of profile.placements) {
        expect(size, name).toBe(profile.memorySlices);
        expect(start + size, name).toBeLessThanOrEqual(table.memorySlices);
      }
    }
    for (const [place, table] of mig.tables.entries()) {
      const whole = mig.profiles.filter(
        (profile) => profile.table === place && profile.computeSlices === table.computeSlices,
      );
      expect(
        whole.some((profile) => profile.memorySlices === table.memorySlices),
        table.gpus[0],
      ).toBe(true);
    }
  });

  it('refers to GPUs that exist', () => {
    const used = [
      ...mig.tables.flatMap((table) => table.gpus),
      ...instances.instances.flatMap((instance) => instance[2] ?? []),
      ...prices.groups.map(([, , gpu]) => gpu),
    ];
    expect([...new Set(used)].filter((id) => !gpuIds.has(id))).toEqual([]);
  });

  it('names each GPU in at most one MIG table', () => {
    const ids = mig.tables.flatMap((table) => table.gpus);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has instances in the declared columns, with the same GPUs as their prices', () => {
    expect(instances.columns).toEqual(schema.instanceColumns);
    const known = new Map(instances.instances.map((instance) => [`${instance[0]} ${instance[1]}`, instance]));
    expect(known.size).toBe(instances.instances.length);
    for (const [provider, instanceType, gpu, gpuCount] of prices.groups) {
      const instance = known.get(`${provider} ${instanceType}`);
      if (instance === undefined || instance[2] === null) continue;
      expect([instance[2], instance[3]], instanceType).toEqual([gpu, gpuCount]);
    }
  });

  it('prices each type once per region, from sources and bases that exist', () => {
    for (const [, instanceType, , , parts] of prices.groups) {
      const regions = parts.flatMap(([, , rows]) => rows.map(([region]) => prices.regions[region]));
      expect(regions, instanceType).not.toContain(undefined);
      expect(new Set(regions).size, instanceType).toBe(regions.length);
      for (const [asOf, basis] of parts) {
        expect(prices.asOf[asOf], instanceType).toBeDefined();
        if (basis !== null) expect(prices.bases[basis], instanceType).toBeDefined();
      }
    }
  });

  it('has one band per instance type and region', () => {
    for (const [type, byBand] of interruptions.types) {
      expect(byBand, type).toHaveLength(interruptions.bands.length);
      const regions = byBand.flatMap((list) => list.map((place) => interruptions.regions[place]));
      expect(regions, type).not.toEqual([]);
      expect(regions, type).not.toContain(undefined);
      expect(new Set(regions).size, type).toBe(regions.length);
    }
  });

  it('has no on-demand price for a machine that is not sold on demand', () => {
    const all = sales.sales.flatMap((sale) => sale.types);
    expect(new Set(all).size).toBe(all.length);
    // Azure's price list still has some retired machines.
    const types = sales.sales.flatMap((sale) => (sale.retired === undefined ? sale.types : []));
    const onDemand = prices.groups.flatMap(([, instanceType, , , parts]) =>
      parts.some(([, , rows]) => rows.some(([, price]) => price !== null)) ? [instanceType] : [],
    );
    expect(onDemand.filter((instanceType) => types.includes(instanceType))).toEqual([]);
  });

  it('stays small enough to ship', () => {
    const sizes = generated.map((name) => readFileSync(join(data, name)).length);
    expect(sizes).toHaveLength(6);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(250_000);
  });
});

describe('the generator', () => {
  const generate = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['--import', 'tsx', join(root, 'scripts/generate-catalog.ts'), ...args], {
      cwd: root,
      encoding: 'utf8',
    });

  it('reproduces the committed files', ({ skip }) => {
    if (!existsSync(facts)) skip('the gathered facts (../shared/facts) are not here');
    const output = mkdtempSync(join(tmpdir(), 'gpulint-catalog-'));
    try {
      const run = generate(facts, output);
      expect(run.stderr).toBe('');
      expect(run.status).toBe(0);
      expect(readdirSync(output).sort()).toEqual(generated.sort());
      for (const name of generated) {
        expect(readFileSync(join(output, name)).equals(readFileSync(join(data, name))), name).toBe(true);
      }
    } finally {
      rmSync(output, { recursive: true });
    }
  });

  it.each([
    ['no folder', [], /^Facts folder missing[^\n]+\n$/],
    ['a folder without facts', [tmpdir()], /has no gpus\.json, [^\n]+\n$/],
    ['no such folder', [join(tmpdir(), 'gpulint-no-such-folder')], /has no gpus\.json, [^\n]+\n$/],
  ] as const)('rejects %s in one sentence', (_, args, sentence) => {
    const run = generate(...args);
    expect(run.stderr).toMatch(sentence);
    expect(run.status).toBe(2);
  });
});
