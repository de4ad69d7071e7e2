import { isSlip } from '../catalog/spelling.ts';
import { wordSet } from '../catalog/word-patterns.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand, type Word } from '../command/shell.ts';
import { isShell, programWords } from '../command/wrappers.ts';
import { processInput } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';

/** A file that a command reads from a folder that is almost a mount path. */
export interface NearMount {
  readonly word: Word;
  /** The folder of the file, and the mount with almost the same path. */
  readonly folder: string;
  readonly mount: Container['volumeMounts'][number];
}

/** The file that a command reads next to a mount, if nothing else creates or mentions either folder. */
export function nearMountOf(container: Container): NearMount | undefined {
  const { command, args, env, volumeMounts, scripts } = container;
  const single = volumeMounts.filter(({ mountPath }) => /^\/[\w.-]{4,}\/?$/.test(mountPath));
  if (single.length === 0 || command.length + args.length === 0) return undefined;
  const input = processInput(container);
  const words = allCommands(readCommandLine(input.command, input.args, input.env).statements).flatMap(filesRead);
  const texts = [...command, ...args, ...env.flatMap(({ value }) => value ?? [])].map(({ value }) => value);
  const all = [...texts, ...scripts.map(({ text }) => text)].join('\n');
  for (const word of words) {
    const folder = /^\/[\w.-]{4,}(?=\/)/.exec(word.text)?.[0];
    if (folder === undefined || ofImages.has(folder.slice(1))) continue;
    const near = single.filter(({ mountPath }) => isSlip(folder, mountPath.replace(/\/$/, '')));
    const [mount, ...others] = near;
    if (mount === undefined || others.length > 0) continue;
    if (volumeMounts.some(({ mountPath }) => mountPath === '/' || `${mountPath}/`.startsWith(`${folder}/`))) continue;
    const reads = words.filter(({ text }) => text.startsWith(`${folder}/`)).length;
    if (mentions(all, folder) > reads || mentions(all, mount.mountPath.replace(/\/$/, '')) > 0) continue;
    return { word, folder, mount };
  }
  return undefined;
}

function mentions(text: string, path: string): number {
  return text.split(path).filter((after, index) => index > 0 && !/^[\w.-]/.test(after)).length;
}

/** Folders that images have, or in which they keep their programs. */
const ofImages = wordSet(
  'bin boot dev etc home lib lib32 lib64 media mnt opt proc root run sbin srv sys tmp usr var app apps code src work',
  'workdir workspace workspaces project projects build conda venv nvidia',
);

/** Files that certainly exist when a command starts: its program, the script of an interpreter, what it copies or prints. */
function filesRead(command: SimpleCommand): readonly Word[] {
  const [program = '', ...rest] = programWords(command);
  const words = command.words.slice(command.words.length - rest.length);
  const name = baseName(program);
  const operands = words.filter(({ text }) => !text.startsWith('-'));
  const first = command.words[command.words.length - rest.length - 1];
  if (program.startsWith('/')) return first === undefined ? [] : [first];
  if (isShell(name) || interpreters.test(name)) return operands.slice(0, 1);
  if (name === 'cp') return operands.slice(0, -1);
  return name === 'cat' ? operands : [];
}

const interpreters = /^(?:python[\d.]*|source|\.)$/;
