import { oneOf } from '../catalog/word-patterns.ts';
import { once } from '../model/once.ts';
import type { Workload } from '../model/workload.ts';
import { asText, getIn, isTemplated, keyOf } from '../yaml/cursor.ts';

/** `latency-critical` in a key or a value. */
const latencyMark = /latency[-_.]?(?:critical|sensitive)|low[-_.]?latency/;
/** `example.com/latency: low`, `criticality: high`. */
const latencyKey = new RegExp(
  `(?:^|[/._-])(?:${oneOf('latency criticality responsiveness service-?level slo sla')})(?:[._-]?(?:class|tier|target))?$`,
);
const latencyValue = new RegExp(
  `^(?:ultra-?)?(?:${oneOf('low strict critical sensitive high interactive online real-?time gold')})(?:$|[-_])`,
);
/** A class of pods that evict others when they start. */
const priority = new RegExp(
  `(?:^|[-_.])(?:${oneOf('critical high highest urgent prod production online interactive serving inference', 'real-?time latency\\w*')})(?:$|[-_.\\d])`,
  'i',
);

/** Whether a label, an annotation or the priority class marks the workload as latency-critical: cold starts are not acceptable. */
export const isLatencyCritical = once(({ manifest, podSets }: Workload): boolean => {
  const marks = [
    ...manifest.labels,
    ...manifest.annotations,
    ...podSets.flatMap(({ labels, annotations }) => [...labels, ...annotations]),
  ];
  const marked = marks.some(({ value: written, at }) => {
    if (written === 'false') return false;
    const [key, value] = [keyOf(at).toLowerCase(), written.toLowerCase()];
    return latencyMark.test(`${key}=${value}`) || (latencyKey.test(key) && latencyValue.test(value));
  });
  return marked || podSets.some(({ pod }) => hasHighPriority(getIn(pod, 'priorityClassName')));
});

function hasHighPriority(name: ReturnType<typeof getIn>): boolean {
  return name !== undefined && !isTemplated(name) && priority.test(asText(name) ?? '');
}
