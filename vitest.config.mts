import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/vscode/**', 'node_modules/**'],
    globalSetup: 'test/support/build-programs.ts',
    // The files of a worker share what they import: that is half of the time, and no test changes a module.
    isolate: false,
    // Neither the day of the test nor what its user has fetched may change a price: on this day, none is old.
    env: { SOURCE_DATE_EPOCH: '1784592000', GPULINT_PRICES: 'none' },
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
