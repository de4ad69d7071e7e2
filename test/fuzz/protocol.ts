import { methods } from '../../server/src/lsp/protocol.ts';
import { type ClientMessage, type Dialogue, dialogues } from './dialogues.ts';
import { isBuilt, openSession, type Session } from './session.ts';
import { fewer } from './shrink.ts';
import { type Problem, type Target, thrown } from './target.ts';

/** Sessions with the server: whatever it receives, it answers each request once, continues, and shows what a new session would show. */
export const protocol: Target<Dialogue> = {
  name: 'protocol',
  unit: 'sessions',
  inputs: dialogues,
  async check(dialogue, { measure }) {
    const inProcess = dialogue.process && isBuilt ? 'process' : 'in-process';
    if (inProcess === 'process') measure.count('server processes');
    measure.count('messages', dialogue.messages.length);
    return sessionProblems(dialogue, inProcess);
  },
  async shrink(dialogue, fails) {
    return { ...dialogue, messages: await fewer(dialogue.messages, (messages) => fails({ ...dialogue, messages })) };
  },
  save: (dialogue) => ({ extension: 'json', text: `${JSON.stringify(dialogue, null, 1)}\n` }),
  load: (text) => ({ ...JSON.parse(text), process: false, own: true }),
  isOwn: ({ own }) => own,
};

async function sessionProblems(
  { messages, files, settings }: Dialogue,
  where: 'in-process' | 'process',
): Promise<readonly Problem[]> {
  const stray: unknown[] = [];
  const note = (error: unknown) => stray.push(error);
  process.on('uncaughtException', note);
  process.on('unhandledRejection', note);
  // The library prints what its listeners throw.
  const { error: print } = console;
  console.error = note;
  try {
    const session = await openSession(files, where, settings);
    const open = sendAll(session, messages);
    const problems: Problem[] = [];
    if (!(await session.settled())) {
      const late = session.unanswered();
      problems.push({
        kind: 'crash',
        sign: `unanswered-${late[0]?.replace(/ .*/, '')}`,
        message: `no reply to ${late.slice(0, 5).join(', ')}`,
      });
    } else {
      const shown = await finalDiagnostics(session, open);
      const fresh = await openSession(files, 'in-process', settings);
      for (const one of open.values()) fresh.notify('textDocument/didOpen', { textDocument: { ...one, version: 1 } });
      const expected = await finalDiagnostics(fresh, open);
      await fresh.end();
      if (shown !== expected)
        problems.push({
          kind: 'difference',
          sign: 'diagnostics',
          message: `at its end the session shows\n  ${shown}\na new one\n  ${expected}`.slice(0, 2000),
        });
    }
    const status = await session.end();
    if (where === 'process' && status !== 0)
      problems.push({
        kind: 'crash',
        sign: 'exit-status',
        message: `after shutdown and exit the server ended with ${status}`,
      });
    for (const [id, count] of session.replies)
      if (count !== 1)
        problems.push({ kind: 'wrong answer', sign: 'replies', message: `request ${id} got ${count} replies` });
    problems.push(...session.log.flatMap(logProblem));
    return [...problems, ...stray.map((error) => thrown('server', error))];
  } catch (error) {
    return [thrown('session', error)];
  } finally {
    console.error = print;
    process.off('uncaughtException', note);
    process.off('unhandledRejection', note);
  }
}

/** The library's complaints about malformed messages are not failures; exceptions are. */
function logProblem(line: string): readonly Problem[] {
  const [first = ''] = line.split('\n');
  const where = /^(.*?) failed\b/.exec(first)?.[1];
  if (where === undefined && !/\b\w*Error\b/.test(first)) return [];
  const handler = where === undefined ? 'error' : where.replace(/^(work on|Notification handler|rule \S+).*/, '$1');
  return [
    { kind: 'crash', sign: `log-${handler}`, message: `the server logged: ${line.split('\n').slice(0, 4).join('\n')}` },
  ];
}

/** A document as last opened. */
interface Opened {
  readonly uri: string;
  readonly languageId: string;
  readonly text: string;
}

/** Sends all messages and returns the documents that are open afterwards. */
function sendAll(session: Session, messages: readonly ClientMessage[]): ReadonlyMap<string, Opened> {
  const open = new Map<string, Opened>();
  const requests: number[] = [];
  for (const { how, method, params } of messages) {
    if (how === 'request') requests.push(session.send(method, params));
    else if (how === 'cancel') session.notify('$/cancelRequest', { id: requests.at(-1 - Number(params)) ?? 0 });
    else session.notify(method, params);
    if (how !== 'notify') continue;
    const { textDocument } = (params ?? {}) as {
      textDocument?: { uri?: unknown; text?: unknown; version?: unknown; languageId?: unknown } | null;
    };
    const { uri, text, version, languageId } = textDocument ?? {};
    if (typeof uri !== 'string') continue;
    if (method === 'textDocument/didClose') open.delete(uri);
    if (
      method === 'textDocument/didOpen' &&
      typeof text === 'string' &&
      typeof version === 'number' &&
      typeof languageId === 'string'
    )
      open.set(uri, { uri, languageId, text });
  }
  return open;
}

/** The diagnostics after every document has been given a fixed text and saved. */
async function finalDiagnostics(session: Session, open: ReadonlyMap<string, Opened>): Promise<string> {
  const uris = [...open.keys()].sort();
  // This notification holds for this session only.
  session.notify(methods.syntaxElsewhere, { languages: [] });
  for (const uri of uris) {
    session.notify('textDocument/didChange', {
      textDocument: { uri, version: 1_000_000 },
      contentChanges: [{ text: open.get(uri)?.text }],
    });
    session.notify('textDocument/didSave', { textDocument: { uri } });
  }
  // Folders are indexed in the background: diagnostics have settled once they stay the same for a while.
  let [shown, same] = ['', 0];
  for (let round = 0; round < 50 && same < 3; round += 1) {
    const now = JSON.stringify(await Promise.all(uris.map((uri) => diagnosticsOf(session, uri))));
    same = now === shown ? same + 1 : 0;
    shown = now;
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  return shown;
}

async function diagnosticsOf(session: Session, uri: string): Promise<unknown> {
  const { result, error } = await session.request('textDocument/diagnostic', { textDocument: { uri } });
  return [uri, (result as { readonly items?: unknown } | undefined)?.items ?? error];
}
