import type { Report } from './rule.ts';

/** A context that takes no more than so many reports: a settings file of thousands of lines that are all wrong says it often enough. */
export function limited<T extends { report(report: Report): void }>(context: T, most = 100): Pick<T, 'report'> {
  let left = most;
  return {
    report(report) {
      if (left-- > 0) context.report(report);
    },
  };
}
