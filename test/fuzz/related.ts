import { blockNames, blocks } from '../support/related-blocks.ts';

/** Objects that refer to each other: what one file means for another changes as they come and go. */
export const related: readonly string[] = blocks.flatMap((block) =>
  [1, 2].map((count) =>
    block({ name: blockNames[1], other: blockNames[count] ?? blockNames[0], count, namespaced: false }),
  ),
);
