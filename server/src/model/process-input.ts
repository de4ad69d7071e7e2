import type { ProcessInput } from '../command/processes.ts';
import type { Container } from './workload.ts';

/** What a container runs, as the command room reads it. */
export function processInput({ command, args, env }: Container): ProcessInput {
  return {
    command: command.map(({ value }) => value),
    args: args.map(({ value }) => value),
    env: env.map(({ name, value }) => ({ name, value: value?.value })),
  };
}
