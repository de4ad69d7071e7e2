// gpulint prices: what is shown, what a refresh writes, and what remains if it fails.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { p5Pod } from '../support/p5.ts';
import {
  awsFile,
  awsIndex,
  awsList,
  azureItem,
  hosts,
  json,
  partly,
  type Route,
  rest,
  startPriceServer,
  status,
  text,
} from '../support/price-server.ts';
import { cli, runCli, temporaryFolder } from './run-cli.ts';

const list = awsList({ 'Instance Type': 'p5.48xlarge', PricePerUnit: '50.00' });
const amazon = (file: Route | readonly Route[] = text(list)) =>
  startPriceServer(
    new Map<string, Route | readonly Route[]>([
      [hosts.awsIndex, json(awsIndex('us-east-1', 'eu-west-1'))],
      [hosts.spotAdvisor, json({ spot_advisor: { 'us-east-1': { Linux: { 'p5.48xlarge': { s: 50, r: 0 } } } } })],
      [awsFile('us-east-1'), file],
      [awsFile('eu-west-1'), text(list.replaceAll('us-east-1', 'eu-west-1'))],
    ]),
  );

/** A folder with a manifest, and an environment in which the price sheet is in that folder on 22 November 2026. */
function project(mirror = 'http://127.0.0.1:1') {
  const cwd = temporaryFolder();
  fs.writeFileSync(path.join(cwd, 'pod.yaml'), p5Pod);
  const sheet = path.join(cwd, 'cache', 'gpulint', 'prices.json');
  const env = {
    GPULINT_PRICES: '',
    XDG_CACHE_HOME: path.join(cwd, 'cache'),
    GPULINT_PRICES_MIRROR: mirror,
    SOURCE_DATE_EPOCH: String(Date.UTC(2026, 10, 22) / 1000),
  };
  return { cwd, env, sheet };
}

const old = 'gpulint: Prices are up to 125 days old: "gpulint prices refresh" updates them\n';

describe('refresh', () => {
  it('fetches prices, which then apply everywhere, and reset removes them', async () => {
    const { mirror } = await amazon();
    const { sheet, ...at } = project(mirror);
    const cost = async () => (await runCli(['cost', 'pod.yaml'], at)).stdout;
    expect(await cost()).toContain('$55.04/h');

    const refreshed = await runCli(['prices', 'refresh', '--provider', 'aws'], at);
    expect(refreshed).toMatchObject({ status: 0, stdout: 'AWS price list: 2 prices in 1 region\n' });
    expect(refreshed.stderr.split('\n').at(-2)).toBe(`gpulint: the prices are in ${sheet}`);
    expect(await cost()).toContain('$50.00/h');
    expect(await cost()).toMatch(/Prices: on demand at AWS us-east-1, as of 20\d\d-\d\d-\d\d;/);
    const report = JSON.parse((await runCli(['check', '--format', 'json', 'pod.yaml'], at)).stdout);
    expect(report.files[0].workloads[0].cost.basis[0]).toMatchObject({
      asOf: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      source: `https://${awsFile('us-east-1')}`,
      spotInstanceHourly: 25,
    });

    const shown = await runCli(['prices'], at);
    expect(shown.stdout).toContain(`, in ${sheet}\n`);
    expect(shown.stdout).toMatch(/^Fetched {3}2 prices, updated 20\d\d-/m);
    expect(shown.stdout).toMatch(
      /^ {2}20\d\d-\d\d-\d\d {2}https:\/\/pricing\.us-east-1\S+\/us-east-1\/index\.csv \(1 price\)$/m,
    );
    expect(shown.stdout).toMatch(/^AWS +\d+ +\d+ +2 +2026-07-09 to 20\d\d-\d\d-\d\d +136 days$/m);

    const removed = await runCli(['prices', 'reset'], at);
    expect(removed).toMatchObject({ status: 0, stdout: `removed ${sheet}: the catalog prices apply\n` });
    expect(fs.readdirSync(path.dirname(sheet))).toEqual([]);
    expect(await cost()).toContain('$55.04/h');
    expect((await runCli(['prices', 'reset'], at)).stdout).toContain('no fetched prices');
  });

  it('fetches the region of the project', async () => {
    const server = await amazon();
    const { cwd, env } = project(server.mirror);
    fs.writeFileSync(path.join(cwd, '.gpulint.yaml'), 'provider: aws\nregion: eu-west-1\n');
    await runCli(['prices', 'refresh', '--provider', 'aws'], { cwd, env });
    expect(server.requested).toEqual([hosts.awsIndex, hosts.spotAdvisor, awsFile('eu-west-1'), awsFile('us-east-1')]);
  });

  it('offline: says which address, that nothing is lost, and leaves the prices in use', async () => {
    const { sheet, ...at } = project();
    const { status: code, stderr } = await runCli(['prices', 'refresh', '--provider', 'azure'], at);
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^gpulint: https:\/\/prices\.azure\.com\/api\/retail\/prices\S+: nothing accepts connections there$/m,
    );
    expect(stderr).toContain('some sources could not be read. The catalog prices stay in use.\n');
    expect(fs.existsSync(sheet)).toBe(false);
  });

  it('a source that fails does not affect another one, and nothing that was there', async () => {
    const { mirror } = await startPriceServer(
      new Map<string, Route>([
        [hosts.awsIndex, status(404)],
        [hosts.spotAdvisor, status(404)],
        [hosts.azure, json({ Items: [azureItem({})] })],
      ]),
    );
    const { sheet, ...at } = project(mirror);
    const { status: code, stdout, stderr } = await runCli(['prices', 'refresh', '--provider', 'azure,aws'], at);
    expect(code).toBe(2);
    expect(stdout).toBe('Azure Retail Prices: 1 price in 1 region\nAWS price list: 0 prices in 0 regions\n');
    expect(stderr).toContain(`gpulint: https://${hosts.awsIndex}: it answered 404: the file no longer exists\n`);
    expect(JSON.parse(fs.readFileSync(sheet, 'utf8')).prices).toHaveLength(1);
  });

  it('can be interrupted, and continues', async () => {
    const server = await amazon([partly(list, 300, 'hang'), rest(list)]);
    const { sheet, cwd, env } = project(server.mirror);
    const child = spawn(process.execPath, [cli, 'prices', 'refresh', '--provider', 'aws', '--progress', 'json'], {
      cwd,
      env: { ...process.env, ...env },
    });
    const lines: string[] = [];
    let isStopped = false;
    child.stdout.on('data', (chunk: Buffer) => {
      lines.push(...chunk.toString().trim().split('\n'));
      if (isStopped || !lines.some((line) => line.includes('file 3, 0.0 of'))) return;
      isStopped = true;
      child.kill('SIGINT');
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect(code).toBe(2);
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      kind: 'end',
      text: 'canceled; finished downloads are kept for a day: run the command again to continue. The catalog prices stay in use.',
    });
    expect(fs.existsSync(sheet)).toBe(false);
    expect((await runCli(['prices', 'refresh', '--provider', 'aws'], { cwd, env })).status).toBe(0);
    expect(server.requested.filter((name) => name === hosts.awsIndex)).toHaveLength(1);
    expect(fs.existsSync(sheet)).toBe(true);
  });

  it('rejects unknown sources, and does nothing where prices are turned off', async () => {
    const { cwd, env } = project();
    const unknown = await runCli(['prices', 'refresh', '--provider', 'ibm'], { cwd, env });
    expect(unknown.status).toBe(2);
    expect(unknown.stderr).toContain("'ibm' is invalid; allowed: aws, azure, gcp, skypilot");
    const off = await runCli(['prices', 'refresh'], { cwd, env: { ...env, GPULINT_PRICES: 'none' } });
    expect(off.stderr).toBe('gpulint: GPULINT_PRICES=none turns fetched prices off; unset it to refresh them\n');
  });

  it('says that the folder cannot be written', async () => {
    const { mirror } = await amazon();
    const { cwd, env } = project(mirror);
    fs.writeFileSync(path.join(cwd, 'cache'), 'a file');
    const { status: code, stderr } = await runCli(['prices', 'refresh', '--provider', 'aws'], { cwd, env });
    expect(code).toBe(2);
    expect(stderr).not.toContain('internal error');
  });
});

describe('old prices', () => {
  it('are reported once per run, on standard error, and can be turned off', async () => {
    const { cwd, env } = project();
    fs.writeFileSync(path.join(cwd, 'other.yaml'), p5Pod);
    for (const args of [['check'], ['check', '--format', 'json'], ['cost']])
      expect((await runCli(args, { cwd, env })).stderr).toBe(old);
    expect((await runCli(['check', '--quiet'], { cwd, env })).stderr).toBe('');
    fs.writeFileSync(path.join(cwd, '.gpulint.yaml'), 'prices: {maxAgeDays: 0}\n');
    expect((await runCli(['check'], { cwd, env })).stderr).toBe('');
  });

  it('are not reported where no price is shown', async () => {
    const { cwd, env } = project();
    fs.writeFileSync(path.join(cwd, 'pod.yaml'), 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n');
    expect((await runCli(['check'], { cwd, env })).stderr).toBe('');
  });
});

it('a sheet that cannot be used is reported once and ignored', async () => {
  const { cwd, env, sheet } = project();
  fs.mkdirSync(path.dirname(sheet), { recursive: true });
  fs.writeFileSync(sheet, '{"version":2}');
  const { status: code, stdout, stderr } = await runCli(['cost', 'pod.yaml'], { cwd, env });
  expect([code, stdout.includes('$55.04/h')]).toEqual([0, true]);
  const why = `the price sheet ${sheet} is ignored: another version of gpulint wrote it (format 2); run "gpulint prices refresh" or "gpulint prices reset"`;
  expect(stderr).toBe(`gpulint: ${why}\n${old}`);
  const shown = await runCli(['prices'], { cwd, env });
  expect(shown.stdout).toContain(`Fetched   ${why}\n`);
});

it('nothing but a refresh connects to a source', async () => {
  const server = await amazon();
  const { cwd, env } = project(server.mirror);
  for (const args of [['check'], ['cost'], ['prices'], ['prices', 'reset'], ['rules'], ['prices', 'refresh', '--help']])
    await runCli(args, { cwd, env });
  expect(server.requested).toEqual([]);
});
