import { partOf, wordSet } from '../catalog/word-patterns.ts';
import { recognizeProgram } from '../command/programs.ts';
import { baseName, type SimpleCommand, type Statement, type Word } from '../command/shell.ts';
import { commandLineOf } from '../model/process-input.ts';
import type { Container, PodSet } from '../model/workload.ts';
import { isIn } from '../rewrite/mount-claim.ts';
import { checkpointSigns, mayHaveVariables, mayRunMore } from './launch.ts';
import { absolute, isLost } from './lost-paths.ts';
import { mayMountMore } from './volume-lifetime.ts';
import { unknownRoots } from './working-folder.ts';

/** The first result of training that a script copies out of the pod only after it, if nothing else in the container keeps what training writes. */
export function lateCopy(container: Container, podSet: PodSet): Word | undefined {
  const lines = [...container.command, ...container.args];
  if (mayHaveVariables(container) || mayRunMore(container) || mayMountMore(container)) return undefined;
  if (container.scripts.length > 0 || lines.some(({ value }) => keepsMore.test(value))) return undefined;
  const { statements, complete } = commandLineOf(container);
  const commands = inOrder(statements);
  if (!complete || commands === undefined) return undefined;
  const training = commands.map((one) => recognizeProgram([one])?.use).lastIndexOf('training');
  if (training < 0) return undefined;
  const copies = commands.slice(training + 1).filter(({ words }) => isCopier(words));
  const written = checkpointSigns(container).flatMap(({ kind, text, flag }) =>
    kind === 'path' && flag !== undefined && /out|save/.test(flag.name) ? [text.replace(/\/$/, '')] : [],
  );
  // Each look at a folder reads the script.
  const [source] = copies.slice(0, 10).flatMap((one) => copiedOut(one, container, podSet, written) ?? []);
  if (source === undefined) return undefined;
  const copied = new Set(copies.flatMap(({ words }) => words.map(({ text }) => text)));
  const isKept = checkpointSigns(container).some(
    ({ kind, text, word, inSettings }) =>
      inSettings !== true &&
      !copied.has(text) &&
      (kind === 'path' ? !isLost({ text, ...(word && { word }) }, container, podSet) : true),
  );
  return isKept ? undefined : source;
}

/** Ways to keep progress during a run, or to have it again. */
const keepsMore = partOf('\\btrap\\b', '\\bln\\s+-\\w*s', '\\bmount\\b', 'resume', 'inotify', 'watch\\b');

/** The commands of a script that run one after another; undefined if any runs in the background or in a loop with a copy. */
function inOrder(statements: readonly Statement[]): readonly SimpleCommand[] | undefined {
  const commands: SimpleCommand[] = [];
  for (const statement of statements) {
    if (statement.background) return undefined;
    if (statement.kind === 'command') commands.push(statement);
    else if (statement.kind === 'group' && statement.keyword !== 'function') {
      const inner = inOrder(statement.body);
      if (inner === undefined) return undefined;
      commands.push(...inner);
    } else if (statement.kind === 'group' || (inOrder(statement.body) ?? []).some(({ words }) => isCopier(words)))
      return undefined;
  }
  return commands;
}

function isCopier(words: readonly Word[]): boolean {
  return words.some(({ text }) => copiers.has(baseName(text)));
}

const copiers = wordSet('cp mv rsync scp aws gsutil gcloud rclone s5cmd s3cmd azcopy mc hf huggingface-cli');
const subcommands = wordSet('s3 storage cp mv copy sync rsync move moveto copyto mirror put upload');

/** The result that a command copies out of the place in which training wrote it. */
function copiedOut(
  command: SimpleCommand,
  container: Container,
  podSet: PodSet,
  written: readonly string[],
): Word | undefined {
  const at = command.words.findIndex(({ text }) => copiers.has(baseName(text)));
  if (at < 0 || at > 2) return undefined;
  const program = baseName(command.words[at]?.text ?? '');
  const operands = command.words
    .slice(at + 1)
    .filter(
      ({ text }, index) => !text.startsWith('-') && !(index < 3 && !isPlain.has(program) && subcommands.has(text)),
    );
  const target = operands.at(-1);
  const source = program.startsWith('h') ? operands[1] : operands[0];
  if (source === undefined || target === undefined || operands.length < 2 || source.dynamic) return undefined;
  if (/:/.test(source.text)) return undefined;
  if (!results.test(source.text) && !written.includes(source.text.replace(/\/$/, ''))) return undefined;
  const isOut = isPlain.has(program)
    ? /^\//.test(target.text) && !target.dynamic && !isLost({ text: target.text }, container, podSet)
    : program.startsWith('h') || /:/.test(target.text) || program === 'mc';
  const place = { text: source.text, word: source };
  const path = absolute(place, container);
  // What is copied into a volume from the unknown directory of the image was not there.
  const isFrom = isPlain.has(program) && path !== undefined && isIn(path, unknownRoots.image);
  return isOut && (isFrom || isLost(place, container, podSet)) ? source : undefined;
}

const isPlain = wordSet('cp mv rsync');

/** Names of what training saves. */
const results = partOf(
  'checkpoint ckpt weights model adapter lora output results? runs\\b experiments? saved?',
  '\\.pth?$ \\.safetensors$ \\.h5$ \\.keras$ \\.ckpt$ \\.bin$',
);
