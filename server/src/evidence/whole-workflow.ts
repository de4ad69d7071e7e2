import { groupOf } from '../model/manifest.ts';
import type { Workload } from '../model/workload.ts';
import { type Cursor, getIn, isIncomplete, isTemplated } from '../yaml/cursor.ts';

/** The spec of a workflow that is written as a whole: its templates mount its volumes, also those that have volumes of their own. */
export function wholeWorkflow({ apiVersion, kind, manifest, partial }: Workload): Cursor | undefined {
  if (groupOf(apiVersion) !== 'argoproj.io' || !/^(?:Cron)?Workflow$/.test(kind) || partial) return undefined;
  const spec = getIn(manifest.root, 'spec', ...(kind === 'Workflow' ? [] : ['workflowSpec']));
  const others = ['workflowTemplateRef', 'templateDefaults', 'podSpecPatch'].some(
    (key) => getIn(spec, key) !== undefined,
  );
  return others || isTemplated(getIn(spec, 'volumes')) || isIncomplete(spec) ? undefined : spec;
}
