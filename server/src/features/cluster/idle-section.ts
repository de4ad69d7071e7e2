import type { ClusterView } from '../../fleet/cluster-view.ts';
import { escapeHtml, isolated } from '../cost-report/html-text.ts';
import { ownerName } from './cluster-words.ts';
import { cell, head, mostRows, section } from './dashboard-tables.ts';
import { idleCells, idlePodsWords, podUsageLines } from './device-usage-words.ts';

/** Pods that hold devices and hardly use them. */
export function idleSection({ idlePods, usage }: ClusterView): string {
  const words = usage === null ? undefined : idlePodsWords(usage);
  if (words === undefined) return '';
  const rows = idlePods.slice(0, mostRows).map((pod) => {
    const [, holds = '', busy = '', memory = '', watts = '', hourly = '', slice = ''] = idleCells(pod);
    return [
      head(pod.name, pod.owner === null ? undefined : ownerName(pod.owner)),
      cell(isolated(pod.namespace)),
      cell(escapeHtml(holds)),
      cell(`<span title="${escapeHtml(podUsageLines(pod.usage).join('; '))}">${escapeHtml(busy)}</span>`, 'number'),
      cell(escapeHtml(memory), 'number'),
      cell(escapeHtml(watts), 'number'),
      cell(escapeHtml(hourly), 'number'),
      cell(escapeHtml(slice)),
    ];
  });
  const heads = ['Idle pod', 'Namespace', 'Holds', '#Busy', '#Memory', '#W', '#$/h', 'Would fit in'];
  return section(words, 'idle', heads, rows, idlePods.length);
}
