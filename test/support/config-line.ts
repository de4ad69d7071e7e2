import type { ProjectConfig } from '../../server/src/config.ts';
import { parseConfig } from '../../server/src/config.ts';

/** The config of a fixture: a first line `#### config: {provider: aws}`, or the defaults. */
export function configOf(text: string): ProjectConfig {
  const line = /^#### config: (.*)$/m.exec(text)?.[1] ?? '';
  const { config, problems } = parseConfig(line);
  if (problems.length > 0)
    throw new Error(`bad config in the fixture: ${problems.map(({ message }) => message).join('; ')}`);
  return config;
}
