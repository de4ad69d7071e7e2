import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { podText, repository } from './ci-project.ts';
import { runCli, temporaryFolder } from './run-cli.ts';

// The schema of the standard, from Microsoft's test package. It declares draft 4, but has the same meaning in draft 7.
const { $schema, id, ...official } = createRequire(import.meta.url)(
  '@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json',
);
const isReference = (text: string) => /^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]*$/.test(text);
const validate = new Ajv({
  strict: false,
  unicodeRegExp: false,
  allErrors: true,
  formats: {
    uri: (text: string) => /^[a-z]+:/.test(text) && isReference(text),
    'uri-reference': isReference,
    'date-time': true,
  },
}).compile(official);

interface Replacement {
  readonly deletedRegion: Record<'startLine' | 'startColumn' | 'endLine' | 'endColumn', number>;
  readonly insertedContent: { readonly text: string };
}
interface Place {
  readonly physicalLocation: { readonly artifactLocation: { readonly uri: string; readonly uriBaseId?: string } };
}
interface Fix {
  readonly properties: { readonly safe: boolean };
  readonly artifactChanges: readonly { readonly replacements: readonly Replacement[] }[];
}
interface Result {
  readonly locations: readonly [Place];
  readonly partialFingerprints: Record<string, string>;
  readonly fixes?: readonly Fix[];
}
interface Note {
  readonly level: string;
  readonly message: { readonly text: string };
  readonly locations: readonly [Place];
}
interface Run {
  readonly tool: { readonly driver: { readonly rules: readonly { readonly id: string }[] } };
  readonly invocations: readonly [
    { readonly executionSuccessful: boolean; readonly toolExecutionNotifications: readonly Note[] },
  ];
  readonly results: readonly Result[];
}

async function sarif(args: readonly string[], options: { cwd: string; input?: string }) {
  const { stdout, status } = await runCli(['check', '--format', 'sarif', ...args], options);
  const log: { readonly runs: readonly [Run] } = JSON.parse(stdout);
  validate(log);
  expect(validate.errors ?? []).toEqual([]);
  return { run: log.runs[0], status };
}

test('the schema rejects a report that is not SARIF', () => {
  expect(validate({ version: '2.1.0', runs: [{ results: [] }] })).toBe(false);
  expect(validate({ version: '2.1.0', runs: [{ tool: { driver: { name: 'a' } }, results: [{ level: 'bad' }] }] })).toBe(
    false,
  );
});

test('a run without findings has an empty list of results', async () => {
  const { run, status } = await sarif(['-'], { cwd: temporaryFolder(), input: '' });
  expect(run.results).toEqual([]);
  expect(run.tool.driver.rules).toEqual([]);
  expect(status).toBe(0);
});

test('a file that could not be read is a notification', async () => {
  const folder = repository();
  writeFileSync(path.join(folder, 'deploy/a b.yaml'), 'a\0b');
  const { run } = await sarif(['missing.yaml', 'deploy'], { cwd: folder });
  expect(run.invocations[0].executionSuccessful).toBe(false);
  expect(
    run.invocations[0].toolExecutionNotifications.map((note) => [
      note.level,
      note.message.text,
      note.locations[0].physicalLocation.artifactLocation,
    ]),
  ).toEqual([
    ['error', 'cannot be read: no such file or folder', { uri: 'missing.yaml', uriBaseId: '%SRCROOT%' }],
    ['note', 'a binary file', { uri: 'deploy/a%20b.yaml', uriBaseId: '%SRCROOT%' }],
  ]);
});

test('paths are relative to the root of the repository, and absolute outside', async () => {
  const folder = repository();
  const outside = temporaryFolder();
  writeFileSync(path.join(outside, 'pod.yaml'), podText());
  const { run } = await sarif(['chat.yaml', path.join(outside, 'pod.yaml')], {
    cwd: path.join(folder, 'deploy/serving'),
  });
  const locations = run.results.map((result) => result.locations[0].physicalLocation.artifactLocation);
  expect(locations.slice(0, 1)).toEqual([{ uri: 'deploy/serving/chat.yaml', uriBaseId: '%SRCROOT%' }]);
  expect(locations.at(-1)).toEqual({ uri: expect.stringMatching(/^file:\/\/\/.*\/pod\.yaml$/) });
});

describe('fingerprints', () => {
  const prints = async (text: string, name = 'pod.yaml') => {
    const folder = temporaryFolder();
    mkdirSync(path.join(folder, '.git'));
    writeFileSync(path.join(folder, name), text);
    const { run } = await sarif(['.'], { cwd: folder });
    return run.results.map((result) => result.partialFingerprints['gpulint/v1']);
  };

  test('stay the same if lines move or their white space changes', async () => {
    const before = await prints(podText());
    expect(before).toHaveLength(1);
    expect(before[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(await prints(`# a\n# b\n${podText()}`)).toEqual(before);
    expect(await prints(podText({ newline: '\r\n' }))).toEqual(before);
    expect(
      await prints(
        podText({ resources: 'requests:  {nvidia.com/gpu:  1}' })
          .replace(/ {2}\{/, ' {')
          .replace(/: {2}1/, ': 1'),
      ),
    ).toEqual(before);
  });

  test('change with the line, the workload and the path', async () => {
    const [before] = await prints(podText());
    expect(await prints(podText({ resources: 'requests: {nvidia.com/gpu: 2}' }))).not.toContain(before);
    expect(await prints(podText({ name: 'other' }))).not.toContain(before);
    expect(await prints(podText(), 'other.yaml')).not.toContain(before);
  });

  test('distinguish equal findings', async () => {
    const all = await prints([podText(), podText(), podText()].join('---\n'));
    expect(new Set(all).size).toBe(3);
    expect(all[0]).toBe((await prints(podText()))[0]);
  });
});

describe('replacements', () => {
  test.each([
    ['LF', podText()],
    ['CRLF', podText({ newline: '\r\n' })],
    ['a byte order mark', `\ufeff${podText()}`],
    ['text beyond ASCII before the place', podText({ resources: '{"é𝕏": 1, requests: {nvidia.com/gpu: 1}}' })],
    [
      'several documents',
      [podText(), podText({ resources: 'limits: {nvidia.com/gpu: "2"}' }), podText()].join('---\n'),
    ],
  ])('produce the bytes that --fix writes: %s', async (_, text) => {
    const folder = temporaryFolder();
    const file = path.join(folder, 'pod.yaml');
    writeFileSync(file, text);
    const { run } = await sarif(['pod.yaml'], { cwd: folder });
    const safe = run.results.flatMap((result) => (result.fixes ?? []).filter((fix) => fix.properties.safe));
    expect(safe.length).toBeGreaterThan(0);
    const replaced = safe.flatMap((fix) => fix.artifactChanges.flatMap((change) => change.replacements));
    await runCli(['check', '--fix', 'pod.yaml'], { cwd: folder });
    expect(replaceAll(text, replaced)).toBe(readFileSync(file, 'utf8'));
  });
});

/** Applies replacements like a SARIF viewer: last to first, by lines and UTF-16 columns. A byte order mark has no column. */
function replaceAll(text: string, replacements: readonly Replacement[]): string {
  const bom = text.startsWith('\ufeff') ? '\ufeff' : '';
  let body = text.slice(bom.length);
  const offset = (line: number, column: number) =>
    body
      .split(/(?<=\r\n|\n)/)
      .slice(0, line - 1)
      .join('').length +
    column -
    1;
  const ordered = [...replacements].sort(
    ({ deletedRegion: a }, { deletedRegion: b }) => b.startLine - a.startLine || b.startColumn - a.startColumn,
  );
  for (const { deletedRegion: at, insertedContent } of ordered) {
    const [start, end] = [offset(at.startLine, at.startColumn), offset(at.endLine, at.endColumn)];
    body = body.slice(0, start) + insertedContent.text + body.slice(end);
  }
  return bom + body;
}
