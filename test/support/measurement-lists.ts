/** The lists of measurements that were found and committed after all constants were chosen, before they were compared with any estimate. */
export const laterLists = [
  'second',
  'third',
  'fourth',
  'fifth',
  'sixth',
  'seventh',
  'eighth',
  'ninth',
  'tenth',
] as const;

export type LaterList = (typeof laterLists)[number];
