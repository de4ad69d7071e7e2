import type { ProjectConfig } from '../../server/src/config.ts';
import { parseConfig } from '../../server/src/config.ts';

/** The config of a fixture: a line `#### config: {provider: aws}` (in an example: `# .gpulint.yaml: ...`), or the defaults. */
export function configOf(text: string): ProjectConfig {
  const line = /^#+ (?:config|\.gpulint\.yaml): (.*)$/m.exec(text)?.[1] ?? '';
  const { config, problems } = parseConfig(line);
  if (problems.some(({ level }) => level === 'error' || level === 'warning'))
    throw new Error(`bad config in the fixture: ${problems.map(({ message }) => message).join('; ')}`);
  return config;
}
