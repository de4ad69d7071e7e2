import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/vscode/**', 'node_modules/**'],
    globalSetup: 'test/support/build-programs.ts',
    // The files of a worker share what they import: that is half of the time, and no test changes a module.
    isolate: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
