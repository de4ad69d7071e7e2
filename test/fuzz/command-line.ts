import { closeSync, constants, lstatSync, openSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { check } from '../../server/src/cli/check.ts';
import type { RenderReport } from '../../server/src/cli/reports/format.ts';
import { renderGithub } from '../../server/src/cli/reports/github.ts';
import { renderGitlab } from '../../server/src/cli/reports/gitlab.ts';
import { renderJson } from '../../server/src/cli/reports/json.ts';
import { renderJunit } from '../../server/src/cli/reports/junit.ts';
import { renderMarkdown } from '../../server/src/cli/reports/markdown.ts';
import { renderSarif } from '../../server/src/cli/reports/sarif.ts';
import { UsageError } from '../../server/src/cli/usage-error.ts';
import { entriesBelow } from './walk.ts';

const renders: ReadonlyMap<string, RenderReport> = new Map<string, RenderReport>([
  ['json', renderJson],
  ['sarif', renderSarif],
  ['github', renderGithub],
  ['gitlab', renderGitlab],
  ['junit', renderJunit],
  ['markdown', renderMarkdown],
]);

export const formatNames: readonly string[] = ['text', ...renders.keys()];

export interface Run {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly hung: boolean;
}

const timeoutMs = 6000;

/** Runs `gpulint check` in this process: one start of Node takes longer than a hundred runs. */
export async function runCheck(folder: string, paths: readonly string[], format: string, fix: boolean): Promise<Run> {
  const [before, out, err] = [process.cwd(), process.stdout.write, process.stderr.write];
  let [stdout, stderr, status] = ['', '', 0];
  let timer: NodeJS.Timeout | undefined;
  process.chdir(folder);
  process.stdout.write = (chunk: string | Uint8Array) => {
    stdout += chunk;
    return true;
  };
  process.stderr.write = (chunk: string | Uint8Array) => {
    stderr += chunk;
    return true;
  };
  try {
    const late = new Promise<'late'>((resolve) => {
      timer = setTimeout(() => resolve('late'), timeoutMs);
    });
    const run = check(paths, { render: renders.get(format), fix, failOn: 'error', color: false });
    const ended = await Promise.race([run, late]);
    if (ended === 'late') {
      wakePipes(folder);
      await run.catch(() => undefined);
    } else status = ended;
    return { status, stdout, stderr, hung: ended === 'late' };
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { status: 2, stdout, stderr, hung: false };
  } finally {
    clearTimeout(timer);
    process.stdout.write = out;
    process.stderr.write = err;
    process.chdir(before);
  }
}

/** Opens every pipe for writing and closes it again, which releases blocked readers. */
function wakePipes(folder: string): void {
  for (const name of entriesBelow(folder)) {
    if (!lstatSync(path.join(folder, name)).isFIFO()) continue;
    try {
      closeSync(openSync(path.join(folder, name), constants.O_WRONLY | constants.O_NONBLOCK));
    } catch {
      // This pipe has no reader.
    }
  }
}
