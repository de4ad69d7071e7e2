import { oneOf } from '../catalog/word-patterns.ts';
import { type Flag, readFlags } from '../command/flags.ts';
import { wordsOf } from '../command/name-words.ts';
import type { ProcessInput } from '../command/processes.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { isHarmless } from './sole-server.ts';

/** torchrun's own flags, which precede the script; none if a variable may hold further ones. */
export function ownFlags(command: SimpleCommand): readonly Flag[] {
  const own = ownWords(command);
  return own.some(({ text }) => text.startsWith('$')) ? [] : readFlags(own);
}

/** Whether a flag is the number of nodes of a launch. */
export function isNodeCount(flag: Flag): boolean {
  const words = wordsOf(flag.written).join(' ');
  return !flag.dynamic && /^(?:nnodes|n nodes|num nodes|num machines)$/.test(words);
}

/** Whether a flag says where the nodes of a launch meet. */
export function meetsNodes({ name }: Flag): boolean {
  return /^(?:rdzv|master|standalone)/.test(name);
}

/**
 * The words of a torchrun that starts a group of one node, in a script that reads nothing about other nodes.
 * @param tells the names of variables that tell it about other nodes
 */
export function launchAlone(
  { command, args, env }: ProcessInput,
  tells: RegExp = readsNodes,
): readonly [Word, Word] | undefined {
  const text = [...command, ...args].join('\n');
  const line = readCommandLine(command, args, env);
  if (!line.complete || readsNodes.test(text) || env.some(({ name }) => tells.test(name))) return undefined;
  for (const launch of allCommands(line.statements)) {
    const own = ownWords(launch);
    const [first] = own;
    const last = own.at(-1);
    const joins = readFlags(own).some((flag) => isNodeCount(flag) || meetsNodes(flag) || flag.name.startsWith('node'));
    // A variable that is not the value of a flag may hold further flags.
    const isOpen = own.some((word, index) => word.text.startsWith('$') && !own[index - 1]?.text.startsWith('--'));
    if (first !== undefined && last !== undefined && !joins && !isOpen) return [first, last];
  }
  return undefined;
}

/** The flag by which torchrun starts a group of one node, in a script that starts nothing else. */
export const loneFlag = once((input: ProcessInput): Word | undefined => {
  const commands = allCommands(readCommandLine(input.command, input.args, input.env).statements);
  const [launch, ...others] = commands.filter((one) => !isHarmless(one));
  if (launch === undefined || others.length > 0 || differsByRank(input)) return undefined;
  return ownFlags(launch).find(({ name }) => name === 'standalone')?.word;
});

/** Whether a script reads its rank for more than torchrun: each pod may have its own work, or only some pods have any. */
export const differsByRank = once(({ command, args }: ProcessInput): boolean => {
  const text = [...command, ...args].join('\n').replaceAll(/--(?:node|machine)[-_]rank[= ]\S+/g, '');
  return /RANK|_INDEX/.test(text);
});

/** Names of variables about the nodes of a job, and programs that reach other nodes. */
const readsNodes = new RegExp(
  oneOf('NODE_RANK NODE_IP NODES_ NUM_NODES NNODES', '_INDEX HOSTNAME MASTER PET_', '\\b(?:ssh|mpirun|ray)\\b'),
);

/** torchrun and its own words, before the script. Other launchers of this family find the nodes through their operators. */
function ownWords({ words }: SimpleCommand): readonly Word[] {
  const at = words.findIndex(({ text }) => /^torch(?:run|\.distributed\.(?:run|launch))$/.test(baseName(text)));
  if (at < 0) return [];
  const script = words.findIndex(({ text }, index) => index > at && /\.py$|^-m$|^--module$/.test(text));
  return words.slice(at, script < 0 ? words.length : script);
}
