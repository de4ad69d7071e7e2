import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { configName } from '../../config/places.ts';
import { isTerraform } from '../../workspace/terraform.ts';
import { maxFileBytes } from '../file-content.ts';
import { isManifestName } from '../files.ts';
import { realPath } from '../reach.ts';
import { systemReason, UsageError } from '../usage-error.ts';

/** The manifests and configs of a git revision, written to a temporary folder. */
export interface GitTree {
  /** The temporary folder, which stands for the root of the repository. */
  readonly root: string;
  /** The root of the repository itself. */
  readonly repository: string;
  /** The paths of the command line in it; without those that the revision does not have. */
  readonly paths: readonly string[];
}

/** More files than any project has, and more text than gpulint reads in a minute. */
const maxFiles = 50_000;
const maxBytes = 400_000_000;

/**
 * Reads the YAML and JSON files of a revision with git's plumbing commands (`rev-parse`, `ls-tree`, `cat-file`): these run no hook, no filter and
 * no program of the repository, and they fetch nothing. The folder is deleted afterwards.
 * @throws UsageError if git is missing, the folder is not in a repository, or the revision does not exist
 */
export async function withTreeOf<T>(
  revision: string,
  paths: readonly string[],
  use: (tree: GitTree) => Promise<T>,
): Promise<T> {
  const repository = repositoryOf(paths[0] ?? '.', revision);
  const below = paths.map((name) => pathBelow(repository, name));
  const commit = commitOf(repository, revision);
  const root = fs.mkdtempSync(path.join(fs.realpathSync(os.tmpdir()), 'gpulint-base-'));
  try {
    // Marks the root of a repository, so that no config above it applies.
    fs.mkdirSync(path.join(root, '.git'));
    writeFiles(repository, manifestsOf(repository, commit), root);
    const here = below.map((name) => path.join(root, name));
    return await use({ root, repository, paths: here.filter((name) => fs.existsSync(name)) });
  } finally {
    fs.rmSync(root, { recursive: true, force: true });
  }
}

interface Blob {
  readonly id: string;
  readonly path: string;
  readonly bytes: number;
}

function repositoryOf(name: string, revision: string): string {
  const start = path.resolve(name);
  const folder = fs.statSync(start, { throwIfNoEntry: false })?.isDirectory() === true ? start : path.dirname(start);
  const { status, stdout, problem } = git(folder, ['rev-parse', '--show-toplevel']);
  if (status === 0) return stdout.toString().trimEnd();
  throw new UsageError(
    `--base ${revision} needs a git repository: ${problem}; to compare without git, use --compare <report.json>`,
  );
}

function commitOf(repository: string, revision: string): string {
  const { status, stdout } = git(repository, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${revision}^{commit}`,
  ]);
  if (status === 0) return stdout.toString().trimEnd();
  throw new UsageError(
    `--base ${revision}: no such revision in this clone; fetch it first, for example with git fetch`,
  );
}

function pathBelow(repository: string, name: string): string {
  const absolute = path.resolve(name);
  const below = path.relative(repository, realPath(absolute) ?? absolute);
  if (below !== '..' && !below.startsWith(`..${path.sep}`) && !path.isAbsolute(below)) return below;
  throw new UsageError(`${name} is outside the repository ${repository}: --base compares only files in one repository`);
}

/** The files that a check can read, wherever they are: charts, kustomizations and configs refer to files in other folders. */
function manifestsOf(repository: string, commit: string): readonly Blob[] {
  const { status, stdout, problem } = git(repository, ['ls-tree', '-r', '-l', '-z', '--full-tree', commit]);
  if (status !== 0) throw new UsageError(`git cannot list the files of ${commit}: ${problem}`);
  const blobs: Blob[] = [];
  let total = 0;
  for (const entry of stdout.toString().split('\0')) {
    const [, mode = '', id = '', size = '', name = ''] = /^(\d+) blob ([0-9a-f]+) +(\d+)\t(.*)$/s.exec(entry) ?? [];
    const bytes = Number(size);
    if (!mode.startsWith('100') || bytes > maxFileBytes || !isWanted(name)) continue;
    total += bytes;
    blobs.push({ id, path: name, bytes });
  }
  if (blobs.length <= maxFiles && total <= maxBytes) return blobs;
  throw new UsageError(
    `--base cannot compare a repository with ${blobs.length} manifests (${Math.round(total / 1e6)} MB): use --compare <report.json>`,
  );
}

function isWanted(name: string): boolean {
  const steps = name.split('/');
  // A hostile tree can contain names that lead out of the folder; git itself refuses to check them out.
  const isSafe = steps.every((step) => step !== '' && step !== '.' && step !== '..' && !step.includes('\\'));
  if (!isSafe || steps.some((step) => step.toLowerCase() === '.git' || step === 'node_modules')) return false;
  const last = steps.at(-1) ?? '';
  return last === configName || isManifestName(last) || isTerraform(last);
}

function writeFiles(repository: string, blobs: readonly Blob[], root: string): void {
  const { status, stdout, problem } = git(
    repository,
    ['cat-file', '--batch'],
    blobs.map(({ id }) => `${id}\n`).join(''),
  );
  if (status !== 0) throw new UsageError(`git cannot read the files of the revision: ${problem}`);
  let at = 0;
  for (const blob of blobs) {
    const end = stdout.indexOf(10, at);
    const header = stdout.toString('latin1', at, end);
    if (header !== `${blob.id} blob ${blob.bytes}`) {
      throw new UsageError(`git cannot read ${blob.path} of the revision: ${header}; fetch the whole history first`);
    }
    writeFile(path.join(root, blob.path), stdout.subarray(end + 1, end + 1 + blob.bytes));
    at = end + 1 + blob.bytes + 1;
  }
}

function writeFile(file: string, content: Buffer): void {
  try {
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, content, { flag: 'wx' });
  } catch (error) {
    throw new UsageError(`cannot write the revision to ${file}: ${systemReason(error)}`);
  }
}

interface GitResult {
  readonly status: number | null;
  readonly stdout: Buffer;
  /** The first line of the error. */
  readonly problem: string;
}

function git(folder: string, args: readonly string[], input = ''): GitResult {
  const { status, stdout, stderr, error } = spawnSync('git', ['--no-replace-objects', '-C', folder, ...args], {
    input,
    maxBuffer: 2 * maxBytes,
    env: { ...process.env, GIT_OPTIONAL_LOCKS: '0', GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
  });
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') {
    throw new UsageError('--base needs git, which is not on the PATH; alternatively, use --compare <report.json>');
  }
  const [line = ''] = (stderr ?? Buffer.alloc(0)).toString().split('\n');
  const problem = line.replace(/^fatal: /, '') || (error?.message ?? `git ended with status ${status}`);
  return { status, stdout, problem };
}
