import { wordSet } from '../catalog/word-patterns.ts';
import { table } from '../yaml/table.ts';
import type { SimpleCommand, Word } from './shell.ts';

/** A word of a `pip install` that makes it fail in every run. */
export interface AbsentPackage {
  readonly word: Word;
  readonly problem: string;
}

/**
 * Names under which pip finds no package, or only one that raises an error, and the packages that are meant.
 * https://github.com/scikit-learn/sklearn-pypi-package (2026-11-30); the others: https://pypi.org, not looked up.
 */
const otherNames = table<string>({
  sklearn: 'scikit-learn',
  skimage: 'scikit-image',
  pytorch: 'torch',
  'tensorflow-gpu': 'tensorflow',
  cv2: 'opencv-python',
  opencv: 'opencv-python',
  pil: 'pillow',
});

/** Options of `pip install` whose value is the next word. */
const takesValue = wordSet(
  '-r -c -e -f -i -t --requirement --constraint --editable --find-links --index-url --extra-index-url --target --prefix --root',
  '--platform --python-version --abi --implementation --upgrade-strategy --timeout --retries --trusted-host --proxy --cert',
  '--config-settings --global-option --only-binary --no-binary --progress-bar --python -p --index --default-index --torch-backend',
);

/** Whether the next word is the value of an option, which may be the last of several letters: `-qr`. */
function isOption(text: string): boolean {
  return takesValue.has(text) || /^-[A-Za-z]*[rcefit]$/.test(text);
}

/** Other indexes of packages, in the words of a command or in the names of variables. */
const otherIndex =
  /--(?:find-links|index|no-index|extra-index|default-index|torch-backend|config)|(?:^|\s)-[fi](?:\s|$)|PIP_|UV_|pip\.conf|pip3? config/;

/**
 * The packages that pip certainly does not find.
 * @param commands those that run in any case
 * @param text the script, and the names of the variables
 * @param hasTorch whether the image may have PyTorch, in which case nothing may be missing
 */
export function absentPackages(commands: readonly SimpleCommand[], text: string, hasTorch: boolean): AbsentPackage[] {
  if (otherIndex.test(text)) return [];
  return commands.flatMap((command) =>
    command.heredoc !== undefined || command.words.some(mayNameIndex)
      ? []
      : packagesOf(command).flatMap((word) => {
          const problem = problemOf(word.text, text, hasTorch);
          return problem === undefined ? [] : [{ word, problem }];
        }),
  );
}

/** A variable may hold an option, and a known one is replaced by its value. */
function mayNameIndex({ dynamic, text }: Word): boolean {
  return otherIndex.test(text) || (dynamic && text.startsWith('$'));
}

function packagesOf({ words }: SimpleCommand): readonly Word[] {
  const texts = words.map(({ text }) => text);
  const at = texts.indexOf('install');
  const program = texts.slice(0, Math.max(at, 0)).join(' ');
  if (!/^(?:sudo )?(?:pip3?|python3? -m pip|uv pip)$/.test(program)) return [];
  return words.slice(at + 1).filter(({ text, dynamic }, index, all) => {
    return !dynamic && !text.startsWith('-') && !isOption(all[index - 1]?.text ?? '');
  });
}

function problemOf(text: string, script: string, hasTorch: boolean): string | undefined {
  if (/^requirements[\w-]*\.txt$/.test(text))
    return `${text} is a file, which pip reads only after -r: it finds no package`;
  const [, name = '', version = ''] = /^([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?(.*)$/.exec(text) ?? [];
  const meant = otherNames[name.toLowerCase()];
  // Older releases exist under some of these names.
  if (meant !== undefined && version === '' && !script.includes('ALLOW_DEPRECATED_SKLEARN'))
    return `pip cannot install ${name}; the package is ${meant}: it fails`;
  const local = /^==[\w.]+(\+(?:cu\d+|cpu|rocm[\d.]+))$/.exec(version)?.[1];
  if (local === undefined || hasTorch) return undefined;
  return `Only PyTorch's own index has ${name} ${version.slice(2, 24)}: pip fails without --index-url https://download.pytorch.org/whl/${local.slice(1)}`;
}
