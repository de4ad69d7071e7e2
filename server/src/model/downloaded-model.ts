import { pythonCode } from '../command/inline-python.ts';
import { allCommands, baseName, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { programWords } from '../command/wrappers.ts';
import { asText, getIn } from '../yaml/cursor.ts';
import { once } from './once.ts';
import { processInput } from './process-input.ts';
import type { Container, PodSet } from './workload.ts';

/** The model that a container of the pod downloads to a folder: `hf download organization/model --local-dir /models/a`. */
export function downloadedModel(path: string, container: Container, { containers }: PodSet): string | undefined {
  if (!path.startsWith('/')) return undefined;
  const place = placeOf(path, container);
  for (const other of containers) {
    if (other !== container && other.type === 'app') continue;
    const found = downloadsOf(other).find(
      ({ folder }) =>
        (other === container && trimmed(folder) === trimmed(path)) || isSame(place, placeOf(folder, other)),
    );
    if (found !== undefined) return found.model;
  }
  return undefined;
}

export interface Downloaded {
  readonly model: string;
  readonly folder: string;
}

/** What the commands of a container download to a folder. */
export const downloadsOf = once((container: Container): readonly Downloaded[] => {
  if (container.command.length + container.args.length === 0) return [];
  const { command, args, env } = processInput(container);
  if (![...command, ...args].some((line) => /download|clone/.test(line))) return [];
  return allCommands(readCommandLine(command, args, env).statements).flatMap(downloadOf);
});

function downloadOf(command: SimpleCommand): readonly Downloaded[] {
  const code = pythonCode(command);
  if (code !== undefined) return inPython(code);
  const [program = '', ...words] = programWords(command);
  const name = baseName(program);
  const after = (flag: RegExp) => {
    const at = words.findIndex((word) => flag.test(word.split('=', 1)[0] ?? ''));
    const word = words[at] ?? '';
    return word.includes('=') ? word.slice(word.indexOf('=') + 1) : at < 0 ? undefined : words[at + 1];
  };
  if (/^(?:hf|huggingface-cli|modelscope)$/.test(name) && words[0] === 'download') {
    const model = after(/^--model$/) ?? words[1];
    return modelTo(model, after(/^--local[-_]dir$/));
  }
  const [, model] = /^https:\/\/huggingface\.co\/([\w.-]+\/[\w.-]+)$/.exec(words.at(-2) ?? '') ?? [];
  return name === 'git' && words.includes('clone') ? modelTo(model, words.at(-1)) : [];
}

function inPython(code: string): readonly Downloaded[] {
  if (code.length > 20_000 || !code.includes('snapshot_download')) return [];
  const [, model] = /snapshot_download\(\s*(?:repo_id\s*=\s*)?["']([^"']+)["']/.exec(code) ?? [];
  const [, folder] = /local_dir\s*=\s*["']([^"']+)["']/.exec(code) ?? [];
  return modelTo(model, folder);
}

function modelTo(model: string | undefined, folder: string | undefined): readonly Downloaded[] {
  if (model === undefined || folder === undefined || !folder.startsWith('/')) return [];
  return /^[\w.-]+\/[\w.-]+$/.test(model) ? [{ model, folder }] : [];
}

/** A path in a volume, so that containers can mount it at different places. */
interface Place {
  readonly volume: string;
  readonly rest: string;
}

function placeOf(path: string, { volumeMounts }: Container): Place | undefined {
  const full = `${trimmed(path)}/`;
  const [mount] = volumeMounts
    .filter(({ mountPath }) => full.startsWith(`${trimmed(mountPath)}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  if (mount === undefined) return undefined;
  const within = asText(getIn(mount.at, 'subPath')) ?? '';
  return { volume: mount.name, rest: trimmed(`${within}${full.slice(trimmed(mount.mountPath).length)}`) };
}

function isSame(one: Place | undefined, other: Place | undefined): boolean {
  return one !== undefined && one.volume === other?.volume && one.rest === other.rest;
}

function trimmed(path: string): string {
  return path.endsWith('/') ? path.slice(0, -1) : path;
}
