import { lstatSync, mkdirSync, mkdtempSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { oddWords } from './answers.ts';
import { runCheck } from './command-line.ts';
import { fewer, shrinkText } from './shrink.ts';
import { type Problem, type Target, thrown } from './target.ts';
import { type Entry, grow, trees as growing, type Tree } from './tree-shapes.ts';
import { entriesBelow } from './walk.ts';

/** Untrusted folders, checked by the command line in every format, with and without `--fix`. */
export const trees: Target<Tree> = {
  name: 'trees',
  unit: 'trees',
  inputs: growing,
  async check(tree, { measure }) {
    const outer = mkdtempSync(path.join(tmpdir(), 'gpulint-fuzz-'));
    try {
      const inner = path.join(outer, 'workspace');
      // The root of a repository: nothing above it counts.
      mkdirSync(path.join(inner, '.git'), { recursive: true });
      grow(outer, [
        { ...secret, name: 'outside.yaml' },
        { ...secret, name: 'outside/kustomization.yaml' },
        { ...secret, name: '.gpulint.yaml', text: 'gpu: t4\nregion: outside-secret\n' },
      ]);
      grow(inner, tree.entries);
      const length = tree.entries.reduce((sum, { text = '' }) => sum + text.length, 0);
      return await measure.timeAsync('check of a tree', () => treeProblems(outer, inner, tree), length);
    } catch (error) {
      return [thrown('tree', error)];
    } finally {
      rmSync(outer, { recursive: true, force: true });
    }
  },
  async shrink(tree, fails) {
    let shrunk: Tree = { ...tree, entries: await fewer(tree.entries, (entries) => fails({ ...tree, entries })) };
    for (const [index, entry] of shrunk.entries.entries()) {
      if (entry.text === undefined) continue;
      const withText = (text: string): Tree => ({
        ...shrunk,
        entries: shrunk.entries.map((one, at) => (at === index ? { ...entry, text } : one)),
      });
      shrunk = withText(await shrinkText(entry.text, (text) => fails(withText(text)), 200));
    }
    return shrunk;
  },
  save: (tree) => ({ extension: 'json', text: `${JSON.stringify(tree, null, 1)}\n` }),
  load: (text) => JSON.parse(text),
  isOwn: () => true,
};

/** Must not be read unless named: its name would show in the report. */
const secret: Entry = {
  kind: 'file',
  name: '',
  text: 'apiVersion: v1\nkind: Pod\nmetadata: {name: outside-secret}\nspec:\n  containers: [{name: c, image: a/b:1, resources: {requests: {nvidia.com/gpu: 7}}}]\n',
};

async function treeProblems(outer: string, inner: string, { format, fix, paths }: Tree): Promise<readonly Problem[]> {
  const before = lookAt(outer);
  const { status, stdout, stderr, hung } = await runCheck(inner, paths, format, fix);
  const after = lookAt(outer);
  const shown = `check ${paths.join(' ')} --format ${format}${fix ? ' --fix' : ''}`;
  const problem = (kind: Problem['kind'], sign: string, message: string): Problem => ({
    kind,
    sign,
    message: `${shown}: ${message}`,
  });
  if (hung) return [problem('slow request', 'hang', 'it did not end')];
  const problems: Problem[] = [];
  if (![0, 1, 2].includes(status)) problems.push(problem('wrong answer', 'status', `the exit status is ${status}`));
  if (/internal error/.test(stderr)) problems.push(problem('crash', 'broke', stderr.slice(0, 400)));
  problems.push(...outputProblems(format, stdout, stderr).map(([sign, why]) => problem('wrong answer', sign, why)));
  // Naming a path means its content, wherever a link leads.
  const linked = paths.some((argument) => !isInside(inner, path.resolve(inner, argument)));
  if (!linked && /outside-secret/.test(stdout + stderr))
    problems.push(problem('wrong answer', 'read-outside', `it read outside the project: ${stdout.slice(0, 300)}`));
  const changed = fix ? fixedFiles(inner, format, stdout) : new Set<string>();
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(name), after.get(name)];
    if (was === undefined || is === undefined)
      problems.push(problem('damaged text', was === undefined ? 'left-behind' : 'deleted', JSON.stringify(name)));
    else if (was.shape !== is.shape)
      problems.push(problem('damaged text', 'shape', `${JSON.stringify(name)} was ${was.shape} and is ${is.shape}`));
    else if (was.content !== is.content && !(fix && (changed === undefined || changed.has(is.file))))
      problems.push(problem('damaged text', 'changed', `${JSON.stringify(name)} changed and is not reported as fixed`));
    else if (was.content !== is.content && !linked && name.startsWith('outside'))
      problems.push(problem('damaged text', 'changed-outside', name));
  }
  return problems;
}

function isInside(folder: string, file: string): boolean {
  try {
    return `${realpathSync(file)}${path.sep}`.startsWith(`${realpathSync(folder)}${path.sep}`);
  } catch {
    // The path does not exist.
    return true;
  }
}

interface Looks {
  /** Kind, mode, owner and link count. */
  readonly shape: string;
  readonly content: string;
  /** The identity of the file, whatever its name. */
  readonly file: string;
}

function lookAt(top: string): ReadonlyMap<string, Looks> {
  const found = new Map<string, Looks>();
  for (const name of entriesBelow(top)) {
    const full = path.join(top, name);
    const stats = lstatSync(full, { throwIfNoEntry: false });
    if (stats === undefined) continue;
    const content = stats.isFile() ? readFileSync(full, 'latin1') : stats.isSymbolicLink() ? readlinkSync(full) : '';
    const kind = stats.isFile()
      ? 'a file'
      : stats.isDirectory()
        ? 'a folder'
        : stats.isSymbolicLink()
          ? 'a link'
          : 'special';
    const shape = stats.isDirectory()
      ? kind
      : `${kind} with mode ${stats.mode.toString(8)}, ${stats.nlink} links, owner ${stats.uid}:${stats.gid}`;
    found.set(name, { shape, content, file: `${stats.dev}:${stats.ino}` });
  }
  return found;
}

/** The inodes that the report lists as fixed; undefined if the format does not contain them. */
function fixedFiles(inner: string, format: string, stdout: string): ReadonlySet<string> | undefined {
  if (format !== 'json' || stdout === '') return undefined;
  const { files }: { files: readonly { path: string; folder?: string; fixed?: readonly unknown[] }[] } =
    JSON.parse(stdout);
  const fixed = files.filter((file) => (file.fixed ?? []).length > 0);
  return new Set(fixed.map(({ path: name, folder = '' }) => inodeOf(path.resolve(inner, folder, name))));
}

function inodeOf(file: string): string {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.dev}:${stats.ino}`;
}

function outputProblems(format: string, stdout: string, stderr: string): readonly (readonly [string, string])[] {
  const problems: [string, string][] = [];
  const isJson = ['json', 'sarif', 'gitlab'].includes(format);
  if (isJson && stdout !== '') {
    try {
      JSON.parse(stdout);
    } catch (error) {
      problems.push(['no-json', String(error)]);
    }
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the search is for control characters
  const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/.exec(isJson ? stderr : stdout + stderr);
  if (control !== null)
    problems.push([
      `control-character-in-${format}`,
      JSON.stringify((stdout + stderr).slice(Math.max(0, control.index - 60), control.index + 60)),
    ]);
  if (format === 'github') {
    const odd = stdout
      .split('\n')
      .find((line) => line !== '' && !/^::(error|warning|notice) (title|file|line)/.test(line));
    if (odd !== undefined) problems.push(['github-line', JSON.stringify(odd.slice(0, 200))]);
  }
  const word = oddWords.exec(stdout + stderr)?.[0];
  if (word !== undefined) problems.push(['nan-in-report', word]);
  return problems;
}
