import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, inject, onTestFinished, test } from 'vitest';
import {
  CodeLensRequest,
  createProtocolConnection,
  DidChangeWatchedFilesNotification,
  DidOpenTextDocumentNotification,
  ExitNotification,
  FileChangeType,
  InitializedNotification,
  InitializeRequest,
  ShutdownRequest,
  StreamMessageReader,
  StreamMessageWriter,
} from 'vscode-languageserver/node';
import { type EditResult, methods } from '../../server/src/lsp/protocol.ts';

const temp = mkdtempSync(path.join(tmpdir(), 'gpulint-lsp-'));
const program = path.join(inject('programs'), 'server.js');
afterAll(() => rmSync(temp, { recursive: true, force: true }));

const pod = `apiVersion: v1
kind: Pod
metadata:
  name: a
spec:
  containers:
    - name: a
      image: busybox:1.36
      resources: { limits: { nvidia.com/gpu: 1 } }
`;

test('a process serves over standard input and output, reads the config from disk, and ends on exit', async () => {
  const { child, connection, ended } = start();
  writeFileSync(path.join(temp, '.gpulint.yaml'), 'gpu: l4\n');
  await initialize(connection);
  const uri = pathToFileURL(path.join(temp, 'pod.yaml')).href;
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'yaml', version: 1, text: pod },
  });
  const lenses = await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } });
  expect(lenses?.[0]?.command?.title).toMatch(/^1 × L4 · \$/);
  await connection.sendRequest(ShutdownRequest.type);
  await connection.sendNotification(ExitNotification.type);
  expect(await ended).toBe(0);
  expect(child.killed).toBe(false);
});

test('a byte order mark on disk shifts no positions: editors do not show it', async () => {
  const { connection } = start();
  writeFileSync(path.join(temp, '.gpulint.yaml'), '\uFEFFgpu: a10g\n');
  await initialize(connection);
  const uri = pathToFileURL(path.join(temp, 'pod.yaml')).href;
  const params = { uri, gpu: 'l4', provider: null };
  const result = await connection.sendRequest<EditResult>(methods.setGpu, params);
  expect('edit' in result && Object.values(result.edit.changes ?? {}).flat()).toEqual([
    { range: { start: { line: 0, character: 5 }, end: { line: 0, character: 9 } }, newText: 'l4' },
  ]);
});

test('a new link is skipped, like existing ones', async () => {
  const { connection } = start();
  await initialize(connection);
  const runtime = (name: string) =>
    `apiVersion: serving.kserve.io/v1alpha1\nkind: ServingRuntime\nmetadata: {name: ${name}}\nspec:\n  containers:\n    - name: kserve-container\n      resources: {limits: {nvidia.com/gpu: 2}}\n`;
  const elsewhere = mkdtempSync(path.join(tmpdir(), 'gpulint-elsewhere-'));
  onTestFinished(() => rmSync(elsewhere, { recursive: true, force: true }));
  writeFileSync(path.join(elsewhere, 'linked.yaml'), runtime('linked'));
  mkdirSync(path.join(temp, 'come'));
  writeFileSync(path.join(temp, 'come', 'own.yaml'), runtime('own'));
  symlinkSync(elsewhere, path.join(temp, 'link'));
  const lensesOf = async (name: string) => {
    const uri = pathToFileURL(path.join(temp, `${name}-service.yaml`)).href;
    const text = `apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: a}\nspec:\n  predictor:\n    model: {modelFormat: {name: x}, runtime: ${name}}\n`;
    await connection.sendNotification(DidOpenTextDocumentNotification.type, {
      textDocument: { uri, languageId: 'yaml', version: 1, text },
    });
    return async () => (await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } })) ?? [];
  };
  const [own, linked] = [await lensesOf('own'), await lensesOf('linked')];
  await connection.sendNotification(DidChangeWatchedFilesNotification.type, {
    changes: ['link', 'come'].map((name) => ({
      uri: pathToFileURL(path.join(temp, name)).href,
      type: FileChangeType.Created as FileChangeType,
    })),
  });
  for (;;) if ((await own()).length > 0) break;
  expect(await linked()).toEqual([]);
});

test('garbage in the input does not end the server', async () => {
  const { child, connection, ended } = start();
  const raw = (content: string) => child.stdin.write(`Content-Length: ${Buffer.byteLength(content)}\r\n\r\n${content}`);
  await initialize(connection);
  raw('this is no JSON');
  raw('{"jsonrpc":"2.0"}');
  raw('[]');
  raw('null');
  raw('{"jsonrpc":"2.0","method":"textDocument/didOpen","params":{"textDocument":{"uri":5}}}');
  raw('{"jsonrpc":"2.0","method":"textDocument/didChange","params":null}');
  raw(
    '{"jsonrpc":"2.0","id":900,"method":"textDocument/hover","params":{"textDocument":{"uri":"file:///x"},"position":null}}',
  );
  raw('{"jsonrpc":"2.0","id":901,"method":"gpulint/migChoices","params":{}}');
  raw('{"jsonrpc":"2.0","id":902,"method":"gpulint/setGpu"}');
  const uri = 'file:///somewhere/pod.yaml';
  await connection.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri, languageId: 'yaml', version: 1, text: pod },
  });
  const lenses = await connection.sendRequest(CodeLensRequest.type, { textDocument: { uri } });
  expect(lenses).toHaveLength(1);
  child.stdin.end();
  // Without a shutdown, the exit status is 1.
  expect(await ended).toBe(1);
});

describe('the end', () => {
  test('by exit without a shutdown has its own status', async () => {
    const { connection, ended } = start();
    await initialize(connection);
    await connection.sendNotification(ExitNotification.type);
    expect(await ended).toBe(1);
  });

  test('of the input after a shutdown has status 0', async () => {
    const { child, connection, ended } = start();
    await initialize(connection);
    await connection.sendRequest(ShutdownRequest.type);
    child.stdin.end();
    expect(await ended).toBe(0);
  });

  describe.skipIf(process.platform === 'win32')('while all file reads hang, as on a lost network drive,', () => {
    // Each blocks one of Node's four file threads until the pipe is written to.
    const hang = path.join(temp, 'hang.cjs');
    writeFileSync(
      hang,
      `for (let i = 0; i < 4; i += 1) require('node:fs').open(__dirname + '/pipe', 'r', () => {});\n`,
    );

    test.each(['exit', 'the end of the input', 'the end of the parent'])('comes with %s', async (how) => {
      execFileSync('sh', ['-c', 'test -p "$0" || mkfifo "$0"', path.join(temp, 'pipe')]);
      const { child, connection, ended } = start(['--require', hang]);
      await initialize(connection, how === 'the end of the parent' ? await pidOfTheDead() : process.pid);
      const uri = pathToFileURL(path.join(temp, 'hung.yaml')).href;
      await connection.sendNotification(DidOpenTextDocumentNotification.type, {
        textDocument: { uri, languageId: 'yaml', version: 1, text: pod },
      });
      // Requests that need no file get a response.
      expect(await connection.sendRequest(methods.ruleIds, {})).not.toEqual([]);
      if (how === 'exit') {
        await connection.sendRequest(ShutdownRequest.type);
        await connection.sendNotification(ExitNotification.type);
      } else if (how === 'the end of the input') child.stdin.end();
      // The process cannot wait for a hanging thread, so it is killed without a status.
      expect(await ended).toBeNull();
    });
  });
});

/** The id of a process that has ended. */
async function pidOfTheDead(): Promise<number> {
  const child = spawn(process.execPath, ['--version']);
  await new Promise((resolve) => child.on('exit', resolve));
  return child.pid ?? 0;
}

function start(options: readonly string[] = []) {
  const child = spawn(process.execPath, [...options, program, '--stdio']);
  const connection = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  // The garbage gets a response to a request that this connection did not send.
  connection.onError(() => undefined);
  connection.listen();
  onTestFinished(() => {
    connection.dispose();
    child.kill();
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  return { child: child as ChildProcessWithoutNullStreams, connection, ended };
}

async function initialize(connection: ReturnType<typeof start>['connection'], processId = process.pid): Promise<void> {
  await connection.sendRequest(InitializeRequest.type, {
    processId,
    rootUri: pathToFileURL(temp).href,
    capabilities: {},
  });
  await connection.sendNotification(InitializedNotification.type, {});
}
