import { oncePerName } from './lazy.ts';

/**
 * A key as the one string that stands for it in all files. Rules look for the same keys in thousands of mappings, and V8 compares such strings, and
 * finds them in tables, by their address. Property names are such strings.
 */
export const interned = oncePerName((key) => Object.keys({ [key]: true })[0] ?? key);
