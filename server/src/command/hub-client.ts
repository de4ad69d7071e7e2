import { wordSet } from '../catalog/word-patterns.ts';
import { baseName, type SimpleCommand, type Word } from './shell.ts';
import { programWords } from './wrappers.ts';

/** A word that the newest release of Hugging Face's client, which a script has just installed, does not know. */
export interface GoneFromClient {
  readonly word: Word;
  readonly isProgram: boolean;
  /** `hf` takes the other words as they are. */
  readonly hasSuccessor: boolean;
}

/** Flags that `hf download` no longer has. huggingface_hub/cli/download.py in the packages 1.33.0 and 2.0.0 of https://pypi.org, 2026-11-29 */
const goneFlags = /^--(?:local-dir-use-symlinks|resume-download)(?:=|$)/;

/** Packages that need no older client. */
const neutral = wordSet('pip setuptools wheel requests tqdm boto3 awscli hf_transfer hf_xet pyyaml');

const hub = /^huggingface_hub(?:\[[\w,-]+\])?$/;

/**
 * What a script asks of the client after it has installed its newest release: `huggingface-cli` only prints a message and fails, or does not exist.
 * huggingface_hub/cli/deprecated_cli.py in the package 1.33.0 of https://pypi.org, which 2.0.0 does not have, 2026-11-29
 * @param replaces whether an installation certainly brings the newest release without `--upgrade`
 */
export function goneFromClient(commands: readonly SimpleCommand[], replaces: boolean): readonly GoneFromClient[] {
  let isNewest = false;
  return commands.flatMap((command, index): readonly GoneFromClient[] => {
    if (installsNewest(command, replaces)) isNewest = true;
    else if (mayBringOther(command)) isNewest = false;
    if (!isNewest) return [];
    const isTried = command.after === '||' || commands[index + 1]?.after === '||';
    const [program, task] = command.words;
    const name = baseName(program?.text ?? '');
    if (program === undefined || isTried || !/^(?:huggingface-cli|hf)$/.test(name)) return [];
    const flag = command.words.find(({ text }) => goneFlags.test(text));
    if (name === 'hf') return flag === undefined ? [] : [{ word: flag, isProgram: false, hasSuccessor: false }];
    const hasSuccessor = flag === undefined && /^(?:download|upload|env|version)$/.test(task?.text ?? '');
    return [{ word: program, isProgram: true, hasSuccessor }];
  });
}

/** Whether another client may be there after a command: that of another environment, or one that a package needs. */
function mayBringOther({ words }: SimpleCommand): boolean {
  const name = baseName(words[0]?.text ?? '');
  return others.has(name) || (!ofSystem.has(name) && words.some(({ text }) => installing.has(text)));
}

const others = wordSet('. source conda mamba micromamba');
const ofSystem = wordSet('apt apt-get apk yum dnf microdnf git npm');
const installing = wordSet('install sync add venv virtualenv');

/** `pip install huggingface_hub`, without a version and with nothing that may need an older one. */
function installsNewest(command: SimpleCommand, replaces: boolean): boolean {
  const words = programWords(command);
  const at = words.indexOf('install');
  const isPip = /^(?:pip3?|(?:python3? -m|uv) pip)$/.test([baseName(words[0] ?? ''), ...words.slice(1, at)].join(' '));
  if (at < 0 || !isPip) return false;
  const rest = words.slice(at + 1);
  const flags = rest.filter((word) => word.startsWith('-'));
  const packages = rest.filter((word) => !word.startsWith('-')).map((word) => word.toLowerCase().replaceAll('-', '_'));
  const isUpgrade = flags.some((flag) => /^(?:-U|-[a-z]*U[a-z]*|--upgrade)$/.test(flag));
  if (!(replaces || isUpgrade) || !flags.every((flag) => plainFlags.test(flag))) return false;
  return packages.some((one) => hub.test(one)) && packages.every((one) => hub.test(one) || neutral.has(one));
}

const plainFlags =
  /^(?:-[qUv]+|--(?:quiet|upgrade|user|no-cache-dir|no-cache|system|break-system-packages|root-user-action=\w+))$/;
