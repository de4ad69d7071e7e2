import type { TestApiServer } from './api-server/server.ts';

/** Lets a test wait for conditions without sleeping. */
export interface Conditions {
  /** Checks all of them: call it after each change that only the test sees. */
  readonly check: () => void;
  /** Resolves when the condition is true after such a change, or after something at the server. */
  readonly until: (condition: () => boolean) => Promise<void>;
}

/** @param server the current one */
export function createConditions(server: () => TestApiServer): Conditions {
  const checks = new Set<() => void>();
  return {
    check() {
      for (const check of checks) check();
    },
    until: (condition) =>
      new Promise<void>((resolve) => {
        const check = () => {
          if (!condition()) return;
          checks.delete(check);
          resolve();
        };
        checks.add(check);
        void server().until(() => {
          check();
          return !checks.has(check);
        });
        check();
      }),
  };
}
