import type { Report } from './rule.ts';

/** A context that ignores further reports after a limit: a settings file may have thousands of wrong lines. */
export function limited<T extends { report(report: Report): void }>(context: T, limit = 100): Pick<T, 'report'> {
  let left = limit;
  return {
    report(report) {
      if (left-- > 0) context.report(report);
    },
  };
}
