import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, parseScript } from '../command/shell.ts';

/** What follows the first command of an entrypoint. */
export interface LaterCommand {
  /** The program that the cluster runs. */
  readonly first: string;
  /** A later one, which does not run there. */
  readonly later: string;
}

/**
 * The first program of an entrypoint and a later one. KubeRay writes the entrypoint without quotes into the shell line of the submitter, so
 * the job ends where the first command ends.
 * https://github.com/ray-project/kuberay/blob/master/ray-operator/controllers/ray/common/job.go (2026-11-30)
 */
export function laterCommand(entrypoint: string): LaterCommand | undefined {
  const { statements, complete } = parseScript(entrypoint, 0);
  const [first, ...rest] = statements;
  if (!complete || first?.kind !== 'command' || first.background) return undefined;
  const [program] = first.words;
  // Variables alone are no command for Ray.
  if (program === undefined) return undefined;
  // What reads the output of the job may well do so in the submitter.
  const others = allCommands(rest.filter(({ after }) => after !== '|'));
  const names = others.map(({ words }) => baseName(words[0]?.text ?? ''));
  const later = names.find((name) => name !== '' && !harmless.has(name));
  return later === undefined ? undefined : { first: baseName(program.text), later };
}

/** Programs that may run anywhere: they only say, send or await something. */
const harmless = wordSet('curl echo printf true false : exit sleep date wait set ls pwd cat env tee');
