import type { Finding } from '../rules/rule.ts';
import type { Span } from '../yaml/span.ts';

// How findings about an object before and after a patch are compared: positions differ, rules and containers do not.

/** Whether a span with text is inside another one. */
export function isInside({ start, end }: Span, outer: Span): boolean {
  return outer.start <= start && end <= outer.end && start < end;
}

/** Whether a finding is more than advice. */
export function isLoud({ severity }: Finding): boolean {
  return severity === 'error' || severity === 'warning';
}

/** The same for findings of one rule at one place. */
export function placeOf({ rule, span }: Finding): string {
  return `${rule} ${span.start}`;
}

/** The same for findings of one rule about one container, wherever they are. */
export function problemOf({ rule, container }: Finding): string {
  return `${rule} ${container}`;
}
