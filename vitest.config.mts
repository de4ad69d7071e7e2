import { defineConfig } from 'vitest/config';

export default defineConfig(({ mode }) => ({
  test: {
    // Those of test/cluster-real need a real API server: `npm run test:cluster` starts one.
    ...(mode === 'cluster'
      ? {
          include: ['test/cluster-real/**/*.test.ts'],
          // They share the nodes of one cluster.
          fileParallelism: false,
          globalSetup: ['test/support/build-programs.ts', 'test/support/control-plane/setup.ts'],
        }
      : {
          include: ['test/**/*.test.ts'],
          exclude: ['test/vscode/**', 'test/cluster-real/**', 'node_modules/**'],
          globalSetup: 'test/support/build-programs.ts',
        }),
    // By default, vitest leaves one core idle, which is half of a machine with two.
    maxWorkers: '100%',
    // The files of a worker share what they import: that is half of the time, and no test changes a module.
    isolate: false,
    // No test writes compiled code to its user's cache. Neither the day of the test nor what its user has fetched may change a price: on this day, none is old.
    env: { SOURCE_DATE_EPOCH: '1784592000', GPULINT_PRICES: 'none', NODE_DISABLE_COMPILE_CACHE: '1' },
    // Ends a test that hangs. The longest takes 100 s on a slow machine.
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
}));
