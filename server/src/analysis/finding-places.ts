import { knownRequests, requestSpan } from '../evidence/requested-accelerators.ts';
import type { Container, Workload } from '../model/workload.ts';
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

/** Where the patched workloads request accelerators, if that is in the text of the patch. */
export function requestIn(workloads: readonly Workload[], isOwn: (span: Span) => boolean): Span | undefined {
  return workloads.flatMap(({ podSets }) => podSets.flatMap(({ containers }) => requestSpans(containers))).find(isOwn);
}

export function requestSpans(containers: readonly Container[]): readonly Span[] {
  return containers.flatMap((one) => (knownRequests(one).length > 0 ? requestSpan(knownRequests(one), one) : []));
}
