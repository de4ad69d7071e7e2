import process from 'node:process';

/** `npm test` runs a fixed sample of what is large; `npm run test:recall` starts vitest with `--mode full`, which runs all of it. */
export const full = process.env.MODE === 'full';
