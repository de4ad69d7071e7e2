import type { Container } from '../model/workload.ts';
import { asText, getIn, items } from '../yaml/cursor.ts';

/** The texts of a container that may use its variables: its command and scripts, other variables, and the commands of its hook and its probes. */
export function variableUsers({ env, command, args, scripts, at }: Container): readonly string[] {
  return [
    ...[...command, ...args, ...env.flatMap(({ value }) => value ?? [])].map(({ value }) => value),
    ...scripts.map(({ text }) => text),
    ...executed.flatMap((path) => items(getIn(at, ...path, 'exec', 'command')).map((word) => asText(word) ?? '')),
  ];
}

const executed = [['lifecycle', 'postStart'], ['startupProbe'], ['readinessProbe'], ['livenessProbe']];
