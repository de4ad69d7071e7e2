import { type ProcessInput, sharedInput } from '../command/processes.ts';
import { containerUse } from '../command/programs.ts';
import { allCommands, readCommandLine, type SimpleCommand } from '../command/shell.ts';
import { type Cursor, getIn } from '../yaml/cursor.ts';
import { once } from './once.ts';
import type { Container } from './workload.ts';

/** What a container runs, in the form that command/ reads. Variables from known ConfigMaps have their values. */
export const processInput = once(
  ({ command, args, env, configEnv = [] }: Container): ProcessInput =>
    sharedInput({
      command: command.map(({ value }) => value),
      args: args.map(({ value }) => value),
      env: configEnv.length === 0 ? env.map(ownVariable) : withConfig(env, configEnv),
    }),
);

/** The command line of a container, as far as its text is known. */
export const commandLineOf = once((container: Container): ReturnType<typeof readCommandLine> => {
  const { command, args, env } = processInput(container);
  return readCommandLine(command, args, env);
});

/** All commands of a container's command line. */
export function commandsIn(container: Container): readonly SimpleCommand[] {
  return allCommands(commandLineOf(container).statements);
}

type Variables = ProcessInput['env'];

function ownVariable({ name, value }: Container['env'][number]): Variables[number] {
  return { name, value: value?.value };
}

/** The container's own variables replace those of whole ConfigMaps. */
function withConfig(env: Container['env'], configEnv: Variables): Variables {
  const own = new Set(env.map(({ name }) => name));
  const known = new Map(configEnv.map(({ name, value }) => [name, value]));
  const isReference = (at: Cursor) => getIn(at, 'valueFrom', 'configMapKeyRef') !== undefined;
  return [
    ...configEnv.filter(({ name }) => !own.has(name)),
    ...env.map((one) => (isReference(one.at) ? { name: one.name, value: known.get(one.name) } : ownVariable(one))),
  ];
}

/** What a container is for, by its command line, the scripts that it runs, and its image. */
export const useOf = once((container: Container): ReturnType<typeof containerUse> => {
  const { scripts } = container;
  const input = processInput(container);
  const own = containerUse({ ...named(container), ...input });
  if (own.confidence === 'certain') return own;
  const inScripts = scripts.map(({ text }) =>
    containerUse({ command: ['bash', '-c', text], args: [], env: input.env }),
  );
  return inScripts.find(({ confidence }) => confidence === 'certain') ?? (own.use === null ? inScripts[0] : own) ?? own;
});

/** What the container's image is for, whatever its command line says. Null fields if there is no image. */
export const imageUseOf = once(
  (container: Container): ReturnType<typeof containerUse> =>
    containerUse({ ...named(container), command: [], args: [] }),
);

/** The image, or its repository if only a chart knows the rest. */
function named({ image, repository }: Container): { readonly image?: string } {
  const name = image?.value ?? repository;
  return name === undefined ? {} : { image: name };
}
