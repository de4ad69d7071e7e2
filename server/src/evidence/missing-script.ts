import { startFolder } from '../catalog/image-programs.ts';
import { oneOf, wordSet } from '../catalog/word-patterns.ts';
import { baseName, readCommandLine, type Statement, type Word } from '../command/shell.ts';
import { isShell, programWords } from '../command/wrappers.ts';
import { groupOf } from '../model/manifest.ts';
import { processInput } from '../model/process-input.ts';
import type { Container, PodSet, Workload } from '../model/workload.ts';
import { asText, getIn, isUnseen, items } from '../yaml/cursor.ts';
import { isBelow } from './model-volume.ts';
import { volumeNamed } from './volume-lifetime.ts';

/** Groups whose controllers start a container as it is written. Others put files into it: artifacts, workspaces, code. */
const plainGroups = wordSet('apps batch kubeflow.org jobset.x-k8s.io batch.volcano.sh');

/**
 * The script or the module of one's own that a container starts although neither its image, which has none, nor a volume or an earlier command
 * brings one: `python train.py` or `python -m src.train` in an image that only has a framework.
 */
export function missingScript(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): { readonly word: Word; readonly isModule: boolean } | undefined {
  const found = startedScript(container, workload);
  if (found === undefined) return undefined;
  const { word, folder, isModule } = found;
  const path = isModule ? word.text.replaceAll('.', '/') : word.text;
  return isBrought(path, folder, container, podSet) ? undefined : { word, isModule };
}

/** A script of the image that an empty volume of the container hides, with the path of the volume. */
export function hiddenScript(
  container: Container,
  podSet: PodSet,
  workload: Workload,
): { readonly word: Word; readonly mountPath: string } | undefined {
  const mounts = container.volumeMounts.filter(({ name }) => volumeNamed(podSet, name)?.source === 'emptyDir');
  const found = mounts.length === 0 ? undefined : startedScript(container, workload);
  if (found === undefined || found.isModule || getIn(container.at, 'lifecycle') !== undefined) return undefined;
  const { word, folder } = found;
  const path = word.text.startsWith('/') ? word.text : `${folder}/${word.text.replace(/^(?:\.\/)+/, '')}`;
  const [nearest] = container.volumeMounts
    .filter(({ mountPath }) => isBelow(path, mountPath))
    .sort((one, other) => other.mountPath.length - one.mountPath.length);
  if (nearest === undefined || !mounts.includes(nearest) || path.includes('/../')) return undefined;
  const isShared = podSet.containers.some(({ at }) =>
    items(getIn(at, 'volumeMounts')).some((mount) => {
      const [name, other] = [getIn(mount, 'name'), getIn(mount, 'mountPath')];
      return (
        isUnseen(mount) || isUnseen(name) || isUnseen(other) || (at !== container.at && asText(name) === nearest.name)
      );
    }),
  );
  return isShared ? undefined : { word, mountPath: nearest.mountPath };
}

/** The script or module that a container starts before anything brings files, and the folder in which it starts it. */
function startedScript(
  container: Container,
  { apiVersion }: Workload,
): { readonly word: Word; readonly folder: string; readonly isModule: boolean } | undefined {
  const group = groupOf(apiVersion);
  if (group !== '' && !plainGroups.has(group)) return undefined;
  const { command, args, env } = processInput(container);
  // What is written to a file may be the script.
  const lines = [...container.command, ...container.args].map(({ value }) => value);
  if (lines.some((line) => />(?!&|\s*\/dev\/null)/.test(line))) return undefined;
  const findsModules = [...lines, ...env.map(({ name }) => name)].some((text) => /PYTHON(?:PATH|HOME)/.test(text));
  let mayHaveModules = findsModules;
  let folder = asText(getIn(container.at, 'workingDir')) ?? startFolder(container.image?.value ?? '') ?? '';
  for (const statement of readCommandLine(command, args, env).statements) {
    const word = scriptOf(statement);
    if (word !== undefined) return { word, folder, isModule: false };
    const module = mayHaveModules ? undefined : moduleOf(statement);
    if (module !== undefined) return { word: module, folder, isModule: true };
    if (!bringsNoFiles(statement)) return undefined;
    const [program, target = ''] = statement.kind === 'command' ? programWords(statement) : [];
    if (/^pip3?$/.test(program ?? '')) mayHaveModules = true;
    // `cd`, `cd ~` and `cd -` lead elsewhere.
    if (program === 'cd')
      folder = /^(?:[~-]|$)/.test(target) ? '' : target.startsWith('/') ? target : `${folder}/${target}`;
  }
  return undefined;
}

/** The script that an interpreter is given in a plain command. */
function scriptOf(statement: Statement): Word | undefined {
  if (statement.kind !== 'command') return undefined;
  const [program = '', ...rest] = programWords(statement);
  const isPython = /^python[\d.]*$/.test(baseName(program));
  const words = isPython ? rest.filter((word) => !/^-[BEIOPSbdqsuvx]+$/.test(word)) : rest;
  const isLauncher = launchers.has(isPython && words[0] === '-m' ? (words[1] ?? '') : baseName(program));
  // The flags of a launcher come first, and with them their values.
  const operand = (isLauncher ? words.find((word) => word.endsWith('.py')) : words[0]) ?? '';
  const runs = isShell(baseName(program)) || isPython || isLauncher;
  // A script may also be the program itself: `./train.sh`.
  const first = statement.words[0]?.text ?? '';
  const script = first.includes('/') && scriptPath.test(first) ? first : runs ? operand : '';
  const word = statement.words.find(({ text }) => text === script);
  return scriptPath.test(script) && !script.startsWith('-') && word?.dynamic === false ? word : undefined;
}

/** The module of one's own that Python or a launcher is given: `python -m src.train`, `torchrun -m training.run`. */
function moduleOf(statement: Statement): Word | undefined {
  if (statement.kind !== 'command') return undefined;
  const [program = '', ...rest] = programWords(statement);
  const isPython = /^python[\d.]*$/.test(baseName(program));
  const first = isPython ? rest.findIndex((word) => !/^-[BEIOPSbdqsuvx]+$/.test(word)) : 0;
  const isLauncher = launchers.has(isPython && rest[first] === '-m' ? (rest[first + 1] ?? '') : baseName(program));
  const from = isLauncher && isPython ? first + 2 : first;
  const flag = isLauncher ? rest.findIndex((word, at) => at >= from && /^(?:-m|--module)$/.test(word)) : first;
  if (!(isPython || isLauncher) || flag < 0 || !/^(?:-m|--module)$/.test(rest[flag] ?? '')) return undefined;
  const name = rest[flag + 1] ?? '';
  const word = statement.words.find(({ text }) => text === name);
  return ownModule.test(name) && word?.dynamic === false ? word : undefined;
}

/** Names that projects give to their own code. No package has them that images of systems and frameworks bring. */
const ownModule = new RegExp(
  `^(?:${oneOf('src app main project scripts? jobs? pipelines? experiments? models? (?:my_?|pre_?)?(?:train|finetun|fine_tun)\\w*')})(?:[.]\\w+)*$`,
);

const scriptPath = /^[\w./-]+\.(?:py|sh)$/;

const launchers = wordSet('torchrun accelerate deepspeed torch.distributed.run torch.distributed.launch');

const quiet = wordSet('cd date echo export hostname ls mkdir nvidia-smi printf pwd set sleep');

function bringsNoFiles(statement: Statement): boolean {
  // A substitution may run anything.
  if (statement.kind !== 'command' || [...statement.words, ...statement.assignments].some(({ dynamic }) => dynamic))
    return false;
  const [program = '', ...operands] = programWords(statement);
  const installs =
    /^pip3?$/.test(program) &&
    operands[0] === 'install' &&
    operands.every((text) => !/^(?:-t|--target|--src|-e)|:\/\//.test(text));
  return quiet.has(program) || installs || (program === '' && statement.words.length === 0);
}

/** Whether a volume may have the script: one that is mounted at its folder or, if that is unknown, anywhere. */
function isBrought(path: string, folder: string, { at, volumeMounts }: Container, podSet: PodSet): boolean {
  const full = path.startsWith('/') || folder === '' ? path : `${folder}/${path}`.replace(/\/(?:\.?\/)+/g, '/');
  if (/^\/(?:usr|opt|etc|bin|sbin|lib|root|home|tf|dev|proc)\//.test(full)) return true;
  const isFilled = podSet.containers.some(({ type }) => type !== 'app');
  const filled = volumeMounts.filter(({ name, mountPath }) => {
    const volume = volumeNamed(podSet, name);
    const isEmpty = !isFilled && asText(getIn(volume?.at, 'emptyDir', 'medium')) === 'Memory';
    return mountPath.replace(/\/$/, '') !== '/dev/shm' && !isEmpty;
  });
  const isOpen = !full.startsWith('/') || full.includes('..');
  if (isOpen) return filled.length > 0 || getIn(at, 'volumeDevices') !== undefined;
  return filled.some(({ mountPath }) => {
    const mount = mountPath.replace(/\/+$|(?<=\w)\.py$/g, '');
    return mount === '' || full.startsWith(`${mount}/`) || full.replace(/\.py$/, '') === mount;
  });
}
