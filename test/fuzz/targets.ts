import { configs } from './configs.ts';
import { edits } from './edits.ts';
import { protocol } from './protocol.ts';
import type { Target } from './target.ts';
import { texts } from './texts.ts';
import { trees } from './trees.ts';

/** The fuzzing targets, by the names that `--only` accepts. */
export const targets: ReadonlyMap<string, Target<never>> = new Map(
  [texts, edits, protocol, configs, trees].map((target) => [target.name, target as unknown as Target<never>]),
);
