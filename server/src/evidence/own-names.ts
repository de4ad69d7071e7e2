import { groupOf } from '../model/manifest.ts';
import type { Manifest } from '../model/workload.ts';
import { asText, type Cursor, getIn, isUnseen } from '../yaml/cursor.ts';
import { table } from '../yaml/table.ts';
import { isUnknown, placesAt, writtenText } from './written.ts';

/** A name by which one part of an object refers to another part, which does not exist. */
export interface LostName {
  readonly name: string;
  readonly at: Cursor;
  /** What the name stands for: "task". */
  readonly what: string;
  /** The names of the parts that exist. */
  readonly known: readonly string[];
  /** What follows, if the object is accepted. */
  readonly effect: string | undefined;
}

/** The names in an object that must be names of other parts of it. An object with a part of unknown name is not judged. */
export function lostNames({ root, apiVersion, kind }: Manifest): readonly LostName[] {
  return (references[`${groupOf(apiVersion)}/${kind}`] ?? []).flatMap(
    ({ within, list, uses, what, unless, effect }) => {
      if (unless !== undefined && placesAt(root, unless).length > 0) return [];
      return (within === '' ? [root] : placesAt(root, within)).flatMap((scope) => {
        const parts = placesAt(scope, `${list}.*`);
        const names = parts.map((part) => getIn(part, 'name'));
        if (placesAt(scope, list).some(isUnseen) || names.some((name) => name === undefined || isUnknown(name)))
          return [];
        const known = names.flatMap((name) => asText(name) ?? []);
        const existing = new Set(known);
        const used = uses.flatMap((path) =>
          placesAt(scope, path).flatMap((at) => {
            const text = writtenText(at);
            const name =
              effect === undefined ? text : /^--(?:chief|evaluator|master|ps|worker)=(\S+)$/.exec(text ?? '')?.[1];
            return name === undefined ? [] : [{ name, at }];
          }),
        );
        // An option may be the default for a role that the job does not have.
        const named = new Set(used.map(({ name }) => name));
        if (known.length === 0 || (effect !== undefined && known.every((name) => named.has(name)))) return [];
        return used.flatMap(({ name, at }) => (existing.has(name) ? [] : [{ name, at, what, known, effect }]));
      });
    },
  );
}

interface References {
  /** The mappings that have both, or the root. */
  readonly within: string;
  /** The parts, which have names. */
  readonly list: string;
  readonly uses: readonly string[];
  readonly what: string;
  /** A field by which parts are elsewhere. */
  readonly unless?: string;
  /** For options of programs, which no controller checks. */
  readonly effect?: string;
}

function argo(spec: string): readonly References[] {
  const uses = ['entrypoint', 'onExit', 'templates.*.dag.tasks.*.template', 'templates.*.steps.*.*.template'];
  return [
    { within: spec, list: 'templates', uses, what: 'template', unless: `${spec}.workflowTemplateRef` },
    { within: `${spec}.templates.*.dag`, list: 'tasks', uses: ['tasks.*.dependencies.*'], what: 'task' },
  ];
}

/**
 * https://github.com/kubernetes-sigs/jobset/blob/main/pkg/webhooks/jobset_webhook.go
 * https://argo-workflows.readthedocs.io/en/latest/walk-through/dag/
 * https://tekton.dev/docs/pipelines/pipelines/#using-the-runafter-field
 * https://github.com/volcano-sh/volcano/blob/master/docs/user-guide/how_to_use_mpi_plugin.md
 */
const references = table<readonly References[]>({
  'jobset.x-k8s.io/JobSet': [
    {
      within: 'spec',
      list: 'replicatedJobs',
      uses: [
        'successPolicy.targetReplicatedJobs.*',
        'failurePolicy.rules.*.targetReplicatedJobs.*',
        'coordinator.replicatedJob',
        'replicatedJobs.*.dependsOn.*.name',
      ],
      what: 'replicatedJob',
    },
  ],
  'batch.volcano.sh/Job': [
    { within: 'spec', list: 'tasks', uses: ['plugins.*.*'], what: 'task', effect: 'the plugin does not set it up' },
  ],
  'argoproj.io/Workflow': argo('spec'),
  'argoproj.io/WorkflowTemplate': argo('spec'),
  'argoproj.io/ClusterWorkflowTemplate': argo('spec'),
  'argoproj.io/CronWorkflow': argo('spec.workflowSpec'),
  'tekton.dev/Pipeline': [{ within: 'spec', list: 'tasks', uses: ['tasks.*.runAfter.*'], what: 'task' }],
  'tekton.dev/PipelineRun': [
    { within: 'spec.pipelineSpec', list: 'tasks', uses: ['tasks.*.runAfter.*'], what: 'task' },
  ],
});
