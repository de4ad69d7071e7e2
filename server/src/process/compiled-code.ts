import { createHash } from 'node:crypto';
import fs from 'node:fs';
import Module, { createRequire } from 'node:module';
import path from 'node:path';
import process from 'node:process';
import { cachedDataVersionTag, setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { cacheFolder } from './cache-folder.ts';

// Node's own cache (NODE_COMPILE_CACHE) keeps what is compiled while a file is loaded. Most functions are compiled later, on their first call,
// which is a third of the time in which a server opens its first text. So the code is kept as it is when the process ends.

/** A kept file: how many runs have added to it, a checksum, and the code. V8 checks versions and flags itself, but not for damage. */
interface Compiled {
  readonly runs: number;
  readonly code: Buffer;
}

const headBytes = 33;

/** One run does not call everything; from the fifth on, the code is only read. */
const learningRuns = 4;

const maxAgeMs = 30 * 24 * 60 * 60 * 1000;

type Require = (name: string) => unknown;

/**
 * V8 notes the types that a function meets only from its eighth call on, to save memory in code that hardly runs. A server's first text calls most
 * functions a few times: with the notes from the first call on, it opens a third faster. Node allows flags to be set before the code runs.
 */
const noteTypesAtOnce = '--no-lazy-feedback-allocation';

/**
 * V8 drops the compiled form of functions that were not called for a few collections. In a long session that is the code of the start, so the next
 * start would not find it among the kept code, and would take 60 ms and 7 MB more.
 */
const keepCompiled = '--no-flush-bytecode';

/**
 * V8 lets a heap grow to several times what is in use before it collects it. In a server, that is mostly what belonged to earlier versions of a text:
 * after 2,000 edits of 5,000 lines, twice the memory of now. An edit takes 0.6 ms longer.
 */
const collectSooner = '--heap-growing-percent=35';

/**
 * V8 compiles what runs often once more, with the functions that it calls. Here, these are many small ones that run a few times each: the compiler
 * takes a fifth of an edit's processor time and 5 MB, and no edit gets faster; a check of 2,700 files takes a twentieth longer.
 */
const inlineNothing = '--max-inlined-bytecode-size-cumulative=0';

/** Runs the language server, which stays in memory for hours. */
export function runServer(): void {
  setFlagsFromString(collectSooner);
  runBundle('language-server.js');
}

/** Runs a bundle from the same folder. The bundles that it requires are run in the same way, each once. */
export function runBundle(name: string): void {
  setFlagsFromString(noteTypesAtOnce);
  setFlagsFromString(keepCompiled);
  setFlagsFromString(inlineNothing);
  const folder = codeFolder(process.env);
  const file = path.join(__dirname, name);
  if (folder === null) createRequire(file)(file);
  else run(file, folder, new Map());
}

/**
 * Where compiled code is kept: NODE_COMPILE_CACHE, else the user's cache. Null if NODE_DISABLE_COMPILE_CACHE is set, or if someone else can
 * write there, for what is in it runs.
 */
function codeFolder(env: NodeJS.ProcessEnv): string | null {
  if (env.NODE_DISABLE_COMPILE_CACHE) return null;
  const folder = path.resolve(env.NODE_COMPILE_CACHE || path.join(cacheFolder(env), 'gpulint', 'code'));
  try {
    const { uid, mode } = fs.statSync(folder);
    return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0) ? folder : null;
  } catch {
    return folder;
  }
}

function run(file: string, folder: string, loaded: Map<string, { exports: unknown }>): unknown {
  const before = loaded.get(file);
  if (before !== undefined) return before.exports;
  const source = fs.readFileSync(file, 'utf8');
  // V8 rejects code that was compiled with other flags.
  const tag = cachedDataVersionTag();
  const hash = createHash('sha256').update(String(tag)).update(source).digest('hex');
  const kept = path.join(folder, `${path.basename(file, '.js')}-${hash.slice(0, 16)}.code`);
  const known = readCompiled(kept);
  const script = new Script(Module.wrap(source), { filename: file, ...(known !== null && { cachedData: known.code }) });
  const usable = script.cachedDataRejected === false;
  const runs = usable ? (known?.runs ?? 0) : 0;
  const bytes = usable ? (known?.code.length ?? 0) : 0;
  if (runs < learningRuns) process.once('exit', () => keep(kept, script, { runs, bytes, tag }));
  const required: Require = createRequire(file);
  const load: Require = (name) =>
    name.startsWith('./') ? run(path.join(path.dirname(file), name), folder, loaded) : required(name);
  const module = { exports: {} };
  loaded.set(file, module);
  script.runInThisContext().call(module.exports, module.exports, load, module, file, path.dirname(file));
  return module.exports;
}

function readCompiled(kept: string): Compiled | null {
  try {
    const content = fs.readFileSync(kept);
    const code = content.subarray(headBytes);
    const runs = content[0] ?? 0;
    return checksum(runs, code).equals(content.subarray(1, headBytes)) ? { runs, code } : null;
  } catch {
    return null;
  }
}

/** Writes the code at the end of a run. A folder that cannot be written costs the next start its speed, and nothing else. */
function keep(
  kept: string,
  script: Script,
  before: { readonly runs: number; readonly bytes: number; readonly tag: number },
): void {
  // A run that has changed the flags of V8 has nothing to add.
  if (cachedDataVersionTag() !== before.tag) return;
  const now = script.createCachedData();
  // V8 drops code that was not called for long.
  const code = now.length >= before.bytes ? now : (readCompiled(kept)?.code ?? now);
  const runs = before.runs + 1;
  const folder = path.dirname(kept);
  const part = `${kept}.${process.pid}`;
  try {
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.writeFileSync(part, Buffer.concat([Buffer.of(runs), checksum(runs, code), code]), { mode: 0o600, flag: 'wx' });
    fs.renameSync(part, kept);
    for (const other of unusedBeside(kept)) fs.rmSync(other, { force: true });
  } catch {
    removeQuietly(part);
  }
}

/** In a folder that cannot be searched, even a file that does not exist cannot be removed. */
function removeQuietly(file: string): void {
  try {
    fs.rmSync(file, { force: true });
  } catch {
    // Nothing was written there.
  }
}

/** What was kept of the same bundle in other versions or with other flags, long ago. If it is still in use, it is made again. */
function unusedBeside(kept: string): readonly string[] {
  const own = path.basename(kept);
  const prefix = own.slice(0, own.lastIndexOf('-') + 1);
  return fs
    .readdirSync(path.dirname(kept))
    .filter((name) => name !== own && name.startsWith(prefix) && /-[0-9a-f]{16}\.code$/.test(name))
    .map((name) => path.join(path.dirname(kept), name))
    .filter((file) => Date.now() - fs.statSync(file).mtimeMs > maxAgeMs);
}

function checksum(runs: number, code: Buffer): Buffer {
  return createHash('sha256').update(Buffer.of(runs)).update(code).digest();
}
