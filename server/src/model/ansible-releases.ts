import { asText, type Cursor, getIn } from '../yaml/cursor.ts';
import { isLoop, moduleOf, tasksIn } from './ansible.ts';
import type { InlineValues } from './inline-values.ts';

/**
 * The values in the tasks that install charts.
 * https://docs.ansible.com/ansible/latest/collections/kubernetes/core/helm_module.html
 */
export function releasesOfTasks(list: Cursor): readonly InlineValues[] {
  if (list.node.kind !== 'seq') return [];
  return tasksIn(list).flatMap((task): readonly InlineValues[] => {
    const module = moduleOf(task, 'helm');
    const values = getIn(module, 'values') ?? getIn(module, 'release_values');
    if (values?.node.kind !== 'map') return [];
    const chart = asText(getIn(module, 'chart_ref'));
    return [
      {
        values,
        chart: chart?.slice(chart.lastIndexOf('/') + 1),
        release: asText(getIn(module, 'name') ?? getIn(module, 'release_name')) ?? null,
        namespace: asText(getIn(module, 'release_namespace') ?? getIn(module, 'namespace')) ?? null,
        isWhole: moreValues.every((key) => getIn(module, key) === undefined),
        ...(isLoop(task) && { isGenerated: true }),
      },
    ];
  });
}

const moreValues = ['values_files', 'set_values'];
