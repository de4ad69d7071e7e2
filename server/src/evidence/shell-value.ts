import { wordSet } from '../catalog/word-patterns.ts';
import type { Container } from '../model/workload.ts';
import { asText, type Cursor, getIn, isTemplated, isUnseen, type Located } from '../yaml/cursor.ts';

/** A part of a variable's value that only a shell expands. Kubernetes expands nothing but `$(NAME)`. */
export interface ShellPart {
  readonly text: string;
  /** Its own old value in a list of paths, the value of another variable, or the output of a command. */
  readonly kind: 'own' | 'other' | 'command';
  /** The other variable. */
  readonly name: string;
  readonly value: Located<string>;
  /** The other paths of a list. */
  readonly kept: readonly string[];
}

type Variable = Container['env'][number];

/** The first such part of a value; undefined if a tool or the program itself may expand it. */
export function shellPart({ name, at }: Variable, container: Container, isAll: boolean): ShellPart | undefined {
  const place = getIn(at, 'value');
  const source = writtenIn(place);
  if (place === undefined || source === undefined || !/[$`]/.test(source) || /\s.*\n|\{\{|\$\$/.test(source))
    return undefined;
  const value = { value: source, at: place };
  const kept = source.split(':');
  // Of a pod whose variables are all known, $(NAME) is reported as undefined.
  const forms = [`$${name}`, `\${${name}}`, ...(isAll || isSetBefore(at, name, container) ? [] : [`$(${name})`])];
  const own = kept.length < 2 ? undefined : kept.find((path) => forms.includes(path));
  if (own !== undefined) return { text: own, kind: 'own', name, value, kept };
  if (name.split('_').some((word) => codeWords.has(word)) || mayEvaluate(container)) return undefined;
  const [command] =
    /^[^\s`]*?(\$\(([a-z]+)(?: [^()`]{0,80})?\)|`([a-z]+)(?: [^()`]{0,80})?`)[^\s`]*$/.exec(source)?.slice(1) ?? [];
  const program = /[a-z]+/.exec(command ?? '')?.[0] ?? '';
  if (command !== undefined && commands.has(program)) return { text: command, kind: 'command', name, value, kept };
  const [text, plain, braced = plain] =
    /(?:^|[^\w$])(\$(?:([A-Z_][A-Z0-9_]*)|\{([A-Z_][A-Z0-9_]*)\}))/.exec(/\s/.test(source) ? '' : source)?.slice(1) ??
    [];
  if (text === undefined || braced === undefined || !isMeant(braced, container)) return undefined;
  return { text, kind: 'other', name: braced, value, kept };
}

/** Names of values that a program may read as code or as part of a command line. */
const codeWords = wordSet(
  'ARGS ARG OPTS OPTIONS FLAGS CMD COMMAND COMMANDS SCRIPT TEMPLATE PROMPT FORMAT ENTRYPOINT EXEC PS1',
);

/** Programs whose output people want in a variable. */
const commands = wordSet(
  'hostname nproc cat echo date whoami pwd uname id head printenv curl getent dig ip python nvidia-smi',
);

/** Whether the program may expand the variables of its variables. */
function mayEvaluate({ at, command, args, scripts }: Container): boolean {
  if (['command', 'args'].some((key) => isUnseen(getIn(at, key)))) return true;
  const texts = [...command, ...args].map(({ value }) => value);
  return [...texts, ...scripts.map(({ text }) => text)].some((text) => /\beval\b|envsubst|expandvars/.test(text));
}

/** Whether a reference is to the container's own variable: a tool that fills in variables would fill in others too. */
function isMeant(name: string, { env }: Container): boolean {
  const owner = env.find((one) => one.name === name);
  if (owner === undefined) return false;
  if (getIn(owner.at, 'valueFrom', 'fieldRef') !== undefined) return true;
  return env.every(({ name: other, at }) => {
    const place = getIn(at, 'value');
    const written = writtenIn(place) ?? '';
    const used = /\$\{?([A-Za-z_]\w*)/.exec(written)?.[1];
    if (used === undefined) return !isTemplated(place);
    return used === other ? written.includes(':') : env.some((one) => one.name === used);
  });
}

function isSetBefore(at: Cursor, name: string, { env }: Container): boolean {
  return env.find((one) => one.name === name)?.at !== at;
}

/** The text of a scalar as it is written, whether or not it looks like a placeholder. */
function writtenIn(place: Cursor | undefined): string | undefined {
  if (place?.node.kind !== 'scalar') return undefined;
  return isTemplated(place) ? place.node.source.replace(/^(["'])(.*)\1$/s, '$2') : asText(place);
}
