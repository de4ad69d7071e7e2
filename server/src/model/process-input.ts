import type { ProcessInput } from '../command/processes.ts';
import { containerUse } from '../command/programs.ts';
import { once } from './once.ts';
import type { Container } from './workload.ts';

/** What a container runs, in the form that command/ reads. */
export const processInput = once(
  ({ command, args, env }: Container): ProcessInput => ({
    command: command.map(({ value }) => value),
    args: args.map(({ value }) => value),
    env: env.map(({ name, value }) => ({ name, value: value?.value })),
  }),
);

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
