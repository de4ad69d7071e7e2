import { wordSet } from '../catalog/word-patterns.ts';
import { table } from '../yaml/table.ts';
import { allCommands, type SimpleCommand, type Statement, type Word } from './shell.ts';

/** A word of a `pip install` that makes it fail in every run. */
export interface AbsentPackage {
  readonly word: Word;
  readonly problem: string;
}

/** Names that the index does not have, or under which it only has a package that refuses to be installed, and what they stand for. All read 2026-11-30. */
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

/** Other indexes of packages, in the words of a command or in the names of variables. */
const otherIndex =
  /--(?:find-links|index|extra-index|default-index|torch-backend|config)|(?:^|\s)-[fi](?:\s|$)|PIP_|UV_|pip\.conf|pip3? config/;

/**
 * The packages that pip certainly does not find.
 * @param text the script, and the names of the variables
 * @param hasTorch whether the image may have PyTorch, in which case nothing may be missing
 */
export function absentPackages(statements: readonly Statement[], text: string, hasTorch: boolean): AbsentPackage[] {
  if (otherIndex.test(text)) return [];
  const commands = allCommands(statements);
  return commands.flatMap((command, index) =>
    command.heredoc !== undefined || commands[index + 1]?.after === '||'
      ? []
      : packagesOf(command).flatMap((word) => {
          const problem = problemOf(word.text, text, hasTorch);
          return problem === undefined ? [] : [{ word, problem }];
        }),
  );
}

function packagesOf({ words }: SimpleCommand): readonly Word[] {
  const texts = words.map(({ text }) => text);
  const at = texts.indexOf('install');
  const program = texts.slice(0, Math.max(at, 0)).join(' ');
  if (!/^(?:sudo )?(?:pip3?|python3? -m pip|uv pip)$/.test(program)) return [];
  return words.slice(at + 1).filter(({ text, dynamic }, index, all) => {
    return !dynamic && !text.startsWith('-') && !takesValue.has(all[index - 1]?.text ?? '');
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
