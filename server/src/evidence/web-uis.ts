import { wordSet } from '../catalog/word-patterns.ts';
import { readFlags } from '../command/flags.ts';
import { baseName, type SimpleCommand, type Word } from '../command/shell.ts';
import { once } from '../model/once.ts';
import { commandsIn } from '../model/process-input.ts';
import type { Container } from '../model/workload.ts';
import { asText, getIn, isTemplated } from '../yaml/cursor.ts';
import { mayHaveVariables } from './launch.ts';
import { isHarmless } from './sole-server.ts';

/** A web interface for models that people start by its script. It listens on the loopback address without `--listen`. */
export interface WebUi {
  readonly title: string;
  readonly command: SimpleCommand;
  /** undefined: a variable has it. */
  readonly port: number | undefined;
  readonly listens: boolean;
  /** The first and the last word of its command. */
  readonly words: readonly [Word, Word];
}

interface WebUiRecord {
  readonly title: string;
  /** In the path of the script, the working directory or the image. */
  readonly folder: RegExp;
  readonly scripts: ReadonlySet<string>;
  readonly byDefault: number;
  readonly portFlags: readonly string[];
}

/**
 * https://github.com/comfyanonymous/ComfyUI/blob/master/comfy/cli_args.py,
 * https://github.com/AUTOMATIC1111/stable-diffusion-webui/blob/master/modules/cmd_args.py,
 * https://github.com/oobabooga/text-generation-webui/blob/main/modules/shared.py
 */
const records: readonly WebUiRecord[] = [
  {
    title: 'ComfyUI',
    folder: /comfy/i,
    scripts: wordSet('main.py'),
    byDefault: 8188,
    portFlags: ['port'],
  },
  {
    title: 'Stable Diffusion WebUI',
    folder: /(?:stable|sd)[-_]?(?:diffusion)?[-_]?web-?ui|a1111|automatic1111/i,
    scripts: wordSet('launch.py webui.py'),
    byDefault: 7860,
    portFlags: ['port'],
  },
  {
    title: 'text-generation-webui',
    folder: /text-generation-web-?ui|oobabooga/i,
    scripts: wordSet('server.py'),
    byDefault: 7860,
    portFlags: ['listen-port'],
  },
];

/** The web interface that is all that a container runs. */
export const webUiOf = once((container: Container): WebUi | undefined => {
  const commands = commandsIn(container);
  const where = `${container.image?.value ?? container.repository ?? ''} ${asText(getIn(container.at, 'workingDir')) ?? ''}`;
  for (const command of commands) {
    const { words } = command;
    const script = words.slice(0, 4).find(({ text }) => /\.(?:py|sh)$/.test(text));
    const record = script && records.find(({ scripts }) => scripts.has(baseName(script.text)));
    const [first, last] = [words[0], words.at(-1)];
    if (record === undefined || first === undefined || last === undefined) continue;
    const folders = commands.flatMap((one) => (one.words[0]?.text === 'cd' ? [one.words[1]?.text ?? ''] : []));
    if (!record.folder.test([where, script?.text, ...folders].join(' '))) return undefined;
    if (command.background || commands.some((one) => one !== command && !isHarmless(one))) return undefined;
    // Arguments of the user may follow.
    const isOpen = words.some(({ dynamic }) => dynamic) || mayHaveVariables(container) || hasHidden(container);
    const flags = readFlags(words);
    const set = container.env.map(({ name, value }) => `${name}=${value?.value ?? '--listen'}`);
    const flag = flags.filter(({ name }) => record.portFlags.includes(name)).at(-1);
    const isSet = flag !== undefined || isOpen || set.some((text) => /port|args|flags/i.test(text));
    return {
      title: record.title,
      command,
      port: isSet ? (/^\d{1,5}$/.test(flag?.value ?? '') ? Number(flag?.value) : undefined) : record.byDefault,
      listens: isOpen || [...words.map(({ text }) => text), ...set].some((text) => listening.test(text)),
      words: [first, last],
    };
  }
  return undefined;
});

/** Whether a template names a variable or writes a word. */
function hasHidden({ env, command, args }: Container): boolean {
  return (
    env.some(({ at }) => isTemplated(getIn(at, 'name'))) || [...command, ...args].some(({ at }) => isTemplated(at))
  );
}

/** Flags and variables by which it accepts connections from elsewhere. */
const listening = /--listen|--share|--ngrok|--server-name|--public-api|SERVER_NAME=|HOST=|ADDRESS=/;
